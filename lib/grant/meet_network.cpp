// Egress rules: a rule's reach (whom it lets be called, and how) met by pairs, ports intersected.
//
// Reaches are ordered by what they allow, and each port belongs to the widest reaches that have it. So two
// lists of rules that allow the same come out as the same list, whichever way they came about.
// SPDX-License-Identifier: Apache-2.0
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "grant/cidr.hpp"
#include "grant/host_pattern.hpp"
#include "grant/meet_parts.hpp"
#include "grant/port_set.hpp"

namespace rung::grant {

namespace {

using Prefixes = std::vector<Cidr>;                                // sorted, none within another
using HttpMethods = std::map<std::string, std::set<std::string>>;  // by path; empty = no restriction

struct Reach {
    std::string host = {};
    std::optional<Cidr> cidr = {};  // exactly one of host and cidr
    Prefixes except = {};           // each within cidr
    Prefixes allow_private = {};
    HttpMethods http = {};
    auto operator<=>(const Reach&) const = default;
};

using Reaches = std::map<Reach, PortSet>;

Prefixes outermost(Prefixes prefixes) {
    prefixes = sorted_set(std::move(prefixes));
    Prefixes kept;
    for (const Cidr& prefix : prefixes) {
        const bool covered = std::any_of(prefixes.begin(), prefixes.end(), [&](const Cidr& other) {
            return other != prefix && cidr_covers(other, prefix);
        });
        if (!covered) kept.push_back(prefix);
    }
    return kept;
}

std::optional<Cidr> meet_cidrs(const Cidr& left, const Cidr& right) {
    if (cidr_covers(left, right)) return right;
    if (cidr_covers(right, left)) return left;
    return std::nullopt;
}

Prefixes meet_prefixes(const Prefixes& left, const Prefixes& right) {
    Prefixes both;
    for (const Cidr& one : left) {
        for (const Cidr& other : right) {
            if (const auto met = meet_cidrs(one, other)) both.push_back(*met);
        }
    }
    return outermost(std::move(both));
}

// Nothing when a hole swallows the whole.
std::optional<Prefixes> clip_holes(const Prefixes& holes, const Cidr& whole) {
    Prefixes clipped;
    for (const Cidr& hole : holes) {
        if (cidr_covers(hole, whole)) return std::nullopt;
        if (cidr_covers(whole, hole)) clipped.push_back(hole);
    }
    return outermost(std::move(clipped));
}

std::set<std::string> meet_methods(const std::set<std::string>& left, const std::set<std::string>& right) {
    if (left.contains("ANY")) return right;
    if (right.contains("ANY")) return left;
    std::set<std::string> both;
    std::set_intersection(left.begin(), left.end(), right.begin(), right.end(),
                          std::inserter(both, both.end()));
    return both;
}

// Paths are compared as written: two patterns that overlap without being equal have nothing in common here,
// which is narrower than it could be and never wider.
std::optional<HttpMethods> meet_http(const HttpMethods& left, const HttpMethods& right) {
    if (left.empty()) return right;
    if (right.empty()) return left;
    HttpMethods both;
    for (const auto& [path, methods] : left) {
        const auto other = right.find(path);
        if (other == right.end()) continue;
        std::set<std::string> met = meet_methods(methods, other->second);
        if (!met.empty()) both.emplace(path, std::move(met));
    }
    if (both.empty()) return std::nullopt;
    return both;
}

// A host and an address range have nothing in common: which addresses a name has is not known here.
std::optional<Reach> meet_reaches(const Reach& left, const Reach& right) {
    if (left.cidr.has_value() != right.cidr.has_value()) return std::nullopt;
    Reach met{.allow_private = meet_prefixes(left.allow_private, right.allow_private)};
    if (left.cidr) {
        met.cidr = meet_cidrs(*left.cidr, *right.cidr);
        if (!met.cidr) return std::nullopt;
        Prefixes holes = left.except;
        holes.insert(holes.end(), right.except.begin(), right.except.end());
        auto clipped = clip_holes(holes, *met.cidr);
        if (!clipped) return std::nullopt;
        met.except = std::move(*clipped);
    } else {
        auto host = meet_hosts(left.host, right.host);
        if (!host) return std::nullopt;
        met.host = std::move(*host);
    }
    auto http = meet_http(left.http, right.http);
    if (!http) return std::nullopt;
    met.http = std::move(*http);
    return met;
}

bool covers(const Reach& wider, const Reach& narrower) {
    return meet_reaches(wider, narrower) == narrower;
}

Prefixes to_prefixes(const std::vector<std::string>& texts) {
    Prefixes prefixes;
    for (const std::string& text : texts) {
        if (const auto parsed = parse_cidr(text)) prefixes.push_back(*parsed);
    }
    return outermost(std::move(prefixes));
}

// Nothing for a rule that cannot let anything through.
std::optional<Reach> to_reach(const EgressRule& rule) {
    Reach reach{.host = rule.host, .allow_private = to_prefixes(rule.allow_private)};
    if (!rule.cidr.empty()) {
        const auto cidr = parse_cidr(rule.cidr);
        if (!cidr) return std::nullopt;
        reach.cidr = *cidr;
        auto holes = clip_holes(to_prefixes(rule.except), *cidr);
        if (!holes) return std::nullopt;
        reach.except = std::move(*holes);
    }
    for (const HttpRule& http : rule.http)
        reach.http[http.path].insert(http.methods.begin(), http.methods.end());
    for (auto& [path, methods] : reach.http) {
        if (methods.contains("ANY")) methods = {"ANY"};
    }
    return reach;
}

std::vector<std::string> to_texts(const Prefixes& prefixes) {
    std::vector<std::string> texts;
    for (const Cidr& prefix : prefixes)
        texts.push_back(cidr_text(prefix));
    return texts;
}

EgressRule to_rule(const Reach& reach, PortSet ports) {
    EgressRule rule{.host = reach.host,
                    .cidr = reach.cidr ? cidr_text(*reach.cidr) : "",
                    .except = to_texts(reach.except),
                    .ports = std::move(ports),
                    .allow_private = to_texts(reach.allow_private)};
    for (const auto& [path, methods] : reach.http) {
        rule.http.push_back({.methods = {methods.begin(), methods.end()}, .path = path});
    }
    return rule;
}

void add(Reaches& reaches, const Reach& reach, const PortSet& ports) {
    PortSet& entry = reaches[reach];
    entry = united_ports(entry, ports);
}

Reaches to_reaches(const std::vector<EgressRule>& rules) {
    Reaches reaches;
    for (const EgressRule& rule : rules) {
        if (const auto reach = to_reach(rule)) add(reaches, *reach, port_set(rule.ports));
    }
    return reaches;
}

// Takes from each reach the ports that a wider one has as well.
std::vector<EgressRule> to_rules(const Reaches& reaches) {
    std::vector<EgressRule> rules;
    for (const auto& [reach, ports] : reaches) {
        PortSet own = ports;
        for (const auto& [other, other_ports] : reaches) {
            if (other != reach && covers(other, reach)) own = ports_without(own, other_ports);
        }
        if (!own.empty()) rules.push_back(to_rule(reach, std::move(own)));
    }
    return rules;
}

}  // namespace

std::vector<EgressRule> normalized_egress(const std::vector<EgressRule>& rules) {
    return to_rules(to_reaches(rules));
}

std::vector<EgressRule> meet_egress(const std::vector<EgressRule>& left,
                                    const std::vector<EgressRule>& right) {
    Reaches both;
    const Reaches right_reaches = to_reaches(right);
    for (const auto& [left_reach, left_ports] : to_reaches(left)) {
        for (const auto& [right_reach, right_ports] : right_reaches) {
            const PortSet ports = common_ports(left_ports, right_ports);
            if (ports.empty()) continue;
            if (const auto met = meet_reaches(left_reach, right_reach)) add(both, *met, ports);
        }
    }
    return to_rules(both);
}

}  // namespace rung::grant
