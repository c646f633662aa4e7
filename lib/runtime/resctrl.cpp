// The kernel fills a new directory with the files that configure it, and takes it away with rmdir(2) whoever is still in it.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/resctrl.hpp"

#include <algorithm>
#include <cerrno>
#include <map>

#include "base/path.hpp"
#include "kernel/files.hpp"

namespace rung::runtime {
namespace {

std::string_view trim(std::string_view text) {
    const size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        const size_t end = std::min(text.find(separator), text.size());
        parts.push_back(trim(text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

// "0=0f;1=f0" as domain -> value, without the zeros that the kernel pads with.
std::map<std::string, std::string> domains_of(std::string_view text) {
    std::map<std::string, std::string> domains;
    for (const std::string_view part : split(text, ';')) {
        const size_t equals = std::min(part.find('='), part.size());
        std::string_view value = trim(part.substr(std::min(equals + 1, part.size())));
        value.remove_prefix(std::min(value.find_first_not_of('0'), value.size()));
        domains[std::string{trim(part.substr(0, equals))}] = value;
    }
    return domains;
}

std::vector<std::string> wanted_lines(const config::IntelRdt& wanted) {
    std::vector<std::string> lines;
    for (const std::string& line : {wanted.l3_cache_schema, wanted.memory_bandwidth_schema}) {
        if (!line.empty()) lines.push_back(line);
    }
    lines.insert(lines.end(), wanted.schemata.begin(), wanted.schemata.end());
    return lines;
}

Status check_schemata(const std::string& directory, const config::IntelRdt& wanted) {
    const std::string present = TRY(kernel::read_file(path::join(directory, "schemata")));
    for (const std::string& line : wanted_lines(wanted)) {
        if (has_schema(present, line)) continue;
        return Error{.message = "CLOSID " + wanted.clos_id + " exists and its schemata do not match " + line};
    }
    return {};
}

Status make_class(const std::string& directory, const config::IntelRdt& wanted) {
    const std::vector<std::string> lines = wanted_lines(wanted);
    const bool exists = kernel::exists(directory);
    if (exists && !wanted.clos_id.empty()) return check_schemata(directory, wanted);
    if (!wanted.clos_id.empty() && lines.empty())
        return Error{.message = "there is no CLOSID " + wanted.clos_id + " in resctrl"};
    TRY(kernel::make_directory(directory, 0755));
    std::string text;
    for (const std::string& line : lines)
        text += line + "\n";
    if (text.empty()) return {};
    auto written = kernel::write_file(path::join(directory, "schemata"), text);
    if (!written) (void)kernel::remove_directory(directory);  // the error is what matters
    return written;
}

}  // namespace

bool has_schema(std::string_view schemata, std::string_view line) {
    const size_t colon = std::min(line.find(':'), line.size());
    const std::string_view resource = trim(line.substr(0, colon));
    const auto wanted = domains_of(line.substr(std::min(colon + 1, line.size())));
    for (const std::string_view present : split(schemata, '\n')) {
        const size_t end = std::min(present.find(':'), present.size());
        if (trim(present.substr(0, end)) != resource) continue;
        const auto domains = domains_of(present.substr(std::min(end + 1, present.size())));
        return std::all_of(wanted.begin(), wanted.end(), [&](const auto& one) {
            const auto found = domains.find(one.first);
            return found != domains.end() && found->second == one.second;
        });
    }
    return false;
}

ResctrlGroup resctrl_group(const std::string& root, const std::string& id, const config::IntelRdt& wanted) {
    ResctrlGroup group;
    const std::string& clos = wanted.clos_id;
    group.directory = clos == "/" ? root : path::join(root, clos.empty() ? id : clos);
    if (wanted.enable_monitoring) {
        group.monitor = path::join(path::join(group.directory, "mon_groups"), id);
        group.own.push_back(group.monitor);
    }
    if (clos.empty()) group.own.push_back(group.directory);
    return group;
}

Status make_resctrl_group(const ResctrlGroup& group, const config::IntelRdt& wanted) {
    TRY(make_class(group.directory, wanted).context("linux.intelRdt"));
    if (group.monitor.empty()) return {};
    auto made = kernel::make_directory(group.monitor, 0755).context("linux.intelRdt");
    // A class with a name of its own may be others' as well, and a monitoring group that is there already is.
    if (!made && wanted.clos_id.empty()) (void)kernel::remove_directory(group.directory);
    return made;
}

Status join_resctrl_group(const ResctrlGroup& group, pid_t pid) {
    const std::string text = std::to_string(pid);
    TRY(kernel::write_file(path::join(group.directory, "tasks"), text).context("linux.intelRdt"));
    if (group.monitor.empty()) return {};
    return kernel::write_file(path::join(group.monitor, "tasks"), text).context("linux.intelRdt");
}

Status remove_resctrl_directories(const std::vector<std::string>& directories) {
    for (const std::string& directory : directories) {
        const auto removed = kernel::remove_directory(directory);
        if (!removed && removed.error().errno_value != ENOENT) return removed;
    }
    return {};
}

}  // namespace rung::runtime
