"""ps: which processes a container has.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os

from rungtest import Case, differs, host


class Processes(Case):
    def sleeper(self):
        box = self.container().args("sleep", "100")
        self.succeed(box.run_detached())
        return box

    def ended(self):
        box = self.container().args("true")
        self.succeed(box.run_detached())
        box.wait_stopped()
        return box

    def pids(self, box):
        result = self.succeed(self.runtime.call("ps", "--format", "json", box.id))
        self.assertEqual(result.err, "")
        return json.loads(result.out)

    @differs(crun="1.8 shows ids alone")
    def test_the_table_has_the_columns_of_ps_and_only_the_containers_processes(self):
        box = self.sleeper()

        result = self.succeed(self.runtime.call("ps", box.id))

        lines = result.out.splitlines()
        self.assertEqual(lines[0].split(), ["UID", "PID", "PPID", "C", "STIME", "TTY", "TIME", "CMD"])
        self.assertEqual([(line.split()[1], line.split()[-2:]) for line in lines[1:]],
                         [(str(box.pid()), ["sleep", "100"])])
        self.assertEqual(result.err, "")

    def test_json_is_an_array_of_process_ids(self):
        box = self.sleeper()

        self.assertEqual(self.pids(box), [box.pid()])

    @differs(crun="1.8 leaves the process of exec")
    def test_processes_of_exec_and_their_children_are_listed(self):
        box = self.sleeper()
        self.succeed(box.exec("sh", "-c", "sleep 99 & wait", options=["--detach"]))

        host.wait_until(lambda: len(self.pids(box)) == 3)

        self.assertEqual(self.pids(box), sorted(host_pid for host_pid in self.pids(box)))

    @differs(crun="1.8 takes no options for ps")
    def test_options_after_the_id_are_for_ps(self):
        box = self.sleeper()

        chosen = self.succeed(self.runtime.call("ps", box.id, "-o", "pid,comm")).out
        everything = self.succeed(self.runtime.call("ps", box.id, "-e", "-x")).out

        self.assertEqual(chosen.split(), ["PID", "COMMAND", str(box.pid()), "sleep"])
        self.assertEqual(everything.splitlines()[0].split(), ["PID", "TTY", "STAT", "TIME", "COMMAND"])
        self.assertEqual(len(everything.splitlines()), 2)

    @differs(crun="1.8 takes no options for ps")
    def test_without_a_column_of_process_ids_it_fails(self):
        self.fails(self.runtime.call("ps", self.sleeper().id, "-o", "comm"), "couldn't find PID field in ps output")

    @differs(crun="1.8 takes no options for ps", runc="passes on what ps said, line by line")
    def test_a_failing_ps_is_an_error(self):
        self.fails(self.runtime.call("ps", self.sleeper().id, "--nope"), "exit status 1")

    @differs(crun="1.8 prints no ids, and an empty array")
    def test_a_stopped_container_has_none_and_that_is_no_error(self):
        box = self.ended()

        table = self.runtime.call("ps", box.id)
        listed = self.runtime.call("ps", "--format", "json", box.id)

        self.prints(table, table.out.splitlines()[0])
        self.prints(listed, "null")
        self.assertEqual((table.err, listed.err), ("", ""))

    def test_a_created_and_a_paused_container_are_listed_too(self):
        box = self.container().args("sleep", "100")
        self.succeed(box.create())
        created = self.pids(box)
        self.succeed(box.start())
        self.succeed(self.runtime.call("pause", box.id))

        self.assertEqual((created, self.pids(box)), ([box.pid()], [box.pid()]))

    def test_what_a_dead_init_left_in_the_host_pid_namespace_is_listed(self):
        box = self.container().args("sleep", "100")
        box.bundle.drop_namespace("pid")
        self.succeed(box.run_detached())
        pid_file = os.path.join(self.work, "second")
        self.succeed(box.exec("sleep", "99", options=["--detach", "--pid-file", pid_file]))
        with open(pid_file, encoding="ascii") as file:
            second = int(file.read())

        os.kill(box.pid(), 9)
        box.reap()

        self.assertEqual(self.pids(box), [second])

    @differs(crun="has a wording of its own")
    def test_an_unknown_format_is_refused(self):
        self.fails(self.runtime.call("ps", "--format", "xml", self.sleeper().id), "invalid format option")

    @differs(crun="has a wording of its own")
    def test_an_unknown_container_does_not_exist(self):
        self.fails(self.runtime.call("ps", "nobody"), "container does not exist")
