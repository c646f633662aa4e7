// One sentence for each step that can fail: the object first, then the errno or what the child found out beyond it.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/failure.hpp"

#include <linux/sched.h>
#include <sched.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "config/capability.hpp"
#include "runtime/signal_name.hpp"
#include "runtime/wording.hpp"

namespace rung::runtime {

namespace {

using child::Detail;

constexpr unsigned int kWaitKillableRecv = 32;  // SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, since Linux 5.19

std::string quoted(std::string_view text) {
    return "\"" + std::string{text} + "\"";
}

std::string_view namespace_name(int flag) {
    switch (flag) {
        case CLONE_NEWNS:
            return "mount";
        case CLONE_NEWPID:
            return "pid";
        case CLONE_NEWNET:
            return "network";
        case CLONE_NEWIPC:
            return "ipc";
        case CLONE_NEWUTS:
            return "uts";
        case CLONE_NEWUSER:
            return "user";
        case CLONE_NEWCGROUP:
            return "cgroup";
        case CLONE_NEWTIME:
            return "time";
        default:
            return "unknown";
    }
}

// "net/ipv4/ip_forward" as people write it.
std::string sysctl_name(std::string key) {
    for (char& character : key) {
        if (character == '/') character = '.';
    }
    return key;
}

// The steps between a created container and the program's first instruction, which runc words without "during container init".
bool is_about_the_program(const child::Step& step) {
    return std::holds_alternative<child::FindExecutable>(step) ||
           std::holds_alternative<child::Execute>(step) ||
           std::holds_alternative<child::ChangeDirectory>(step) ||
           std::holds_alternative<child::DropBounding>(step) ||
           std::holds_alternative<child::SetCapabilities>(step);
}

// What happened, for each kind of step.
class Description {
  public:
    Description(const child::Program& program, const child::Report& report,
                const std::vector<plan::OpenTree>& trees)
        : program_(program),
          report_(report),
          trees_(trees),
          text_(report.text, strnlen(report.text, sizeof report.text)) {}

    // ---- namespaces, cgroups, the parent ----
    std::string operator()(const child::UnshareNamespaces& step) const {
        std::string names;
        for (const int flag : {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC,
                               CLONE_NEWUTS, CLONE_NEWCGROUP, CLONE_NEWTIME}) {
            if ((step.flags & flag) == 0) continue;
            if (!names.empty()) names += ", ";
            names += namespace_name(flag);
        }
        return because("make new namespaces (" + names + ")");
    }
    std::string operator()(const child::MakeTimeNamespace&) const {
        return because("create a time namespace");
    }
    std::string operator()(const child::JoinNamespace& step) const {
        return because("join the " + std::string{namespace_name(step.flag)} + " namespace");
    }
    std::string operator()(const child::KeepNetworkNamespace&) const {
        return because("remember the network namespace");
    }
    std::string operator()(const child::BecomeDumpable&) const { return because("let rung map the ids"); }
    std::string operator()(const child::BecomeNamespaceRoot&) const {
        return because("become root of the user namespace");
    }
    std::string operator()(const child::BringUpLoopback&) const {
        return because("bring up the loopback interface");
    }
    std::string operator()(const child::SyncWithParent&) const { return because("wait for rung"); }
    std::string operator()(const child::JoinCgroups&) const { return because(wording::kCgroupNotApplied); }

    // ---- mounts ----
    std::string operator()(const child::SetRootPropagation&) const {
        return because("set the propagation of /");
    }
    std::string operator()(const child::BindRootfs& step) const {
        return because("bind the rootfs " + quoted(step.path));
    }
    std::string operator()(const child::OpenRootfs& step) const {
        return because("open the rootfs " + quoted(step.path));
    }
    std::string operator()(const child::AttachTree& step) const {
        for (const plan::OpenTree& tree : trees_) {
            if (tree.slot == step.tree) return because(wording::mount_failed(tree.source, step.target));
        }
        return because(wording::mount_failed("bind", step.target));
    }
    std::string operator()(const child::MountFilesystem& step) const {
        const std::string what =
            wording::mount_failed(step.source.empty() ? step.type : step.source, step.target);
        if (report_.detail == Detail::target_is_symlink) {
            return what + ": filesystem " + quoted(step.type) + " " +
                   std::string{wording::kOrdinaryDirectory};
        }
        // mount_namespaces(7): a new instance would uncover what the present ones hide.
        const bool hidden = report_.errno_value == EPERM && (step.type == "proc" || step.type == "sysfs");
        if (hidden)
            return because(what) + " (inside a container whose own " + step.type +
                   " is masked none can be mounted)";
        return because(what);
    }
    std::string operator()(const child::BindHostPath& step) const {
        return because(wording::mount_failed(step.source, step.target));
    }
    std::string operator()(const child::RemountTarget& step) const {
        return because(wording::mount_failed("remount", step.target));
    }
    std::string operator()(const child::Unmount& step) const {
        return because("unmount " + quoted(step.target));
    }
    std::string operator()(const child::BindSlice& step) const { return slice(step.path); }
    std::string operator()(const child::KeepTree& step) const { return slice(step.path); }

    // ---- the root ----
    std::string operator()(const child::MakeDevice& step) const { return device(step.device.path); }
    std::string operator()(const child::BindDevice& step) const { return device(step.path); }
    std::string operator()(const child::BindNodes&) const { return device(text_); }
    std::string operator()(const child::MakeSymlink& step) const {
        return because("make the symlink " + quoted(step.path));
    }
    std::string operator()(const child::PrepareDev&) const {
        if (report_.detail == Detail::unsafe_dev) return "the rootfs's /dev is not a directory of its own";
        return because("fill /dev");
    }
    std::string operator()(const child::ReopenNullStreams&) const { return because("open /dev/null again"); }
    std::string operator()(const child::RunHooks& step) const;
    std::string operator()(const child::PivotRoot&) const { return because("pivot_root"); }
    std::string operator()(const child::MoveRoot&) const { return because("move the rootfs to /"); }
    std::string operator()(const child::ChangeRoot&) const { return because("chroot"); }
    std::string operator()(const child::RemountRoot& step) const {
        return because(step.read_only ? "make the root read-only" : "set the root's mount attributes");
    }
    std::string operator()(const child::PinPath& step) const {
        if (report_.errno_value != ELOOP) return because("keep " + quoted(step.path) + " in its place");
        return "grant_unenforceable: filesystem: " + step.path +
               " is reached through a symlink that the task could replace";
    }
    std::string operator()(const child::MaskPath& step) const {
        return because("can't mask path " + quoted(step.path));
    }
    std::string operator()(const child::ReadOnlyPath& step) const {
        return because("can't make " + quoted(step.path) + " read-only");
    }

    // ---- the process ----
    std::string operator()(const child::OpenTerminal&) const {
        if (report_.detail == Detail::terminal_no_devpts)
            return "a terminal needs a devpts mounted at /dev/pts";
        return because("open the container's terminal");
    }
    std::string operator()(const child::OwnStdio& step) const {
        return because("give stdin, stdout and stderr to user " + std::to_string(step.uid));
    }
    std::string operator()(const child::NewSession&) const { return because("setsid"); }
    std::string operator()(const child::NewKeyring&) const {
        if (report_.errno_value == EDQUOT) {
            return because("unable to join session keyring") +
                   " (raise /proc/sys/kernel/keys/maxkeys, or use --no-new-keyring)";
        }
        return because("unable to join session keyring");
    }
    std::string operator()(const child::SetHostname& step) const {
        return because("sethostname " + quoted(step.name));
    }
    std::string operator()(const child::SetDomainname& step) const {
        return because("setdomainname " + quoted(step.name));
    }
    std::string operator()(const child::WriteSysctl& step) const {
        return because("write " + quoted(step.value) + " to sysctl " + sysctl_name(step.key));
    }
    std::string operator()(const child::SetRlimit& step) const {
        return because("error setting rlimit type " + std::to_string(step.limit.resource));
    }
    std::string operator()(const child::SetCpuAffinity&) const { return because("set the CPU affinity"); }
    std::string operator()(const child::SetMemoryPolicy&) const { return because("set the memory policy"); }
    std::string operator()(const child::SetScheduler& step) const {
        std::string text = because("error setting scheduler");
        // The kernel wants a deadline task to be free to run on every CPU: sched(7).
        if (step.scheduler.policy == SCHED_DEADLINE && report_.errno_value == EPERM) {
            text += " (process scheduler can't be used together with AllowedCPUs)";
        }
        return text;
    }
    std::string operator()(const child::SetIoPriority&) const { return because("set the I/O priority"); }
    std::string operator()(const child::SetPersonality&) const { return because("set the personality"); }
    std::string operator()(const child::SetExecLabel& step) const {
        return because("set the label of the process: write " + quoted(step.value) + " to attr/" + step.file);
    }
    std::string operator()(const child::SetNoNewPrivs&) const { return because("set no_new_privs"); }
    std::string operator()(const child::LoadSeccomp& step) const {
        // What a kernel does not know, it calls invalid.
        const bool unknown = report_.errno_value == EINVAL && step.listener != child::Listener::none;
        const unsigned int flags = program_.filters[static_cast<size_t>(step.filter)].flags;
        if (unknown && (flags & kWaitKillableRecv) != 0) return std::string{wording::kNoWaitKill};
        if (unknown) return std::string{wording::kNoNotify};
        return because("load the seccomp filter");
    }
    std::string operator()(const child::CloseDescriptors&) const {
        return because("close inherited descriptors");
    }
    std::string operator()(const child::DropBounding&) const { return because("unable to apply caps"); }
    std::string operator()(const child::SetUser& step) const {
        if (report_.detail == Detail::groups_denied)
            return "process.user.additionalGids is ignored: the user namespace denies setgroups";
        std::string text =
            because("become user " + std::to_string(step.user.uid) + ":" + std::to_string(step.user.gid));
        if (report_.errno_value == EINVAL) text += " (an id that the user namespace does not map?)";
        if (report_.errno_value == EPERM && !step.user.additional_gids.empty())
            text += " (process.user.additionalGids: the user namespace may deny setgroups)";
        return text;
    }
    std::string operator()(const child::SetCapabilities&) const {
        if (report_.detail == Detail::capability_raise) {
            return because("can't raise ambient capability " + config::capability_name(report_.value));
        }
        return because("unable to apply caps");
    }
    std::string operator()(const child::ChangeDirectory& step) const {
        const std::string what = "chdir to cwd (" + quoted(step.path) + ") set in config.json failed";
        if (report_.detail == Detail::cwd_outside_container)
            return what + ": it lies outside the container's root";
        return because(what);
    }
    std::string operator()(const child::SetHome&) const {
        return because("read the container's /etc/passwd");
    }
    std::string operator()(const child::MakeRuleset& step) const;
    std::string operator()(const child::EnterRuleset&) const { return because("enforce the file rules"); }
    std::string operator()(const child::FindExecutable& step) const {
        if (report_.detail != Detail::executable_not_granted) return executable();
        return step.refusal + ": tools: the grant does not list " + text_ + ", so it may not be executed";
    }
    std::string operator()(const child::AwaitStart&) const { return because("wait for start"); }
    std::string operator()(const child::Execute&) const { return executable(); }

  private:
    std::string because(std::string_view what) const;
    std::string device(const std::string& path) const {
        return because("error creating device nodes: " + quoted(path));
    }
    // A granted place is never made: whoever wrote the grant believes that something is there.
    std::string slice(const std::string& path) const {
        if (report_.errno_value == ENOENT)
            return "path_not_found: filesystem.readWrite: there is no " + path + " in the container";
        if (report_.errno_value == ELOOP)
            return "filesystem.readWrite: " + path +
                   " is reached through a symlink of the mount that holds it";
        return because(wording::mount_failed(path, path));
    }
    std::string executable() const;

    const child::Program& program_;
    const child::Report& report_;
    const std::vector<plan::OpenTree>& trees_;
    std::string text_ = {};
};

// `what`, the place inside it when the child named one, and the errno.
std::string Description::because(std::string_view what) const {
    std::string text{what};
    if (report_.detail == Detail::parent_gone)
        return text + ": the rung process that set the container up has gone";
    if (report_.detail == Detail::target_in_proc)
        return text + ": " + quoted(text_) + " cannot be mounted because it is inside /proc";
    if (report_.detail == Detail::locked_attributes)
        text += ": " + wording::locked_attributes(static_cast<uint64_t>(report_.value));
    else if (report_.detail == Detail::target_create)
        text += ": create " + text_;
    else if (report_.detail == Detail::source)
        text += ": stat " + text_;
    else if (!text_.empty())
        text += ": " + text_;
    return text + ": " + errno_text(report_.errno_value);
}

std::string Description::operator()(const child::RunHooks& step) const {
    const std::string what = wording::hook_failed(step.kind, report_.index);
    switch (report_.detail) {
        case Detail::hook_exit:
            return what + ": exit status " + std::to_string(report_.value);
        case Detail::hook_signal:
            return what + ": signal: " + signal_text(report_.value);
        case Detail::hook_timeout:
            return what + ": hook ran past its timeout";
        default:
            break;
    }
    if (report_.index >= step.hooks.size()) return because(what);
    return what + ": fork/exec " + step.hooks[report_.index].path + ": " + errno_text(report_.errno_value);
}

std::string Description::operator()(const child::MakeRuleset& step) const {
    const bool missing = report_.errno_value == ENOENT || report_.errno_value == ENOTDIR;
    if (report_.index >= step.rules.size() || text_.empty()) return because("make the file rules");
    const child::FileRule& rule = step.rules[report_.index];
    if (missing) return "path_not_found: " + rule.field + ": there is no " + rule.path + " in the container";
    return because((rule.field.empty() ? "" : rule.field + ": ") + rule.path);
}

std::string Description::executable() const {
    const std::string name = program_.args.empty() ? text_ : program_.args[0];
    switch (report_.detail) {
        case Detail::executable_not_in_path:
            return wording::exec_failed(name, wording::kNotInPath);
        case Detail::executable_not_allowed:
            return wording::exec_failed(name, wording::kPermissionDenied);
        case Detail::executable_is_directory:
            return wording::exec_failed(name, wording::kIsDirectory);
        case Detail::executable_stat:
            return wording::exec_failed(name, "stat " + name + ": " + errno_text(report_.errno_value));
        default:
            break;
    }
    // The path that was executed: for a script without its interpreter this is all that is known.
    return "exec " + (text_.empty() ? name : text_) + ": " + errno_text(report_.errno_value);
}

}  // namespace

Error describe_failure(const child::Program& program, const child::Report& report,
                       const std::vector<plan::OpenTree>& trees) {
    Error error{.message = "step " + std::to_string(report.step) + ": " + errno_text(report.errno_value),
                .errno_value = report.errno_value};
    const bool known = report.step < program.steps.size();
    if (known) error.message = std::visit(Description{program, report, trees}, program.steps[report.step]);
    if (report.kind == child::ReportKind::warned) return error;
    if (!known || !is_about_the_program(program.steps[report.step])) {
        error = std::move(error).context(wording::kDuringInit);
    }
    return std::move(error).context(wording::kUnableToStart);
}

}  // namespace rung::runtime
