// metadata, limits, budgets, capabilities and devices.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "config/capability.hpp"
#include "grant/sections.hpp"
#include "grant/timestamp.hpp"
#include "grant/utf8.hpp"

namespace rung::grant {

namespace {

constexpr std::string_view kNameCharacters = "._:/@-";
constexpr std::size_t kMaxLabels = 16;
constexpr std::size_t kMaxLabelText = 63;
constexpr std::size_t kMaxCapabilities = 64;
constexpr std::size_t kMaxDevices = 16;

// [a-z0-9]([a-z0-9./_-]{0,61}[a-z0-9])?
bool is_label_name(std::string_view name) {
    constexpr std::string_view kOuter = "abcdefghijklmnopqrstuvwxyz0123456789";
    constexpr std::string_view kInner = "abcdefghijklmnopqrstuvwxyz0123456789./_-";
    return !name.empty() && name.size() <= kMaxLabelText &&
           name.find_first_not_of(kInner) == std::string_view::npos &&
           kOuter.find(name.front()) != std::string_view::npos &&
           kOuter.find(name.back()) != std::string_view::npos;
}

Result<std::map<std::string, std::string>> read_labels(const Field& field) {
    if (field.node->kind != Kind::map) return refuse(field, "grant_parse_error", "must be a map");
    if (field.node->children.size() > kMaxLabels)
        return refuse(field, "grant_too_large", "has more than 16 labels");
    std::map<std::string, std::string> labels;
    for (const Node& member : field.node->children) {
        if (member.set_aside) continue;
        const Field label = member_field(field, member);
        if (!is_label_name(member.name)) {
            return refuse(label, "grant_parse_error",
                          "a label's name is 1 to 63 of a-z, 0-9 and inner './_-'");
        }
        std::string value = TRY(read_string(label));
        if (count_characters(value) > kMaxLabelText) {
            return refuse(label, "grant_parse_error", "must be at most 63 characters");
        }
        labels.emplace(member.name, std::move(value));
    }
    return labels;
}

Result<int64_t> read_time(const Field& field, Rounding rounding) {
    const std::string text = TRY(read_string(field));
    if (const auto time = parse_timestamp(text, rounding)) return *time;
    return refuse(field, "grant_parse_error", quoted(text) + " must be a time such as 2027-01-01T00:00:00Z");
}

// [a-z0-9.-]+/[a-z0-9_-]+=[A-Za-z0-9._:-]+
bool is_cdi_name(std::string_view text) {
    const auto fits = [](std::string_view part, std::string_view others, bool upper) {
        return !part.empty() && std::all_of(part.begin(), part.end(), [&](char character) {
            return (character >= 'a' && character <= 'z') || (character >= '0' && character <= '9') ||
                   (upper && character >= 'A' && character <= 'Z') ||
                   others.find(character) != std::string_view::npos;
        });
    };
    const std::size_t slash = text.find('/');
    const std::size_t equals = text.find('=');
    if (slash == std::string_view::npos || equals == std::string_view::npos || equals < slash) return false;
    return fits(text.substr(0, slash), ".-", false) &&
           fits(text.substr(slash + 1, equals - slash - 1), "_-", false) &&
           fits(text.substr(equals + 1), "._:-", true);
}

}  // namespace

Result<Metadata> read_metadata(const Field& field) {
    const Section section =
        TRY(Section::of(field, {"name", "taskId", "subject", "notBefore", "expiresAt", "labels"}));
    Metadata metadata;
    if (const auto name = section.find("name")) metadata.name = TRY(read_dns_label(*name));
    if (const auto task = section.find("taskId"))
        metadata.task_id = TRY(read_identifier(*task, 128, kNameCharacters));
    if (const auto subject = section.find("subject")) {
        metadata.subject = TRY(read_identifier(*subject, 256, kNameCharacters));
    }
    // Both ends move inwards: a fraction of a second never lengthens the validity.
    if (const auto time = section.find("notBefore"))
        metadata.not_before = TRY(read_time(*time, Rounding::up));
    if (const auto time = section.find("expiresAt"))
        metadata.expires_at = TRY(read_time(*time, Rounding::down));
    if (metadata.not_before && metadata.expires_at && *metadata.not_before >= *metadata.expires_at) {
        return refuse(field, "grant_conflict", "notBefore is not before expiresAt");
    }
    if (const auto labels = section.find("labels")) metadata.labels = TRY(read_labels(*labels));
    return metadata;
}

Result<Limits> read_limits(const Field& field) {
    const Section section =
        TRY(Section::of(field, {"memory", "cpu", "pids", "openFiles", "ephemeralStorage"}));
    Limits limits;
    if (const auto memory = section.find("memory")) limits.memory = TRY(read_bytes(*memory));
    if (const auto cpu = section.find("cpu")) limits.cpu_milli = TRY(read_cpu_milli(*cpu));
    if (const auto pids = section.find("pids")) limits.pids = TRY(read_integer(*pids, {1, 4194304}));
    if (const auto files = section.find("openFiles"))
        limits.open_files = TRY(read_integer(*files, {16, 1048576}));
    if (const auto storage = section.find("ephemeralStorage"))
        limits.ephemeral_storage = TRY(read_bytes(*storage));
    return limits;
}

Result<Budgets> read_budgets(const Field& field) {
    const Section section = TRY(Section::of(
        field, {"activeDeadlineSeconds", "maxOps", "countedOps", "maxOutputBytes", "maxEgressBytes"}));
    Budgets budgets;
    if (const auto deadline = section.find("activeDeadlineSeconds")) {
        budgets.active_deadline_seconds = TRY(read_integer(*deadline, {1, 2592000}));
    }
    if (const auto ops = section.find("maxOps")) budgets.max_ops = TRY(read_integer(*ops, {1, 1000000000}));
    if (const auto counted = section.find("countedOps")) {
        for (const Field& entry : TRY(read_list(*counted, {1, 3}))) {
            TRY(read_choice(entry, {"exec", "connect", "session"}));
            budgets.counted_ops.push_back(entry.node->text);
        }
        TRY(refuse_repeats(*counted, budgets.counted_ops));
    }
    if (const auto output = section.find("maxOutputBytes"))
        budgets.max_output_bytes = TRY(read_bytes(*output));
    if (const auto egress = section.find("maxEgressBytes"))
        budgets.max_egress_bytes = TRY(read_bytes(*egress));
    return budgets;
}

Result<uint64_t> read_capabilities(const Field& field) {
    uint64_t set = 0;
    std::vector<std::string> names;
    for (const Field& entry : TRY(read_list(field, {0, kMaxCapabilities}))) {
        names.push_back(TRY(read_string(entry)));
        const auto number = config::capability_number(names.back());
        if (!number)
            return refuse(entry, "capability_unknown", quoted(names.back()) + " is not a capability");
        set |= uint64_t{1} << *number;
    }
    TRY(refuse_repeats(field, names));
    return set;
}

Result<std::vector<std::string>> read_devices(const Field& field) {
    std::vector<std::string> devices;
    for (const Field& entry : TRY(read_list(field, {0, kMaxDevices}))) {
        devices.push_back(TRY(read_string(entry)));
        if (!is_cdi_name(devices.back())) {
            return refuse(entry, "grant_parse_error",
                          quoted(devices.back()) + " must be a CDI name such as vendor.com/class=name");
        }
    }
    return devices;
}

}  // namespace rung::grant
