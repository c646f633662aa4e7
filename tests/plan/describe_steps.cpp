// One line of text for each kind of step.
// SPDX-License-Identifier: Apache-2.0
#include "plan/describe_steps.hpp"

#include <array>
#include <sstream>

namespace rung::test {
namespace {

using namespace child;

// In the order of child::Step.
constexpr std::array kNames = {"UnshareNamespaces", "MakeTimeNamespace",
                               "JoinNamespace",     "KeepNetworkNamespace",
                               "BecomeDumpable",    "BecomeNamespaceRoot",
                               "BringUpLoopback",   "SyncWithParent",
                               "JoinCgroups",       "SetRootPropagation",
                               "BindRootfs",        "OpenRootfs",
                               "AttachTree",        "MountFilesystem",
                               "BindHostPath",      "RemountTarget",
                               "Unmount",           "BindSlice",
                               "KeepTree",          "MakeDevice",
                               "BindDevice",        "BindNodes",
                               "MakeSymlink",       "PrepareDev",
                               "ReopenNullStreams", "RunHooks",
                               "PivotRoot",         "MoveRoot",
                               "ChangeRoot",        "RemountRoot",
                               "OpenTerminal",      "OwnStdio",
                               "NewSession",        "NewKeyring",
                               "SetHostname",       "SetDomainname",
                               "WriteSysctl",       "PinPath",
                               "MaskPath",          "ReadOnlyPath",
                               "SetRlimit",         "SetCpuAffinity",
                               "SetScheduler",      "SetIoPriority",
                               "SetPersonality",    "SetMemoryPolicy",
                               "SetExecLabel",      "SetNoNewPrivs",
                               "LoadSeccomp",       "CloseDescriptors",
                               "DropBounding",      "SetUser",
                               "SetCapabilities",   "ChangeDirectory",
                               "SetHome",           "MakeRuleset",
                               "EnterRuleset",      "FindExecutable",
                               "AwaitStart",        "Execute"};
static_assert(kNames.size() == std::variant_size_v<Step>);

std::string hexadecimal(uint64_t value) {
    std::ostringstream text;
    text << "0x" << std::hex << value;
    return text.str();
}

std::string details(const UnshareNamespaces& step) {
    return hexadecimal(static_cast<uint64_t>(step.flags));
}
std::string details(const JoinNamespace& step) {
    return std::to_string(step.slot) + " " + hexadecimal(static_cast<uint64_t>(step.flag));
}
std::string details(const KeepNetworkNamespace& step) {
    return std::to_string(step.kept);
}
std::string details(const SyncWithParent& step) {
    constexpr std::array kPoints = {"joined_namespaces", "made_networks", "before_pivot"};
    return kPoints[static_cast<size_t>(step.point)];
}
std::string details(const SetRootPropagation& step) {
    return hexadecimal(step.flags);
}
std::string details(const BindRootfs& step) {
    return step.path + (step.slave ? " slave" : "");
}
std::string details(const OpenRootfs& step) {
    return step.path;
}
std::string details(const AttachTree& step) {
    return std::to_string(step.tree) + " " + step.target;
}
std::string details(const MountFilesystem& step) {
    std::string text = step.type + " " + step.target + " " + hexadecimal(step.attributes);
    for (const auto& [name, value] : step.options)
        text += " " + name + (value.empty() ? "" : "=" + value);
    return text;
}
std::string details(const BindHostPath& step) {
    return step.source + " " + step.target + " " + hexadecimal(step.attributes) +
           (step.id_map >= 0 ? " id-mapped" : "");
}
std::string details(const RemountTarget& step) {
    return step.target + " " + hexadecimal(step.set) + (step.recursive ? " recursive" : "");
}
std::string details(const Unmount& step) {
    return step.target;
}
std::string details(const BindSlice& step) {
    return step.path + " " + hexadecimal(step.set);
}
std::string details(const KeepTree& step) {
    return std::to_string(step.kept) + " " + step.path;
}
std::string details(const MakeDevice& step) {
    return step.device.path;
}
std::string details(const BindDevice& step) {
    return step.path;
}
std::string details(const BindNodes& step) {
    std::string text = std::to_string(step.nodes);
    for (const std::string& path : step.paths)
        text += " " + path;
    return text;
}
std::string details(const MakeSymlink& step) {
    return step.path + " -> " + step.content;
}
std::string details(const RunHooks& step) {
    return step.kind + " " + step.status;
}
std::string details(const RemountRoot& step) {
    return step.read_only ? "read-only" : "as it is";
}
std::string details(const SetHostname& step) {
    return step.name;
}
std::string details(const WriteSysctl& step) {
    return step.key + " " + step.value;
}
std::string details(const PinPath& step) {
    return step.path;
}
std::string details(const MaskPath& step) {
    return step.path;
}
std::string details(const ReadOnlyPath& step) {
    return step.path;
}
std::string details(const SetRlimit& step) {
    return std::to_string(step.limit.resource);
}
std::string details(const SetCpuAffinity& step) {
    return step.cpus.empty() ? "" : hexadecimal(step.cpus.front());
}
std::string details(const LoadSeccomp& step) {
    const bool listens = step.listener != Listener::none;
    return std::to_string(step.filter) + (listens ? " listening" : "");
}
std::string details(const DropBounding& step) {
    return hexadecimal(step.keep);
}
std::string details(const SetUser& step) {
    return std::to_string(step.user.uid);
}
std::string details(const ChangeDirectory& step) {
    return step.path + (step.create ? " create" : "") + (step.attempt == Attempt::second ? " again" : "");
}
template <typename Other>
std::string details(const Other&) {
    return "";
}

}  // namespace

std::string describe(const Step& step) {
    const std::string name = kNames[step.index()];
    const std::string more = std::visit([](const auto& each) { return details(each); }, step);
    return more.empty() ? name : name + " " + more;
}

std::vector<std::string> describe(const std::vector<Step>& steps) {
    std::vector<std::string> lines;
    for (const Step& step : steps)
        lines.push_back(describe(step));
    return lines;
}

}  // namespace rung::test
