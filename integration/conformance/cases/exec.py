"""One more process in a container: what it gets from the container, and what its options change.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import subprocess

from rungtest import host


def _process(t, **fields):
    document = {"user": {"uid": 0, "gid": 0}, "args": ["/bin/probe"], "env": ["PATH=/bin", "FROM=file"], "cwd": "/", **fields}
    return t.file("process.json", json.dumps(document))


def exec_shows_everything_to_its_process(t):
    t.detach()
    t.inside_exec()


def exec_as_another_user(t):
    t.detach()
    for user in ("1000", "1000:1001", "0:5", "4321", ":5", "1000:", "worker", "1:2:3", "-1", "1x", ""):
        t.step(f"exec as {user!r}", t.box.exec("id", options=["--user", user]))


def everything_of_another_user(t):
    t.detach()
    t.inside_exec(options=["--user", "1000:1000"])


def additional_groups_of_exec(t):
    t.detach()
    t.exec("id", options=["--user", "1000:1000", "--additional-gids", "5", "--additional-gids", "6"])
    t.exec("id", options=["-g", "7"])


def the_containers_groups_in_exec(t):
    t.process["user"] = {"uid": 1000, "gid": 1000, "additionalGids": [5, 6]}
    t.detach()
    t.exec("id")
    t.exec("id", options=["--user", "2000:2000"])


def variables_of_exec(t):
    t.process["env"] += ["A=config", "B=config"]
    t.detach()
    t.exec("sh", "-c", "echo $A $B $C $HOME $PATH", options=["--env", "A=exec", "--env", "C=new"])
    t.exec("sh", "-c", "env | sort", options=["--env", "A=exec"])
    t.exec("true", options=["--env", "NOVALUE"])


def the_directory_of_exec(t):
    t.process["cwd"] = "/tmp"
    t.detach()
    t.exec("pwd")
    t.exec("pwd", options=["--cwd", "/usr/bin"])
    t.exec("pwd", options=["--cwd", "relative"])
    t.exec("pwd", options=["--cwd", "/new/place"])
    t.exec("pwd", options=["--cwd", "/etc/passwd"])


def a_directory_of_the_host_in_exec(t):
    t.detach()
    for number in range(3, 11):
        result = t.box.exec("sh", "-c", "cat ../../../../../../etc/debian_version", options=["--cwd", f"/proc/self/fd/{number}"])
        t.must(result.code != 0, f"the host is reached through descriptor {number}")
        t.note(f"through descriptor {number}", "the host" if result.code == 0 else "refused")


def capabilities_of_exec(t):
    t.detach()
    t.inside_exec(options=["--cap", "CAP_SYS_CHROOT"])


def several_capabilities_of_exec(t):
    t.detach()
    t.exec("grep", "Cap", "/proc/self/status", options=["-c", "CAP_CHOWN", "-c", "CAP_FOWNER"])
    t.exec("grep", "Cap", "/proc/self/status", options=["--cap", "CAP_NOPE"])


def capabilities_of_another_user_in_exec(t):
    t.detach()
    t.exec("grep", "Cap", "/proc/self/status", options=["--user", "1000:1000", "--cap", "CAP_KILL"])


def no_new_privileges_of_exec(t):
    t.process["noNewPrivileges"] = False
    t.detach()
    t.exec("grep", "NoNew", "/proc/self/status")
    t.exec("grep", "NoNew", "/proc/self/status", options=["--no-new-privs"])


def a_process_file(t):
    t.detach()
    path = _process(t, user={"uid": 1000, "gid": 1001, "additionalGids": [5]}, cwd="/tmp", noNewPrivileges=True,
                    rlimits=[{"type": "RLIMIT_NOFILE", "hard": 77, "soft": 66}],
                    capabilities={name: ["CAP_CHOWN"] for name in ("bounding", "effective", "permitted", "inheritable", "ambient")})
    t.inside_exec(options=["--process", path])


def a_process_file_without_capabilities_and_limits(t):
    t.detach()
    t.inside_exec(options=["-p", _process(t)])


def a_process_file_with_empty_capabilities(t):
    t.detach()
    t.inside_exec(options=["-p", _process(t, capabilities={})])


def a_process_file_with_an_out_of_memory_score_and_a_umask(t):
    t.detach()
    t.inside_exec(options=["-p", _process(t, oomScoreAdj=300, user={"uid": 0, "gid": 0, "umask": 0o077})])


def a_process_file_that_is_a_pipe(t):
    t.detach()
    text = json.dumps({"user": {"uid": 0, "gid": 0}, "args": ["echo", "through a pipe"], "env": ["PATH=/bin"], "cwd": "/"})
    t.exec(options=["--process", "/dev/stdin"], stdin=text)


def a_process_file_that_does_not_exist(t):
    t.detach()
    t.exec(options=["--process", os.path.join(t.work, "missing.json")])


def a_process_file_that_is_not_json(t):
    t.detach()
    t.exec(options=["--process", t.file("process.json", "{ not json")])


def a_process_file_without_arguments_or_directory(t):
    t.detach()
    t.exec(options=["--process", t.file("one.json", json.dumps({"user": {"uid": 0, "gid": 0}, "cwd": "/"}))])
    t.exec(options=["--process", t.file("two.json", json.dumps({"args": ["true"]}))])
    t.exec(options=["--process", t.file("three.json", json.dumps({"args": ["/bin/pwd"], "cwd": ""}))])


def arguments_beside_a_process_file(t):
    t.detach()
    t.exec("echo", "from the command line", options=["--process", _process(t, args=["/bin/echo", "from the file"])])


def no_arguments(t):
    t.detach()
    t.exec()


def options_of_the_command_are_not_the_runtimes(t):
    t.detach()
    t.exec("ls", "--help-me-not", "-d", "/")
    t.exec("echo", "--user", "-t", "--", "x")


def a_detached_exec(t):
    t.detach()
    pid_file = os.path.join(t.work, "exec.pid")
    t.exec("sleep", "50", options=["--detach", "--pid-file", pid_file])
    with open(pid_file, encoding="ascii") as file:
        pid = int(file.read())
    t.note("its parent is the runtime's", host.is_alive(pid))
    with open(f"/proc/{pid}/cgroup", encoding="ascii") as file:
        t.note("cgroups", sorted({line.strip().split(":", 2)[2] for line in file}))
    t.note("command", open(f"/proc/{pid}/cmdline", encoding="ascii").read().replace("\0", " "))
    os.kill(pid, 9)
    host.wait_until(lambda: not host.is_alive(pid), 10)
    host.reap(pid)


def the_exit_code_of_exec(t):
    t.detach()
    for code in (0, 1, 7, 127, 255):
        t.exec("sh", "-c", f"exit {code}")
    for name in ("KILL", "TERM", "SEGV"):
        t.exec("sh", "-c", f"kill -{name} $$")


def every_program_error_of_exec(t):
    t.box.bundle.put("/opt/plain", "text\n", 0o644)
    t.box.bundle.put("/opt/script", "#!/no/interpreter\n", 0o755)
    t.detach()
    for program in ("nothing-of-that-name", "/nothing/there", "/opt/plain", "/opt", "./nothing", "", "/etc/passwd/x", "/opt/script"):
        t.step(f"exec of {program!r}", t.box.exec(program))


def exec_in_a_created_container(t):
    t.create()
    t.exec("echo", "before start")
    t.start()
    t.exec("echo", "after start")


def exec_in_a_stopped_container(t):
    t.detach()
    t.stop()
    t.exec("true")


def exec_reads_its_input(t):
    t.detach()
    t.exec("cat", stdin="typed\n")
    t.exec("wc", "-c", stdin="x" * 300000)


def the_outputs_of_exec_stay_apart(t):
    t.detach()
    result = t.exec("sh", "-c", "echo out; echo err >&2")
    t.note("errors", result.err)


def a_megabyte_of_output(t):
    t.detach()
    result = t.box.exec("sh", "-c", "yes 0123456789abcde | head -c 1000000")
    t.note("output", len(result.out))


def exec_mounts_nothing(t):
    t.detach()
    before = t.box.exec("cat", "/proc/self/mountinfo").out
    t.exec("true")
    t.note("mounts", "the same" if t.box.exec("cat", "/proc/self/mountinfo").out == before else "others")


def many_short_execs(t):
    t.detach()
    t.note("exit codes", sorted({t.box.exec("true").code for _ in range(15)}))


def several_execs_at_once(t):
    t.detach()
    from rungtest.runtime import ENVIRONMENT
    started = [subprocess.Popen(t.runtime.command("exec", t.box.id, "sh", "-c", f"exit {number}"), env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for number in range(6)]
    t.note("exit codes", [one.wait() for one in started])


def descriptors_are_not_inherited(t):
    t.detach()
    read, write = os.pipe()
    os.set_inheritable(read, True)
    try:
        t.inside_exec(pass_fds=(read, write))
    finally:
        os.close(read)
        os.close(write)


def descriptors_that_are_preserved(t):
    t.detach()
    path = t.file("handed", "text\n")
    opened = os.open(path, os.O_RDONLY)
    second = os.open(path, os.O_RDONLY)

    def _place():
        os.dup2(opened, 3)
        os.dup2(second, 4)
        os.dup2(second, 5)
        for fd in (3, 4, 5):
            os.set_inheritable(fd, True)
    t.exec("sh", "-c", "ls /proc/self/fd | head -7 | tr '\\n' ' '; cat <&3", options=["--preserve-fds", "2"], prepare=_place, pass_fds=(3, 4, 5))
    os.close(opened)
    os.close(second)


def the_seccomp_filter_and_the_directory_of_the_container(t):
    t.linux["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO"}]}
    t.detach()
    t.exec("sh", "-c", "mkdir /tmp/x 2>&1 | sed 's/.*: //'; grep ^Seccomp: /proc/self/status")


def exec_with_a_pid_file_that_cannot_be_written(t):
    t.detach()
    t.exec("true", options=["--pid-file", os.path.join(t.work, "no", "where")])


def an_unknown_option_of_exec(t):
    t.detach()
    t.step("exec", t.box.exec("true", options=["--there-is-no-such-option"]), output=False)


def a_label_and_a_profile_where_there_are_none(t):
    t.detach()
    t.exec("true", options=["--process-label", "system_u:system_r:container_t:s0"])
    t.exec("true", options=["--apparmor", "some-profile"])


def a_process_of_the_container_sees_the_one_of_exec(t):
    t.detach()
    t.exec("sleep", "30", options=["--detach"])
    t.exec("sh", "-c", "ps | grep -c 'sleep 30$'")
    t.exec("killall", "-KILL", "sleep")


def exec_survives_a_container_whose_shell_is_gone(t):
    t.detach()
    for name in ("sh", "ash"):
        os.unlink(t.box.bundle.inside(f"/bin/{name}"))
    t.exec("sh", "-c", "true")
    t.exec("/bin/busybox", "echo", "busybox is there")


def cgroups_that_lead_out_of_the_container(t):
    t.detach()
    for path in ("..", "../..", "/../x", "a/../../b"):
        t.exec("true", options=["--cgroup", path])


def a_client_of_exec_that_is_killed(t):
    """Without anything that says otherwise the command goes on (moby#9098)."""
    t.detach()
    client = t.background(*t.runtime.command("exec", t.box.id, "sh", "-c", "echo $$ >/pid; mv /pid /ready; exec sleep 77"))
    host.wait_until(lambda: os.path.exists(t.box.bundle.inside("/ready")), 10, "the command of exec")
    client.kill()
    client.wait()
    t.exec("sh", "-c", "kill -0 $(cat /ready) && echo lives")
