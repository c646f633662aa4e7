"""What the process gets: user, capabilities, limits, environment, directory, names and scores.

SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import os

ALL_SETS = ("bounding", "effective", "inheritable", "permitted", "ambient")


def _capabilities(t, **sets):
    t.process["capabilities"] = {name: list(names) for name, names in sets.items()}


def a_user_with_a_group_and_no_others(t):
    t.process["user"] = {"uid": 1000, "gid": 1000}
    t.inside()


def additional_groups(t):
    t.process["user"] = {"uid": 1000, "gid": 1001, "additionalGids": [5, 6, 7]}
    t.inside()


def a_group_that_is_listed_twice(t):
    t.process["user"] = {"uid": 1000, "gid": 5, "additionalGids": [5, 5, 6]}
    t.inside()


def groups_of_root(t):
    t.process["user"] = {"uid": 0, "gid": 0, "additionalGids": [0, 1, 2, 3, 4, 6, 10]}
    t.inside()


def the_largest_user_that_there_is(t):
    t.process["user"] = {"uid": 4294967294, "gid": 4294967294}
    t.inside()


def a_user_number_that_is_too_large(t):
    t.process["user"] = {"uid": 4294967296, "gid": 0}
    t.run()
    t.process["user"] = {"uid": -1, "gid": 0}
    t.run()


def the_name_of_a_user_is_ignored(t):
    t.process["user"] = {"uid": 0, "gid": 0, "username": "worker"}
    t.inside()


def a_user_whose_name_is_a_number(t):
    t.box.bundle.put("/etc/passwd", "1000:x:0:0:evil:/evil:/bin/sh\nroot:x:0:0::/root:/bin/sh\n")
    t.process["user"] = {"uid": 1000, "gid": 1000}
    t.inside()


def home_of_a_user_in_the_password_file(t):
    t.process["user"] = {"uid": 1000, "gid": 1000}
    t.shell("echo $HOME")


def home_of_a_user_who_is_unknown(t):
    t.process["user"] = {"uid": 4321, "gid": 1}
    t.shell("echo $HOME")


def an_empty_home_in_the_config(t):
    t.process["env"].append("HOME=")
    t.shell("echo $HOME")


def a_home_in_the_config(t):
    t.process["env"].append("HOME=/somewhere")
    t.shell("echo $HOME")


def a_password_file_that_is_damaged(t):
    t.box.bundle.put("/etc/passwd", "::::\nroot\n:x:0:0\n" + "x" * 5000 + "\nroot:x:0:0:root:/found:/bin/sh")
    t.shell("echo $HOME")


def no_password_file(t):
    os.unlink(t.box.bundle.inside("/etc/passwd"))
    t.shell("echo $HOME")


def a_password_file_that_is_a_symlink_to_the_outside(t):
    secret = t.file("outside", "root:x:0:0::/outside:/bin/sh\n")
    os.unlink(t.box.bundle.inside("/etc/passwd"))
    os.symlink(secret, t.box.bundle.inside("/etc/passwd"))
    t.shell("echo $HOME")


def a_umask(t):
    t.process["user"]["umask"] = 0o077
    t.inside()


def a_umask_of_zero(t):
    t.process["user"]["umask"] = 0
    t.inside()


def the_umask_of_the_caller(t):
    t.inside(prepare=lambda: os.umask(0o027))


def capabilities_of_root(t):
    names = ["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_SETUID", "CAP_SYS_CHROOT"]
    _capabilities(t, bounding=names, effective=names, permitted=names)
    t.inside()


def inheritable_and_ambient_capabilities_of_root(t):
    names = ["CAP_CHOWN", "CAP_NET_RAW"]
    _capabilities(t, **dict.fromkeys(ALL_SETS, names))
    t.inside()


def ambient_capabilities_of_a_user(t):
    t.process["user"] = {"uid": 1000, "gid": 1000}
    _capabilities(t, **dict.fromkeys(ALL_SETS, ["CAP_KILL", "CAP_NET_BIND_SERVICE"]))
    t.inside()


def an_ambient_capability_that_is_not_inheritable(t):
    t.process["user"] = {"uid": 1000, "gid": 1000}
    _capabilities(t, bounding=["CAP_KILL"], permitted=["CAP_KILL"], effective=["CAP_KILL"], ambient=["CAP_KILL"])
    t.inside()


def capabilities_of_a_user_without_ambient_ones(t):
    t.process["user"] = {"uid": 1000, "gid": 1000}
    _capabilities(t, bounding=["CAP_KILL", "CAP_CHOWN"], permitted=["CAP_KILL"], effective=["CAP_KILL"])
    t.inside()


def an_effective_capability_that_is_not_permitted(t):
    _capabilities(t, bounding=["CAP_KILL"], effective=["CAP_KILL"])
    t.inside()


def a_permitted_capability_that_is_not_bounding(t):
    _capabilities(t, effective=["CAP_KILL"], permitted=["CAP_KILL"])
    t.inside()


def empty_capabilities(t):
    t.process["capabilities"] = {}
    t.inside()


def no_capabilities_in_the_config(t):
    t.process.pop("capabilities")
    t.inside()


def a_capability_that_nobody_knows(t):
    _capabilities(t, bounding=["CAP_NOPE", "CAP_KILL"], effective=["CAP_KILL", "CAP_NOPE"], permitted=["CAP_KILL"])
    t.inside()


def a_capability_that_this_host_does_not_have(t):
    # The machine's root may lack CAP_SYS_RESOURCE; what cannot be granted is left out.
    names = ["CAP_SYS_RESOURCE", "CAP_KILL"]
    _capabilities(t, bounding=names, effective=names, permitted=names, inheritable=names)
    t.inside()


def capabilities_in_small_letters_or_without_prefix(t):
    _capabilities(t, bounding=["cap_kill", "CHOWN", "cap_Chown"], effective=["cap_kill"], permitted=["cap_kill"])
    t.inside()


def new_privileges_are_allowed_when_the_config_says_nothing(t):
    t.process.pop("noNewPrivileges")
    t.inside()


def new_privileges_are_allowed_when_the_config_says_so(t):
    t.process["noNewPrivileges"] = False
    t.inside()


def limits_of_many_kinds(t):
    t.process["rlimits"] = [
        {"type": "RLIMIT_NOFILE", "hard": 1000, "soft": 500}, {"type": "RLIMIT_CORE", "hard": 0, "soft": 0},
        {"type": "RLIMIT_NPROC", "hard": 400, "soft": 300}, {"type": "RLIMIT_STACK", "hard": 16777216, "soft": 8388608},
        {"type": "RLIMIT_CPU", "hard": 1000, "soft": 900}, {"type": "RLIMIT_FSIZE", "hard": 1 << 30, "soft": 1 << 30},
        {"type": "RLIMIT_DATA", "hard": 1 << 31, "soft": 1 << 30}, {"type": "RLIMIT_AS", "hard": 1 << 34, "soft": 1 << 33},
        {"type": "RLIMIT_MEMLOCK", "hard": 65536, "soft": 65536}, {"type": "RLIMIT_LOCKS", "hard": 10, "soft": 10},
        {"type": "RLIMIT_SIGPENDING", "hard": 100, "soft": 50}, {"type": "RLIMIT_MSGQUEUE", "hard": 4096, "soft": 2048},
        {"type": "RLIMIT_NICE", "hard": 0, "soft": 0}, {"type": "RLIMIT_RTPRIO", "hard": 0, "soft": 0},
        {"type": "RLIMIT_RSS", "hard": 1 << 30, "soft": 1 << 29}, {"type": "RLIMIT_RTTIME", "hard": 1000, "soft": 1000},
    ]
    t.inside()


def no_limits(t):
    t.process["rlimits"] = []
    t.inside()


def a_limit_without_a_bound(t):
    t.process["rlimits"] = [{"type": "RLIMIT_FSIZE", "hard": 18446744073709551615, "soft": 18446744073709551615}]
    t.inside()


def a_limit_above_that_of_the_caller(t):
    t.process["rlimits"] = [{"type": "RLIMIT_NOFILE", "hard": 1 << 20, "soft": 1 << 20}]
    t.inside()


def a_soft_limit_above_the_hard_one(t):
    t.process["rlimits"] = [{"type": "RLIMIT_NOFILE", "hard": 100, "soft": 200}]
    t.run()
    t.left("after run")


def an_unknown_limit(t):
    t.process["rlimits"] = [{"type": "RLIMIT_NOPE", "hard": 100, "soft": 100}]
    t.run()
    t.left("after run")


def the_same_limit_twice(t):
    t.process["rlimits"] = [{"type": "RLIMIT_NOFILE", "hard": 100, "soft": 100}, {"type": "RLIMIT_NOFILE", "hard": 200, "soft": 200}]
    t.run()


def an_out_of_memory_score(t):
    t.process["oomScoreAdj"] = 500
    t.inside()


def an_out_of_memory_score_of_zero(t):
    t.process["oomScoreAdj"] = 0
    t.inside()


def an_out_of_memory_score_that_is_too_large(t):
    t.process["oomScoreAdj"] = 1001
    t.run()
    t.left("after run")


def an_out_of_memory_score_below_that_of_the_caller(t):
    t.process["oomScoreAdj"] = -500
    t.run()


def the_environment_of_the_caller_stays_outside(t):
    t.inside(env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "SECRET": "1", "LD_LIBRARY_PATH": "/nowhere"})


def the_last_of_two_values_wins(t):
    t.process["env"] += ["ONE=a", "TWO=x", "ONE=b"]
    t.inside()


def values_with_line_breaks_equal_signs_and_no_text(t):
    t.process["env"] += ["A=x\ny", "B=c=d=e", "EMPTY=", "SPACE= x ", "UNI=ü€"]
    t.inside()


def an_entry_without_an_equal_sign(t):
    t.process["env"].append("NOVALUE")
    t.run()


def an_entry_that_is_empty(t):
    t.process["env"].append("")
    t.run()


def an_entry_without_a_name(t):
    t.process["env"].append("=value")
    t.shell("echo ran")


def no_environment(t):
    t.process.pop("env")
    t.process["args"] = ["/bin/probe"]
    t.inside()


def a_large_environment(t):
    t.process["env"] += [f"V{number}={'x' * 1000}" for number in range(200)]
    t.shell("env | wc -c")


def the_program_is_found_through_the_path_of_the_config(t):
    t.box.bundle.put("/opt/tool", "#!/bin/sh\necho found $0 $@\n", 0o755)
    t.process["env"] = ["PATH=/opt:/bin"]
    t.box.args("tool", "a", "b c")
    t.run()


def the_program_is_not_found_without_a_path(t):
    t.process["env"] = ["TERM=xterm"]
    t.box.args("true")
    t.run()


def an_empty_path(t):
    t.process["env"] = ["PATH="]
    t.box.args("true")
    t.run()


def a_path_with_an_empty_part(t):
    t.box.bundle.put("/tool", "#!/bin/sh\necho found\n", 0o755)
    t.process["env"] = ["PATH=:/bin"]
    t.box.args("tool")
    t.run()


def a_program_relative_to_the_directory(t):
    t.box.bundle.put("/opt/tool", "#!/bin/sh\necho found\n", 0o755)
    t.process["cwd"] = "/opt"
    t.box.args("./tool")
    t.run()


def a_first_match_that_is_not_executable_is_passed_over(t):
    t.box.bundle.put("/opt/tool", "#!/bin/sh\necho first\n", 0o644)
    t.box.bundle.put("/opt2/tool", "#!/bin/sh\necho second\n", 0o755)
    t.process["env"] = ["PATH=/opt:/opt2:/bin"]
    t.box.args("tool")
    t.run()


def arguments_arrive_as_they_are(t):
    t.process["args"] = ["/bin/probe", "", "a b", "-x", "--", "$HOME", "*", "\u00fc", "tab\there"]
    result = t.box.run()
    t.step("run", result, output=False)
    t.note("arguments", [line for line in result.out.splitlines() if line.startswith("argument")])


def many_arguments(t):
    t.box.args("sh", "-c", "echo $#", "sh", *["x" * 100] * 5000)
    t.run()


def the_first_argument_stays_the_name(t):
    os.symlink("busybox", t.box.bundle.inside("/bin/myecho"))
    t.box.args("/bin/busybox", "echo", "through busybox")
    t.run()


def the_directory_of_the_config(t):
    os.makedirs(t.box.bundle.inside("/some/where"))
    t.process["cwd"] = "/some/where"
    t.inside()


def a_directory_that_does_not_exist(t):
    t.process["cwd"] = "/not/yet/there"
    t.shell("pwd; ls -ld /not/yet/there | cut -c1-10; ls -ldn /not | cut -c1-40")


def a_directory_that_does_not_exist_for_a_user(t):
    t.process["cwd"] = "/not/yet/there"
    t.process["user"] = {"uid": 1000, "gid": 1000}
    t.shell("pwd; stat -c '%u %g %a' /not/yet/there")


def a_directory_that_does_not_exist_in_a_read_only_root(t):
    t.config["root"]["readonly"] = True
    t.process["cwd"] = "/not/yet/there"
    t.shell("pwd")


def a_directory_that_the_user_may_not_enter(t):
    os.makedirs(t.box.bundle.inside("/closed"), 0o700)
    t.process["cwd"] = "/closed"
    t.process["user"] = {"uid": 1000, "gid": 1000}
    t.run()


def a_directory_that_only_the_user_may_enter(t):
    os.makedirs(t.box.bundle.inside("/mine"))
    os.chmod(t.box.bundle.inside("/mine"), 0o700)
    os.chown(t.box.bundle.inside("/mine"), 1000, 1000)
    t.process["cwd"] = "/mine"
    t.process["user"] = {"uid": 1000, "gid": 1000}
    t.shell("pwd")


def a_directory_that_is_a_file(t):
    t.process["cwd"] = "/etc/passwd"
    t.run()


def a_directory_that_is_a_symlink(t):
    os.symlink("/tmp", t.box.bundle.inside("/link"))
    t.process["cwd"] = "/link"
    t.shell("pwd -P")


def a_relative_directory(t):
    t.process["cwd"] = "tmp"
    t.run()


def an_empty_directory_name(t):
    t.process["cwd"] = ""
    t.run()


def a_directory_of_the_host_through_a_descriptor(t):
    for number in (3, 4, 5, 6, 7, 8, 9, 10):
        t.process["cwd"] = f"/proc/self/fd/{number}"
        t.box.args("sh", "-c", "ls ../../../../../etc/debian_version 2>/dev/null && echo escaped")
        result = t.box.run()
        t.note(f"escape through {number}", "escaped" in result.out)
        t.must("escaped" not in result.out, f"the host is reached through descriptor {number}")


def a_host_name_and_a_domain_name(t):
    t.config["hostname"] = "a-name.example"
    t.config["domainname"] = "a-domain"
    t.inside()


def no_host_name(t):
    t.config.pop("hostname")
    t.shell("test \"$(hostname)\" = \"$(cat /proc/sys/kernel/hostname)\" && echo same")


def a_host_name_without_a_namespace_for_it(t):
    t.box.bundle.drop_namespace("uts")
    t.run()


def a_host_name_that_is_too_long(t):
    t.config["hostname"] = "x" * 65
    t.run()
    t.left("after run")


def the_personality_of_a_32_bit_machine(t):
    t.linux["personality"] = {"domain": "LINUX32"}
    t.inside()


def the_personality_linux(t):
    t.linux["personality"] = {"domain": "LINUX"}
    t.inside()


def an_unknown_personality(t):
    t.linux["personality"] = {"domain": "SOLARIS"}
    t.run()


def sysctls_of_the_namespaces(t):
    t.linux["sysctl"] = {"net.ipv4.ip_forward": "1", "kernel.shmmax": "1000000", "fs.mqueue.msg_max": "20",
                         "net.ipv4.ping_group_range": "0 0", "kernel.msgmax": "9000"}
    t.shell("cd /proc/sys; cat net/ipv4/ip_forward kernel/shmmax fs/mqueue/msg_max net/ipv4/ping_group_range kernel/msgmax")


def a_sysctl_with_slashes(t):
    t.linux["sysctl"] = {"net/ipv4/ip_forward": "1"}
    t.shell("cat /proc/sys/net/ipv4/ip_forward")


def the_domain_name_as_a_sysctl(t):
    t.linux["sysctl"] = {"kernel.domainname": "example.org"}
    t.shell("cat /proc/sys/kernel/domainname")


def the_host_name_as_a_sysctl(t):
    t.linux["sysctl"] = {"kernel.hostname": "by-sysctl"}
    t.run()


def a_sysctl_of_the_host(t):
    for name in ("vm.swappiness", "kernel.panic", "fs.file-max", "kernel.core_pattern", "dev.cdrom.debug", "user.max_user_namespaces"):
        t.linux["sysctl"] = {name: "1"}
        t.step(f"run with {name}", t.box.run())


def a_network_sysctl_without_a_network_namespace(t):
    t.box.bundle.drop_namespace("network")
    t.linux["sysctl"] = {"net.ipv4.ip_forward": "1"}
    t.run()


def an_ipc_sysctl_without_an_ipc_namespace(t):
    t.box.bundle.drop_namespace("ipc")
    t.config["mounts"] = [mount for mount in t.config["mounts"] if mount["type"] != "mqueue"]
    t.linux["sysctl"] = {"kernel.shmmax": "1000000"}
    t.run()


def a_network_sysctl_with_the_hosts_namespace_by_path(t):
    t.box.bundle.namespace("network", "/proc/self/ns/net")
    t.linux["sysctl"] = {"net.ipv4.ip_forward": "1"}
    t.run()


def a_sysctl_that_does_not_exist(t):
    t.linux["sysctl"] = {"net.ipv4.there_is_no_such_thing": "1"}
    t.run()
    t.left("after run")


def a_sysctl_whose_name_climbs(t):
    t.linux["sysctl"] = {"net.../../../proc/self/oom_score_adj": "1"}
    t.run()
    t.linux["sysctl"] = {"net/../vm/swappiness": "1"}
    t.run()


def a_sysctl_value_that_the_kernel_refuses(t):
    t.linux["sysctl"] = {"net.ipv4.ip_forward": "words"}
    t.run()
    t.left("after run")


def signals_that_the_caller_ignores_or_blocks(t):
    def _prepare():
        import signal
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGUSR1})
    t.inside(prepare=_prepare)


def niceness_and_parent_death_signal_of_the_caller(t):
    def _prepare():
        os.nice(5)
        ctypes.CDLL(None).prctl(1, 9)
    t.inside(prepare=_prepare)


def an_affinity_of_the_caller(t):
    t.inside(prepare=lambda: os.sched_setaffinity(0, {0}))


def limits_of_the_caller(t):
    import resource
    t.process["rlimits"] = []
    t.inside(prepare=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))


def every_program_error_at_create(t):
    t.box.bundle.put("/opt/plain", "text\n", 0o644)
    t.box.bundle.put("/opt/format", "text without an interpreter line\n", 0o755)
    t.box.bundle.put("/opt/script", "#!/no/interpreter\n", 0o755)
    for program in ("nothing-of-that-name", "/nothing/there", "/opt/plain", "/opt", "opt/plain", "./nothing", "", "/etc/passwd/x"):
        t.box.args(program)
        t.step(f"create of {program!r}", t.box.create())
    t.left("after create")


def a_script_whose_interpreter_is_missing(t):
    t.box.bundle.put("/opt/script", "#!/no/interpreter\n", 0o755)
    t.box.args("/opt/script")
    t.run()


def a_file_that_is_no_program(t):
    t.box.bundle.put("/opt/format", "text without an interpreter line\n", 0o755)
    t.box.args("/opt/format")
    t.run()


def a_program_that_the_user_may_not_execute(t):
    t.box.bundle.put("/opt/tool", "#!/bin/sh\necho ran\n", 0o700)
    t.process["user"] = {"uid": 1000, "gid": 1000}
    t.box.args("/opt/tool")
    t.run()


def a_process_without_arguments(t):
    t.process["args"] = []
    t.run()
    t.process.pop("args")
    t.run()


def a_command_line_instead_of_arguments(t):
    t.process.pop("args")
    t.process["commandLine"] = "true"
    t.run()


def a_new_keyring_or_the_callers(t):
    t.inside("--no-new-keyring")


def the_processes_own_subreaper_and_session(t):
    t.box.shell("sleep 0.01 & cat /proc/self/stat | awk '{print $5 == $6, $7}'; wait")
    t.run()


def an_io_priority(t):
    t.process["ioPriority"] = {"class": "IOPRIO_CLASS_BE", "priority": 6}
    t.inside()


def a_scheduler(t):
    t.process["scheduler"] = {"policy": "SCHED_BATCH", "nice": 3}
    t.inside()


def an_unknown_scheduler(t):
    t.process["scheduler"] = {"policy": "SCHED_NOPE"}
    t.run()


def an_apparmor_profile_where_there_is_no_apparmor(t):
    t.process["apparmorProfile"] = "some-profile"
    t.run()
    t.left("after run")


def an_selinux_label_where_there_is_no_selinux(t):
    t.process["selinuxLabel"] = "system_u:system_r:container_t:s0"
    t.run()
    t.left("after run")
