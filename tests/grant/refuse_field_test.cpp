// What is refused for a field's value, each with its reason code.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "grant/refused.hpp"

namespace rung::grant {

namespace {

// The reason of an egress rule written in YAML's flow style.
std::string reason_of_egress(std::string_view rule) {
    return reason_with("network: {egress: [{" + std::string{rule} + "}]}");
}

std::string reason_of_host(std::string_view host) {
    return reason_of_egress("host: \"" + std::string{host} + "\"");
}

std::string list_of(std::size_t count, std::string_view prefix) {
    std::string list = "[";
    for (std::size_t index = 0; index < count; ++index)
        list += std::string{prefix} + std::to_string(index) + ", ";
    return list + "]";
}

}  // namespace

TEST_CASE("a version other than the string 1 is refused before anything else") {
    CHECK(reason_of("grantVersion: \"2\"\nfuture: 1\n") == "grant_version_unsupported");
    CHECK(message_of("grantVersion: 1\n") ==
          "grant_version_unsupported: grantVersion: must be the string \"1\": write it in quotes (line 1, "
          "column 15)");
    CHECK(reason_of(R"({"grantVersion":1})") == "grant_version_unsupported");
    CHECK(reason_of(R"({"grantVersion":null})") == "grant_version_unsupported");
    CHECK(reason_of("tools: []\n") == "grant_parse_error");
    CHECK(reason_of("{}") == "grant_parse_error");
}

TEST_CASE("an unknown field is refused by name") {
    CHECK(message_of("grantVersion: \"1\"\nfilesystem:\n  readwrite: [/work]\n") ==
          "grant_unknown_field: filesystem.readwrite: there is no such field (line 3, column 14)");
    CHECK(reason_with("tool: []") == "grant_unknown_field");
    CHECK(reason_with("metadata: {owner: me}") == "grant_unknown_field");
    CHECK(reason_with("filesystem: {tmpfs: [{path: /tmp, size: 1Mi, mode: 7}]}") == "grant_unknown_field");
    CHECK(reason_with("tools: [{path: /bin/sh, args: []}]") == "grant_unknown_field");
    CHECK(reason_of_egress("host: example.com, port: 443") == "grant_unknown_field");
    CHECK(reason_with("limits: {swap: 1Gi}") == "grant_unknown_field");
    CHECK(reason_with("budgets: {maxOP: 1}") == "grant_unknown_field");
    CHECK(reason_with("seccomp: {profiles: [strict]}") == "grant_unknown_field");
}

TEST_CASE("what was read before an error is given back") {
    // Longer than a string keeps in itself: the leak checker sees it.
    CHECK(reason_with("filesystem: {tmpfs: [{path: /a/path/that/needs/memory/of/its/own, size: 0}]}") ==
          "grant_parse_error");
}

TEST_CASE("a value of the wrong type is refused, not converted") {
    for (const char* line : {"filesystem:",
                             "filesystem: ~",
                             "filesystem: []",
                             "tools: /bin",
                             "tools: {}",
                             "tools: [[/bin]]",
                             "tools: [1]",
                             "tools: [~]",
                             "tools: [true]",
                             "capabilities: CAP_KILL",
                             "limits: {pids: \"4\"}",
                             "limits: {pids: 4.0}",
                             "limits: {pids: 0x10}",
                             "limits: {pids: 1e3}",
                             "limits: {pids: 010}",
                             "limits: {pids: 1_000}",
                             "limits: {pids: +4}",
                             "limits: {pids: .inf}",
                             "limits: {memory: 1e3}",
                             "limits: {memory: [1]}",
                             "limits: {cpu: .5}",
                             "limits: {cpu: 1e-1}",
                             "audit: {feedback: yes}",
                             "audit: {feedback: True}",
                             "audit: {feedback: \"true\"}",
                             "audit: {feedback: 1}",
                             "metadata: {labels: {a: 1}}",
                             "metadata: {labels: {a: no}}",
                             "metadata: {labels: []}",
                             "metadata: {taskId: 7}",
                             "metadata: {expiresAt: 1798761600}",
                             "metadata: {expiresAt: 2027-01-01}"}) {
        CAPTURE(line);

        CHECK(reason_with(line) == "grant_parse_error");
    }
    CHECK(
        message_of("grantVersion: \"1\"\nmetadata: {taskId: 0x7f}\n") ==
        "grant_parse_error: metadata.taskId: must be a string: write \"0x7f\" in quotes (line 2, column 20)");
}

TEST_CASE("a number out of its range is refused") {
    for (const char* line : {"limits: {pids: 0}", "limits: {pids: -1}", "limits: {pids: 4194305}",
                             "limits: {pids: 99999999999999999999999}", "limits: {openFiles: 15}",
                             "limits: {openFiles: 1048577}", "budgets: {activeDeadlineSeconds: 0}",
                             "budgets: {activeDeadlineSeconds: 2592001}", "budgets: {maxOps: 1000000001}",
                             "terminationGracePeriodSeconds: 301", "limits: {memory: 0}",
                             "limits: {memory: -1}", "limits: {cpu: 0}", "limits: {cpu: 0.0001}"}) {
        CAPTURE(line);

        CHECK(reason_with(line) == "grant_parse_error");
    }
    CHECK(reason_with("terminationGracePeriodSeconds: 0") == "accepted");
    CHECK(reason_with("limits: {pids: 4194304}") == "accepted");
}

TEST_CASE("a word that is not a choice is refused") {
    CHECK(
        message_of("grantVersion: \"1\"\nfilesystem: {rootfs: readonly}\n") ==
        "grant_parse_error: filesystem.rootfs: 'readonly' is not one of none, readOnly (line 2, column 22)");
    CHECK(reason_with("isolation: {minimum: vm}") == "grant_parse_error");
    CHECK(reason_with("audit: {level: all}") == "grant_parse_error");
    CHECK(reason_with("budgets: {countedOps: [read]}") == "grant_parse_error");
    CHECK(reason_with("budgets: {countedOps: [exec, exec]}") == "grant_parse_error");
    CHECK(reason_with("budgets: {countedOps: []}") == "grant_parse_error");
    CHECK(reason_with("network: {ingress: [{port: 80, protocol: UDP}]}") == "grant_parse_error");
    CHECK(reason_of_egress("host: example.com, protocol: UDP") == "grant_parse_error");
}

TEST_CASE("names and times follow their patterns") {
    for (const char* line : {"metadata: {name: Upper}",
                             "metadata: {name: -a}",
                             "metadata: {name: \"\"}",
                             "metadata: {taskId: a b}",
                             "metadata: {subject: \"\"}",
                             "metadata: {labels: {Upper: x}}",
                             "metadata: {labels: {-a: x}}",
                             "metadata: {expiresAt: 2027-01-01 00:00:00Z}",
                             "metadata: {expiresAt: 2027-02-29T00:00:00Z}",
                             "metadata: {expiresAt: 2027-01-01T24:00:00Z}",
                             "devices: [gpu]",
                             "devices: [vendor.com/gpu]",
                             "seccomp: {profile: ../x}",
                             "secrets: [{name: a, hosts: []}]",
                             "secrets: [{hosts: [example.com]}]",
                             "secrets: [{name: a, hosts: [example.com], header: \"X Y\"}]",
                             "tools: [{path: /bin/sh, sha256: abc}]",
                             "tools: [{sha256: \"0\"}]",
                             "filesystem: {tmpfs: [{path: /tmp}]}",
                             "filesystem: {tmpfs: [{size: 1Mi}]}"}) {
        CAPTURE(line);

        CHECK(reason_with(line) == "grant_parse_error");
    }
    CHECK(reason_with("metadata: {labels: {a: \"" + std::string(64, 'x') + "\"}}") == "grant_parse_error");
}

TEST_CASE("paths are absolute and clean") {
    for (const char* field : {"readOnly", "readWrite", "hidden"}) {
        const auto reason = [&](std::string_view path) {
            return reason_with("filesystem: {" + std::string{field} + ": [\"" + std::string{path} + "\"]}");
        };
        CAPTURE(field);

        CHECK(reason("work") == "path_not_absolute");
        CHECK(reason("./work") == "path_not_absolute");
        CHECK(reason("") == "path_not_absolute");
        CHECK(reason("/work/../etc") == "path_traversal");
        CHECK(reason("/work/.") == "path_traversal");
        CHECK(reason("//work") == "path_traversal");
        CHECK(reason("//") == "path_traversal");
        CHECK(reason("/work//") == "path_traversal");
        CHECK(reason("/work\\n") == "grant_parse_error");
        CHECK(reason("/" + std::string(4095, 'x')) == "grant_parse_error");
        CHECK(reason("/work/..x/.y") == "accepted");
    }
    CHECK(reason_with("tools: [bin/sh]") == "path_not_absolute");
    CHECK(reason_with("tools: [/usr/../bin/sh]") == "path_traversal");
    CHECK(reason_with("filesystem: {tmpfs: [{path: tmp, size: 1Mi}]}") == "path_not_absolute");
    CHECK(reason_of_egress("host: example.com, http: [{methods: [GET], path: a}]") == "path_not_absolute");
    CHECK(reason_of_egress("host: example.com, http: [{methods: [GET], path: /a/..}]") == "path_traversal");
}

TEST_CASE("what the kernel and rung show inside cannot be writable") {
    for (const char* path : {"/", "/proc", "/proc/sys", "/sys", "/sys/fs/cgroup", "/dev", "/dev/null",
                             "/run/rung", "/run/rung/denials.jsonl"}) {
        CAPTURE(path);

        CHECK(reason_with("filesystem: {readWrite: [" + std::string{path} + "]}") == "path_reserved");
        CHECK(reason_with("filesystem: {tmpfs: [{path: " + std::string{path} + ", size: 1Mi}]}") ==
              "path_reserved");
    }
    CHECK(reason_with("filesystem: {readWrite: [/dev/shm]}") == "path_reserved");
    CHECK(reason_with("filesystem: {hidden: [/]}") == "path_reserved");
    CHECK(reason_with("tools: [/proc/self/exe]") == "path_reserved");
    CHECK(reason_with("filesystem: {readWrite: [/process, /run/rungs]}") == "accepted");
    CHECK(reason_with("filesystem: {readOnly: [/, /proc], hidden: [/proc/kcore]}") == "accepted");
}

TEST_CASE("a grant that contradicts itself is refused") {
    CHECK(reason_with("filesystem: {readOnly: [/work/], readWrite: [/work]}") == "grant_conflict");
    CHECK(reason_with("filesystem: {tmpfs: [{path: /tmp, size: 1Mi}, {path: /tmp, size: 2Mi}]}") ==
          "grant_conflict");
    CHECK(reason_with("tools: [/bin/sh, {path: /bin/sh, sha256: \"" + std::string(64, 'a') + "\"}]") ==
          "grant_conflict");
    CHECK(reason_with("metadata: {notBefore: 2027-01-01T00:00:00Z, expiresAt: 2027-01-01T00:00:00Z}") ==
          "grant_conflict");
}

TEST_CASE("more paths, rules or entries than the limits are refused") {
    CHECK(reason_with("filesystem: {readOnly: " + list_of(257, "/p") + "}") == "grant_too_large");
    CHECK(reason_with("filesystem: {readOnly: " + list_of(128, "/p") + ", hidden: " + list_of(128, "/p") +
                      "}\ntools: [/bin]") == "grant_too_large");
    CHECK(reason_with("filesystem: {readOnly: " + list_of(256, "/p") + "}") == "accepted");
    CHECK(reason_with("network: {egress: " + list_of(257, "x") + "}") == "grant_too_large");
    CHECK(reason_of_egress("host: example.com, ports: " + list_of(17, "4")) == "grant_too_large");
    CHECK(reason_with(
              "metadata: {labels: {a0: x, a1: x, a2: x, a3: x, a4: x, a5: x, a6: x, a7: x, a8: x, a9: x, "
              "b0: x, b1: x, b2: x, b3: x, b4: x, b5: x, b6: x}}") == "grant_too_large");
}

TEST_CASE("hosts are names, with at most one wildcard in front") {
    for (const char* host : {"http://example.com",
                             "example.com/x",
                             "example.com:443",
                             "10.0.0.1",
                             "::1",
                             "[::1]",
                             "localhost",
                             "2852039166",
                             "0x7f.1",
                             "1.2.3.example.1",
                             "Example.com",
                             "ex\xc3\xa4mple.com",
                             "example.com.",
                             ".example.com",
                             "a..example.com",
                             "-a.example.com",
                             "a-.example.com",
                             "a_.example.com",
                             "",
                             "*example.com",
                             "a.*.example.com",
                             "*.*.example.com",
                             "***.example.com",
                             "**.**.com",
                             "example.c",
                             "example.co_m",
                             "a b.com"}) {
        CAPTURE(host);

        CHECK(reason_of_host(host) == "host_pattern_invalid");
    }
    CHECK(reason_of_host(std::string(64, 'a') + ".com") == "host_pattern_invalid");
    CHECK(reason_of_egress("host: 2852039166") == "host_pattern_invalid");
    CHECK(reason_of_egress("host: 0x7f000001") == "host_pattern_invalid");
    CHECK(reason_with("secrets: [{name: a, hosts: [\"*.example.com\"]}]") == "host_pattern_invalid");
    for (const char* host :
         {"example.com", "*.example.com", "**.example.com", "_dmarc.example.com", "xn--bcher-kva.example",
          "1.example.com", "example.co.uk", "*.example.co.uk", "acme.github.io"}) {
        CAPTURE(host);

        CHECK(reason_of_host(host) == "accepted");
    }
}

TEST_CASE("a wildcard over everything or over a public suffix is too broad") {
    for (const char* host :
         {"*", "**", "*.com", "**.com", "*.co.uk", "**.com.au", "*.github.io", "**.appspot.com"}) {
        CAPTURE(host);

        CHECK(reason_of_host(host) == "host_pattern_too_broad");
    }
}

TEST_CASE("an egress rule names a host or a range, with ports that make sense") {
    for (const char* rule :
         {"ports: [443]", "host: example.com, cidr: 203.0.113.0/24", "cidr: 203.0.113.0/24",
          "host: example.com, except: [203.0.113.0/24]",
          "cidr: 203.0.113.0/24, ports: [1], http: [{methods: [GET], path: /}]",
          "host: example.com, ports: []", "host: example.com, ports: [0]",
          "host: example.com, ports: [65536]", "host: example.com, ports: [{port: 2, endPort: 1}]",
          "host: example.com, ports: [{port: 2}]", "host: example.com, http: []",
          "host: example.com, http: [{methods: [], path: /}]",
          "host: example.com, http: [{methods: [TRACE], path: /}]",
          "host: example.com, http: [{methods: [GET], path: \"/?a\"}]"}) {
        CAPTURE(rule);

        CHECK(reason_of_egress(rule) == "grant_parse_error");
    }
}

TEST_CASE("ranges are strict prefixes") {
    for (const char* cidr : {"203.0.113.0", "203.0.113.0/33", "203.0.113.1/24", "203.0.113.0/024",
                             "203.0.113/24", "0203.0.113.0/24", "2001:DB8::/32", "2001:db8::/129",
                             "2001:db8::1/64", "/8", "a/8", "203.0.113.0/-1", "203.0.113.0/24/1"}) {
        CAPTURE(cidr);

        CHECK(reason_of_egress("ports: [443], cidr: \"" + std::string{cidr} + "\"") == "grant_parse_error");
    }
    CHECK(reason_of_egress("cidr: 203.0.113.0/24, ports: [443], except: [198.51.100.0/24]") ==
          "grant_parse_error");
    CHECK(reason_of_egress("cidr: 203.0.113.0/24, ports: [443], except: [203.0.113.0/24]") ==
          "grant_parse_error");
    CHECK(reason_of_egress("cidr: \"2001:db8::/32\", ports: [443], except: [\"2001:db8:1::/48\"]") ==
          "accepted");
    CHECK(reason_of_egress("cidr: 0.0.0.0/0, ports: [443]") == "accepted");
}

TEST_CASE("ranges that no grant opens are refused") {
    for (const char* cidr :
         {"127.0.0.0/8", "127.0.0.1/32", "169.254.169.254/32", "169.254.0.0/16", "0.0.0.0/8", "224.0.0.0/4",
          "255.255.255.255/32", "198.18.0.0/15", "::1/128", "::/128", "fe80::/10", "ff02::/16",
          "::ffff:10.0.0.0/104", "64:ff9b::/96", "2002:7f00::/24"}) {
        CAPTURE(cidr);

        CHECK(reason_of_egress("ports: [443], cidr: \"" + std::string{cidr} + "\"") == "cidr_blocked");
        CHECK(reason_of_egress("host: example.com, allowPrivate: [\"" + std::string{cidr} + "\"]") ==
              "cidr_blocked");
    }
    CHECK(reason_of_egress("host: example.com, allowPrivate: [0.0.0.0/0]") == "cidr_blocked");
    CHECK(reason_of_egress("host: example.com, allowPrivate: [203.0.113.0/24]") == "cidr_blocked");
    CHECK(reason_of_egress("ports: [443], cidr: 10.0.0.0/8") == "cidr_blocked");
    CHECK(reason_of_egress("ports: [443], cidr: 10.0.0.0/8, allowPrivate: [10.20.0.0/16]") == "accepted");
    CHECK(reason_of_egress("host: example.com, allowPrivate: [10.0.0.0/8, 192.168.1.0/24, \"fd00::/8\"]") ==
          "accepted");
}

TEST_CASE("a capability must be one") {
    CHECK(reason_with("capabilities: [CAP_NOPE]") == "capability_unknown");
    CHECK(reason_with("capabilities: [KILL]") == "capability_unknown");
    CHECK(reason_with("capabilities: [cap_kill]") == "capability_unknown");
    CHECK(reason_with("capabilities: [ALL]") == "capability_unknown");
    CHECK(reason_with("capabilities: [CAP_KILL, CAP_KILL]") == "grant_parse_error");
}

}  // namespace rung::grant
