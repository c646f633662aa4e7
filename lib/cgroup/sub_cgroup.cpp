// From the paths of `exec --cgroup` to directories.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include "base/path.hpp"
#include "cgroup/cgroup.hpp"
#include "cgroup/wording.hpp"
#include "kernel/files.hpp"

namespace rung::cgroup {

namespace {

bool has_parent_component(std::string_view path) {
    return ("/" + std::string{path} + "/").find("/../") != std::string::npos;
}

// runc's tests look for the first words, crun's for the last. One that comes back below the cgroup is refused as well: who writes it has
// not meant this cgroup.
Result<std::string> go_down(const std::string& directory, const std::string& path) {
    if (has_parent_component(path)) {
        return Error{.message = std::string{wording::kBadSubCgroup} + ": " + path +
                                ": `..` components are not allowed"};
    }
    return path::clean(directory + "/" + path);
}

Result<Cgroup> go_down_everywhere(Cgroup cgroup, const std::string& path) {
    if (cgroup.layout == kernel::CgroupLayout::v2) {
        cgroup.unified = TRY(go_down(cgroup.unified, path));
        return cgroup;
    }
    // Of v1's hierarchies perhaps only one has it, as crun's users make them: in the others the process stays with the container.
    std::vector<std::string> above;
    for (Directory& directory : cgroup.v1) {
        above.push_back(directory.path);
        directory.path = TRY(go_down(directory.path, path));
    }
    const auto is_there = [](const Directory& directory) { return kernel::exists(directory.path); };
    if (std::none_of(cgroup.v1.begin(), cgroup.v1.end(), is_there)) return cgroup;
    for (size_t index = 0; index < cgroup.v1.size(); ++index) {
        if (!is_there(cgroup.v1[index])) cgroup.v1[index].path = above[index];
    }
    return cgroup;
}

Status go_down_one(Cgroup& cgroup, const std::string& controller, const std::string& path) {
    for (Directory& directory : cgroup.v1) {
        const auto& names = directory.controllers;
        if (std::find(names.begin(), names.end(), controller) == names.end()) continue;
        directory.path = TRY(go_down(directory.path, path));
        return {};
    }
    return Error{.message = "unknown controller " + controller + " in --cgroup"};
}

// {"cpu", "cpuacct"} of "cpu,cpuacct:path".
Result<std::vector<std::string>> controllers_of(std::string_view prefix, const std::string& whole) {
    std::vector<std::string> names;
    for (size_t begin = 0; begin <= prefix.size();) {
        const size_t end = std::min(prefix.find(',', begin), prefix.size());
        names.emplace_back(prefix.substr(begin, end - begin));
        if (names.back().empty())
            return Error{.message = "invalid --cgroup argument: " + whole + " (empty <controller> prefix)"};
        begin = end + 1;
    }
    return names;
}

// Of controllers mounted together the first one moves the directory; naming a second one must not move it further.
bool moves_again(const Cgroup& before, const Cgroup& after, const std::string& controller) {
    return before.directory_of(controller) != after.directory_of(controller);
}

}  // namespace

Result<Cgroup> sub_cgroup(const Cgroup& cgroup, const std::vector<std::string>& paths) {
    if (!paths.empty() && cgroup.is_none()) return Error{.message = "--cgroup: the container has no cgroup"};
    Cgroup result = cgroup;
    std::vector<std::string> seen;
    for (const std::string& argument : paths) {
        const size_t colon = argument.find(':');
        if (colon == std::string::npos) {
            if (paths.size() == 1) return go_down_everywhere(std::move(result), argument);
            return Error{.message =
                             "invalid --cgroup argument: " + argument + " (missing <controller>: prefix)"};
        }
        if (cgroup.layout == kernel::CgroupLayout::v2)
            return Error{.message = "--cgroup " + argument + ": cgroup v2 has one path for all controllers"};
        for (const std::string& name :
             TRY(controllers_of(std::string_view{argument}.substr(0, colon), argument))) {
            if (std::find(seen.begin(), seen.end(), name) != seen.end())
                return Error{.message = "invalid --cgroup argument(s): controller " + name +
                                        " specified multiple times"};
            seen.push_back(name);
            if (!moves_again(cgroup, result, name))
                TRY(go_down_one(result, name, argument.substr(colon + 1)));
        }
    }
    return result;
}

}  // namespace rung::cgroup
