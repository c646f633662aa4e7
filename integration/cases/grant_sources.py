"""Where a grant comes from: the ceiling, named grants, the drop box, a pod's annotations.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os

from rungtest import only_rung

from .grant import READ_ONLY, Granted, merged

# /etc/rung and /run/rung are shown to one call only: a ceiling of the real host would be every container's.
SHOW = ('mkdir -p /etc/rung /run/rung && mount --bind "$0/etc" /etc/rung && mount --bind "$0/run" /run/rung && '
        'exec "$@"')


class OfHost(Granted):
    def setUp(self):
        super().setUp()
        for name in ("etc", "etc/grants", "run"):
            os.mkdir(os.path.join(self.work, name))
        os.mkdir(os.path.join(self.work, "run/grants.d"), 0o700)
        self.through = ("unshare", "--mount", "--propagation", "private", "sh", "-c", SHOW, self.work)

    def put(self, name, document):
        path = os.path.join(self.work, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(document if isinstance(document, str) else json.dumps(document))
        os.chmod(path, 0o644)
        return path

    def ceiling(self, ceiling=None, **more):
        return self.put("etc/ceiling.yaml", {"ceilingVersion": "1", "requirements": {"landlock": "ifAvailable"},
                                             "rules": [{"ceiling": ceiling or READ_ONLY}], **more})

    def granted(self, script="true", grant=None):
        box = self.container().shell(script)
        box.config["annotations"] = {"dev.rung.grant": json.dumps(grant or READ_ONLY)}
        return box


class Ceiling(OfHost):
    @only_rung("has no grants")
    def test_a_container_without_a_grant_does_not_start(self):
        self.ceiling()
        box = self.container().args("true")

        self.fails(box.run(through=self.through), "grant_missing", "/etc/rung/ceiling.yaml")

        self.is_gone(box)

    @only_rung("has no grants")
    def test_a_default_grant_confines_whoever_brings_none(self):
        self.ceiling(defaultGrant="fallback")
        self.put("etc/grants/fallback.yaml", READ_ONLY)

        box = self.container().shell("touch /x 2>/dev/null || echo no")

        self.prints(box.run(through=self.through), "no")

    @only_rung("has no grants")
    def test_limits_are_the_lower_of_grant_and_ceiling_for_exec_as_well(self):
        self.ceiling(merged(limits={"openFiles": 60, "pids": 40}))
        box = self.granted(grant=merged(limits={"openFiles": 90, "pids": 30})).args("sleep", "100")

        self.succeed(box.run_detached(through=self.through))

        self.assertEqual(box.cgroup_file("pids", "pids.max"), "30")
        # What was decided at create holds, whether the ceiling is still there or not.
        self.prints(box.exec("sh", "-c", "ulimit -n"), "60")

    @only_rung("has no grants")
    def test_more_than_a_rejecting_ceiling_allows_is_named(self):
        self.ceiling(onExceed="reject")

        self.fails(self.granted(grant=merged(filesystem={"readWrite": ["/work"]})).run(through=self.through),
                   "exceeds_ceiling: filesystem.readWrite")

    @only_rung("has no grants")
    def test_a_ceiling_that_others_may_write_stops_everything(self):
        os.chmod(self.ceiling(), 0o666)

        self.fails(self.granted().run(through=self.through), "ceiling_insecure", "/etc/rung/ceiling.yaml")

    @only_rung("has no grants")
    def test_the_handler_picks_the_rule(self):
        self.put("etc/ceiling.yaml", {"ceilingVersion": "1", "requirements": {"landlock": "ifAvailable"}, "rules": [
            {"match": {"handlers": ["tenant"]}, "ceiling": merged(limits={"openFiles": 50})},
            {"match": {"handlers": ["rung"]}, "ceiling": merged(limits={"openFiles": 60})}]})
        box = self.granted("ulimit -n")

        self.prints(box.run(through=self.through), "60")

        self.runtime.options = ["--handler", "tenant"]
        self.prints(self.container("second").shell("ulimit -n").run("--grant", self.grant(READ_ONLY), through=self.through),
                    "50")

    @only_rung("has no grants")
    def test_a_host_without_the_required_landlock_starts_nothing(self):
        self.ceiling(requirements={"landlock": "required", "landlockAbi": 1000})

        self.fails(self.granted().run(through=self.through), "grant_unenforceable: requirements.landlock")

    @only_rung("has no grants")
    def test_the_plan_names_the_layer_that_denied(self):
        self.ceiling(merged(limits={"pids": 8}))
        box = self.granted(grant=merged(limits={"pids": 20}, filesystem={"readWrite": ["/tmp"]}))
        box.bundle.write()

        out = self.succeed(self.runtime.call("plan", "--json", "--bundle", box.bundle.path, through=self.through)).out

        narrowings = [(one["field"], one["layer"]) for one in json.loads(out)["narrowings"]]
        for expected in (("limits.pids", "ceiling"), ("filesystem.readWrite", "ceiling")):
            self.assertIn(expected, narrowings)


class Places(OfHost):
    @only_rung("has no grants")
    def test_a_named_grant_is_in_force(self):
        self.put("etc/grants/small.yaml", READ_ONLY)
        box = self.container().shell("touch /x 2>/dev/null || echo no")
        box.config["annotations"] = {"dev.rung.grant-ref": "small"}

        self.prints(box.run(through=self.through), "no")

    @only_rung("has no grants")
    def test_what_the_drop_box_holds_before_create_is_in_force(self):
        box = self.container().shell("touch /x 2>/dev/null || echo no")
        self.put(f"run/grants.d/{box.id}.json", READ_ONLY)

        self.prints(box.run(through=self.through), "no")

    @only_rung("has no grants")
    def test_what_comes_into_the_drop_box_after_create_is_not_passed_over(self):
        box = self.container().args("sleep", "100")
        self.succeed(box.create(through=self.through))
        path = self.put(f"run/grants.d/{box.id}.json", READ_ONLY)

        self.fails(box.start(through=self.through), "grant_conflict", "after create")
        self.assertEqual(box.status(), "created")

        os.remove(path)
        self.succeed(box.start(through=self.through))

    @only_rung("has no grants")
    def test_a_grant_in_the_environment_is_the_images_and_ignored(self):
        box = self.container().shell("touch /tmp/x && echo yes")
        box.config["process"]["env"].append("RUNG_GRANT=" + json.dumps(READ_ONLY))

        self.prints(box.run(through=self.through), "yes")


class Pods(OfHost):
    def member(self, name, kind, sandbox, grant, script="true"):
        box = self.container(name).shell(script)
        box.config["annotations"] = {"io.kubernetes.cri.container-type": kind, "io.kubernetes.cri.sandbox-id": sandbox or box.id,
                                     "dev.rung.grant": json.dumps(grant)}
        if kind == "container":
            box.config["annotations"]["io.kubernetes.cri.container-name"] = name
        return box

    @only_rung("has no grants")
    def test_a_container_of_a_pod_is_never_wider_than_its_sandbox(self):
        sandbox = self.member("pause", "sandbox", None, merged(limits={"openFiles": 50})).args("sleep", "100")
        self.succeed(sandbox.run_detached())

        self.prints(self.member("web", "container", sandbox.id, merged(limits={"openFiles": 40}), "ulimit -n").run(), "40")
        self.fails(self.member("db", "container", sandbox.id, merged(limits={"openFiles": 60})).run(),
                   "grant_conflict: limits.openFiles", sandbox.id)
