// What a well-formed grant becomes.
// SPDX-License-Identifier: Apache-2.0
#include "grant/parse.hpp"

#include <doctest/doctest.h>

#include "grant/refused.hpp"

namespace rung::grant {

namespace {

constexpr const char* kSmallJson =
    R"({"grantVersion":"1","filesystem":{"rootfs":"readOnly","tmpfs":[{"path":"/tmp","size":"64Mi"}]},)"
    R"("tools":["/usr/bin/python3"],"limits":{"memory":"256Mi","cpu":"500m","pids":32},)"
    R"("budgets":{"activeDeadlineSeconds":30,"maxOps":50,"maxOutputBytes":65536}})";

constexpr const char* kLargeYaml = R"(grantVersion: "1"
metadata:
  name: csv-chart
  taskId: task-7f3a
  subject: tenant-42/agent-9
  expiresAt: "2027-01-01T00:00:00Z"
filesystem:
  readOnly: [/usr, /lib, /lib64, /etc/ssl/certs, /work/in]
  readWrite: [/work/out]
  hidden: [/work/in/.git/hooks]
  tmpfs: [{path: /tmp, size: 256Mi}]
tools: [/usr/bin/python3, {path: /usr/bin/git, sha256: "0000000000000000000000000000000000000000000000000000000000000000"}]
network:
  egress:
    - host: api.github.com
      http: [{methods: [GET, HEAD], path: "/repos/acme/**"}]
    - host: "*.pythonhosted.org"
    - host: db.internal.example
      ports: [5432]
      allowPrivate: [10.20.0.0/16]
capabilities: []
secrets: [{name: github-ro, hosts: [api.github.com]}]
limits: {memory: 512Mi, cpu: "1", pids: 64, ephemeralStorage: 1Gi}
budgets: {activeDeadlineSeconds: 60, maxOps: 200, maxOutputBytes: 1Mi, maxEgressBytes: 50Mi}
terminationGracePeriodSeconds: 5
audit: {level: denials}
)";

}  // namespace

TEST_CASE("a small JSON grant is read") {
    const auto grant = parse_grant(kSmallJson);

    REQUIRE(grant);
    const Grant expected{
        .filesystem =
            Filesystem{.rootfs = RootfsAccess::read_only, .tmpfs = {{.path = "/tmp", .size = 64ull << 20}}},
        .tools = std::vector<Tool>{{.path = "/usr/bin/python3"}},
        .limits = {.memory = 256ull << 20, .cpu_milli = 500, .pids = 32},
        .budgets = Budgets{.active_deadline_seconds = 30, .max_ops = 50, .max_output_bytes = 65536}};
    CHECK(*grant == expected);
}

TEST_CASE("a YAML grant with every common section is read") {
    const auto grant = parse_grant(kLargeYaml);

    REQUIRE(grant);
    CHECK(grant->metadata == Metadata{.name = "csv-chart",
                                      .task_id = "task-7f3a",
                                      .subject = "tenant-42/agent-9",
                                      .expires_at = 1798761600});
    REQUIRE(grant->filesystem);
    CHECK(grant->filesystem->read_only ==
          std::vector<std::string>{"/usr", "/lib", "/lib64", "/etc/ssl/certs", "/work/in"});
    CHECK(grant->filesystem->hidden == std::vector<std::string>{"/work/in/.git/hooks"});
    REQUIRE(grant->tools);
    CHECK(grant->tools->at(1) == Tool{.path = "/usr/bin/git", .sha256 = std::string(64, '0')});
    REQUIRE(grant->network);
    CHECK(grant->network->egress.at(0).http ==
          std::vector<HttpRule>{{.methods = {"GET", "HEAD"}, .path = "/repos/acme/**"}});
    CHECK(grant->network->egress.at(1) == EgressRule{.host = "*.pythonhosted.org", .ports = {{443, 443}}});
    CHECK(grant->network->egress.at(2) == EgressRule{.host = "db.internal.example",
                                                     .ports = {{5432, 5432}},
                                                     .allow_private = {"10.20.0.0/16"}});
    CHECK(grant->secrets == std::vector<Secret>{{.name = "github-ro", .hosts = {"api.github.com"}}});
    CHECK(grant->limits ==
          Limits{.memory = 512ull << 20, .cpu_milli = 1000, .pids = 64, .ephemeral_storage = 1ull << 30});
    CHECK(grant->budgets->max_egress_bytes == 50ull << 20);
    CHECK(grant->termination_grace_seconds == 5);
    CHECK(grant->audit_level == AuditLevel::denials);
    CHECK(grant->audit_feedback == std::nullopt);
}

TEST_CASE("the rarer fields are read") {
    const auto grant = parse_grant(R"(grantVersion: "1"
metadata: {notBefore: 2026-01-01T00:00:00.5Z, labels: {team: data, "rung.dev/run": "7"}}
network:
  egress:
    - cidr: 203.0.113.0/24
      except: [203.0.113.64/26]
      ports: [443, {port: 8000, endPort: 8010}]
      protocol: TCP
  ingress: [{port: 8080}, {port: 9090, protocol: TCP}]
capabilities: [CAP_CHOWN, CAP_KILL]
devices: ["vendor.com/gpu=0"]
limits: {cpu: 0.25, openFiles: 1024}
budgets: {countedOps: [exec, connect]}
isolation: {minimum: gvisor}
audit: {level: decisions, feedback: false}
seccomp: {profile: strict}
)");

    REQUIRE(grant);
    const Grant expected{
        .metadata = {.not_before = 1767225601, .labels = {{"team", "data"}, {"rung.dev/run", "7"}}},
        .network = Network{.egress = {{.cidr = "203.0.113.0/24",
                                       .except = {"203.0.113.64/26"},
                                       .ports = {{443, 443}, {8000, 8010}}}},
                           .ingress_ports = {8080, 9090}},
        .capabilities = 1u << 0 | 1u << 5,
        .devices = std::vector<std::string>{"vendor.com/gpu=0"},
        .limits = {.cpu_milli = 250, .open_files = 1024},
        .budgets = Budgets{.counted_ops = {"exec", "connect"}},
        .isolation = Isolation::gvisor,
        .audit_level = AuditLevel::decisions,
        .audit_feedback = false,
        .seccomp_profiles = {"strict"}};
    CHECK(*grant == expected);
}

TEST_CASE("absent and empty are different values") {
    const auto absent = parse_grant(R"({"grantVersion":"1"})");
    const auto empty = parse_grant(
        R"({"grantVersion":"1","filesystem":{},"tools":[],"network":{},"capabilities":[],"devices":[],"budgets":{}})");

    REQUIRE(absent);
    REQUIRE(empty);
    CHECK(*absent == Grant{});
    CHECK(*empty == Grant{.filesystem = Filesystem{},
                          .tools = std::vector<Tool>{},
                          .network = Network{},
                          .capabilities = 0,
                          .devices = std::vector<std::string>{},
                          .budgets = Budgets{}});
    CHECK(*absent != *empty);
}

TEST_CASE("the order of keys does not matter") {
    const auto one = parse_grant("grantVersion: \"1\"\ntools: [/bin]\nlimits: {pids: 4, memory: 1Gi}\n");
    const auto other = parse_grant("limits: {memory: 1Gi, pids: 4}\ntools: [/bin]\ngrantVersion: \"1\"\n");

    REQUIRE(one);
    REQUIRE(other);
    CHECK(*one == *other);
}

TEST_CASE("YAML written in JSON's style without quotes is YAML") {
    const auto grant = parse_grant(R"({grantVersion: "1", tools: [/bin]})");

    REQUIRE(grant);
    CHECK(grant->tools == std::vector<Tool>{{.path = "/bin"}});
}

TEST_CASE("JSON escapes are resolved") {
    const auto grant = parse_grant(R"( {"grantVersion":"\u0031", "tools":["\/usr\/bin"],)"
                                   "\t\r\n"
                                   R"("metadata":{"labels":{"a":"\ud83d\ude00\u00e9\n"}}} )");

    REQUIRE(grant);
    CHECK(grant->tools == std::vector<Tool>{{.path = "/usr/bin"}});
    CHECK(grant->metadata.labels.at("a") == "\xf0\x9f\x98\x80\xc3\xa9\n");
}

TEST_CASE("JSON numbers keep every digit") {
    const auto grant = parse_grant(R"({"grantVersion":"1","limits":{"cpu":0.101,"memory":9007199254740993},)"
                                   R"("budgets":{"maxOutputBytes" : 9007199254740993}})");

    REQUIRE(grant);
    CHECK(grant->limits.cpu_milli == 101);
    CHECK(grant->limits.memory == 9007199254740993);
    CHECK(grant->budgets->max_output_bytes == 9007199254740993);
}

TEST_CASE("a trailing slash is dropped from a path") {
    const auto grant = parse_grant(R"({"grantVersion":"1","filesystem":{"readOnly":["/work/","/"]}})");

    REQUIRE(grant);
    CHECK(grant->filesystem->read_only == std::vector<std::string>{"/work", "/"});
}

TEST_CASE("a sandbox may have its own shared memory") {
    CHECK(reason_with("filesystem: {tmpfs: [{path: /dev/shm, size: 64Mi}]}") == "accepted");
}

}  // namespace rung::grant
