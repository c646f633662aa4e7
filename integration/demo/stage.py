"""The host as the demonstration sees it: a network with a collector and a metadata service, and files worth stealing.

The network is a namespace of this process, so it ends with it; everything else is in one temporary folder.
SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import http.server
import json
import os
import shutil
import subprocess
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
COLLECTOR, METADATA = "203.0.113.80", "169.254.169.254"
CLONE_NEWNET = 0x40000000

# The form of real ones; these open nothing.
CREDENTIALS = "[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n"
FORECAST = '{"written by": "another task", "2026-01": 121000}\n'


class Listener(http.server.ThreadingHTTPServer):
    """Remembers what it was asked and sent, and always answers with the same document."""

    def __init__(self, address, document):
        super().__init__((address, 80), _Handler)
        self.answer = json.dumps(document).encode()
        self.received = []
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.received.append((self.path, body.decode(errors="replace")))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.server.answer)

    do_POST = do_GET

    def log_message(self, *_):
        pass


class Stage:
    def __enter__(self):
        enter_network()
        self.collector = Listener(COLLECTOR, {"thanks": True})
        self.metadata = Listener(METADATA, {"AccessKeyId": "ASIAIOSFODNN7EXAMPLE", "SecretAccessKey": "EXAMPLEKEY"})
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="rung-demo-"))
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def make_bundle(self, name):
        """A folder for one run: what is bound into the container, its root, and config.json."""
        bundle = os.path.join(self.folder, name)
        for directory in ("aws", "in", "out", "data", "rootfs"):
            os.makedirs(os.path.join(bundle, directory))
        _write(f"{bundle}/aws/credentials", CREDENTIALS)
        _write(f"{bundle}/data/forecast.json", FORECAST)
        shutil.copy(os.path.join(HERE, "sales.csv"), f"{bundle}/in/sales.csv")
        _make_root(f"{bundle}/rootfs")
        _write(f"{bundle}/config.json", json.dumps(config(bundle, f"rung-demo-{os.getpid()}-{name}"), indent=2))
        return bundle


def enter_network():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        raise SystemExit(f"the demonstration needs a network namespace: {os.strerror(ctypes.get_errno())}")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for address in (COLLECTOR, METADATA):
        subprocess.run(["ip", "address", "add", f"{address}/32", "dev", "lo"], check=True)


def _write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _make_root(root):
    """Mount points, a little /etc, and the host's programs: the container uses Debian's Python."""
    for directory in ("data", "dev", "etc/profile.d", "home/agent/.aws", "opt/agent", "proc", "sys", "tmp", "work/in", "work/out"):
        os.makedirs(os.path.join(root, directory))
    _write(f"{root}/etc/passwd", "root:x:0:0:root:/root:/bin/sh\n")
    for name in ("bin", "lib", "lib64"):
        if os.path.islink(f"/{name}"):
            os.symlink(os.readlink(f"/{name}"), f"{root}/{name}")


def config(bundle, cgroup):
    """What an engine would write for such a task; the limits keep the harm of the run without a grant on the stage."""
    capabilities = ["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_KILL", "CAP_NET_BIND_SERVICE", "CAP_NET_RAW"]
    programs = [_bind(f"/{name}", f"/{name}", "ro") for name in ("usr", "bin", "lib", "lib64")
                if os.path.isdir(f"/{name}") and not os.path.islink(f"/{name}")]
    return {
        "ociVersion": "1.0.2",
        "process": {
            "user": {"uid": 0, "gid": 0},
            "args": ["/usr/bin/python3", "-I", "-B", "/opt/agent/analyse.py"],
            "env": ["PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/home/agent", "LANG=C.UTF-8"],
            "cwd": "/work",
            "capabilities": {name: capabilities for name in ("bounding", "effective", "permitted")},
        },
        "root": {"path": "rootfs"},
        "hostname": "agent",
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
            *programs,
            _bind("/opt/agent", os.path.join(HERE, "agent"), "ro"),
            _bind("/home/agent/.aws", f"{bundle}/aws", "ro"),
            _bind("/data", f"{bundle}/data"),
            _bind("/work/in", f"{bundle}/in", "ro"),
            _bind("/work/out", f"{bundle}/out"),
        ],
        "linux": {
            "cgroupsPath": f"/{cgroup}",
            "resources": {"pids": {"limit": 128}, "memory": {"limit": 512 << 20}},
            # No network namespace is asked for: the container gets the stage's.
            "namespaces": [{"type": name} for name in ("pid", "ipc", "uts", "mount")],
        },
    }


def _bind(destination, source, *options):
    return {"destination": destination, "type": "bind", "source": source, "options": ["bind", *options]}
