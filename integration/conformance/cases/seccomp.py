"""Filters of system calls: actions, operators, flags, architectures, and what is refused.

SPDX-License-Identifier: Apache-2.0
"""


def _filter(t, action, names=("mkdir", "mkdirat"), default="SCMP_ACT_ALLOW", **rule):
    t.linux["seccomp"] = {"defaultAction": default, "syscalls": [{"names": list(names), "action": action, **rule}]}


TRY = "mkdir /tmp/x 2>&1 | sed 's/.*: //'; test -d /tmp/x && echo made; grep ^Seccomp: /proc/self/status"


def no_filter(t):
    t.shell(TRY)


def an_empty_filter(t):
    t.linux["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW"}
    t.shell(TRY)


def a_refused_call(t):
    _filter(t, "SCMP_ACT_ERRNO")
    t.shell(TRY)
    t.inside()


def a_refused_call_with_its_own_number(t):
    _filter(t, "SCMP_ACT_ERRNO", errnoRet=28)
    t.shell(TRY)


def a_number_of_zero(t):
    _filter(t, "SCMP_ACT_ERRNO", errnoRet=0)
    t.shell("mkdir /tmp/x; test -d /tmp/x || echo not made")


def a_number_that_is_too_large(t):
    _filter(t, "SCMP_ACT_ERRNO", errnoRet=5000)
    t.shell("mkdir /tmp/x; test -d /tmp/x || echo not made")


def a_number_with_an_action_that_takes_none(t):
    _filter(t, "SCMP_ACT_KILL", errnoRet=5)
    t.shell("true")


def the_default_number(t):
    names = _usual_calls()
    t.linux["seccomp"] = {"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 28, "syscalls": [{"names": names, "action": "SCMP_ACT_ALLOW"}]}
    t.shell("mkdir /tmp/x 2>&1 | sed 's/.*: //'")


def the_default_without_a_number(t):
    t.linux["seccomp"] = {"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"names": _usual_calls(), "action": "SCMP_ACT_ALLOW"}]}
    t.shell("mkdir /tmp/x 2>&1 | sed 's/.*: //'")


def _usual_calls():
    return """access arch_prctl bind brk capget capset chdir chmod chown clock_gettime clone clone3 close close_range connect dup dup2 dup3
 epoll_create1 epoll_ctl epoll_pwait execve execveat exit exit_group faccessat faccessat2 fadvise64 fchdir fchmod fchown fcntl fstat fstatfs
 futex getcwd getdents64 getegid geteuid getgid getgroups getpgrp getpid getppid getrandom getresgid getresuid getrlimit gettid getuid ioctl kill
 lseek lstat madvise mmap mount mprotect mremap munmap nanosleep newfstatat open openat openat2 pipe pipe2 poll ppoll prctl pread64 prlimit64
 pselect6 read readlink readlinkat recvfrom recvmsg restart_syscall rseq rt_sigaction rt_sigprocmask rt_sigreturn rt_sigsuspend sched_getaffinity
 sched_yield seccomp select sendmsg sendto set_robust_list set_tid_address setgid setgroups setpgid setresgid setresuid setsid setuid
 sigaltstack socket socketpair stat statfs statx sysinfo tgkill umask uname unlink wait4 waitid write writev""".split()


def a_call_that_kills(t):
    for action in ("SCMP_ACT_KILL", "SCMP_ACT_KILL_PROCESS", "SCMP_ACT_KILL_THREAD"):
        _filter(t, action)
        t.box.shell("mkdir /tmp/x; echo survived $?")
        t.step(f"run with {action}", t.box.run())


def a_call_that_traps(t):
    _filter(t, "SCMP_ACT_TRAP")
    t.shell("mkdir /tmp/x; echo survived $?")


def a_call_that_is_traced_by_nobody(t):
    _filter(t, "SCMP_ACT_TRACE")
    t.shell("mkdir /tmp/x 2>&1 | sed 's/.*: //'")


def a_call_that_is_logged(t):
    _filter(t, "SCMP_ACT_LOG")
    t.shell("mkdir /tmp/x && echo made")


def an_unknown_action(t):
    _filter(t, "SCMP_ACT_NOPE")
    t.run()
    t.left()


def an_unknown_default_action(t):
    _filter(t, "SCMP_ACT_ERRNO", default="SCMP_ACT_NOPE")
    t.run()


def no_default_action(t):
    t.linux["seccomp"] = {"syscalls": [{"names": ["mkdir"], "action": "SCMP_ACT_ERRNO"}]}
    t.run()


def every_operator(t):
    for operator, value, second in (("SCMP_CMP_NE", 0o700, 0), ("SCMP_CMP_LT", 0o700, 0), ("SCMP_CMP_LE", 0o700, 0), ("SCMP_CMP_EQ", 0o700, 0),
                                    ("SCMP_CMP_GE", 0o700, 0), ("SCMP_CMP_GT", 0o700, 0), ("SCMP_CMP_MASKED_EQ", 0o777, 0o700)):
        t.linux["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [
            {"names": ["fchmod", "chmod"], "action": "SCMP_ACT_ERRNO", "args": [{"index": 1, "value": value, "valueTwo": second, "op": operator}]}]}
        t.box.shell("cd /tmp; >x; for m in 600 700 777; do chmod $m x 2>/dev/null && echo $m; done")
        t.step(f"run with {operator}", t.box.run())


def an_unknown_operator(t):
    _filter(t, "SCMP_ACT_ERRNO", args=[{"index": 0, "value": 0, "op": "SCMP_CMP_NOPE"}])
    t.run()


def an_argument_that_does_not_exist(t):
    _filter(t, "SCMP_ACT_ERRNO", args=[{"index": 7, "value": 0, "op": "SCMP_CMP_EQ"}])
    t.run()


def two_conditions_on_one_argument(t):
    t.linux["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [
        {"names": ["chmod", "fchmod"], "action": "SCMP_ACT_ERRNO", "args": [{"index": 1, "value": 0o700, "op": "SCMP_CMP_EQ"},
                                                                         {"index": 1, "value": 0o777, "op": "SCMP_CMP_EQ"}]}]}
    t.shell("cd /tmp; >x; for m in 600 700 777; do chmod $m x 2>/dev/null && echo $m; done")


def conditions_on_two_arguments(t):
    t.linux["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [
        {"names": ["socket"], "action": "SCMP_ACT_ERRNO", "errnoRet": 97, "args": [{"index": 0, "value": 2, "op": "SCMP_CMP_EQ"},
                                                                              {"index": 1, "value": 1, "op": "SCMP_CMP_EQ"}]}]}
    t.shell("nc 127.0.0.1 1 2>&1; nc -u -w 1 127.0.0.1 1 </dev/null 2>&1; true")


def a_rule_equal_to_the_default(t):
    _filter(t, "SCMP_ACT_ALLOW")
    t.shell(TRY)


def a_call_that_the_kernel_does_not_have(t):
    _filter(t, "SCMP_ACT_ERRNO", names=["there_is_no_such_call", "mkdir", "mkdirat"])
    t.shell(TRY)


def rules_that_contradict(t):
    t.linux["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [
        {"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1},
        {"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO", "errnoRet": 28}]}
    t.shell(TRY)


def architectures(t):
    for names in (["SCMP_ARCH_X86_64"], ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"], ["SCMP_ARCH_AARCH64"], []):
        _filter(t, "SCMP_ACT_ERRNO")
        t.linux["seccomp"]["architectures"] = names
        t.box.shell(TRY)
        t.step(f"run with {' '.join(names) or 'none'}", t.box.run())


def an_unknown_architecture(t):
    _filter(t, "SCMP_ACT_ERRNO")
    t.linux["seccomp"]["architectures"] = ["SCMP_ARCH_NOPE"]
    t.run()


def flags(t):
    for flag in ("SECCOMP_FILTER_FLAG_LOG", "SECCOMP_FILTER_FLAG_SPEC_ALLOW", "SECCOMP_FILTER_FLAG_TSYNC"):
        _filter(t, "SCMP_ACT_ERRNO")
        t.linux["seccomp"]["flags"] = [flag]
        t.box.shell(TRY)
        t.step(f"run with {flag}", t.box.run())


def an_unknown_flag(t):
    _filter(t, "SCMP_ACT_ERRNO")
    t.linux["seccomp"]["flags"] = ["SECCOMP_FILTER_FLAG_NOPE"]
    t.run()


def without_no_new_privileges(t):
    _filter(t, "SCMP_ACT_ERRNO")
    t.process["noNewPrivileges"] = False
    t.process["user"] = {"uid": 1000, "gid": 1000}
    t.shell(TRY)


def a_filter_in_a_user_namespace(t):
    _filter(t, "SCMP_ACT_ERRNO")
    t.box.bundle.map_users()
    t.shell(TRY)


def calls_newer_than_the_filter(t):
    t.linux["seccomp"] = {"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"names": _usual_calls(), "action": "SCMP_ACT_ALLOW"}]}
    # cachestat and later are not in the list, and newer than any that is.
    t.box.args("unshare", "--version")
    t.run()


def calls_that_the_runtime_itself_needs(t):
    for name in ("getcwd", "close_range", "openat2", "fstat", "setgroups", "capset", "prctl"):
        _filter(t, "SCMP_ACT_ERRNO", names=[name])
        t.box.args("/bin/busybox", "true")
        t.step(f"run without {name}", t.box.run())


def a_name_without_a_list(t):
    t.linux["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"name": "mkdir", "action": "SCMP_ACT_ERRNO"}]}
    t.run()


def a_large_filter(t):
    names = _usual_calls()
    t.linux["seccomp"] = {"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"names": [name], "action": "SCMP_ACT_ALLOW"} for name in names] + [
        {"names": ["personality"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 0, "value": value, "op": "SCMP_CMP_EQ"}]}
        for value in range(300)]}
    t.shell("mkdir /tmp/x 2>&1 | sed 's/.*: //'; echo ran")


def a_filter_and_a_tiny_memory_limit(t):
    t.linux["seccomp"] = {"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"names": _usual_calls(), "action": "SCMP_ACT_ALLOW"}]}
    t.resources["memory"] = {"limit": 4 << 20}
    t.shell("echo ran")
