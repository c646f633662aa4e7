// network and secrets: who may be reached, and who receives a secret.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "grant/cidr.hpp"
#include "grant/host_pattern.hpp"
#include "grant/sections.hpp"

namespace rung::grant {

namespace {

constexpr std::size_t kMaxEgressRules = 256;
constexpr std::size_t kMaxIngress = 32;
constexpr std::size_t kMaxSecrets = 16;
constexpr std::size_t kMaxEntries = 16;  // of the lists inside one rule
constexpr std::size_t kMaxHttpRules = 64;
constexpr std::size_t kMaxHttpPath = 1024;

Result<std::string> read_host(const Field& field) {
    // An unquoted 2852039166 is an address in disguise, and says so whatever YAML makes of it.
    const Kind kind = field.node->kind;
    std::string host =
        kind == Kind::number || kind == Kind::unclear ? field.node->text : TRY(read_string(field));
    if (const Status checked = check_host_pattern(host); !checked) {
        return refuse(field, checked.error().reason, checked.error().message);
    }
    return host;
}

Result<Cidr> read_cidr(const Field& field) {
    const auto parsed = parse_cidr(TRY(read_string(field)));
    if (!parsed) return refuse(field, parsed.error().reason, parsed.error().message);
    return *parsed;
}

Result<uint16_t> read_port(const Field& field) {
    return static_cast<uint16_t>(TRY(read_integer(field, {1, 65535})));
}

Result<PortRange> read_port_range(const Field& field) {
    if (field.node->kind != Kind::map) {
        const uint16_t port = TRY(read_port(field));
        return PortRange{.first = port, .last = port};
    }
    const Section section = TRY(Section::of(field, {"port", "endPort"}));
    const Field end = TRY(section.require("endPort"));
    const PortRange range{.first = TRY(read_port(TRY(section.require("port")))), .last = TRY(read_port(end))};
    if (range.last < range.first) return refuse(end, "grant_parse_error", "must not be below port");
    return range;
}

Status check_protocol(const Section& section) {
    if (const auto protocol = section.find("protocol")) TRY(read_choice(*protocol, {"TCP"}));
    return {};
}

Result<std::vector<std::string>> read_allow_private(const Field& field) {
    std::vector<std::string> ranges;
    for (const Field& entry : TRY(read_list(field, {0, kMaxEntries}))) {
        const Cidr range = TRY(read_cidr(entry));
        if (!is_private(range)) {
            return refuse(entry, "cidr_blocked", quoted(cidr_text(range)) + " is not within a private range");
        }
        ranges.push_back(cidr_text(range));
    }
    return ranges;
}

Result<HttpRule> read_http_rule(const Field& field) {
    const Section section = TRY(Section::of(field, {"methods", "path"}));
    HttpRule rule;
    for (const Field& method : TRY(read_list(TRY(section.require("methods")), {1, kMaxEntries}))) {
        TRY(read_choice(method, {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "ANY"}));
        rule.methods.push_back(method.node->text);
    }
    const Field path = TRY(section.require("path"));
    rule.path = TRY(read_string(path));
    if (!rule.path.starts_with('/')) return refuse(path, "path_not_absolute", "must start with '/'");
    if (rule.path.size() > kMaxHttpPath || rule.path.find_first_of("?#") != std::string::npos) {
        return refuse(path, "grant_parse_error", "must be at most 1024 characters without '?' and '#'");
    }
    const std::string bounded = rule.path + "/";
    if (bounded.find("/../") != std::string::npos)
        return refuse(path, "path_traversal", "must not hold '..'");
    return rule;
}

// cidr and except; a private range that allowPrivate does not open could never be reached.
Status read_address_rule(const Section& section, EgressRule& rule) {
    const Field field = TRY(section.require("cidr"));
    const Cidr cidr = TRY(read_cidr(field));
    if (is_blocked(cidr))
        return refuse(field, "cidr_blocked", quoted(cidr_text(cidr)) + " is never reachable");
    rule.cidr = cidr_text(cidr);
    const bool opened =
        std::any_of(rule.allow_private.begin(), rule.allow_private.end(), [&](const auto& range) {
            const auto allowed = parse_cidr(range);
            return allowed && (cidr_covers(*allowed, cidr) || cidr_covers(cidr, *allowed));
        });
    if (is_private(cidr) && !opened) {
        return refuse(field, "cidr_blocked", quoted(rule.cidr) + " is private: list it in allowPrivate too");
    }
    const auto except = section.find("except");
    if (!except) return {};
    for (const Field& entry : TRY(read_list(*except, {0, kMaxEntries}))) {
        const Cidr hole = TRY(read_cidr(entry));
        if (!cidr_covers(cidr, hole) || hole == cidr) {
            return refuse(entry, "grant_parse_error",
                          quoted(cidr_text(hole)) + " must lie within " + rule.cidr);
        }
        rule.except.push_back(cidr_text(hole));
    }
    return {};
}

Result<EgressRule> read_egress_rule(const Field& field) {
    const Section section =
        TRY(Section::of(field, {"host", "cidr", "except", "ports", "protocol", "allowPrivate", "http"}));
    const auto host = section.find("host");
    const auto http = section.find("http");
    const bool by_address = section.find("cidr").has_value();
    if (host.has_value() == by_address) {
        return refuse(field, "grant_parse_error", "must have either 'host' or 'cidr'");
    }
    if (host && section.find("except"))
        return refuse(field, "grant_parse_error", "'except' goes with 'cidr' only");
    if (by_address && http) return refuse(field, "grant_parse_error", "'http' goes with 'host' only");
    EgressRule rule;
    TRY(check_protocol(section));
    if (const auto ranges = section.find("allowPrivate"))
        rule.allow_private = TRY(read_allow_private(*ranges));
    if (host) rule.host = TRY(read_host(*host));
    if (by_address) {
        TRY(read_address_rule(section, rule));
        (void)TRY(section.require("ports"));  // 443 is a default for names alone
    }
    if (const auto ports = section.find("ports")) {
        rule.ports.clear();
        for (const Field& entry : TRY(read_list(*ports, {1, kMaxEntries}))) {
            rule.ports.push_back(TRY(read_port_range(entry)));
        }
    }
    if (http) {
        for (const Field& entry : TRY(read_list(*http, {1, kMaxHttpRules}))) {
            rule.http.push_back(TRY(read_http_rule(entry)));
        }
    }
    return rule;
}

Result<Secret> read_secret(const Field& field) {
    const Section section = TRY(Section::of(field, {"name", "hosts", "header"}));
    Secret secret{.name = TRY(read_dns_label(TRY(section.require("name"))))};
    for (const Field& entry : TRY(read_list(TRY(section.require("hosts")), {1, kMaxEntries}))) {
        secret.hosts.push_back(TRY(read_host(entry)));
        if (secret.hosts.back().starts_with('*')) {
            return refuse(entry, "host_pattern_invalid", "must be one host, without a wildcard");
        }
    }
    if (const auto header = section.find("header")) secret.header = TRY(read_identifier(*header, 64, "-"));
    return secret;
}

}  // namespace

Result<Network> read_network(const Field& field) {
    const Section section = TRY(Section::of(field, {"egress", "ingress"}));
    Network network;
    if (const auto egress = section.find("egress")) {
        for (const Field& entry : TRY(read_list(*egress, {0, kMaxEgressRules}))) {
            network.egress.push_back(TRY(read_egress_rule(entry)));
        }
    }
    if (const auto ingress = section.find("ingress")) {
        for (const Field& entry : TRY(read_list(*ingress, {0, kMaxIngress}))) {
            const Section rule = TRY(Section::of(entry, {"port", "protocol"}));
            TRY(check_protocol(rule));
            network.ingress_ports.push_back(TRY(read_port(TRY(rule.require("port")))));
        }
    }
    return network;
}

Result<std::vector<Secret>> read_secrets(const Field& field) {
    std::vector<Secret> secrets;
    for (const Field& entry : TRY(read_list(field, {0, kMaxSecrets})))
        secrets.push_back(TRY(read_secret(entry)));
    return secrets;
}

}  // namespace rung::grant
