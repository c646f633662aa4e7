// SPDX-License-Identifier: Apache-2.0
#include "config/id_map_option.hpp"

#include <array>
#include <charconv>
#include <string_view>

#include "config/quoted.hpp"

namespace rung::config {
namespace {

constexpr std::string_view kPrefix = "idmap=";

// What stands before `separator`, which is taken away with it.
std::string_view take_until(std::string_view& text, char separator) {
    const size_t end = std::min(text.find(separator), text.size());
    const std::string_view taken = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return taken;
}

// "0-1-10": an id of the file system, what it becomes, and how many follow suit.
Result<IdMapping> parse_range(std::string_view text, const std::vector<IdMapping>& user_namespace) {
    const std::string_view whole = text;
    const bool is_relative = text.starts_with('@');
    if (is_relative) text.remove_prefix(1);
    std::array<uint32_t, 3> numbers = {};
    for (uint32_t& number : numbers) {
        const std::string_view digits = take_until(text, '-');
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty())
            return Error{.message = "invalid mapping specified " + quoted(whole)};
    }
    if (!text.empty() || numbers[2] == 0)
        return Error{.message = "invalid mapping specified " + quoted(whole)};
    if (is_relative) {
        const auto outside = host_id(user_namespace, numbers[1]);
        if (!outside)
            return Error{.message = "the user namespace has no id for the relative mapping " + quoted(whole)};
        numbers[1] = *outside;
    }
    return IdMapping{.container_id = numbers[0], .host_id = numbers[1], .size = numbers[2]};
}

Result<std::vector<IdMapping>> parse_ranges(std::string_view text,
                                            const std::vector<IdMapping>& user_namespace) {
    std::vector<IdMapping> mappings;
    do {
        mappings.push_back(TRY(parse_range(take_until(text, '#'), user_namespace)));
    } while (!text.empty());
    return mappings;
}

Status read_option(Mount& mount, std::string_view text, const Linux& linux_config) {
    while (!text.empty()) {
        const std::string_view part = take_until(text, ';');
        if (part.starts_with("uids=")) {
            mount.uid_mappings = TRY(parse_ranges(part.substr(5), linux_config.uid_mappings));
        } else if (part.starts_with("gids=")) {
            mount.gid_mappings = TRY(parse_ranges(part.substr(5), linux_config.gid_mappings));
        } else {
            return Error{.message = "an id map has uids= and gids=, not " + quoted(part)};
        }
    }
    return {};
}

}  // namespace

Status expand_id_maps(Spec& spec) {
    for (size_t index = 0; index < spec.mounts.size(); ++index) {
        Mount& mount = spec.mounts[index];
        const bool has_own = !mount.uid_mappings.empty() || !mount.gid_mappings.empty();
        for (std::string& option : mount.options) {
            if (!option.starts_with(kPrefix)) continue;
            Mount read;
            TRY(read_option(read, std::string_view{option}.substr(kPrefix.size()), spec.linux_)
                    .context("mounts[" + std::to_string(index) + "].options"));
            option = "idmap";
            if (has_own) continue;
            mount.uid_mappings = std::move(read.uid_mappings);
            mount.gid_mappings = std::move(read.gid_mappings);
        }
    }
    return {};
}

}  // namespace rung::config
