// The rules go through libseccomp, which knows the system call tables and the pitfalls of 64-bit arguments in 32-bit BPF.
// Only the program is taken from it: loading is the child's last step and needs no library.
// SPDX-License-Identifier: Apache-2.0
#include "seccomp/compile.hpp"

#include <linux/seccomp.h>
#include <seccomp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <set>
#include <string_view>
#include <unordered_map>

#include "base/fd.hpp"
#include "kernel/files.hpp"
#include "seccomp/newer_calls.hpp"

namespace rung::seccomp {
namespace {

using config::SeccompAction;
using config::SeccompArg;
using config::SeccompOperator;
using config::SeccompRule;

using Filter = std::unique_ptr<void, decltype(&seccomp_release)>;

// libseccomp up to 2.5.4 goes wrong on a tree over no rules at all, and a short list gains nothing from one.
constexpr size_t kLeastCallsForTree = 32;

constexpr unsigned int kFlagWaitKillableRecv =
    32;  // SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, since Linux 5.19

uint32_t action_code(SeccompAction action, std::optional<uint32_t> errno_ret) {
    const uint32_t data = errno_ret.value_or(EPERM);
    switch (action) {
        case SeccompAction::kill_thread:
            return SCMP_ACT_KILL_THREAD;
        case SeccompAction::kill_process:
            return SCMP_ACT_KILL_PROCESS;
        case SeccompAction::trap:
            return SCMP_ACT_TRAP;
        case SeccompAction::error:
            return SCMP_ACT_ERRNO(data);
        case SeccompAction::trace:
            return SCMP_ACT_TRACE(data);
        case SeccompAction::allow:
            return SCMP_ACT_ALLOW;
        case SeccompAction::log:
            return SCMP_ACT_LOG;
        case SeccompAction::notify:
            return SCMP_ACT_NOTIFY;
    }
    return SCMP_ACT_KILL_PROCESS;
}

scmp_compare compare_code(SeccompOperator op) {
    switch (op) {
        case SeccompOperator::not_equal:
            return SCMP_CMP_NE;
        case SeccompOperator::less:
            return SCMP_CMP_LT;
        case SeccompOperator::less_equal:
            return SCMP_CMP_LE;
        case SeccompOperator::equal:
            return SCMP_CMP_EQ;
        case SeccompOperator::greater_equal:
            return SCMP_CMP_GE;
        case SeccompOperator::greater:
            return SCMP_CMP_GT;
        case SeccompOperator::masked_equal:
            return SCMP_CMP_MASKED_EQ;
    }
    return _SCMP_CMP_MAX;
}

Result<unsigned int> filter_flags(const config::Seccomp& profile) {
    unsigned int flags = 0;
    for (const std::string& flag : profile.flags) {
        if (flag == "SECCOMP_FILTER_FLAG_TSYNC") {
            // Nothing to add: the process that loads the filter has one thread.
        } else if (flag == "SECCOMP_FILTER_FLAG_LOG") {
            flags |= SECCOMP_FILTER_FLAG_LOG;
        } else if (flag == "SECCOMP_FILTER_FLAG_SPEC_ALLOW") {
            flags |= SECCOMP_FILTER_FLAG_SPEC_ALLOW;
        } else if (flag == "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV") {
            // seccomp(2) takes it for a filter with a listener only.
            if (config::notifies(profile)) flags |= kFlagWaitKillableRecv;
        } else {
            return Error{.message = "seccomp flag " + flag + " is not known"};
        }
    }
    return flags;
}

// "SCMP_ARCH_X86_64" -> "x86_64", the spelling of libseccomp's resolver -> its token.
Result<uint32_t> architecture_token(const std::string& name) {
    constexpr std::string_view prefix = "SCMP_ARCH_";
    uint32_t token = 0;
    if (name.starts_with(prefix)) {
        std::string lower = name.substr(prefix.size());
        for (char& letter : lower) {
            if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
        }
        token = seccomp_arch_resolve_name(lower.c_str());
    }
    if (token == 0) return Error{.message = "seccomp architecture " + name + " is not known"};
    return token;
}

// The native architecture first, each once.
Result<std::vector<uint32_t>> architectures_of(const config::Seccomp& profile) {
    std::vector<uint32_t> tokens = {seccomp_arch_native()};
    for (const std::string& name : profile.architectures) {
        const uint32_t token = TRY(architecture_token(name));
        if (std::find(tokens.begin(), tokens.end(), token) == tokens.end()) tokens.push_back(token);
    }
    return tokens;
}

Status check_notify(const config::Seccomp& profile) {
    if (profile.default_action == SeccompAction::notify) {
        return Error{.message = "SCMP_ACT_NOTIFY cannot be used as default action"};
    }
    for (const SeccompRule& rule : profile.rules) {
        if (rule.action != SeccompAction::notify) continue;
        // The child reports the listener with write(2), which would wait for the listener.
        if (std::find(rule.names.begin(), rule.names.end(), "write") != rule.names.end()) {
            return Error{.message = "SCMP_ACT_NOTIFY cannot be used for the write syscall"};
        }
    }
    return {};
}

// The condition lists to add for one rule. Two conditions on one argument can only be alternatives to libseccomp, and runc
// then takes every condition of the rule for one.
Result<std::vector<std::vector<scmp_arg_cmp>>> condition_lists(const SeccompRule& rule) {
    std::vector<scmp_arg_cmp> together = {};
    std::array<int, 6> uses = {};
    for (const SeccompArg& arg : rule.args) {
        if (arg.index >= uses.size()) {
            return Error{.message = "a seccomp rule names argument " + std::to_string(arg.index) +
                                    ", and a system call has arguments 0 to 5"};
        }
        uses[arg.index]++;
        together.push_back(
            {.arg = arg.index, .op = compare_code(arg.op), .datum_a = arg.value, .datum_b = arg.value_two});
    }
    std::vector<std::vector<scmp_arg_cmp>> lists = {};
    if (std::all_of(uses.begin(), uses.end(), [](int count) { return count <= 1; })) {
        lists.push_back(together);
        return lists;
    }
    for (const scmp_arg_cmp& condition : together)
        lists.push_back({condition});
    return lists;
}

// Hands rules to libseccomp, whose time for one grows with those it has: each only once, and no more than a program could hold.
class RuleAdder {
  public:
    RuleAdder(const Filter& filter, const config::Seccomp& profile)
        : filter_(filter), by_default_(action_code(profile.default_action, profile.default_errno_ret)) {}

    Status add(const SeccompRule& rule) {
        const uint32_t action = action_code(rule.action, rule.errno_ret);
        if (action == by_default_) return {};  // libseccomp refuses such a rule
        const auto lists = TRY(condition_lists(rule));
        for (const std::string& name : rule.names) {
            const int number = number_of(name);
            if (number == __NR_SCMP_ERROR) continue;
            for (const auto& conditions : lists)
                TRY(add_once(name, number, action, conditions));
        }
        return {};
    }

    // The names that libseccomp does not know. They are skipped: profiles are written for newer kernels than ours.
    std::vector<std::string> unknown() && { return std::move(unknown_); }

  private:
    int number_of(const std::string& name) {
        const auto [known, is_new] = numbers_.try_emplace(name, __NR_SCMP_ERROR);
        if (is_new) {
            known->second = seccomp_syscall_resolve_name(name.c_str());
            if (known->second == __NR_SCMP_ERROR) unknown_.push_back(name);
        }
        return known->second;
    }

    Status add_once(const std::string& name, int number, uint32_t action,
                    const std::vector<scmp_arg_cmp>& conditions) {
        std::vector<uint64_t> rule = {static_cast<uint32_t>(number), action};
        // One for every argument contains all the others with its action.
        if (added_.contains(rule)) return {};
        for (const scmp_arg_cmp& one : conditions)
            rule.insert(rule.end(), {one.arg, static_cast<uint64_t>(one.op), one.datum_a, one.datum_b});
        if (!added_.insert(std::move(rule)).second) return {};
        if (added_.size() > BPF_MAXINSNS) {
            return Error{.message = "the seccomp profile has more than " + std::to_string(BPF_MAXINSNS) +
                                    " different rules, and the kernel takes at most as many instructions"};
        }
        const int outcome = seccomp_rule_add_array(
            filter_.get(), action, number, static_cast<unsigned int>(conditions.size()), conditions.data());
        if (outcome == -EOPNOTSUPP && action == SCMP_ACT_NOTIFY)
            return Error{.message = "seccomp notify unsupported: it requires Linux 5.7"};
        if (outcome < 0) return errno_error("add the seccomp rule for " + name, -outcome);
        return {};
    }

    const Filter& filter_;
    uint32_t by_default_ = 0;
    std::unordered_map<std::string, int> numbers_ = {};
    std::set<std::vector<uint64_t>> added_ = {};
    std::vector<std::string> unknown_ = {};
};

Result<std::vector<sock_filter>> export_program(const Filter& filter) {
    const Fd file = TRY(kernel::make_memory_file("seccomp").context("generate the seccomp filter"));
    const int outcome = seccomp_export_bpf(filter.get(), file.get());
    if (outcome < 0) return errno_error("generate the seccomp filter", -outcome);
    const off_t bytes = lseek(file.get(), 0, SEEK_CUR);
    std::vector<sock_filter> program(static_cast<size_t>(std::max<off_t>(bytes, 0)) / sizeof(sock_filter));
    const size_t wanted = program.size() * sizeof(sock_filter);
    const ssize_t got = pread(file.get(), program.data(), wanted, 0);
    if (program.empty() || got != static_cast<ssize_t>(wanted))
        return errno_error("read the seccomp filter", EIO);
    return program;
}

Result<Filter> new_filter(const config::Seccomp& profile, const std::vector<uint32_t>& architectures,
                          Layout layout) {
    Filter filter(seccomp_init(action_code(profile.default_action, profile.default_errno_ret)),
                  &seccomp_release);
    if (!filter)
        return Error{.message = "this kernel does not support the default action of the seccomp profile"};
    for (size_t i = 1; i < architectures.size(); i++) {
        const int outcome = seccomp_arch_add(filter.get(), architectures[i]);
        if (outcome < 0) return errno_error("add an architecture to the seccomp filter", -outcome);
    }
    if (layout == Layout::tree) {
        const int outcome = seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);
        if (outcome < 0) return errno_error("ask for a search tree in the seccomp filter", -outcome);
    }
    return filter;
}

size_t call_count(const config::Seccomp& profile) {
    size_t count = 0;
    for (const SeccompRule& rule : profile.rules)
        count += rule.names.size();
    return count;
}

}  // namespace

Result<Compiled> compile(const config::Seccomp& profile, Layout layout) {
    TRY(check_notify(profile));
    Compiled compiled = {};
    compiled.notify = config::notifies(profile);
    compiled.flags = TRY(filter_flags(profile));
    const std::vector<uint32_t> architectures = TRY(architectures_of(profile));
    const Filter filter = TRY(new_filter(profile, architectures, layout));
    RuleAdder adder(filter, profile);
    for (const SeccompRule& rule : profile.rules)
        TRY(adder.add(rule));
    compiled.warnings = std::move(adder).unknown();

    compiled.instructions = refuse_newer_calls(profile, architectures);
    const std::vector<sock_filter> program = TRY(export_program(filter));
    compiled.instructions.insert(compiled.instructions.end(), program.begin(), program.end());
    if (compiled.instructions.size() > BPF_MAXINSNS) {
        return Error{.message = "the seccomp filter has " + std::to_string(compiled.instructions.size()) +
                                " instructions, and the kernel takes at most " +
                                std::to_string(BPF_MAXINSNS)};
    }
    return compiled;
}

Result<Compiled> compile(const config::Seccomp& profile) {
    return compile(profile, call_count(profile) > kLeastCallsForTree ? Layout::tree : Layout::linear);
}

}  // namespace rung::seccomp
