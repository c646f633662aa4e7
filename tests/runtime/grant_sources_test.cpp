// The ceiling, the drop box, named grants and a pod's annotations: which count, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "kernel/files.hpp"
#include "runtime/grants.hpp"
#include "runtime/pod.hpp"

using namespace rung;
using namespace rung::runtime;

namespace {

constexpr const char* kGrant = R"({"grantVersion":"1","tools":["/"],"limits":{"pids":20}})";
constexpr const char* kNarrow = R"({"grantVersion":"1","tools":["/"],"limits":{"pids":5}})";

// A host of its own: a bundle, a ceiling, named grants, a drop box.
struct Host {
    std::string root = "/tmp/rung-sources-test-XXXXXX";
    GrantPlaces places = {};

    Host() {
        REQUIRE(mkdtemp(root.data()) != nullptr);
        places = {.id = "c1",
                  .bundle = root + "/bundle",
                  .handler = "rung",
                  .host = {.ceiling = root + "/etc/ceiling.yaml",
                           .named = root + "/etc/grants",
                           .drop_box = root + "/box"}};
        for (const char* name : {"/bundle", "/etc", "/etc/grants"})
            REQUIRE(mkdir((root + name).c_str(), 0755) == 0);
        REQUIRE(mkdir((root + "/box").c_str(), 0700) == 0);
    }
    ~Host() { (void)kernel::remove_tree_at(AT_FDCWD, root); }

    void write(const std::string& name, const std::string& text, mode_t mode = 0644) const {
        const std::string path = root + name;
        FILE* file = fopen(path.c_str(), "we");
        REQUIRE(file != nullptr);
        REQUIRE(fwrite(text.data(), 1, text.size(), file) == text.size());
        REQUIRE(fclose(file) == 0);
        REQUIRE(chmod(path.c_str(), mode) == 0);
    }
    void write_ceiling(const std::string& lines, const std::string& rule = "tools: [/]") const {
        write("/etc/ceiling.yaml", "ceilingVersion: \"1\"\nrequirements: {landlock: ifAvailable}\n" + lines +
                                       "\nrules: [{ceiling: {grantVersion: \"1\", " + rule + "}}]\n");
    }
    std::string reason() const {
        const auto sources = collect_grants(places);
        if (!sources) return sources.error().reason;
        const auto met = meet_sources(*sources);
        return met ? "accepted" : met.error().reason;
    }
    std::optional<grant::Grant> grant() const {
        const auto sources = collect_grants(places);
        REQUIRE(sources);
        const auto met = meet_grants(*sources);
        REQUIRE(met);
        return *met;
    }
};

}  // namespace

TEST_CASE("under a ceiling that denies, a container without a grant does not start") {
    Host host;
    host.write_ceiling("");

    CHECK(host.reason() == "grant_missing");

    host.places.annotations = {{"dev.rung.grant", kGrant}};
    CHECK(host.reason() == "accepted");
}

TEST_CASE("the ceiling narrows the grant and fills what it leaves open") {
    Host host;
    host.write_ceiling("", "tools: [/], limits: {pids: 8, cpu: 1}");
    host.places.annotations = {{"dev.rung.grant", kGrant}};

    const auto grant = host.grant();

    REQUIRE(grant);
    CHECK(grant->limits.pids == 8);
    CHECK(grant->limits.cpu_milli == 1000);
}

TEST_CASE("a ceiling that rejects fails with the fields") {
    Host host;
    host.write_ceiling("onExceed: reject", "tools: [/], limits: {pids: 8}");
    host.places.annotations = {{"dev.rung.grant", kGrant}};

    CHECK(host.reason() == "exceeds_ceiling");
}

TEST_CASE("a default grant is for whoever brings none") {
    Host host;
    host.write_ceiling("defaultGrant: small");
    CHECK(host.reason() == "grant_missing");

    host.write("/etc/grants/small.yaml", kNarrow);
    CHECK(host.grant()->limits.pids == 5);

    host.places.annotations = {{"dev.rung.grant", kGrant}};
    CHECK(host.grant()->limits.pids == 20);
}

TEST_CASE("a ceiling whose rules are all for others is missing for this container") {
    Host host;
    host.write("/etc/ceiling.yaml",
               "ceilingVersion: \"1\"\nrules: [{match: {namespaces: [\"tenant-*\"]}, ceiling: {grantVersion: "
               "\"1\"}},"
               "{match: {handlers: [other]}, ceiling: {grantVersion: \"1\"}}]\n");
    host.places.annotations = {{"dev.rung.grant", kGrant}};
    CHECK(host.reason() == "ceiling_missing");

    host.places.annotations["io.kubernetes.cri.sandbox-namespace"] = "tenant-1";
    CHECK(host.reason() == "accepted");

    host.places.annotations.erase("io.kubernetes.cri.sandbox-namespace");
    host.places.handler = "other";
    CHECK(host.reason() == "accepted");
}

TEST_CASE("a ceiling that others could have written is insecure") {
    Host host;
    host.places.annotations = {{"dev.rung.grant", kGrant}};
    host.write_ceiling("");
    REQUIRE(host.reason() == "accepted");

    SUBCASE("writable by its group") {
        REQUIRE(chmod((host.root + "/etc/ceiling.yaml").c_str(), 0664) == 0);
    }
    SUBCASE("owned by somebody else") {
        REQUIRE(chown((host.root + "/etc/ceiling.yaml").c_str(), 1000, 0) == 0);
    }
    SUBCASE("in a directory of somebody else") {
        REQUIRE(chown((host.root + "/etc").c_str(), 1000, 0) == 0);
    }
    SUBCASE("in a directory where others write") {
        REQUIRE(chmod((host.root + "/etc").c_str(), 0777) == 0);
    }
    SUBCASE("a symlink") {
        REQUIRE(rename((host.root + "/etc/ceiling.yaml").c_str(), (host.root + "/etc/real.yaml").c_str()) ==
                0);
        REQUIRE(symlink("real.yaml", (host.root + "/etc/ceiling.yaml").c_str()) == 0);
    }
    SUBCASE("a symlink to nowhere") {
        REQUIRE(unlink((host.root + "/etc/ceiling.yaml").c_str()) == 0);
        REQUIRE(symlink("/nonexistent", (host.root + "/etc/ceiling.yaml").c_str()) == 0);
    }
    SUBCASE("not a file") {
        REQUIRE(unlink((host.root + "/etc/ceiling.yaml").c_str()) == 0);
        REQUIRE(mkfifo((host.root + "/etc/ceiling.yaml").c_str(), 0644) == 0);
    }

    CHECK(host.reason() == "ceiling_insecure");
}

TEST_CASE("a broken ceiling stops every container and is named") {
    Host host;
    host.write("/etc/ceiling.yaml", "ceilingVersion: \"1\"\nrule: []\n");

    const auto sources = collect_grants(host.places);

    REQUIRE_FALSE(sources);
    CHECK(sources.error().reason == "grant_unknown_field");
    CHECK(sources.error().message.find("etc/ceiling.yaml]") != std::string::npos);
}

TEST_CASE("the ceiling says which sources count") {
    Host host;
    host.write("/bundle/grant.json", kNarrow);
    host.places.annotations = {{"dev.rung.grant", kGrant}};

    host.write_ceiling("trust: {bundle: ignore}");
    CHECK(host.grant()->limits.pids == 20);

    host.write_ceiling("trust: {bundle: narrowing}");
    CHECK(host.grant()->limits.pids == 5);

    host.write_ceiling("trust: {bundle: narrowing, annotation: narrowing}");
    CHECK(host.reason() == "grant_missing");

    host.write_ceiling("trust: {annotation: signed}");
    CHECK(host.reason() == "grant_untrusted_source");
}

TEST_CASE("a grant in the environment is ignored unless the ceiling lets it narrow") {
    Host host;
    host.places.environment = {"PATH=/bin", std::string{"RUNG_GRANT="} + kNarrow};
    CHECK_FALSE(host.grant().has_value());

    host.write_ceiling("trust: {environment: narrowing}");
    CHECK(host.reason() == "grant_missing");

    host.places.annotations = {{"dev.rung.grant", kGrant}};
    CHECK(host.grant()->limits.pids == 5);

    host.places.environment = {"RUNG_GRANT={"};
    CHECK(host.reason() == "grant_parse_error");
}

TEST_CASE("a grant is named by annotation and found among the host's") {
    Host host;
    host.write("/etc/grants/small.json", kNarrow);
    host.places.annotations = {{"dev.rung.grant-ref", "small"}};
    CHECK(host.grant()->limits.pids == 5);

    host.write("/etc/grants/small.yaml", kNarrow);
    CHECK(host.reason() == "grant_conflict");

    host.places.annotations = {{"dev.rung.grant-ref", "absent"}};
    CHECK(host.reason() == "grant_missing");

    for (const char* name : {"", "../ceiling", "/etc/passwd", "a/b", "Small", "small.json"}) {
        host.places.annotations = {{"dev.rung.grant-ref", name}};
        CHECK(host.reason() == "grant_parse_error");
    }
}

TEST_CASE("a named grant that others could have written is not trusted") {
    Host host;
    host.write("/etc/grants/small.yaml", kNarrow, 0666);
    host.places.annotations = {{"dev.rung.grant-ref", "small"}};
    CHECK(host.reason() == "grant_untrusted_source");

    REQUIRE(unlink((host.root + "/etc/grants/small.yaml").c_str()) == 0);
    REQUIRE(symlink("../ceiling.yaml", (host.root + "/etc/grants/small.yaml").c_str()) == 0);
    CHECK(host.reason() == "grant_untrusted_source");
}

TEST_CASE("the drop box's grant holds, and only root's own directory is one") {
    Host host;
    host.write("/box/c2.json", kNarrow);
    CHECK_FALSE(host.grant().has_value());

    host.write("/box/c1.json", kNarrow);
    CHECK(host.grant()->limits.pids == 5);

    REQUIRE(chmod((host.root + "/box").c_str(), 0755) == 0);
    CHECK(host.reason() == "grant_untrusted_source");

    host.write_ceiling("trust: {dropbox: ignore}");
    host.places.annotations = {{"dev.rung.grant", kGrant}};
    CHECK(host.grant()->limits.pids == 20);
}

TEST_CASE("a container of a pod is under its own annotation and not its neighbour's") {
    Host host;
    host.places.annotations = {{"dev.rung.grant", kGrant}, {"dev.rung.grant.web", kNarrow}};
    CHECK(host.reason() == "grant_unenforceable");

    host.places.annotations["io.kubernetes.cri.sandbox-id"] = "c1";
    CHECK(host.grant()->limits.pids == 20);

    host.places.annotations["io.kubernetes.cri.container-name"] = "db";
    CHECK(host.grant()->limits.pids == 20);

    host.places.annotations["io.kubernetes.cri.container-name"] = "web";
    CHECK(host.grant()->limits.pids == 5);

    host.places.annotations["dev.rung.grant.db"] = "{";
    CHECK(host.reason() == "grant_parse_error");
}

TEST_CASE("annotations that name two namespaces are refused") {
    CHECK(pod_of({{"io.kubernetes.cri-o.Namespace", "a"}, {"io.kubernetes.pod.namespace", "a"}})
              ->k8s_namespace == "a");
    CHECK(pod_of({{"io.kubernetes.cri-o.Namespace", "a"}, {"io.kubernetes.pod.namespace", "b"}})
              .error()
              .reason == "grant_conflict");
    CHECK(pod_of({{"io.kubernetes.cri-o.RuntimeHandler", ""}})->handler.empty());
}

TEST_CASE("a restarted container may not be wider than what its sandbox pinned") {
    State sandbox{.id = "sandbox", .grants = {{.name = "annotation dev.rung.grant", .text = kGrant}}};
    const auto effective = [](const char* text) { return *meet_sources({{.name = "g", .text = text}}); };

    CHECK(check_within_sandbox(sandbox, "web", effective(kGrant)));
    CHECK(check_within_sandbox(sandbox, "web", effective(kNarrow)));
    CHECK(check_within_sandbox(sandbox, "web", {}).error().reason == "grant_conflict");
    const auto wider = check_within_sandbox(
        sandbox, "web", effective(R"({"grantVersion":"1","tools":["/"],"limits":{"pids":21}})"));
    REQUIRE_FALSE(wider);
    CHECK(wider.error().message.starts_with(
        "grant_conflict: limits.pids: wider than what sandbox sandbox was created under (sha256:"));

    sandbox.annotations = {{"dev.rung.grant.web", kNarrow}};
    CHECK_FALSE(check_within_sandbox(sandbox, "web", effective(kGrant)));
    CHECK(check_within_sandbox(sandbox, "db", effective(kGrant)));
}

TEST_CASE("a sandbox that had no grant of its own pins nothing") {
    const State sandbox{.id = "sandbox",
                        .grants = {{.name = "defaultGrant", .text = kNarrow, .kind = SourceKind::fallback}}};

    CHECK(check_within_sandbox(sandbox, "web", {}));
}

TEST_CASE("what was dropped after create stops the start unless it narrows nothing") {
    Host host;
    const State state{.id = "c1", .grants = {{.name = "g", .text = kGrant}}};
    CHECK(check_drop_box(state, host.places.host));

    host.write("/box/c1.json", R"({"grantVersion":"1","tools":["/"],"limits":{"pids":20,"pids":1}})");
    CHECK(check_drop_box(state, host.places.host).error().reason == "grant_duplicate_key");

    host.write("/box/c1.json", R"({"grantVersion":"1","tools":["/"],"limits":{"pids":30}})");
    CHECK(check_drop_box(state, host.places.host));

    host.write("/box/c1.json", kNarrow);
    CHECK(check_drop_box(state, host.places.host).error().reason == "grant_conflict");
    CHECK(check_drop_box({.id = "c1"}, host.places.host).error().reason == "grant_conflict");

    const State applied{.id = "c1", .grants = {{.name = "b", .text = kNarrow, .kind = SourceKind::drop_box}}};
    CHECK(check_drop_box(applied, host.places.host));
}

TEST_CASE("what is kept of the sources decides again as it did") {
    Host host;
    host.write_ceiling("", "tools: [/], limits: {pids: 8}");
    host.places.annotations = {{"dev.rung.grant", kGrant}};
    const auto sources = collect_grants(host.places);
    REQUIRE(sources);

    const auto again =
        state_from_json(state_to_json({.id = "c1", .grants = *sources, .grant_digest = "sha256:0"}));

    REQUIRE(again);
    CHECK(again->grants == *sources);
    CHECK(again->grant_digest == "sha256:0");
    CHECK(again->grants_are_known);
    CHECK((*meet_grants(again->grants))->limits.pids == 8);
}

TEST_CASE("a kind of source that this build does not know leaves the grants unknown") {
    const auto state = state_from_json(R"({"id":"a","grants":[{"name":"x","text":"{}","kind":"later"}]})");

    REQUIRE(state);
    CHECK_FALSE(state->grants_are_known);
}
