"""A containerd of our own, for the length of the tests.

SPDX-License-Identifier: Apache-2.0
"""

import functools

from rungtest import runtime
from rungtest.engine import Engine, enter_own_namespaces
from rungtest.image import write_archive

# Where systemd and its bus are reached.
SYSTEMD = ("/run/systemd", "/run/dbus")
BOX, PAUSE = "test.example/box:1", "test.example/pause:1"

CONFIGURATION = """version = 2
root = "{work}/root"
state = "{work}/state"
[grpc]
  address = "{work}/socket"
[plugins."io.containerd.grpc.v1.cri"]
  # Root without CAP_SYS_RESOURCE, as in a container, cannot lower the score that the kernel kills by.
  restrict_oom_score_adj = true
  sandbox_image = "{pause}"
  stream_server_port = "0"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{work}/cni"
    conf_dir = "{work}/cni.d"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    default_runtime_name = "tested"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.tested]
    runtime_type = "io.containerd.runc.v2"
    pod_annotations = ["kept.example/*", "dev.rung.*"]
    container_annotations = ["dev.rung.*"]
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.tested.options]
      BinaryName = "{runtime}"
      SystemdCgroup = {systemd}
"""

NETWORK = """{"cniVersion": "0.4.0", "name": "pods", "plugins": [{"type": "pair"}]}
"""

# A network plugin of our own: a pair of interfaces, one in the pod, the other where the daemon lives.
PLUGIN = """#!/bin/sh
case $CNI_COMMAND in
VERSION) echo '{"cniVersion": "0.4.0", "supportedVersions": ["0.3.1", "0.4.0"]}'; exit ;;
DEL|CHECK) exit ;;
esac
cat >/dev/null
if [ "$CNI_IFNAME" = lo ]; then
    nsenter --net="$CNI_NETNS" ip link set lo up
    echo '{"cniVersion": "0.4.0"}'
    exit
fi
nsenter --net="$CNI_NETNS" ip link add "$CNI_IFNAME" type veth peer name "v$$" netns $PPID &&
nsenter --net="$CNI_NETNS" ip address add 10.93.0.2/16 dev "$CNI_IFNAME" &&
nsenter --net="$CNI_NETNS" ip link set "$CNI_IFNAME" up || exit 1
echo '{"cniVersion": "0.4.0", "interfaces": [{"name": "'"$CNI_IFNAME"'", "sandbox": "'"$CNI_NETNS"'"}],
 "ips": [{"version": "4", "interface": 0, "address": "10.93.0.2/16"}]}'
"""


class Daemon(Engine):
    """`systemd` says whether the pods' cgroups are made by systemd. What ctr runs has them made directly."""

    def __init__(self, runtime_path, systemd=False):
        super().__init__("containerd")
        self.runtime_path, self.systemd = runtime_path, systemd
        self.write("config.toml", CONFIGURATION.format(work=self.work, runtime=runtime_path, pause=PAUSE,
                                                       systemd=str(systemd).lower()))
        self.write("cni.d/10-pods.conflist", NETWORK)
        for name in ("pair", "loopback"):
            self.write(f"cni/{name}", PLUGIN, 0o755)

    def __enter__(self):
        try:
            self.start(["containerd", "--config", self.path("config.toml")], lambda: self.ctr("version").code == 0,
                       prepare=functools.partial(enter_own_namespaces, SYSTEMD if self.systemd else ()))
            self._import_images()
        except BaseException:
            self.stop()
            raise
        return self

    def ctr(self, *arguments, namespace=None, stdin=None, seconds=60):
        """The client, where the daemon lives: the shims open its pipes by name."""
        return runtime.run(self.command(*arguments, namespace=namespace), stdin=stdin, seconds=seconds,
                           env=self.environment())

    def command(self, *arguments, namespace=None):
        # The namespace is the first part of every container's cgroup.
        return self.inside("ctr", "--address", self.path("socket"), "--namespace", namespace or self.word, *arguments)

    def _import_images(self):
        archive = self.path("images.tar")
        write_archive(archive, self.work, {BOX: ["sh"], PAUSE: ["sleep", "100000"]})
        for namespace in (self.word, "k8s.io"):
            done = self.ctr("images", "import", archive, namespace=namespace)
            if done.code != 0:
                raise SystemExit(f"no image: {done}\n{self.complaints()}")
