"""What the process starts with: user, directory, environment, capabilities, limits, names.

SPDX-License-Identifier: Apache-2.0
"""

import os

from rungtest import Case, differs

SETS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
KILL, BIND, CHOWN = 1 << 5, 1 << 10, 1 << 0


class Users(Case):
    def test_the_user_groups_and_no_others_are_set(self):
        box = self.container().shell("id -u; id -g; grep Groups /proc/self/status")
        box.config["process"]["user"] = {"uid": 1000, "gid": 1001, "additionalGids": [5, 6]}

        self.assertEqual(self.succeed(box.run()).out.split(), ["1000", "1001", "Groups:", "5", "6"])

    def test_without_additional_groups_the_callers_are_dropped(self):
        box = self.container().args("grep", "Groups", "/proc/self/status")
        box.config["process"]["user"] = {"uid": 1000, "gid": 1000}

        self.assertEqual(self.succeed(box.run(prepare=lambda: os.setgroups([4, 27]))).out.split(), ["Groups:"])

    @differs(runc="1.1 does not know it")
    def test_the_callers_groups_stay_when_the_annotation_says_so(self):
        box = self.container().args("grep", "Groups", "/proc/self/status")
        box.config["process"]["user"] = {"uid": 1000, "gid": 1000}

        for value, groups in (("1", ["4", "27"]), ("0", [])):
            box.config["annotations"] = {"run.oci.keep_original_groups": value}

            out = self.succeed(box.run(prepare=lambda: os.setgroups([4, 27]))).out

            self.assertEqual(out.split(), ["Groups:", *groups])

    def test_a_group_may_be_listed_twice(self):
        box = self.container().args("grep", "Groups", "/proc/self/status")
        box.config["process"]["user"] = {"uid": 1000, "gid": 1000, "additionalGids": [5, 5, 6]}

        self.assertEqual(set(self.succeed(box.run()).out.split()), {"Groups:", "5", "6"})

    def test_the_umask_is_0022_unless_the_config_says_otherwise(self):
        box = self.container("a").shell("umask")
        self.prints(box.run(prepare=lambda: os.umask(0o077)), "0022")

        other = self.container("b").shell("umask")
        other.config["process"]["user"]["umask"] = 0o027
        self.prints(other.run(), "0027")


class Directory(Case):
    def test_the_process_starts_in_its_directory(self):
        box = self.container().args("pwd")
        box.config["process"]["cwd"] = "/usr/bin"

        self.prints(box.run(), "/usr/bin")

    def test_a_missing_directory_is_made(self):
        box = self.container().shell("pwd; stat -c %a /a /a/b/c")
        box.config["process"]["cwd"] = "/a/b/c"

        self.prints(box.run(), "/a/b/c\n755\n755")

    @differs(crun="1.8 takes it as relative to the root")
    def test_a_relative_directory_is_refused(self):
        box = self.container().args("pwd")
        box.config["process"]["cwd"] = "usr"

        self.fails(box.run(), "bsolute")

        self.is_gone(box)

    def test_a_directory_of_the_host_is_never_entered(self):
        for number in (3, 5, 6, 7, 8, 9, 10):
            with self.subTest(number):
                box = self.container(f"c{number}").shell("pwd; ls ../../../../etc/hostname")
                box.config["process"]["cwd"] = f"/proc/self/fd/{number}"

                result = box.run()

                self.assertNotEqual(result.code, 0, repr(result))


class Environment(Case):
    def test_the_environment_is_the_configs_and_home_is_added(self):
        box = self.container().args("env")
        box.config["process"]["env"] = ["PATH=/bin", "ONE=1", "EMPTY=", "EQUALS=a=b"]

        self.assertEqual(set(self.succeed(box.run()).out.split("\n")) - {""},
                         {"PATH=/bin", "ONE=1", "EMPTY=", "EQUALS=a=b", "HOME=/root"})

    @differs(crun="1.8 lists both")
    def test_the_last_of_two_values_wins_and_is_listed_once(self):
        box = self.container().args("env")
        box.config["process"]["env"] += ["ONE=a", "TWO=2", "ONE=b"]

        lines = self.succeed(box.run()).out.splitlines()

        self.assertEqual([line for line in lines if line.startswith("ONE=")], ["ONE=b"])

    def test_a_value_may_hold_a_line_break(self):
        box = self.container().shell('echo "$LINES_OF"')
        box.config["process"]["env"].append("LINES_OF=one\ntwo")

        self.prints(box.run(), "one\ntwo")

    def test_home_comes_from_the_containers_password_file(self):
        box = self.container().shell("echo $HOME")
        box.config["process"]["user"] = {"uid": 1000, "gid": 1000}

        self.prints(box.run(), "/home/worker")

    @differs(crun="1.8 leaves it out")
    def test_home_of_an_unknown_user_is_the_root_directory(self):
        box = self.container().shell("echo $HOME")
        box.config["process"]["user"] = {"uid": 4242, "gid": 4242}

        self.prints(box.run(), "/")

    def test_a_home_of_the_config_is_kept(self):
        box = self.container().shell("echo $HOME")
        box.config["process"]["env"].append("HOME=/elsewhere")

        self.prints(box.run(), "/elsewhere")

    @differs(crun="1.8 leaves HOME out")
    def test_a_user_whose_name_is_a_number_gives_no_rights(self):
        box = self.container().shell("id -u; echo $HOME")
        box.bundle.put("/etc/passwd", "1000:x:0:0:trap:/trap:/bin/sh\n")
        box.config["process"]["user"] = {"uid": 1000, "gid": 1000}

        self.prints(box.run(), "1000\n/")


class Programs(Case):
    def test_a_program_is_found_through_the_path_of_the_config(self):
        box = self.container().args("tool")
        box.bundle.put("/opt/tools/tool", "#!/bin/sh\necho found\n", 0o755)
        box.config["process"]["env"] = ["PATH=/nowhere:/opt/tools:/bin"]

        self.prints(box.run(), "found")

    def test_arguments_arrive_as_they_are(self):
        box = self.container().args("printf", "[%s]", "", "a b", "*", "$HOME", "-x")

        self.prints(box.run(), "[][a b][*][$HOME][-x]")

    def test_the_first_argument_is_kept_as_the_name(self):
        box = self.container().args("/bin/sh", "-c", "tr '\\0' ' ' < /proc/$$/cmdline; true")

        self.assertTrue(self.succeed(box.run()).out.startswith("/bin/sh -c"))


class Capabilities(Case):
    def sets(self, box):
        out = self.succeed(box.args("grep", "Cap", "/proc/self/status").run()).out
        return {line.split(":")[0]: int(line.split()[1], 16) for line in out.splitlines()}

    def test_each_of_the_five_sets_is_as_written_for_a_user_without_rights(self):
        box = self.container()
        box.config["process"]["user"] = {"uid": 1000, "gid": 1000}
        box.config["process"]["capabilities"] = {
            "bounding": ["CAP_KILL", "CAP_NET_BIND_SERVICE", "CAP_CHOWN"],
            "permitted": ["CAP_KILL", "CAP_NET_BIND_SERVICE"], "effective": ["CAP_KILL"],
            "inheritable": ["CAP_NET_BIND_SERVICE"], "ambient": ["CAP_NET_BIND_SERVICE"]}

        sets = self.sets(box)

        # After execve a user other than root keeps the ambient set only (capabilities(7)).
        self.assertEqual([sets[name] for name in SETS], [BIND, BIND, BIND, KILL | BIND | CHOWN, BIND])

    def test_root_keeps_what_the_bounding_set_allows(self):
        box = self.container()
        box.config["process"]["capabilities"] = {
            name: ["CAP_KILL", "CAP_CHOWN"] for name in ("bounding", "permitted", "effective")}

        sets = self.sets(box)

        self.assertEqual([sets[name] for name in SETS], [0, KILL | CHOWN, KILL | CHOWN, KILL | CHOWN, 0])

    @differs(runc="1.1 takes an absent object for an error", crun="1.8 keeps every capability")
    def test_absent_capabilities_are_none(self):
        box = self.container()
        del box.config["process"]["capabilities"]

        self.assertEqual(set(self.sets(box).values()), {0})

    def test_an_unknown_capability_is_ignored(self):
        box = self.container()
        box.config["process"]["capabilities"] = {
            name: ["CAP_KILL", "CAP_NOT_INVENTED"] for name in ("bounding", "permitted", "effective")}

        self.assertEqual(self.sets(box)["CapBnd"], KILL)

    def test_no_new_privileges_is_set_as_written(self):
        for wanted in (True, False):
            with self.subTest(wanted):
                box = self.container(f"c{wanted}").args("grep", "NoNewPrivs", "/proc/self/status")
                box.config["process"]["noNewPrivileges"] = wanted

                self.prints(box.run(), f"NoNewPrivs:\t{int(wanted)}")


class Limits(Case):
    def test_a_resource_limit_is_set(self):
        box = self.container().shell("ulimit -Sn; ulimit -Hn; ulimit -c")
        box.config["process"]["rlimits"] = [{"type": "RLIMIT_NOFILE", "soft": 100, "hard": 200},
                                            {"type": "RLIMIT_CORE", "soft": 0, "hard": 0}]

        self.prints(box.run(), "100\n200\n0")

    def test_an_unknown_resource_limit_is_an_error(self):
        box = self.container()
        box.config["process"]["rlimits"] = [{"type": "RLIMIT_NONSENSE", "soft": 1, "hard": 1}]

        self.fails(box.run(), "RLIMIT_NONSENSE")

        self.is_gone(box)

    @differs(runc="accepts both", crun="accepts both")
    def test_the_same_resource_limit_twice_is_an_error(self):
        box = self.container()
        box.config["process"]["rlimits"] = [{"type": "RLIMIT_NOFILE", "soft": 1, "hard": 1}] * 2

        self.fails(box.run(), "rlimits")

        self.is_gone(box)

    def test_the_out_of_memory_score_is_set(self):
        box = self.container().args("cat", "/proc/self/oom_score_adj")
        box.config["process"]["oomScoreAdj"] = 321

        self.prints(box.run(), "321")


class Names(Case):
    def test_the_host_name_is_set(self):
        box = self.container().args("hostname")
        box.config["hostname"] = "some.name"

        self.prints(box.run(), "some.name")

    def test_a_host_name_without_a_namespace_for_it_is_an_error(self):
        box = self.container().args("hostname")
        box.bundle.drop_namespace("uts")

        self.fails(box.run())

        self.is_gone(box)

    @differs(runc="1.1 does not know it")
    def test_the_domain_name_is_set(self):
        box = self.container().args("cat", "/proc/sys/kernel/domainname")
        box.config["domainname"] = "example.org"

        self.prints(box.run(), "example.org")

    @differs(runc="1.1 does not know the domain name")
    def test_the_domain_name_is_set_by_one_field_only(self):
        for name, code in (("example.com", 1), ("example.org", 0)):
            with self.subTest(name):
                box = self.container(name).args("true")
                box.config["domainname"] = "example.org"
                box.config["linux"]["sysctl"] = {"kernel.domainname": name}

                self.assertEqual(box.run().code, code)

                self.is_gone(box)

    def test_a_sysctl_of_a_namespace_is_set(self):
        box = self.container().args("cat", "/proc/sys/net/ipv4/ip_forward", "/proc/sys/kernel/shm_rmid_forced")
        box.config["linux"]["sysctl"] = {"net.ipv4.ip_forward": "1", "kernel.shm_rmid_forced": "1"}

        self.prints(box.run(), "1\n1")

    def test_a_sysctl_of_the_host_is_refused(self):
        for key in ("vm.swappiness", "net.ipv4.ip_forward", "user.max_user_namespaces"):
            with self.subTest(key):
                box = self.container(key[:4].strip("."))
                box.config["linux"]["sysctl"] = {key: "1"}
                if key.startswith("net"):
                    box.bundle.drop_namespace("network")

                self.fails(box.run(), key)

                self.is_gone(box)

    def test_the_personality_is_set(self):
        box = self.container().args("uname", "-m")
        box.config["linux"]["personality"] = {"domain": "LINUX32"}
        if self.kind == "runc":
            self.skipTest("runc: 1.1 does not know it")

        self.assertIn(self.succeed(box.run()).out.strip(), ("i686", "armv7l", "armv8l"))
