// A C library probes for new system calls and falls back on ENOSYS only: a filter that says EPERM breaks it (runc#3474).
// Numbers are given out in order, so a number above every one that the profile names is taken for a call that came after it.
// SPDX-License-Identifier: Apache-2.0
#include "seccomp/newer_calls.hpp"

#include <linux/seccomp.h>
#include <seccomp.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string_view>
#include <unordered_set>

namespace rung::seccomp {
namespace {

// Set in the number of every x32 call; x32 shares its architecture value with x86_64.
constexpr uint32_t kX32Bit = 0x40000000;

sock_filter statement(uint32_t code, uint32_t value) {
    return {static_cast<uint16_t>(code), 0, 0, value};
}

sock_filter branch(uint32_t test, uint32_t value, size_t skip_if_true, size_t skip_if_false) {
    return {static_cast<uint16_t>(BPF_JMP | BPF_K | test), static_cast<uint8_t>(skip_if_true),
            static_cast<uint8_t>(skip_if_false), value};
}

// A tracer, like an allowing default, deals with calls unknown to it by itself.
bool lets_unknown_calls_through(config::SeccompAction action) {
    using enum config::SeccompAction;
    return action == allow || action == log || action == trace;
}

// -1 when the profile names no call that exists on `architecture`: what libseccomp cannot place there is negative.
int newest_named(const config::Seccomp& profile, uint32_t architecture) {
    int newest = -1;
    std::unordered_set<std::string_view> seen;
    for (const config::SeccompRule& rule : profile.rules) {
        for (const std::string& name : rule.names) {
            if (!seen.insert(name).second) continue;
            newest = std::max(newest, seccomp_syscall_resolve_name_arch(architecture, name.c_str()));
        }
    }
    return newest;
}

// Falls off its end for another architecture; its last instruction is the jump to the filter, its distance yet unknown.
std::vector<sock_filter> section(uint32_t architecture, uint32_t newest) {
    std::vector<sock_filter> verdict = {
        branch(BPF_JGT, newest, 0, 1),
        statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        statement(BPF_JMP | BPF_JA, 0),
    };
    if (architecture == SCMP_ARCH_X86_64) {
        verdict.insert(verdict.begin(), branch(BPF_JSET, kX32Bit, verdict.size(), 0));
    } else if (architecture == SCMP_ARCH_X32) {
        verdict.insert(verdict.begin(), branch(BPF_JSET, kX32Bit, 0, verdict.size()));
    }
    const uint32_t audit_value = architecture == SCMP_ARCH_X32 ? SCMP_ARCH_X86_64 : architecture;
    std::vector<sock_filter> all = {
        statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
        branch(BPF_JEQ, audit_value, 0, verdict.size() + 1),
        statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
    };
    all.insert(all.end(), verdict.begin(), verdict.end());
    return all;
}

}  // namespace

std::vector<sock_filter> refuse_newer_calls(const config::Seccomp& profile,
                                            const std::vector<uint32_t>& architectures) {
    std::vector<sock_filter> head = {};
    if (lets_unknown_calls_through(profile.default_action)) return head;
    std::vector<size_t> exits = {};
    for (const uint32_t architecture : architectures) {
        const int newest = newest_named(profile, architecture);
        if (newest < 0) continue;
        const std::vector<sock_filter> part = section(architecture, static_cast<uint32_t>(newest));
        head.insert(head.end(), part.begin(), part.end());
        exits.push_back(head.size() - 1);
    }
    for (const size_t exit : exits) {
        head[exit].k = static_cast<uint32_t>(head.size() - exit - 1);
    }
    return head;
}

}  // namespace rung::seccomp
