"""From create to delete: what each verb does in each state, and what it leaves.

SPDX-License-Identifier: Apache-2.0
"""

import os
import shutil
import signal
import subprocess
import time

from rungtest import host


def a_container_lives_from_create_to_delete(t):
    t.create()
    t.state()
    t.outside("created")
    t.start()
    t.state()
    t.outside("running")
    t.inside_exec()
    t.kill()
    t.box.wait_stopped()
    t.state()
    t.delete()
    t.left("after delete")
    t.state()


def a_foreground_run_shows_everything_to_its_process(t):
    t.inside()
    t.left("after run")


def a_detached_run_stays_until_it_is_killed_and_deleted(t):
    t.detach()
    t.state()
    t.outside()
    t.kill("TERM")
    t.kill("KILL")
    t.box.wait_stopped()
    t.delete()
    t.left()


def the_exit_code_of_a_foreground_run_is_the_processes(t):
    for code in (0, 1, 7, 126, 127, 255):
        t.shell(f"exit {code}")


def a_process_that_dies_of_a_signal_gives_128_and_its_number(t):
    # The first process of a pid namespace does not die of its own signals; without one it does.
    t.box.bundle.drop_namespace("pid")
    for name in ("KILL", "TERM", "SEGV", "ABRT"):
        t.shell(f"kill -{name} $$")


def the_first_process_of_a_pid_namespace_survives_its_own_signals(t):
    t.shell("kill -KILL $$; kill -TERM $$; echo alive")


def start_of_a_running_container(t):
    t.detach()
    t.start()
    t.state()


def start_of_a_stopped_container(t):
    t.detach()
    t.stop()
    t.start()
    t.state()


def delete_of_a_created_container(t):
    t.create()
    t.delete()
    t.left()
    t.state()


def delete_of_a_running_container(t):
    t.detach()
    t.delete()
    t.state()


def a_forced_delete_of_a_running_container(t):
    t.detach()
    t.delete("--force")
    t.left()


def a_forced_delete_of_a_created_container(t):
    t.create()
    t.delete("-f")
    t.left()


def a_forced_delete_of_a_stopped_container(t):
    t.detach()
    t.stop()
    t.delete("--force")
    t.left()


def a_forced_delete_twice(t):
    t.detach()
    t.delete("--force")
    t.delete("--force")


def delete_twice(t):
    t.detach()
    t.stop()
    t.delete()
    t.delete()


def kill_of_a_created_container(t):
    t.create()
    t.kill()
    t.box.wait_stopped()
    t.state()
    t.start()
    t.delete()
    t.left()


def term_of_a_created_container(t):
    t.create()
    t.kill("TERM")
    if t.kind != "crun":  # the kernel protects its process 1, as accepted.txt says
        t.box.wait_stopped()
    t.state()
    t.start()
    t.state()


def kill_of_a_stopped_container(t):
    t.detach()
    t.stop()
    t.kill()
    t.kill("TERM")
    t.kill("0")


def kill_all_of_a_stopped_container(t):
    t.detach()
    t.stop()
    t.kill("KILL", "--all")
    t.kill("9", "-a")


def kill_all_of_a_running_container(t):
    t.box.shell("sleep 100 & sleep 100 & wait")
    t.detach()
    t.kill("KILL", "--all")
    t.box.wait_stopped()
    t.delete()
    t.left()


def every_verb_on_a_container_that_does_not_exist(t):
    for verb in ("state", "start", "kill", "delete"):
        t.call(verb, t.box.id)
    t.call("exec", t.box.id, "true")
    t.call("kill", "--all", t.box.id, "KILL")
    t.call("delete", "--force", t.box.id)


def an_identifier_twice(t):
    t.detach()
    t.create()
    t.run()
    t.state()


def an_identifier_of_a_stopped_container(t):
    t.detach()
    t.stop()
    t.create()


def an_identifier_can_be_used_again_after_delete(t):
    t.detach()
    t.stop()
    t.delete()
    t.detach()
    t.state()


def signals_by_name_and_by_number(t):
    t.ready("trap 'echo usr1 >/seen' USR1; trap 'echo hup >/seen' HUP; : >/ready; while :; do sleep 0.02; done")
    for name in ("USR1", "SIGUSR1", "10", "HUP"):
        t.kill(name)
        host.wait_until(lambda: os.path.exists(t.box.bundle.inside("/seen")), 10)
        os.unlink(t.box.bundle.inside("/seen"))
    t.state()


def signals_in_small_letters(t):
    t.detach()
    t.kill("usr1")
    t.kill("sigusr1")
    t.kill("Term")
    t.state()


def words_that_are_no_signal(t):
    t.detach()
    for name in ("NOPE", "SIGNOPE", "99", "-1", "1x", "SIG"):
        t.kill(name)
    t.state()


def realtime_signals_by_name(t):
    t.detach()
    for name in ("RTMIN", "SIGRTMIN", "SIGRTMIN+1", "RTMAX", "SIGRTMAX-2", "34", "64", "65"):
        t.kill(name)


def signal_zero_asks_whether_it_lives(t):
    t.detach()
    t.kill("0")
    t.state()


def kill_sends_term_without_a_name(t):
    t.ready("trap 'exit 5' TERM; : >/ready; while :; do sleep 0.02; done")
    t.call("kill", t.box.id)
    t.box.wait_stopped()
    t.state()


def an_empty_signal_is_term(t):
    t.ready("trap 'exit 5' TERM; : >/ready; while :; do sleep 0.02; done")
    t.kill("")
    try:
        t.box.wait_stopped(1 if t.kind == "crun" else 10)
        t.note("afterwards", "stopped")
    except AssertionError:
        t.note("afterwards", "it runs on")


def a_process_that_ends_leaves_a_stopped_container(t):
    t.box.args("true")
    t.detach()
    t.box.wait_stopped()
    t.state()
    t.outside()
    t.delete()
    t.left()


def a_process_that_nobody_has_reaped_is_stopped(t):
    t.detach()
    os.kill(t.box.created_pid, signal.SIGKILL)
    host.wait_until(lambda: host.process_state(t.box.created_pid) == "Z", 10)
    t.state()
    t.kill()
    t.delete()
    t.left()


def killing_a_container_without_a_pid_namespace_ends_all_of_its_processes(t):
    t.box.bundle.drop_namespace("pid")
    t.detach()
    t.exec("sleep", "100", options=["--detach"])
    t.kill()
    t.box.wait_stopped()
    host.reap_ended()
    try:
        host.wait_until(lambda: host.reap_ended() or not t._living(t.box.id), 1)
        t.note("after kill", "nothing lives")
    except AssertionError:
        t.note("after kill", "the exec lives on")
    t.delete()
    t.left()


def deleting_a_container_without_a_pid_namespace_whose_init_is_dead(t):
    t.box.bundle.drop_namespace("pid")
    t.detach()
    t.exec("sleep", "100", options=["--detach"])
    os.kill(t.box.created_pid, signal.SIGKILL)
    host.wait_until(lambda: not host.is_alive(t.box.created_pid), 10)
    host.reap(t.box.created_pid)
    t.state()
    t.delete("--force")
    host.reap_ended()
    t.left()


def a_forced_delete_of_a_process_that_ignores_signals(t):
    t.box.shell("trap '' TERM HUP INT QUIT; while :; do sleep 1; done")
    t.detach()
    t.delete("--force")
    t.left()


def cgroups_made_inside_are_removed(t):
    t.detach()
    for line in open(f"/proc/{t.box.created_pid}/cgroup", encoding="ascii"):
        _, controllers, path = line.strip().split(":", 2)
        directory = os.path.join(host.CGROUP_ROOT, controllers.removeprefix("name="), path.lstrip("/"), "deeper", "still")
        if t.box.id in path and controllers != "cpuset" and os.path.isdir(os.path.dirname(os.path.dirname(directory))):
            os.makedirs(directory)
    t.delete("--force")
    t.left()


def the_pid_file_holds_the_number_and_nothing_else(t):
    t.create()
    with open(t.box.pid_file, encoding="ascii") as file:
        t.note("pid file", file.read())
    t.note("mode", oct(os.stat(t.box.pid_file).st_mode & 0o777))


def a_pid_file_is_relative_to_the_caller_and_replaces_a_longer_one(t):
    t.file("one.pid", "12345678901234567890\nold\n")
    t.box.bundle.write()
    t.call("create", "--bundle", t.box.bundle.path, "--pid-file", "one.pid", t.box.id, cwd=t.work)
    with open(os.path.join(t.work, "one.pid"), encoding="ascii") as file:
        text = file.read()
    t.note("pid file", "a number" if text.isdigit() and len(text) < 10 else text)
    t.note("in the bundle", os.path.exists(os.path.join(t.box.bundle.path, "one.pid")))


def a_pid_file_that_cannot_be_written(t):
    t.box.bundle.write()
    t.call("create", "--bundle", t.box.bundle.path, "--pid-file", os.path.join(t.work, "no", "where"), t.box.id)
    t.left("after create")


def the_bundle_is_the_working_directory_by_default(t):
    t.box.args("echo", "here")
    t.box.bundle.write()
    t.call("run", t.box.id, cwd=t.box.bundle.path)


def a_relative_bundle(t):
    t.box.bundle.write()
    t.call("create", "--bundle", os.path.basename(t.box.bundle.path), t.box.id, cwd=t.work)
    t.state()


def a_bundle_that_is_a_symlink(t):
    t.box.bundle.write()
    os.symlink(t.box.bundle.path, os.path.join(t.work, "link"))
    t.call("create", "-b", os.path.join(t.work, "link"), t.box.id)
    t.call("start", t.box.id)


def the_bundle_may_go_away_while_the_container_runs(t):
    t.detach()
    os.unlink(os.path.join(t.box.bundle.path, "config.json"))
    t.state()
    t.exec("true")
    t.kill()
    t.box.wait_stopped()
    t.delete()
    t.left()


def a_second_container_beside_the_first(t):
    other = t.second
    t.detach()
    t.detach(box=other)
    t.kill(box=other)
    other.wait_stopped()
    t.state()
    t.state(other)
    t.delete(box=other)
    t.left(box=other)


def a_state_directory_of_another_mode(t):
    os.mkdir(t.runtime.root, 0o755)
    t.detach()
    t.note("mode of the root", oct(os.stat(t.runtime.root).st_mode & 0o777))
    t.note("mode of the container", oct(os.stat(os.path.join(t.runtime.root, t.box.id)).st_mode & 0o777))


def the_root_is_made_with_its_parents(t):
    t.runtime.root = os.path.join(t.work, "deep", "er", "root")
    t.detach()
    t.note("mode of the root", oct(os.stat(t.runtime.root).st_mode & 0o777))
    t.state()


def an_empty_directory_in_the_root(t):
    os.makedirs(os.path.join(t.runtime.root, t.box.id))
    t.state()
    t.call("list", "-q", output=False)
    t.delete("--force")
    t.note("directory", os.path.isdir(os.path.join(t.runtime.root, t.box.id)))


def the_annotations_of_the_config_are_in_the_state(t):
    t.config["annotations"] = {"org.example.a": "1", "dev.rungs.b": "two words", "empty": ""}
    t.create()
    t.state()


def a_file_of_the_root_file_system_outlives_the_container(t):
    t.shell("echo kept >/kept")
    t.delete("--force")
    t.note("file", t.box.bundle.read("/kept"))


def a_run_whose_root_file_system_is_removed_meanwhile(t):
    t.detach()
    shutil.rmtree(t.box.bundle.inside("/usr"))
    t.exec("sh", "-c", "test -d /usr || echo gone")
    t.kill()
    t.box.wait_stopped()
    t.delete()


def a_create_that_is_killed_on_its_way(t):
    """Whatever the moment, a forced delete leaves nothing."""
    t.box.bundle.write()
    for milliseconds in (1, 4, 8, 12):
        child = t.background(*t.runtime.command("create", "--bundle", t.box.bundle.path, t.box.id), stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
        time.sleep(milliseconds / 1000)
        child.kill()
        child.wait()
        result = t.box.delete("--force")
        t.must(result.code == 0, f"a forced delete after {milliseconds} ms: {result}")
    t.left()
