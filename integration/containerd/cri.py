"""The interface between Kubernetes and an engine (CRI, runtime.v1), as far as the tests need it.

Only gRPC's transport is borrowed. A message is a dict, and its type a table {name: (number, kind)}; kind is one of the
scalars below, another table, or either in a list when it repeats. Fields that no table has are skipped.
SPDX-License-Identifier: Apache-2.0
"""

import grpc

TEXT, NUMBER, FLAG, BYTES, PAIRS = "text", "number", "flag", "bytes", "pairs"

_VALUE = {"value": (1, NUMBER)}
_PAIR = {"key": (1, TEXT), "value": (2, TEXT)}
_NAMESPACES = {"network": (1, NUMBER), "pid": (2, NUMBER), "ipc": (3, NUMBER), "target_id": (4, TEXT)}
_RESOURCES = {"cpu_period": (1, NUMBER), "cpu_quota": (2, NUMBER), "cpu_shares": (3, NUMBER),
              "memory_limit_in_bytes": (4, NUMBER), "oom_score_adj": (5, NUMBER), "cpuset_cpus": (6, TEXT)}
_POD = {
    "metadata": (1, {"name": (1, TEXT), "uid": (2, TEXT), "namespace": (3, TEXT), "attempt": (4, NUMBER)}),
    "hostname": (2, TEXT), "log_directory": (3, TEXT),
    "dns_config": (4, {"servers": (1, [TEXT]), "searches": (2, [TEXT]), "options": (3, [TEXT])}), "labels": (6, PAIRS), "annotations": (7, PAIRS),
    "linux": (8, {"cgroup_parent": (1, TEXT),
                  "security_context": (2, {"namespace_options": (1, _NAMESPACES), "privileged": (6, FLAG)}),
                  "sysctls": (3, PAIRS)})}
_CONTAINER = {
    "metadata": (1, {"name": (1, TEXT), "attempt": (2, NUMBER)}), "image": (2, {"image": (1, TEXT)}),
    "command": (3, [TEXT]), "args": (4, [TEXT]), "working_dir": (5, TEXT), "envs": (6, [_PAIR]),
    "mounts": (7, [{"container_path": (1, TEXT), "host_path": (2, TEXT), "readonly": (3, FLAG), "propagation": (5, NUMBER)}]),
    "devices": (8, [{"container_path": (1, TEXT), "host_path": (2, TEXT), "permissions": (3, TEXT)}]),
    "annotations": (10, PAIRS), "log_path": (11, TEXT), "stdin": (12, FLAG), "tty": (14, FLAG),
    "linux": (15, {"resources": (1, _RESOURCES), "security_context": (2, {
        "capabilities": (1, {"add_capabilities": (1, [TEXT]), "drop_capabilities": (2, [TEXT])}),
        "privileged": (2, FLAG), "namespace_options": (3, _NAMESPACES), "run_as_user": (5, _VALUE),
        "run_as_username": (6, TEXT),
        "run_as_group": (12, _VALUE), "readonly_rootfs": (7, FLAG), "supplemental_groups": (8, [NUMBER]),
        "no_new_privs": (11, FLAG), "masked_paths": (13, [TEXT]), "readonly_paths": (14, [TEXT]),
        "seccomp": (15, {"profile_type": (1, NUMBER), "localhost_ref": (2, TEXT)})})})}
_POD_ID, _ID, _URL = {"pod_sandbox_id": (1, TEXT)}, {"container_id": (1, TEXT)}, {"url": (1, TEXT)}

METHODS = {
    "Status": ({}, {"status": (1, {"conditions": (1, [{"type": (1, TEXT), "status": (2, FLAG)}])})}),
    "RunPodSandbox": ({"config": (1, _POD), "runtime_handler": (2, TEXT)}, _POD_ID),
    "StopPodSandbox": (_POD_ID, {}),
    "RemovePodSandbox": (_POD_ID, {}),
    "PodSandboxStatus": (_POD_ID, {"status": (1, {"id": (1, TEXT), "state": (3, NUMBER), "network": (5, {"ip": (1, TEXT)}),
                                                  "annotations": (8, PAIRS), "runtime_handler": (9, TEXT)})}),
    "ListPodSandbox": ({}, {"items": (1, [{"id": (1, TEXT)}])}),
    "CreateContainer": ({**_POD_ID, "config": (2, _CONTAINER), "sandbox_config": (3, _POD)}, _ID),
    "StartContainer": (_ID, {}),
    "StopContainer": ({**_ID, "timeout": (2, NUMBER)}, {}),
    "RemoveContainer": (_ID, {}),
    "ListContainers": ({}, {"containers": (1, [{"id": (1, TEXT), "state": (6, NUMBER)}])}),
    "ContainerStatus": ({**_ID, "verbose": (2, FLAG)}, {
        "status": (1, {"state": (3, NUMBER), "exit_code": (7, NUMBER), "reason": (10, TEXT), "message": (11, TEXT)}),
        "info": (2, PAIRS)}),
    "UpdateContainerResources": ({**_ID, "linux": (2, _RESOURCES)}, {}),
    "ExecSync": ({**_ID, "cmd": (2, [TEXT]), "timeout": (3, NUMBER)},
                 {"stdout": (1, BYTES), "stderr": (2, BYTES), "exit_code": (3, NUMBER)}),
    "Exec": ({**_ID, "cmd": (2, [TEXT]), "tty": (3, FLAG), "stdin": (4, FLAG), "stdout": (5, FLAG), "stderr": (6, FLAG)}, _URL),
    "Attach": ({**_ID, "stdin": (2, FLAG), "tty": (3, FLAG), "stdout": (4, FLAG), "stderr": (5, FLAG)}, _URL),
    "PortForward": ({**_POD_ID, "port": (2, [NUMBER])}, _URL),
    "ReopenContainerLog": (_ID, {}),
    "ContainerStats": (_ID, {"stats": (1, {
        "cpu": (2, {"usage_core_nano_seconds": (2, _VALUE)}), "memory": (3, {"working_set_bytes": (2, _VALUE)})})}),
}
_VARINT, _LENGTH = 0, 2
_WIDTHS = {1: 8, 5: 4}  # wire types of fixed width


class Client:
    def __init__(self, socket):
        self._channel = grpc.insecure_channel(f"unix://{socket}")

    def call(self, method, seconds=60, **fields):
        """Raises grpc.RpcError with the engine's words when it refuses."""
        asked, answered = METHODS[method]
        call = self._channel.unary_unary(f"/runtime.v1.RuntimeService/{method}",
                                         request_serializer=lambda message: encode(message, asked),
                                         response_deserializer=lambda data: decode(data, answered))
        return call(fields, timeout=seconds)

    def close(self):
        self._channel.close()


def encode(message, table):
    data = b""
    for name, value in message.items():
        number, kind = table[name]
        if kind == PAIRS:
            kind, value = [_PAIR], [{"key": key, "value": text} for key, text in value.items()]
        for one in value if isinstance(kind, list) else [value]:
            data += _field(number, kind[0] if isinstance(kind, list) else kind, one)
    return data


def _field(number, kind, value):
    if kind in (NUMBER, FLAG):
        return _varint(number << 3 | _VARINT) + _varint(int(value) & (1 << 64) - 1)
    body = encode(value, kind) if isinstance(kind, dict) else value.encode()
    return _varint(number << 3 | _LENGTH) + _varint(len(body)) + body


def _varint(value):
    data = b""
    while value > 0x7f:
        data += bytes([value & 0x7f | 0x80])
        value >>= 7
    return data + bytes([value])


def decode(data, table):
    """Every field of the table, with an empty value where the message has none."""
    message = {name: _empty(kind) for name, (_number, kind) in table.items()}
    names = {number: name for name, (number, _kind) in table.items()}
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        value, at = _read_value(data, at, key & 7)
        name = names.get(key >> 3)
        if name is None:
            continue
        kind = table[name][1]
        if kind == PAIRS:
            pair = decode(value, _PAIR)
            message[name][pair["key"]] = pair["value"]
        elif isinstance(kind, list):
            message[name].append(_meaning(value, kind[0]))
        else:
            message[name] = _meaning(value, kind)
    return message


def _empty(kind):
    if isinstance(kind, list):
        return []
    if isinstance(kind, dict):
        return decode(b"", kind)
    return {TEXT: "", NUMBER: 0, FLAG: False, BYTES: b"", PAIRS: {}}[kind]


def _read_varint(data, at):
    value, shift = 0, 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def _read_value(data, at, wire):
    if wire == _VARINT:
        return _read_varint(data, at)
    if wire == _LENGTH:
        length, at = _read_varint(data, at)
    else:
        length = _WIDTHS[wire]
    return data[at:at + length], at + length


def _meaning(value, kind):
    if isinstance(kind, dict):
        return decode(value, kind)
    if kind == NUMBER:
        return value - (1 << 64) if value >> 63 else value
    return {TEXT: lambda: value.decode(errors="replace"), FLAG: lambda: bool(value), BYTES: lambda: value}[kind]()
