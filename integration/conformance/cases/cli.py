"""The command line: verbs, flags and their forms, the log that engines read, and what is printed.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os

from rungtest.runtime import run


def _bare(t, *words, **how):
    """A call without --root in front."""
    return run([t.runtime.path, *words], **how)


def an_unknown_verb(t):
    t.step("call", t.runtime.call("there-is-no-such-verb"), output=False)


def no_verb(t):
    t.note("exit code", _bare(t).code)


def help_of_every_verb(t):
    for verb in ("create", "start", "state", "kill", "delete", "run", "exec", "list", "spec"):
        t.note(f"{verb} --help", t.runtime.call(verb, "--help").code)
        t.note(f"{verb} -h", t.runtime.call(verb, "-h").code)
    t.note("--help", _bare(t, "--help").code)
    t.note("help", _bare(t, "help").code)


def the_lines_of_the_version(t):
    result = _bare(t, "--version")
    lines = result.out.splitlines()
    t.note("exit code", result.code)
    t.note("first line", "NAME version X" if lines[0].split()[1] == "version" and len(lines[0].split()) == 3 else lines[0])
    t.note("other lines", [line.split(":")[0] for line in lines[1:] if line.split(":")[0] in ("commit", "spec")])
    t.note("the short flag", _bare(t, "-v").out == result.out)


def missing_arguments(t):
    for words in (["create"], ["start"], ["state"], ["kill"], ["delete"], ["run"], ["exec"]):
        t.step(f"{words[0]} alone", t.runtime.call(*words, cwd=t.work), output=False)
    t.step("exec with an identifier alone", t.runtime.call("exec", t.box.id), output=False)


def too_many_arguments(t):
    t.box.bundle.write()
    for words in (["create", "--bundle", t.box.bundle.path, t.box.id, "more"], ["start", t.box.id, "more"], ["state", t.box.id, "more"],
                  ["kill", t.box.id, "TERM", "more"], ["list", "more"]):
        t.step(f"{words[0]} with more", t.runtime.call(*words), output=False)
    t.left()


def unknown_flags(t):
    for verb in ("create", "start", "state", "kill", "delete", "run", "list"):
        t.step(f"{verb} with an unknown flag", t.runtime.call(verb, "--there-is-no-such-flag", t.box.id), output=False)
    t.step("an unknown global flag", _bare(t, "--there-is-no-such-flag", "list"), output=False)


def flags_with_one_dash(t):
    t.box.args("sleep", "100")
    t.box.bundle.write()
    pid_file = os.path.join(t.work, "pid")
    t.step("run", run([t.runtime.path, "-root", t.runtime.root, "run", "-bundle", t.box.bundle.path, "-pid-file", pid_file, "-detach", t.box.id]))
    t.note("pid file", os.path.exists(pid_file))
    t.step("delete", t.runtime.call("delete", "-force", t.box.id))


def flags_with_an_equal_sign(t):
    t.box.bundle.write()
    pid_file = os.path.join(t.work, "pid")
    t.step("run", run([t.runtime.path, f"--root={t.runtime.root}", "run", f"--bundle={t.box.bundle.path}", f"--pid-file={pid_file}", "-d=true", t.box.id]))
    t.note("pid file", os.path.exists(pid_file))
    t.step("delete", t.runtime.call("delete", "--force=true", t.box.id))


def a_flag_that_is_switched_off(t):
    t.detach()
    t.call("delete", "--force=false", t.box.id)
    t.call("delete", "--force=maybe", t.box.id, label="delete with a strange value", output=False)


def flags_after_the_identifier(t):
    t.detach()
    t.call("delete", t.box.id, "--force")


def the_short_flags(t):
    t.box.bundle.write()
    t.call("run", "-b", t.box.bundle.path, "-d", t.box.id)
    t.call("kill", "-a", t.box.id, "KILL")
    t.box.wait_stopped()
    t.call("delete", "-f", t.box.id)


def every_flag_of_create_and_run(t):
    t.box.args("true")
    t.box.bundle.write()
    for verb in ("run", "create"):
        t.call(verb, "--bundle", t.box.bundle.path, "--no-pivot", "--no-new-keyring", "--preserve-fds", "0", "--pid-file", t.box.pid_file, t.box.id)
    t.call("delete", "--force", t.box.id)
    t.call("run", "--no-subreaper", "--bundle", t.box.bundle.path, t.box.id, label="run --no-subreaper")


def run_can_keep_what_has_ended(t):
    t.box.args("true")
    t.box.bundle.write()
    t.call("run", "--keep", "--bundle", t.box.bundle.path, t.box.id, output=False)
    t.state()


def preserved_descriptors_that_are_not_open(t):
    t.box.args("true")
    t.box.bundle.write()
    t.call("run", "--preserve-fds", "3", "--bundle", t.box.bundle.path, t.box.id)
    t.call("run", "--preserve-fds", "-1", "--bundle", t.box.bundle.path, t.box.id, output=False)
    t.call("run", "--preserve-fds", "many", "--bundle", t.box.bundle.path, t.box.id, output=False)


def preserved_descriptors(t):
    path = t.file("handed", "text\n")
    opened = os.open(path, os.O_RDONLY)

    def _place():
        os.dup2(opened, 50)
        for number in (3, 4, 5):
            os.dup2(50, number)
            os.set_inheritable(number, True)
    t.box.shell("cat <&3; for n in 3 4 5 6; do test -e /proc/self/fd/$n && echo $n; done")
    t.run("--preserve-fds", "2", prepare=_place, pass_fds=(3, 4, 5))
    os.close(opened)


def other_descriptors_do_not_arrive(t):
    path = t.file("handed", "text\n")
    opened = os.open(path, os.O_RDONLY)

    def _place():
        os.dup2(opened, 9)
        os.set_inheritable(9, True)
    t.inside(prepare=_place, pass_fds=(9,))
    os.close(opened)


def identifiers_of_every_kind(t):
    t.box.args("true")
    t.box.bundle.write()
    for word in ("../x", "a/b", ".", "..", "", "a b", "ü", "a@b", "a:b", "x" * 1025, "a\nb"):
        t.step(f"run of {word[:20]!r}", t.runtime.call("run", "--bundle", t.box.bundle.path, "--", word), output=False)
    for word in ("a.b", "+x", "_x", "A-9", "a+b", ".x", "x" * 200):
        t.step(f"run of {word[:20]!r}", t.runtime.call("run", "--bundle", t.box.bundle.path, f"{t.word}{word}"))
    t.note("the root", " ".join(sorted(os.listdir(t.runtime.root))) if os.path.isdir(t.runtime.root) else "")


def an_identifier_that_looks_like_a_flag(t):
    t.box.args("true")
    t.box.bundle.write()
    t.step("run", t.runtime.call("run", "--bundle", t.box.bundle.path, "-x"), output=False)


def verbs_with_an_identifier_that_climbs(t):
    for verb in ("state", "start", "kill", "delete"):
        t.call(verb, "../../etc", output=False)


def a_table_of_containers(t):
    t.detach()
    t.detach(box=t.second)
    t.stop()
    result = t.call("list", output=False)
    lines = result.out.splitlines()
    t.note("head", " ".join(lines[0].split()))
    for line in sorted(t.plain(line) for line in lines[1:]):
        t.note(f"line of {line.split()[0]}", " ".join(line.split()))


def containers_as_json(t):
    t.config["annotations"] = {"key": "value"}
    t.detach()
    for words in (["--format", "json"], ["-f", "json"]):
        result = t.runtime.call("list", *words)
        for one in json.loads(result.out):
            one["pid"] = "a process" if one["pid"] else "none"
            one.pop("ociVersion")
            one.pop("created")
            t.note(f"list {' '.join(words)}", json.dumps(one, sort_keys=True))


def the_first_keys_of_containers_as_json(t):
    t.detach()
    t.note("keys of list", list(json.loads(t.runtime.call("list", "--format", "json").out)[0]))
    t.note("keys of state", list(json.loads(t.runtime.call("state", t.box.id).out)))


def identifiers_alone(t):
    t.detach()
    t.call("list", "-q")
    t.call("list", "--quiet")


def no_containers(t):
    os.makedirs(t.runtime.root)
    for words in ([], ["-q"], ["--format", "json"]):
        result = t.runtime.call("list", *words)
        t.note(f"list {' '.join(words)}", f"{result.code} {' '.join(result.out.split())}")


def a_root_that_does_not_exist(t):
    for words in ([], ["-q"], ["--format", "json"]):
        result = t.runtime.call("list", *words)
        t.note(f"list {' '.join(words)}", result.code)


def an_unknown_format(t):
    t.detach()
    t.call("list", "--format", "yaml", output=False)


def the_log_as_json(t):
    log = os.path.join(t.work, "log.json")
    t.box.args("/nothing/there")
    t.box.bundle.write()
    result = run([t.runtime.path, "--root", t.runtime.root, "--log", log, "--log-format", "json", "create", "--bundle", t.box.bundle.path, t.box.id])
    t.step("create", result)
    lines = [json.loads(line) for line in open(log, encoding="utf-8")]
    t.note("levels", [line["level"] for line in lines])
    t.note("keys", [sorted(line) for line in lines])
    t.note("says it", "no such file or directory" in lines[-1]["msg"])
    t.must(len(lines) == 1, f"podman reads the log as one object, and there are {len(lines)}")
    t.note("on standard error too", bool(result.err.strip()))


def the_log_as_text(t):
    log = os.path.join(t.work, "log")
    result = run([t.runtime.path, "--root", t.runtime.root, "--log", log, "state", t.box.id])
    t.step("state", result)
    text = open(log, encoding="utf-8").read()
    t.note("level", "level=error" in text)
    t.note("message", "does not exist" in text)


def the_log_is_appended_to(t):
    log = t.file("log", "before\n")
    run([t.runtime.path, "--root", t.runtime.root, "--log", log, "state", t.box.id])
    t.note("before", open(log, encoding="utf-8").read().startswith("before\n"))


def a_log_of_a_call_that_succeeds(t):
    log = os.path.join(t.work, "log.json")
    t.box.args("true")
    t.box.bundle.write()
    t.step("run", run([t.runtime.path, "--root", t.runtime.root, "--log", log, "--log-format", "json", "run", "--bundle", t.box.bundle.path, t.box.id]))
    t.note("log", open(log, encoding="utf-8").read())


def debug_lines_in_the_log(t):
    log = os.path.join(t.work, "log.json")
    t.box.args("true")
    t.box.bundle.write()
    t.step("run", run([t.runtime.path, "--debug", "--root", t.runtime.root, "--log", log, "--log-format", "json", "run", "--bundle", t.box.bundle.path, t.box.id]))
    lines = [json.loads(line) for line in open(log, encoding="utf-8")]
    t.note("levels", sorted({line["level"] for line in lines} - {"debug"}))


def a_log_format_that_nobody_knows(t):
    t.step("list", _bare(t, "--log-format", "xml", "--root", t.runtime.root, "list"), output=False)


def a_log_that_cannot_be_written(t):
    t.step("list", _bare(t, "--log", os.path.join(t.work, "no", "where"), "--root", t.runtime.root, "list"), output=False)


def errors_of_every_verb_in_the_log(t):
    for words in (["state"], ["start"], ["kill"], ["delete"], ["exec", None, "true"]):
        log = os.path.join(t.work, f"{words[0]}.json")
        call = [words[0], t.box.id, *words[2:]]
        result = run([t.runtime.path, "--root", t.runtime.root, "--log", log, "--log-format", "json", *call])
        lines = [json.loads(line) for line in open(log, encoding="utf-8")]
        t.note(f"{words[0]}", f"{result.code} {lines[-1]['level']} {'does not exist' in lines[-1]['msg']}")


def without_a_path_in_the_environment(t):
    t.detach()
    for call in (["kill", t.box.id, "KILL"], ["delete", "--force", t.box.id]):
        t.step(call[0], t.runtime.call(*call, env={}))


def with_the_environment_of_an_engine(t):
    t.box.bundle.write()
    t.call("create", "--bundle", t.box.bundle.path, t.box.id, env={"PATH": "/usr/bin:/bin:/usr/sbin", "XDG_RUNTIME_DIR": "", "LD_LIBRARY_PATH": "/opt/lib",
                                                                  "_OCI_STARTPIPE": "4", "_OCI_SYNCPIPE": "3"})
    t.call("start", t.box.id)


def from_a_directory_that_is_gone(t):
    gone = t.directory("gone")
    t.detach()

    def _lose():
        os.chdir(gone)
        os.rmdir(gone)
    t.step("state", t.runtime.call("state", t.box.id, prepare=_lose), output=False)


def a_specification_to_start_from(t):
    place = t.directory("place")
    t.call("spec", cwd=place)
    with open(os.path.join(place, "config.json"), encoding="utf-8") as file:
        document = json.load(file)
    t.note("sections", sorted(document))
    for section, value in document.items():
        if section not in ("process", "linux", "mounts", "ociVersion"):
            t.note(section, json.dumps(value, sort_keys=True))
    for section in ("process", "linux"):
        for name, value in document[section].items():
            t.note(f"{section}.{name}", json.dumps(value, sort_keys=True))
    for mount in document["mounts"]:
        t.note(f"mount {mount['destination']}", json.dumps(mount, sort_keys=True))
    t.note("mode", oct(os.stat(os.path.join(place, "config.json")).st_mode & 0o777))


def a_specification_twice(t):
    place = t.directory("place")
    t.call("spec", cwd=place)
    t.call("spec", cwd=place)


def a_specification_for_a_bundle(t):
    place = t.directory("place")
    t.call("spec", "--bundle", place)
    t.note("there", os.path.exists(os.path.join(place, "config.json")))


def a_generated_specification_runs(t):
    t.box.bundle.write()
    os.unlink(os.path.join(t.box.bundle.path, "config.json"))
    t.call("spec", cwd=t.box.bundle.path)
    path = os.path.join(t.box.bundle.path, "config.json")
    document = json.load(open(path, encoding="utf-8"))
    document["process"]["terminal"] = False
    document["process"]["args"] = ["echo", "ran"]
    document["linux"]["cgroupsPath"] = t.box.cgroup
    json.dump(document, open(path, "w", encoding="utf-8"))
    t.call("run", "--bundle", t.box.bundle.path, t.box.id)


def what_is_supported(t):
    result = _bare(t, "features")
    t.note("exit code", result.code)
    if result.code != 0:
        return
    document = json.loads(result.out)
    for name in ("ociVersionMin", "hooks"):
        t.note(name, json.dumps(document.get(name)))
    # Whose network devices and memory policies are listed below.
    t.must(document["ociVersionMax"] == "1.3.0", f"the newest specification: {document['ociVersionMax']}")
    t.note("mount options that runc has and we do not", sorted(set(RUNC_MOUNT_OPTIONS) - set(document["mountOptions"])))
    linux = document["linux"]
    t.note("cgroup", json.dumps({name: linux["cgroup"].get(name) for name in ("v1", "v2", "systemd", "systemdUser")}))
    t.note("seccomp actions", [name for name in linux["seccomp"]["actions"] if name != "SCMP_ACT_NOTIFY"])
    t.note("seccomp operators", linux["seccomp"]["operators"])
    t.note("one object and nothing else", result.out.strip().startswith("{") and result.out.strip().endswith("}"))


RUNC_MOUNT_OPTIONS = """acl async atime bind defaults dev diratime dirsync exec iversion lazytime loud mand noacl noatime nodev nodiratime
 noexec noiversion nolazytime nomand norelatime nostrictatime nosuid nosymfollow private ratime rbind rdev rdiratime relatime remount rexec
 rnoatime rnodev rnodiratime rnoexec rnorelatime rnostrictatime rnosuid rnosymfollow ro rprivate rrelatime rro rrw rshared rslave rstrictatime
 rsuid rsymfollow runbindable rw shared silent slave strictatime suid symfollow sync tmpcopyup unbindable""".split()


def two_callers_at_once(t):
    import subprocess
    from rungtest.runtime import ENVIRONMENT
    t.box.args("sleep", "100")
    t.box.bundle.write()
    calls = [subprocess.Popen(t.runtime.command("create", "--bundle", t.box.bundle.path, t.box.id), env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(4)]
    t.note("exit codes", sorted(call.wait() for call in calls))


def five_sockets_of_activation(t):
    path = t.file("handed", "text\n")
    opened = os.open(path, os.O_RDONLY)

    def _place():
        os.dup2(opened, 50)
        for number in range(3, 8):
            os.dup2(50, number)
            os.set_inheritable(number, True)
    t.box.shell("for n in 3 4 5 6 7 8; do test -e /proc/self/fd/$n && echo $n; done; echo $LISTEN_FDS $LISTEN_PID")
    t.run(prepare=_place, pass_fds=tuple(range(3, 8)),
          through=("/bin/sh", "-c", 'export LISTEN_FDS=5 LISTEN_PID=$$; exec "$0" "$@"'))
    os.close(opened)
