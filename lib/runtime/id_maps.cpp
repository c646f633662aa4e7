// Writing id maps, directly or through newuidmap(1) and newgidmap(1).
// SPDX-License-Identifier: Apache-2.0
#include "runtime/id_maps.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "kernel/files.hpp"
#include "runtime/spawn.hpp"

namespace rung::runtime {
namespace {

using config::IdMapping;

constexpr uint64_t kCapSetgid = 1ULL << 6;
constexpr uint64_t kCapSetuid = 1ULL << 7;

std::string_view take_until(std::string_view& text, char end) {
    const size_t length = std::min(text.find(end), text.size());
    const std::string_view taken = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    return taken;
}

std::optional<uint32_t> number_in(std::string_view text) {
    uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return {};
    return value;
}

std::vector<IdMapping> parse_id_map(std::string_view text) {
    std::vector<IdMapping> mappings;
    while (!text.empty()) {
        std::string_view line = take_until(text, '\n');
        std::vector<uint32_t> numbers;
        while (!line.empty()) {
            const std::string_view word = take_until(line, ' ');
            if (const auto number = number_in(word)) numbers.push_back(*number);
        }
        if (numbers.size() == 3)
            mappings.push_back({.container_id = numbers[0], .host_id = numbers[1], .size = numbers[2]});
    }
    return mappings;
}

// The caller's whole namespace, each id as itself.
Result<std::vector<IdMapping>> identity(const std::string& map) {
    std::vector<IdMapping> mappings = parse_id_map(TRY(kernel::read_file(map)));
    for (IdMapping& mapping : mappings)
        mapping.host_id = mapping.container_id;
    return mappings;
}

std::vector<IdMapping> own_and_subordinate(uint32_t own, uint32_t uid, const char* file, const char* tool) {
    std::vector<IdMapping> mappings{{.container_id = 0, .host_id = own, .size = 1}};
    const auto text = kernel::read_file(file);
    if (!text || find_program(tool).empty()) return mappings;
    if (const auto range = parse_subordinate_ids(*text, name_of_user(uid), uid))
        mappings.push_back({.container_id = 1, .host_id = range->first, .size = range->count});
    return mappings;
}

std::string mapping_lines(const std::vector<IdMapping>& mappings) {
    std::string lines;
    for (const IdMapping& mapping : mappings) {
        lines += std::to_string(mapping.container_id) + ' ' + std::to_string(mapping.host_id) + ' ' +
                 std::to_string(mapping.size) + '\n';
    }
    return lines;
}

struct MapTool {
    const char* name = nullptr;
    const char* ranges = nullptr;
};
constexpr MapTool kUidTool = {"newuidmap", "/etc/subuid"};
constexpr MapTool kGidTool = {"newgidmap", "/etc/subgid"};

// The tool itself checks that the process is the caller's own, and that the ids are.
Status write_with_tool(const MapTool& tool, pid_t pid, const std::vector<IdMapping>& mappings) {
    const std::string path = find_program(tool.name);
    if (path.empty()) {
        return Error{.message = "to map more than one's own id takes " + std::string{tool.name} +
                                ", which is not in PATH (Debian has it in the package uidmap)"};
    }
    HostProgram program{.path = path, .args = {path, std::to_string(pid)}};
    for (const IdMapping& mapping : mappings) {
        for (const uint32_t number : {mapping.container_id, mapping.host_id, mapping.size})
            program.args.push_back(std::to_string(number));
    }
    const Fd input = TRY(memory_file({}));
    const Fd output = TRY(memory_file({}));
    const int status = TRY(wait_for_end(TRY(spawn(program, input, output)), path));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    std::string why = text_of(output);
    std::replace(why.begin(), why.end(), '\n', ' ');
    if (why.empty()) why = std::string{tool.name} + " failed";
    return Error{.message = why + " (does " + tool.ranges + " give them to this user?)"};
}

Status write_map(const std::string& file, plan::MapWriter writer, const MapTool& tool, pid_t pid,
                 const std::vector<IdMapping>& mappings) {
    if (writer == plan::MapWriter::tool) return write_with_tool(tool, pid, mappings);
    return kernel::write_file("/proc/" + std::to_string(pid) + "/" + file, mapping_lines(mappings));
}

}  // namespace

Status fill_default_mappings(config::Spec& spec, const kernel::HostFacts& host) {
    const config::Namespace* user = spec.find_namespace(config::NamespaceType::user);
    config::Linux& linux_config = spec.linux_;
    const bool is_new = user != nullptr && user->path.empty();
    if (!is_new || !linux_config.uid_mappings.empty() || !linux_config.gid_mappings.empty()) return {};
    if ((host.effective_capabilities & kCapSetuid) != 0 && (host.effective_capabilities & kCapSetgid) != 0) {
        linux_config.uid_mappings = TRY(identity("/proc/self/uid_map"));
        linux_config.gid_mappings = TRY(identity("/proc/self/gid_map"));
        return {};
    }
    const uint32_t uid = host.effective_uid;
    linux_config.uid_mappings = own_and_subordinate(uid, uid, kUidTool.ranges, kUidTool.name);
    linux_config.gid_mappings = own_and_subordinate(host.effective_gid, uid, kGidTool.ranges, kGidTool.name);
    return {};
}

std::string name_of_user(uint32_t uid) {
    const auto passwd = kernel::read_file("/etc/passwd");
    return passwd ? parse_user_name(*passwd, uid) : std::string{};
}

std::string parse_user_name(std::string_view passwd, uint32_t uid) {
    while (!passwd.empty()) {
        std::string_view line = take_until(passwd, '\n');
        const std::string_view name = take_until(line, ':');
        (void)take_until(line, ':');  // the password: "x", or none
        if (number_in(take_until(line, ':')) == uid) return std::string{name};
    }
    return {};
}

std::optional<IdRange> parse_subordinate_ids(std::string_view text, std::string_view name, uint32_t uid) {
    while (!text.empty()) {
        std::string_view line = take_until(text, '\n');
        const std::string_view owner = take_until(line, ':');
        const auto first = number_in(take_until(line, ':'));
        const auto count = number_in(line);
        const bool is_own = (!name.empty() && owner == name) || number_in(owner) == uid;
        if (is_own && first && count && *count > 0) return IdRange{.first = *first, .count = *count};
    }
    return {};
}

Status write_id_mappings(pid_t pid, const config::Linux& linux_config, const plan::Lowered& lowered) {
    if (lowered.denies_setgroups)
        TRY(kernel::write_file("/proc/" + std::to_string(pid) + "/setgroups", "deny"));
    TRY(write_map("uid_map", lowered.uid_map_writer, kUidTool, pid, linux_config.uid_mappings)
            .context("linux.uidMappings"));
    return write_map("gid_map", lowered.gid_map_writer, kGidTool, pid, linux_config.gid_mappings)
        .context("linux.gidMappings");
}

}  // namespace rung::runtime
