// System calls as thin inline wrappers: the value, or the negated errno. No policy; each is usable between
// clone and exec. Calls that libc already wraps are taken as they are, through `checked`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/capability.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace rung::kernel {

// -1 and errno become -errno: `const int fd = checked(::openat(...))`.
inline int checked(long value) {
    return value == -1 ? -errno : static_cast<int>(value);
}

inline int openat2(int directory, const char* path, const open_how& how) {
    return checked(::syscall(SYS_openat2, directory, path, &how, sizeof how));
}

inline int open_tree(int directory, const char* path, unsigned int flags) {
    return checked(::syscall(SYS_open_tree, directory, path, flags));
}
inline int move_mount(int from, const char* from_path, int to, const char* to_path, unsigned int flags) {
    return checked(::syscall(SYS_move_mount, from, from_path, to, to_path, flags));
}
inline int mount_setattr(int directory, const char* path, unsigned int flags, const mount_attr& attributes) {
    return checked(::syscall(SYS_mount_setattr, directory, path, flags, &attributes, sizeof attributes));
}
inline int fsopen(const char* type, unsigned int flags) {
    return checked(::syscall(SYS_fsopen, type, flags));
}
inline int fsconfig(int context, unsigned int command, const char* key, const void* value, int auxiliary) {
    return checked(::syscall(SYS_fsconfig, context, command, key, value, auxiliary));
}
inline int fsmount(int context, unsigned int flags, unsigned int attributes) {
    return checked(::syscall(SYS_fsmount, context, flags, attributes));
}
inline int pivot_root(const char* new_root, const char* put_old) {
    return checked(::syscall(SYS_pivot_root, new_root, put_old));
}

// Without CLONE_VM and without a stack: returns twice, like fork(2), and runs no pthread_atfork handler.
inline int clone3(const clone_args& arguments) {
    return checked(::syscall(SYS_clone3, &arguments, sizeof arguments));
}
inline int setns(int descriptor, int flags) {
    return checked(::syscall(SYS_setns, descriptor, flags));
}
inline int unshare(unsigned long flags) {
    return checked(::syscall(SYS_unshare, flags));
}
inline int pidfd_open(pid_t pid, unsigned int flags) {
    return checked(::syscall(SYS_pidfd_open, pid, flags));
}
inline int pidfd_send_signal(int pidfd, int signal, unsigned int flags) {
    return checked(::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, flags));
}
inline int pidfd_getfd(int pidfd, int descriptor, unsigned int flags) {
    return checked(::syscall(SYS_pidfd_getfd, pidfd, descriptor, flags));
}
// rt_sigaction(2) to SIG_DFL, for every signal: libc's sigaction keeps 32 and 33 to itself. All zeros is SIG_DFL
// without flags or mask in the layout of every architecture.
inline int default_signal(int signal) {
    constexpr size_t kSigsetBytes = 8;
    const unsigned long by_default[4] = {};
    return checked(::syscall(SYS_rt_sigaction, signal, by_default, nullptr, kSigsetBytes));
}
inline int close_range(unsigned int first, unsigned int last, unsigned int flags) {
    return checked(::syscall(SYS_close_range, first, last, flags));
}

inline int seccomp(unsigned int operation, unsigned int flags, const void* argument) {
    return checked(::syscall(SYS_seccomp, operation, flags, argument));
}
inline int capget(__user_cap_header_struct& header, __user_cap_data_struct* data) {
    return checked(::syscall(SYS_capget, &header, data));
}
inline int capset(__user_cap_header_struct& header, const __user_cap_data_struct* data) {
    return checked(::syscall(SYS_capset, &header, data));
}

// The calling thread only: libc's wrappers signal every thread and take locks.
inline int setresuid(uid_t real, uid_t effective, uid_t saved) {
    return checked(::syscall(SYS_setresuid, real, effective, saved));
}
inline int setresgid(gid_t real, gid_t effective, gid_t saved) {
    return checked(::syscall(SYS_setresgid, real, effective, saved));
}
inline int setgroups(size_t count, const gid_t* groups) {
    return checked(::syscall(SYS_setgroups, count, groups));
}

inline int keyctl(int operation, unsigned long second, unsigned long third, unsigned long fourth) {
    return checked(::syscall(SYS_keyctl, operation, second, third, fourth, 0UL));
}
// `attributes` is a struct sched_attr, whose first member is its size; sched_setattr(2).
inline int sched_setattr(pid_t pid, const void* attributes, unsigned int flags) {
    return checked(::syscall(SYS_sched_setattr, pid, attributes, flags));
}
// Masks are words of 64 bits, which the kernel's own are on every little-endian machine.
inline int sched_setaffinity(pid_t pid, size_t bytes, const uint64_t* mask) {
    return checked(::syscall(SYS_sched_setaffinity, pid, bytes, mask));
}
inline int set_mempolicy(int mode, const uint64_t* nodes, unsigned long bits) {
    return checked(::syscall(SYS_set_mempolicy, mode, nodes, bits));
}
inline int ioprio_set(int which, int who, int priority) {
    return checked(::syscall(SYS_ioprio_set, which, who, priority));
}

}  // namespace rung::kernel
