"""Grants: what a task may do under one, seen from inside, and what keeps a container from starting.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import socket
import subprocess

from rungtest import Case, host, only_rung

# The image can be read and run; everything else is closed.
READ_ONLY = {"grantVersion": "1", "filesystem": {"rootfs": "readOnly"}, "tools": ["/"]}


def merged(**more):
    """READ_ONLY with other sections; `filesystem` keeps its rootfs."""
    grant = {**READ_ONLY, **more}
    grant["filesystem"] = {"rootfs": "readOnly", **more.get("filesystem", {})}
    return grant


class Granted(Case):
    def grant(self, document, name="grant.json"):
        path = os.path.join(self.work, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(document if isinstance(document, str) else json.dumps(document))
        return path

    def run_under(self, box, *documents):
        options = []
        for number, document in enumerate(documents):
            options += ["--grant", self.grant(document, f"grant{number}")]
        return box.run(*options)

    def inside(self, script, *documents, box=None):
        box = box or self.container()
        return self.succeed(self.run_under(box.shell(script), *documents)).out.strip()


class Files(Granted):
    @only_rung("has no grants")
    def test_nothing_can_be_written_unless_it_is_granted(self):
        self.assertEqual(self.inside("for d in / /tmp /etc /bin /root /dev /proc /sys; do touch $d/x 2>/dev/null && "
                                     "echo $d; done; echo x > /dev/null && echo null", READ_ONLY), "null")

    @only_rung("has no grants")
    def test_scratch_is_writable_capped_and_never_executable(self):
        script = ("cp /bin/busybox /scratch/b 2>/dev/null; chmod 755 /scratch/b; /scratch/b true 2>/dev/null || echo noexec;"
                  "rm /scratch/b; dd if=/dev/zero of=/scratch/x bs=64k count=100 2>/dev/null; stat -c %s /scratch/x")

        self.assertEqual(self.inside(script, merged(filesystem={"tmpfs": [{"path": "/scratch", "size": "4Mi"}]})),
                         f"noexec\n{4 << 20}")

    @only_rung("has no grants")
    def test_a_granted_directory_is_writable_and_its_neighbour_is_not(self):
        box = self.container()
        for name in ("work", "workshop"):
            os.mkdir(box.bundle.inside(name))

        self.assertEqual(self.inside("touch /work/x && echo work; touch /workshop/x 2>/dev/null || echo not workshop;"
                                     "cp /bin/busybox /work/b; /work/b true 2>/dev/null || echo noexec",
                                     merged(filesystem={"readWrite": ["/work"]}), box=box),
                         "work\nnot workshop\nnoexec")

    @only_rung("has no grants")
    def test_a_symlink_out_of_a_granted_directory_opens_nothing(self):
        box = self.container()
        os.mkdir(box.bundle.inside("work"))
        os.symlink("/etc", box.bundle.inside("work/link"))

        self.assertEqual(self.inside("touch /work/link/x 2>/dev/null || echo no; touch /work/../etc/x 2>/dev/null || echo no",
                                     merged(filesystem={"readWrite": ["/work"]}), box=box), "no\nno")

    @only_rung("has no grants")
    def test_a_mount_of_the_config_is_read_only_unless_it_is_granted(self):
        box = self.container()
        for name in ("in", "out"):
            os.mkdir(os.path.join(self.work, name))
            box.bundle.add_mount(f"/{name}", os.path.join(self.work, name), options=["rbind"])

        self.assertEqual(self.inside("touch /in/x 2>/dev/null || echo in; touch /out/x && echo out",
                                     merged(filesystem={"readWrite": ["/out"]}), box=box), "in\nout")
        self.assertTrue(os.path.exists(os.path.join(self.work, "out/x")))

    @only_rung("has no grants")
    def test_a_grant_does_not_open_what_the_config_keeps_read_only(self):
        box = self.container()
        os.mkdir(os.path.join(self.work, "in"))
        box.bundle.add_mount("/in", os.path.join(self.work, "in"), options=["rbind", "ro"])

        self.assertEqual(self.inside("touch /in/x 2>/dev/null || echo read-only",
                                     merged(filesystem={"readWrite": ["/in"]}), box=box), "read-only")

    @only_rung("has no grants")
    def test_what_is_hidden_cannot_be_seen(self):
        box = self.container()
        box.bundle.put("/secrets/key", "secret\n")

        self.assertEqual(self.inside("ls -A /secrets; cat /secrets/key 2>/dev/null || echo gone",
                                     merged(filesystem={"hidden": ["/secrets"]}), box=box), "gone")


class Rights(Granted):
    @only_rung("has no grants")
    def test_capabilities_are_those_of_both(self):
        box = self.container()
        box.bundle.grant_capabilities("CAP_CHOWN")

        out = self.inside("grep CapBnd /proc/self/status", merged(capabilities=["CAP_KILL", "CAP_SYS_TIME"]), box=box)

        self.assertEqual(int(out.split()[1], 16), 1 << 5)

    @only_rung("has no grants")
    def test_no_new_privileges_is_forced(self):
        box = self.container()
        box.config["process"]["noNewPrivileges"] = False

        self.assertEqual(self.inside("grep NoNewPrivs /proc/self/status", READ_ONLY, box=box), "NoNewPrivs:\t1")

    @only_rung("has no grants")
    def test_no_mount_comes_into_a_container_under_a_grant(self):
        box = self.container().args("sleep", "100")
        self.succeed(box.run_detached("--grant", self.grant(READ_ONLY)))
        mounts = self.grant([{"destination": "/x", "type": "tmpfs", "source": "tmpfs"}], "mounts.json")

        self.fails(self.runtime.call("mounts", "add", box.id, mounts), "what its grants allow")

    @only_rung("has no grants")
    def test_neither_a_mount_in_place_of_the_root_nor_a_symlink_is_bound(self):
        for mount, word in (({"destination": "/", "type": "tmpfs", "source": "tmpfs"}, "take the place of the image"),
                            ({"destination": "/x", "type": "bind", "source": "/proc/self/exe",
                              "options": ["bind", "src-nofollow"]}, "is a symlink"),
                            ({"destination": "/x", "type": "bind", "source": "/proc/self/exe",
                              "options": ["bind", "copy-symlink"]}, "is a symlink")):
            box = self.container().args("true")
            box.config["mounts"].append(mount)

            self.fails(box.run("--grant", self.grant(READ_ONLY)), "grant_unenforceable", word)

            self.is_gone(box)

    @only_rung("has no grants")
    def test_an_annotation_keeps_no_groups_under_a_grant(self):
        box = self.container().args("grep", "Groups", "/proc/self/status")
        box.config["annotations"] = {"run.oci.keep_original_groups": "1"}

        result = box.run("--grant", self.grant(READ_ONLY), prepare=lambda: os.setgroups([4, 27]))

        self.prints(result, "Groups:")

    @only_rung("has no grants")
    def test_the_filter_of_the_grant_comes_on_top_of_the_engines(self):
        plain = self.inside("grep Seccomp_filters /proc/self/status", READ_ONLY)
        box = self.container()
        box.config["linux"]["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [
            {"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO", "errnoRet": 28}]}
        both = self.inside("grep Seccomp_filters /proc/self/status; mkdir /x 2>&1 || true", READ_ONLY, box=box)

        self.assertEqual(int(both.split()[1]), int(plain.split()[1]) + 1)
        self.assertIn("No space left on device", both)

    @only_rung("has no grants")
    def test_limits_are_lowered_and_never_raised(self):
        box = self.container().args("sleep", "100")
        box.config["linux"]["resources"]["pids"] = {"limit": 20}
        box.config["linux"]["resources"]["memory"] = {"limit": 256 << 20}
        path = self.grant(merged(limits={"pids": 64, "memory": "64Mi", "openFiles": 77}))

        self.succeed(box.run_detached("--grant", path))

        self.assertEqual(box.cgroup_file("pids", "pids.max"), "20")
        name = "memory.max" if host.cgroup_is_v2() else "memory.limit_in_bytes"
        self.assertEqual(box.cgroup_file("memory", name), str(64 << 20))
        self.prints(box.exec("sh", "-c", "ulimit -n"), "77")

    @only_rung("has no grants")
    def test_exec_gains_nothing(self):
        box = self.container().args("sleep", "100")
        self.succeed(box.run_detached("--grant", self.grant(READ_ONLY)))

        out = self.succeed(box.exec("sh", "-c", "touch /x 2>/dev/null || echo no; grep -E 'CapEff|NoNewPrivs' "
                                                "/proc/self/status", options=["--cap", "CAP_SYS_ADMIN"])).out

        self.assertEqual(out, f"no\nCapEff:\t{'0' * 16}\nNoNewPrivs:\t1\n")


class Network(Granted):
    @only_rung("has no grants")
    def test_without_a_network_grant_nothing_of_the_hosts_network_is_reachable(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            box = self.container()
            box.bundle.drop_namespace("network")

            out = self.inside(f"nc -w 1 127.0.0.1 {port} </dev/null 2>/dev/null || echo closed; ip route | wc -l; "
                              "ip -o link | grep -c UP", READ_ONLY, box=box)

        self.assertEqual(out, "closed\n0\n1")

    @only_rung("has no grants")
    def test_joining_a_namespace_with_a_way_out_gives_no_way_out(self):
        name = self.word
        subprocess.run(["ip", "netns", "add", name], check=True)
        self.addCleanup(subprocess.run, ["ip", "netns", "delete", name], check=True)
        subprocess.run(["ip", "-n", name, "link", "add", "out0", "type", "bridge"], check=True)
        subprocess.run(["ip", "-n", name, "addr", "add", "10.91.0.1/24", "dev", "out0"], check=True)
        subprocess.run(["ip", "-n", name, "link", "set", "out0", "up"], check=True)
        box = self.container()
        box.bundle.namespace("network", f"/run/netns/{name}")

        self.assertEqual(self.inside("ip -o link | grep -c out0; ip route | wc -l; true", READ_ONLY, box=box), "0\n0")


class Several(Granted):
    @only_rung("has no grants")
    def test_two_grants_allow_what_both_allow(self):
        box = self.container()
        for name in ("a", "b", "c"):
            os.mkdir(box.bundle.inside(name))

        self.assertEqual(
            self.inside("for d in a b c; do touch /$d/x 2>/dev/null && echo $d; done; true", box=box,
                        *[merged(filesystem={"readWrite": paths}) for paths in (["/a", "/b"], ["/b", "/c"])]), "b")

    @only_rung("has no grants")
    def test_a_grant_beside_the_config_is_in_force(self):
        box = self.container().shell("touch /x 2>/dev/null || echo no")
        with open(os.path.join(box.bundle.path, "grant.json"), "w", encoding="ascii") as file:
            json.dump(READ_ONLY, file)

        self.prints(box.run(), "no")

    @only_rung("has no grants")
    def test_a_grant_in_an_annotation_is_in_force(self):
        box = self.container().shell("touch /x 2>/dev/null || echo no")
        box.config["annotations"] = {"dev.rung.grant": json.dumps(READ_ONLY)}

        self.prints(box.run(), "no")

    @only_rung("has no grants")
    def test_a_grant_for_every_container_stands_before_the_verb(self):
        box = self.container().shell("touch /x 2>/dev/null || echo no")
        box.bundle.write()

        result = self.runtime.call("--grant", self.grant(READ_ONLY), "run", "--bundle", box.bundle.path, box.id)

        self.prints(result, "no")

    @only_rung("has no grants")
    def test_yaml_and_json_are_the_same_grant(self):
        text = "grantVersion: \"1\"\nfilesystem:\n  rootfs: readOnly\n  tmpfs: [{path: /scratch, size: 1Mi}]\ntools: [/]\n"

        self.assertEqual(self.inside("touch /x 2>/dev/null || echo no; touch /scratch/x && echo yes", text), "no\nyes")


class Refused(Granted):
    def refused(self, document, *words):
        box = self.container().args("true")

        self.fails(self.run_under(box, document), *words)

        self.is_gone(box)

    @only_rung("has no grants")
    def test_an_empty_grant_runs_nothing_and_names_the_program(self):
        self.refused({"grantVersion": "1"}, "grant_unrunnable", "true")

    @only_rung("has no grants")
    def test_a_missing_grant_is_named(self):
        box = self.container().args("true")

        self.fails(box.run("--grant", os.path.join(self.work, "nowhere")), "grant_missing", "nowhere")

        self.is_gone(box)

    @only_rung("has no grants")
    def test_a_grant_that_is_not_understood_is_refused(self):
        for document, code in (({**READ_ONLY, "filesytem": {}}, "grant_unknown_field"),
                               ({**READ_ONLY, "grantVersion": "2"}, "grant_version_unsupported"),
                               ('{"grantVersion": "1", "tools": ["/"], "tools": []}', "grant_duplicate_key"),
                               ("{", "grant_parse_error"),
                               (merged(filesystem={"readWrite": ["work"]}), "path_not_absolute"),
                               (merged(filesystem={"readWrite": ["/a/../etc"]}), "path_traversal"),
                               (merged(capabilities=["CAP_NOT_INVENTED"]), "capability_unknown"),
                               ({**READ_ONLY, "metadata": {"name": "x" * 70000}}, "grant_too_large")):
            with self.subTest(code):
                self.refused(document, code)

    @only_rung("has no grants")
    def test_a_grant_whose_time_is_over_or_to_come_is_refused(self):
        self.refused({**READ_ONLY, "metadata": {"expiresAt": "2020-01-01T00:00:00Z"}}, "grant_expired")
        self.refused({**READ_ONLY, "metadata": {"notBefore": "2100-01-01T00:00:00Z"}}, "grant_not_yet_valid")

    @only_rung("has no grants")
    def test_no_seccomp_agent_answers_for_what_a_grant_denies(self):
        box = self.container().args("true")
        box.config["linux"]["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "listenerPath": "/nonexistent/agent.sock",
                                          "syscalls": [{"names": ["openat"], "action": "SCMP_ACT_NOTIFY"}]}

        self.fails(self.run_under(box, READ_ONLY), "grant_unenforceable: linux.seccomp.listenerPath")

    @only_rung("has no grants")
    def test_what_cannot_be_enforced_does_not_start(self):
        for document, field in ((merged(network={"egress": [{"host": "example.org"}]}), "network.egress"),
                                (merged(budgets={"maxOutputBytes": "1Mi"}), "budgets.maxOutputBytes"),
                                (merged(isolation={"minimum": "microvm"}), "isolation.minimum")):
            with self.subTest(field):
                self.refused(document, f"grant_unenforceable: {field}")

    @only_rung("has no grants")
    def test_an_unknown_annotation_of_rungs_own_is_refused(self):
        box = self.container().args("true")
        box.config["annotations"] = {"dev.rung.grnat": "{}"}

        self.fails(box.run(), "dev.rung.grnat")

        self.is_gone(box)
