"""containerd's plugin for Kubernetes over the runtime under test: what a kubelet asks for, and what must come back.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os

from rungtest import differs, host, only_rung

from containerd.kubelet import CONTAINER, EXITED, NODE, POD, Kubelet

CREATED, RUNNING = 0, 1
READY = 0
RUNTIME_DEFAULT = 0


class Pods(Kubelet):
    def test_a_pod_runs_and_has_an_address(self):
        identifier, _ = self.pod()

        status = self.call("PodSandboxStatus", pod_sandbox_id=identifier)["status"]

        self.assertEqual((status["state"], status["runtime_handler"], status["network"]["ip"]),
                         (READY, "tested", "10.93.0.2"))

    def test_two_containers_share_the_network_and_hostname_and_nothing_else(self):
        pod = self.pod()
        one, _ = self.started(pod)
        two, _ = self.started(pod)

        seen = [self.exec(container, "sh", "-c", "for n in net ipc uts pid mnt; do readlink /proc/self/ns/$n; done;"
                                                 "hostname; ip -o -4 address show eth0 | wc -l")[1].split()
                for container in (one, two)]

        self.assertEqual(seen[0][:3], seen[1][:3])
        self.assertNotEqual(seen[0][3], seen[1][3])
        self.assertNotEqual(seen[0][4], seen[1][4])
        self.assertEqual([names[5:] for names in seen], [[pod[1]["hostname"], "1"]] * 2)

    def test_containers_can_share_the_process_namespace(self):
        pod = self.pod(security_context={"namespace_options": {"pid": POD}})
        shared = {"security_context": {"namespace_options": {"pid": POD}}}
        one, _ = self.started(pod, "sleep", "4321", linux=dict(shared))
        two, _ = self.started(pod, linux=dict(shared))

        self.assertIn("4321", self.exec(two, "ps")[1])
        self.assertEqual(self.exec(one, "readlink", "/proc/self/ns/pid"), self.exec(two, "readlink", "/proc/self/ns/pid"))

    def test_a_pod_can_use_the_network_of_the_node(self):
        pod = self.pod(security_context={"namespace_options": {"network": NODE}})
        container, _ = self.started(pod, linux={"security_context": {"namespace_options": {"network": NODE,
                                                                                           "pid": CONTAINER}}})

        self.assertEqual(self.exec(container, "readlink", "/proc/self/ns/net")[1].strip(),
                         os.readlink(f"/proc/{self.daemon.process.pid}/ns/net"))

    def test_the_log_has_both_outputs(self):
        container, log = self.started(self.pod(), "sh", "-c", "echo one; echo two >&2")
        self.ended(container)

        host.wait_until(lambda: sorted(self.lines_of(log)) == [("stderr", "two"), ("stdout", "one")], 10, "both lines")

    def test_the_exit_code_is_kept(self):
        container, _ = self.started(self.pod(), "sh", "-c", "exit 7")

        status = self.ended(container)

        self.assertEqual((status["exit_code"], status["reason"]), (7, "Error"))

    def test_a_container_waits_between_create_and_start(self):
        container, log = self.create(self.pod(), "echo", "started")
        before = (self.status(container)["state"], os.path.exists(log) and self.lines_of(log))

        self.call("StartContainer", container_id=container)
        self.ended(container)

        self.assertIn(before, [(CREATED, False), (CREATED, [])])
        host.wait_until(lambda: self.lines_of(log) == [("stdout", "started")], 10, "the line")

    @differs(crun="1.8 has wordings of its own")
    def test_a_command_that_does_not_exist_is_named(self):
        container, _ = self.create(self.pod(), "nosuch")

        words = self.refused("StartContainer", container_id=container)

        self.assertIn('exec: "nosuch": executable file not found in $PATH', words)
        status = self.status(container)
        self.assertEqual((status["state"], status["exit_code"], status["reason"]), (EXITED, 128, "StartError"))

    def test_exec_gives_output_and_exit_code(self):
        container, _ = self.started(self.pod())

        self.assertEqual(self.exec(container, "sh", "-c", "echo out; echo err >&2; exit 4"), (4, "out\n", "err\n"))

    @differs(crun="1.8 has wordings of its own")
    def test_exec_of_a_command_that_does_not_exist_is_named(self):
        container, _ = self.started(self.pod())

        words = self.refused("ExecSync", container_id=container, cmd=["/no/such"])

        self.assertIn('exec: "/no/such": stat /no/such: no such file or directory', words)

    def test_an_exec_that_takes_too_long_is_ended(self):
        container, _ = self.started(self.pod())

        self.refused("ExecSync", container_id=container, cmd=["sleep", "55"], timeout=1)

        host.wait_until(lambda: "sleep 55" not in self.exec(container, "ps")[1], 10, "the end of the command")

    def test_stop_is_heard_by_a_process_that_listens(self):
        container, log = self.started(self.pod(), "sh", "-c",
                                      "trap 'exit 5' TERM; echo ready; while true; do sleep 0.1; done")
        host.wait_until(lambda: self.lines_of(log), 10, "readiness")

        self.call("StopContainer", container_id=container, timeout=10)

        self.assertEqual(self.ended(container)["exit_code"], 5)

    def test_stop_ends_a_process_that_does_not_listen(self):
        container, _ = self.started(self.pod(), "sh", "-c", "trap '' TERM; while true; do sleep 0.1; done")

        self.call("StopContainer", container_id=container, timeout=1)

        self.assertEqual(self.ended(container)["exit_code"], 137)

    def test_a_container_that_was_removed_is_gone(self):
        container, _ = self.started(self.pod())

        self.call("RemoveContainer", container_id=container)

        self.assertEqual(host.cgroup_directories(container), [])
        self.assertNotIn(container, [one["id"] for one in self.call("ListContainers")["containers"]])

    def test_stop_of_a_pod_ends_its_containers(self):
        identifier, config = pod = self.pod()
        containers = [self.started(pod)[0] for _ in range(2)]

        self.call("StopPodSandbox", pod_sandbox_id=identifier)

        self.assertEqual([self.ended(container)["exit_code"] for container in containers], [137, 137])
        self.assertNotEqual(self.call("PodSandboxStatus", pod_sandbox_id=identifier)["status"]["state"], READY)
        self.call("RemovePodSandbox", pod_sandbox_id=identifier)
        left = host.cgroup_directories(config["linux"]["cgroup_parent"])
        self.assertEqual([path for path in left if not path.endswith(config["linux"]["cgroup_parent"])], [])

    def test_limits_are_the_kernels_and_can_be_changed(self):
        container, _ = self.started(self.pod(), linux={"resources": {"memory_limit_in_bytes": 64 << 20, "cpu_shares": 512}})
        file = "/sys/fs/cgroup/" + ("memory.max" if host.cgroup_is_v2() else "memory/memory.limit_in_bytes")
        before = self.exec(container, "cat", file)[1].strip()

        self.call("UpdateContainerResources", container_id=container, linux={"memory_limit_in_bytes": 96 << 20})

        self.assertEqual((before, self.exec(container, "cat", file)[1].strip()), (str(64 << 20), str(96 << 20)))

    def test_statistics_come_from_its_cgroup(self):
        container, _ = self.started(self.pod())

        stats = self.call("ContainerStats", container_id=container)["stats"]

        self.assertGreater(stats["cpu"]["usage_core_nano_seconds"]["value"], 0)
        self.assertGreater(stats["memory"]["working_set_bytes"]["value"], 0)

    def test_the_user_and_groups_are_as_asked(self):
        context = {"run_as_user": {"value": 1000}, "run_as_group": {"value": 1001}, "supplemental_groups": [1002]}
        container, log = self.started(self.pod(), "sh", "-c", "id -u; id -g; id -G", linux={"security_context": context})
        self.ended(container)

        host.wait_until(lambda: [text for _, text in self.lines_of(log)] == ["1000", "1001", "1001 1002"], 10,
                        "the three lines")

    def test_a_read_only_root_cannot_be_written(self):
        container, _ = self.started(self.pod(), linux={"security_context": {"readonly_rootfs": True}})

        self.assertIn("Read-only file system", self.exec(container, "touch", "/x")[2])

    def test_capabilities_can_be_dropped(self):
        context = {"capabilities": {"drop_capabilities": ["ALL"]}}
        container, _ = self.started(self.pod(), linux={"security_context": context})

        self.assertEqual(self.exec(container, "grep", "CapEff", "/proc/1/status")[1].split()[1], "0" * 16)

    def test_new_privileges_can_be_ruled_out(self):
        container, _ = self.started(self.pod(), linux={"security_context": {"no_new_privs": True}})

        self.assertEqual(self.exec(container, "grep", "NoNewPrivs", "/proc/self/status")[1].split()[1], "1")

    def test_the_default_seccomp_profile_is_in_force(self):
        container, _ = self.started(self.pod(), linux={"security_context": {"seccomp": {"profile_type": RUNTIME_DEFAULT}}})

        self.assertEqual(self.exec(container, "grep", "Seccomp:", "/proc/self/status")[1].split()[1], "2")

    def test_a_privileged_container_has_the_devices_of_the_node(self):
        pod = self.pod(security_context={"privileged": True})
        container, _ = self.started(pod, linux={"security_context": {"privileged": True}})

        self.assertEqual(self.exec(container, "test", "-e", "/dev/kmsg")[0], 0 if os.path.exists("/dev/kmsg") else 1)
        self.assertEqual(self.exec(container, "grep", "Seccomp:", "/proc/self/status")[1].split()[1], "0")

    def test_a_mount_is_made_as_asked(self):
        source = self.daemon.write("given/file", "text\n")
        container, _ = self.started(self.pod(), mounts=[
            {"container_path": "/given", "host_path": os.path.dirname(source), "readonly": True}])

        code, out, err = self.exec(container, "sh", "-c", "cat /given/file; touch /given/x")

        self.assertEqual((code, out), (1, "text\n"))
        self.assertIn("Read-only file system", err)

    def test_the_environment_and_directory_are_as_asked(self):
        container, log = self.started(self.pod(), "sh", "-c", "echo $ONE; pwd", working_dir="/tmp",
                                      envs=[{"key": "ONE", "value": "1"}])
        self.ended(container)

        host.wait_until(lambda: [text for _, text in self.lines_of(log)] == ["1", "/tmp"], 10, "two lines")

    def test_a_sysctl_of_the_pod_is_set(self):
        pod = self.pod(sysctls={"net.ipv4.ip_unprivileged_port_start": "77"})
        container, _ = self.started(pod)

        self.assertEqual(self.exec(container, "cat", "/proc/sys/net/ipv4/ip_unprivileged_port_start")[1].strip(), "77")

    def test_annotations_of_the_pod_reach_the_runtime(self):
        container, _ = self.started(self.pod(annotations={"kept.example/note": "here", "other": "dropped"}))

        info = json.loads(self.call("ContainerStatus", container_id=container, verbose=True)["info"]["info"])

        annotations = info["runtimeSpec"]["annotations"]
        self.assertEqual((annotations.get("kept.example/note"), annotations.get("other")), ("here", None))

    @only_rung("has no grants")
    def test_a_grant_confines_one_container_of_a_pod(self):
        grant = {"grantVersion": "1", "tools": ["/"],
                 "filesystem": {"rootfs": "readOnly", "tmpfs": [{"path": "/scratch", "size": "1Mi"}]}}
        pod = self.pod()
        granted, _ = self.started(pod, annotations={"dev.rung.grant": json.dumps(grant)})
        free, _ = self.started(pod)

        script = "touch /x 2>/dev/null && echo root; touch /scratch/x 2>/dev/null && echo scratch; ls /sys/class/net"

        self.assertEqual(self.exec(granted, "sh", "-c", script)[1].split(), ["scratch", "lo"])
        self.assertEqual(self.exec(free, "sh", "-c", script)[1].split(), ["root", "eth0", "lo"])

    def test_a_restarted_engine_finds_its_containers(self):
        container, _ = self.started(self.pod())

        self.daemon.restart()
        host.wait_until(self._is_ready, 20, "a plugin that is ready")

        self.assertEqual(self.status(container)["state"], RUNNING)
        self.assertEqual(self.exec(container, "echo", "here"), (0, "here\n", ""))
