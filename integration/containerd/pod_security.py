"""What a pod's security context, mounts, devices and limits become, as critest asks it of a runtime.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import subprocess

import grpc

from rungtest import host

from containerd.kubelet import CONTAINER, NODE, TARGET, Kubelet

UNCONFINED, LOCALHOST = 1, 2  # seccomp profiles
PRIVATE, FROM_HOST, BOTH_WAYS = 0, 1, 2  # propagation of a mount
CHOWN, NET_ADMIN = 0, 12


class Namespaces(Kubelet):
    def namespace(self, container, kind):
        return self.exec(container, "readlink", f"/proc/self/ns/{kind}")[1].strip()

    def of_node(self, kind):
        return os.readlink(f"/proc/{self.daemon.process.pid}/ns/{kind}")

    def test_a_pod_can_see_the_processes_and_queues_of_the_node(self):
        for kind in ("pid", "ipc"):
            with self.subTest(kind):
                shared = {"security_context": {"namespace_options": {kind: NODE}}}
                container, _ = self.started(self.pod(**shared), linux=dict(shared))

                self.assertEqual(self.namespace(container, kind), self.of_node(kind))

    def test_a_pod_has_queues_of_its_own_otherwise(self):
        container, _ = self.started(self.pod())

        self.assertNotEqual(self.namespace(container, "ipc"), self.of_node("ipc"))

    def test_a_container_can_join_the_processes_of_another(self):
        pod = self.pod()
        target, _ = self.started(pod, "sleep", "4321")
        options = {"namespace_options": {"pid": TARGET, "target_id": target}}

        container, _ = self.started(pod, linux={"security_context": options})

        self.assertEqual(self.namespace(container, "pid"), self.namespace(target, "pid"))
        self.assertIn("4321", self.exec(container, "ps")[1])

    def test_sysctls_of_the_pod_are_set_whether_safe_or_not(self):
        container, _ = self.started(self.pod(sysctls={"kernel.shm_rmid_forced": "1", "fs.mqueue.msg_max": "100"}))

        self.assertEqual(self.exec(container, "cat", "/proc/sys/kernel/shm_rmid_forced", "/proc/sys/fs/mqueue/msg_max"),
                         (0, "1\n100\n", ""))


class Rights(Kubelet):
    def contained(self, **context):
        return self.started(self.pod(), linux={"security_context": context})[0]

    def capabilities(self, **capabilities):
        container = self.contained(capabilities=capabilities)
        return int(self.exec(container, "grep", "CapEff", "/proc/1/status")[1].split()[1], 16)

    def test_capabilities_are_added_and_dropped_one_by_one(self):
        usual = self.capabilities()

        self.assertEqual(self.capabilities(add_capabilities=["NET_ADMIN"]), usual | 1 << NET_ADMIN)
        self.assertEqual(self.capabilities(drop_capabilities=["CHOWN"]), usual & ~(1 << CHOWN))

    def test_all_capabilities_are_those_of_the_node(self):
        with open("/proc/self/status", encoding="ascii") as file:
            own = next(line.split()[1] for line in file if line.startswith("CapEff"))

        self.assertEqual(self.capabilities(add_capabilities=["ALL"]), int(own, 16))

    def test_a_user_can_be_named_and_a_group_needs_a_user(self):
        container, log = self.started(self.pod(), "id", "-u", linux={"security_context": {"run_as_username": "worker"}})
        self.ended(container)
        host.wait_until(lambda: self.lines_of(log) == [("stdout", "1000")], 10, "the line")

        with self.assertRaises(grpc.RpcError) as caught:
            self.contained(run_as_group={"value": 5})
        self.assertIn("group", caught.exception.details())

    def test_paths_of_the_kernel_are_masked_and_read_only_as_asked(self):
        container = self.contained(masked_paths=["/proc/uptime", "/proc/fs"], readonly_paths=["/proc/sys"])

        self.assertEqual(self.exec(container, "sh", "-c", "wc -c </proc/uptime; ls /proc/fs | wc -l"), (0, "0\n0\n", ""))
        self.assertIn("Read-only file system",
                      self.exec(container, "sh", "-c", "echo x >/proc/sys/kernel/domainname")[2])

    def test_without_privilege_nothing_of_the_kernel_is_changed(self):
        container = self.contained()

        self.assertIn("permission denied", self.exec(container, "mount", "-t", "tmpfs", "none", "/tmp")[2])
        self.assertNotEqual(self.exec(container, "ls", "/dev/kmsg")[0], 0)

    def test_seccomp_can_be_switched_off_or_be_a_file_of_the_node(self):
        profile = self.daemon.write("profile.json", json.dumps({
            "defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO"}]}))
        free = self.contained(seccomp={"profile_type": UNCONFINED})
        held = self.contained(seccomp={"profile_type": LOCALHOST, "localhost_ref": profile})

        self.assertEqual(self.exec(free, "grep", "Seccomp:", "/proc/self/status")[1].split()[1], "0")
        self.assertEqual(self.exec(held, "grep", "Seccomp:", "/proc/self/status")[1].split()[1], "2")
        self.assertIn("not permitted", self.exec(held, "mkdir", "/tmp/x")[2])


class Mounts(Kubelet):
    def on_node(self, *command):
        subprocess.run(self.daemon.inside(*command), check=True, stdin=subprocess.DEVNULL)

    def shared_source(self):
        path = self.daemon.path(f"source{next(self.numbers)}")
        os.makedirs(os.path.join(path, "later"))
        self.on_node("mount", "--bind", path, path)
        self.addCleanup(self.on_node, "umount", "-R", "-l", path)
        self.on_node("mount", "--make-shared", path)
        return path

    def test_what_the_node_mounts_later_shows_as_asked(self):
        for propagation, seen in ((PRIVATE, "0\n"), (FROM_HOST, "1\n"), (BOTH_WAYS, "1\n")):
            with self.subTest(propagation):
                source = self.shared_source()
                privileged = propagation == BOTH_WAYS
                pod = self.pod(security_context={"privileged": privileged})
                container, _ = self.started(
                    pod, linux={"security_context": {"privileged": privileged}},
                    mounts=[{"container_path": "/given", "host_path": source, "propagation": propagation}])

                self.on_node("mount", "-t", "tmpfs", "none", f"{source}/later")

                self.assertEqual(self.exec(container, "sh", "-c", "grep -c /given/later /proc/mounts")[1], seen)

    def test_what_a_container_mounts_shows_on_the_node_only_when_both_ways(self):
        for propagation, code in ((FROM_HOST, 1), (BOTH_WAYS, 0)):
            with self.subTest(propagation):
                source = self.shared_source()
                pod = self.pod(security_context={"privileged": True})
                container, _ = self.started(
                    pod, linux={"security_context": {"privileged": True}},
                    mounts=[{"container_path": "/given", "host_path": source, "propagation": propagation}])

                self.assertEqual(self.exec(container, "mount", "-t", "tmpfs", "none", "/given/later")[0], 0)

                seen = subprocess.run(self.daemon.inside("mountpoint", "-q", f"{source}/later"), check=False)
                self.assertEqual(seen.returncode != 0, code != 0)

    def test_a_device_of_the_node_is_given_with_its_rights(self):
        for permissions, code in (("w", 0), ("r", 1)):
            with self.subTest(permissions):
                container, _ = self.started(self.pod(), devices=[
                    {"container_path": "/dev/given", "host_path": "/dev/kmsg", "permissions": permissions}])

                answer = self.exec(container, "sh", "-c", ": >/dev/given")

                self.assertEqual((answer[0], "not permitted" in answer[2]), (code, code == 1))

    def test_names_are_looked_up_as_the_pod_says(self):
        identifier, config = self.pod(dns_config={"servers": ["10.10.10.10"], "searches": ["tests.example"],
                                                  "options": ["ndots:3"]})
        container, _ = self.started((identifier, config))

        self.assertEqual(sorted(self.exec(container, "cat", "/etc/resolv.conf")[1].splitlines()),
                         ["nameserver 10.10.10.10", "options ndots:3", "search tests.example"])


class Limits(Kubelet):
    def test_a_container_that_takes_too_much_memory_is_said_to_have(self):
        container, _ = self.started(self.pod(), "tail", "/dev/zero",
                                    linux={"resources": {"memory_limit_in_bytes": 32 << 20}})

        status = self.ended(container)

        self.assertEqual((status["exit_code"], status["reason"]), (137, "OOMKilled"))

    def test_processors_and_time_can_be_changed(self):
        container, _ = self.started(self.pod(), linux={"resources": {"cpu_period": 100000, "cpu_quota": 50000,
                                                                     "cpuset_cpus": "0-1"}})

        self.call("UpdateContainerResources", container_id=container,
                  linux={"cpu_period": 100000, "cpu_quota": 20000, "cpuset_cpus": "0"})

        self.assertEqual(self.exec(container, "grep", "Cpus_allowed_list", "/proc/1/status")[1].split()[1], "0")
        files = (["/sys/fs/cgroup/cpu.max"] if host.cgroup_is_v2()
                 else [f"/sys/fs/cgroup/cpu/cpu.cfs_{name}_us" for name in ("quota", "period")])
        self.assertEqual(self.exec(container, "cat", *files)[1].split(), ["20000", "100000"])
