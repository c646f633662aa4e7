// The ceiling's text, and which of its rules is whose.
// SPDX-License-Identifier: Apache-2.0
#include "grant/ceiling.hpp"

#include <algorithm>
#include <array>

#include "grant/sections.hpp"

namespace rung::grant {

namespace {

// A rule's grant lies three levels deep.
constexpr DocumentLimits kLimits{.name = "ceiling", .size = 256 * 1024, .depth = 8 + 3};
constexpr std::size_t kMaxRules = 256;
constexpr std::size_t kMaxEntries = 256;
constexpr uint64_t kMaxUid = 0xfffffffe;  // the highest one means "unchanged" to the kernel
constexpr uint64_t kMaxLandlockAbi = 1000;

Result<Trust> read_trust(const Field& field, Origin origin) {
    if (origin == Origin::environment) {
        constexpr std::array kChoices = {Trust::narrowing, Trust::ignored};
        return kChoices.at(TRY(read_choice(field, {"narrowing", "ignore"})));
    }
    constexpr std::array kChoices = {Trust::granting, Trust::narrowing, Trust::ignored, Trust::only_signed};
    if (origin == Origin::annotation)
        return kChoices.at(TRY(read_choice(field, {"granting", "narrowing", "ignore", "signed"})));
    return kChoices.at(TRY(read_choice(field, {"granting", "narrowing", "ignore"})));
}

Result<std::vector<std::string>> read_words(const Field& field) {
    std::vector<std::string> words;
    for (const Field& entry : TRY(read_list(field, {0, kMaxEntries}))) {
        words.push_back(TRY(read_string(entry)));
        if (words.back().empty()) return refuse(entry, "grant_parse_error", "must not be empty");
    }
    return words;
}

Result<TrustTable> read_trust_table(const Field& field) {
    const Section section =
        TRY(Section::of(field, {"runtimeArgs", "dropbox", "bundle", "annotation", "environment", "keys"}));
    TrustTable table;
    if (const auto args = section.find("runtimeArgs"))
        table.runtime_args = TRY(read_trust(*args, Origin::runtime_args));
    if (const auto box = section.find("dropbox")) table.dropbox = TRY(read_trust(*box, Origin::dropbox));
    if (const auto bundle = section.find("bundle")) table.bundle = TRY(read_trust(*bundle, Origin::bundle));
    if (const auto annotation = section.find("annotation"))
        table.annotation = TRY(read_trust(*annotation, Origin::annotation));
    if (const auto environment = section.find("environment"))
        table.environment = TRY(read_trust(*environment, Origin::environment));
    if (const auto keys = section.find("keys")) table.keys = TRY(read_words(*keys));
    return table;
}

Result<Requirements> read_requirements(const Field& field) {
    const Section section = TRY(Section::of(field, {"landlock", "landlockAbi"}));
    Requirements requirements;
    if (const auto landlock = section.find("landlock"))
        requirements.landlock = TRY(read_choice(*landlock, {"required", "ifAvailable"})) == 0;
    if (const auto abi = section.find("landlockAbi"))
        requirements.landlock_abi = TRY(read_integer(*abi, {1, kMaxLandlockAbi}));
    return requirements;
}

Result<std::vector<Cidr>> read_ranges(const Field& field) {
    std::vector<Cidr> ranges;
    for (const Field& entry : TRY(read_list(field, {0, kMaxEntries}))) {
        const auto range = parse_cidr(TRY(read_string(entry)));
        if (!range) return refuse(entry, range.error().reason, range.error().message);
        ranges.push_back(*range);
    }
    return ranges;
}

Result<Match> read_match(const Field& field) {
    const Section section = TRY(Section::of(field, {"namespaces", "handlers", "uids"}));
    Match match;
    if (const auto namespaces = section.find("namespaces")) match.namespaces = TRY(read_words(*namespaces));
    if (const auto handlers = section.find("handlers")) match.handlers = TRY(read_words(*handlers));
    if (const auto uids = section.find("uids")) {
        match.uids.emplace();
        for (const Field& entry : TRY(read_list(*uids, {0, kMaxEntries})))
            match.uids->push_back(TRY(read_integer(entry, {0, kMaxUid})));
    }
    return match;
}

Result<CeilingRule> read_rule(const Field& field) {
    const Section section = TRY(Section::of(field, {"match", "ceiling"}));
    CeilingRule rule;
    if (const auto match = section.find("match")) rule.match = TRY(read_match(*match));
    rule.ceiling = TRY(read_grant(TRY(section.require("ceiling"))));
    return rule;
}

Result<Ceiling> read_ceiling(const Field& field) {
    TRY(check_version(field, "ceilingVersion"));
    const Section section = TRY(Section::of(field, {"ceilingVersion", "defaultGrant", "onExceed", "trust",
                                                    "requirements", "blockedRanges", "rules"}));
    Ceiling ceiling;
    if (const auto name = section.find("defaultGrant")) {
        ceiling.default_grant = TRY(read_dns_label(*name));
        if (ceiling.default_grant == "deny") ceiling.default_grant.reset();
    }
    if (const auto choice = section.find("onExceed")) {
        constexpr std::array kChoices = {OnExceed::narrow, OnExceed::reject};
        ceiling.on_exceed = kChoices.at(TRY(read_choice(*choice, {"narrow", "reject"})));
    }
    if (const auto trust = section.find("trust")) ceiling.trust = TRY(read_trust_table(*trust));
    if (const auto wanted = section.find("requirements"))
        ceiling.requirements = TRY(read_requirements(*wanted));
    if (const auto ranges = section.find("blockedRanges")) ceiling.blocked_ranges = TRY(read_ranges(*ranges));
    for (const Field& entry : TRY(read_list(TRY(section.require("rules")), {1, kMaxRules})))
        ceiling.rules.push_back(TRY(read_rule(entry)));
    return ceiling;
}

// '*' stands for any characters, also none.
bool fits(std::string_view pattern, std::string_view text) {
    const std::size_t star = pattern.find('*');
    if (star == std::string_view::npos) return pattern == text;
    if (!text.starts_with(pattern.substr(0, star))) return false;
    std::string_view rest = text.substr(star);
    std::string_view wanted = pattern.substr(star + 1);
    for (std::size_t next = wanted.find('*'); next != std::string_view::npos; next = wanted.find('*')) {
        // The first place where the piece fits leaves the most for those after it.
        const std::size_t found = rest.find(wanted.substr(0, next));
        if (found == std::string_view::npos) return false;
        rest = rest.substr(found + next);
        wanted = wanted.substr(next + 1);
    }
    return rest.ends_with(wanted);
}

bool fits_one(const std::optional<std::vector<std::string>>& patterns, const std::string& text) {
    if (!patterns) return true;
    return !text.empty() && std::any_of(patterns->begin(), patterns->end(),
                                        [&](const std::string& pattern) { return fits(pattern, text); });
}

// What is blocked becomes a hole of the rule; nothing when that is all of it.
std::optional<EgressRule> without_ranges(const EgressRule& rule, const std::vector<Cidr>& blocked) {
    const auto reach = parse_cidr(rule.cidr);
    if (!reach) return rule;  // a host: where its name leads is known when it is dialled
    EgressRule left = rule;
    for (const Cidr& range : blocked) {
        if (cidr_covers(range, *reach)) return std::nullopt;
        if (cidr_covers(*reach, range)) left.except.push_back(cidr_text(range));
    }
    return left;
}

}  // namespace

Trust TrustTable::of(Origin origin) const {
    switch (origin) {
        case Origin::annotation:
            return annotation;
        case Origin::runtime_args:
            return runtime_args;
        case Origin::dropbox:
            return dropbox;
        case Origin::bundle:
            return bundle;
        case Origin::environment:
            return environment;
    }
    return Trust::ignored;
}

Result<Ceiling> parse_ceiling(std::string_view text) {
    const Node root = TRY(read_document(text, kLimits));
    return read_ceiling({.node = &root, .name = std::string{kLimits.name}, .is_whole = true});
}

std::optional<std::size_t> matching_rule(const Ceiling& ceiling, const Caller& caller) {
    for (std::size_t index = 0; index < ceiling.rules.size(); ++index) {
        const Match& match = ceiling.rules[index].match;
        const bool of_user =
            !match.uids || std::find(match.uids->begin(), match.uids->end(), caller.uid) != match.uids->end();
        if (of_user && fits_one(match.namespaces, caller.k8s_namespace) &&
            fits_one(match.handlers, caller.handler)) {
            return index;
        }
    }
    return std::nullopt;
}

Grant ceiling_grant(const Ceiling& ceiling, std::size_t rule) {
    Grant grant = ceiling.rules.at(rule).ceiling;
    // The times hold; the names are the task's to give.
    grant.metadata = {.not_before = grant.metadata.not_before, .expires_at = grant.metadata.expires_at};
    if (!grant.network) return grant;
    std::vector<EgressRule> reachable;
    for (const EgressRule& each : grant.network->egress) {
        if (auto left = without_ranges(each, ceiling.blocked_ranges)) reachable.push_back(std::move(*left));
    }
    grant.network->egress = std::move(reachable);
    return grant;
}

}  // namespace rung::grant
