// The quick way of protect_self(): the entry point of the static binary, before libc has set itself up.
//
// Executing rung a second time costs little more than the kernel's part of execve(2); what is dear is libc's and C++'s own start-up,
// which asks the processor for its features (each question is an exit from a virtual machine) and relocates a few thousand pointers.
// Done here, the first execution pays for none of that. Whatever does not work out is left to protect_self(), which looks again.
//
// Nothing is set up yet: no libc, no relocated pointer, no thread pointer and so no stack protector. Only raw system calls, locals and
// string literals; CMakeLists.txt compiles this file accordingly.
// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

extern "C" [[gnu::used]] void rung_protect_before_start(long* stack);

#if defined(__x86_64__)

// rdx holds what _start is to register with atexit(3).
asm(R"(
    .globl rung_start
    .type rung_start, @function
rung_start:
    xor %ebp, %ebp
    mov %rsp, %rbx
    mov %rdx, %r12
    mov %rsp, %rdi
    and $-16, %rsp
    call rung_protect_before_start
    mov %rbx, %rsp
    mov %r12, %rdx
    jmp _start
)");

static long system_call(long number, long a, long b, long c, long d, long e) {
    long result = number;
    register long r10 asm("r10") = d;
    register long r8 asm("r8") = e;
    asm volatile("syscall"
                 : "+a"(result)
                 : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                 : "rcx", "r11", "memory");
    return result;
}

#elif defined(__aarch64__)

asm(R"(
    .globl rung_start
    .type rung_start, %function
rung_start:
    mov x19, x0
    mov x0, sp
    bl rung_protect_before_start
    mov x0, x19
    b _start
)");

static long system_call(long number, long a, long b, long c, long d, long e) {
    register long x8 asm("x8") = number;
    register long x0 asm("x0") = a;
    register long x1 asm("x1") = b;
    register long x2 asm("x2") = c;
    register long x3 asm("x3") = d;
    register long x4 asm("x4") = e;
    asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
    return x0;
}

#endif

namespace {

constexpr long kReadOnly = 1;  // ST_RDONLY, statvfs(3)

long address(const void* pointer) {
    return reinterpret_cast<long>(pointer);
}

enum class Match { whole, prefix };

bool matches(const char* text, const char* pattern, Match match) {
    while (*pattern != '\0' && *text == *pattern)
        ++text, ++pattern;
    return *pattern == '\0' && (match == Match::prefix || *text == '\0');
}

// Generous, as may_enter_container() is.
bool enters_container(char* const* arguments) {
    for (; *arguments != nullptr; ++arguments) {
        if (matches(*arguments, "create", Match::whole) || matches(*arguments, "run", Match::whole) ||
            matches(*arguments, "exec", Match::whole) || matches(*arguments, "do", Match::whole)) {
            return true;
        }
    }
    return false;
}

// The kernel names a program executed through a descriptor "/dev/fd/N": then this has been here before.
bool is_second_execution(const long* auxiliary) {
    for (; auxiliary[0] != AT_NULL; auxiliary += 2) {
        if (auxiliary[0] == AT_EXECFN) {
            return matches(reinterpret_cast<const char*>(auxiliary[1]), "/dev/fd/", Match::prefix);
        }
    }
    return false;
}

constexpr char kOwnProgram[] = "RUNG_OWN_PROGRAM=";  // own_program.hpp
constexpr long kMostPath = 4096;

// `text` becomes the variable with rung's path; false when that cannot be read.
bool write_own_program(char* text) {
    const long prefix = sizeof kOwnProgram - 1;
    for (long at = 0; at < prefix; ++at)
        const_cast<volatile char*>(text)[at] = kOwnProgram[at];  // volatile: no call of memcpy(3)
    const long length = system_call(SYS_readlinkat, AT_FDCWD, address("/proc/self/exe"),
                                    address(text + prefix), kMostPath, 0);
    if (length <= 0 || length >= kMostPath) return false;
    text[prefix + length] = '\0';
    return true;
}

// A caller's word for it must not stand before ours.
bool names_own_program(const char* entry) {
    for (unsigned long at = 0; at < sizeof kOwnProgram - 1; ++at) {
        if (entry[at] != kOwnProgram[at]) return false;
    }
    return true;
}

}  // namespace

// The stack as the kernel leaves it: argc, argv, NULL, environ, NULL, auxiliary vector; getauxval(3).
extern "C" void rung_protect_before_start(long* stack) {
    char** const arguments = reinterpret_cast<char**>(stack + 1);
    char** const environment = arguments + stack[0] + 1;
    char** end = environment;
    while (*end != nullptr)
        ++end;
    if (!enters_container(arguments) || is_second_execution(reinterpret_cast<long*>(end + 1))) return;

    const long self = address("/proc/self/exe");
    struct statfs status;  // not cleared: that would be a call of memset(3)
    if (system_call(SYS_statfs, self, address(&status), 0, 0, 0) != 0 || (status.f_flags & kReadOnly) != 0)
        return;
    const long tree = system_call(SYS_open_tree, AT_FDCWD, self, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC, 0, 0);
    if (tree < 0) return;
    mount_attr attributes;
    attributes.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    attributes.attr_clr = 0;
    attributes.propagation = 0;
    attributes.userns_fd = 0;
    const long empty = address("");
    if (system_call(SYS_mount_setattr, tree, empty, AT_EMPTY_PATH, address(&attributes), sizeof attributes) ==
        0) {
        char program[sizeof kOwnProgram + kMostPath];
        const long count = end - environment;
        char** const extended =
            static_cast<char**>(__builtin_alloca(static_cast<unsigned long>(count + 2) * sizeof(char*)));
        long kept = 0;
        for (long at = 0; at < count; ++at) {
            if (!names_own_program(environment[at]))
                const_cast<char* volatile*>(extended)[kept++] = environment[at];
        }
        if (write_own_program(program)) extended[kept++] = program;
        extended[kept] = nullptr;
        (void)system_call(SYS_execveat, tree, empty, address(arguments), address(extended), AT_EMPTY_PATH);
    }
    (void)system_call(SYS_close, tree, 0, 0, 0, 0);
}
