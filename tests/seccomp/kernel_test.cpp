// The same filters in the kernel: each test loads one into a child and lets real system calls and programs meet it.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "config/parse.hpp"
#include "seccomp/compile.hpp"
#include "seccomp/profiles.hpp"

using namespace rung;

namespace {

constexpr int kNotLoaded = 254;
constexpr int kNoProgram = 127;

seccomp::Compiled built_in(std::string_view name) {
    const auto profile = config::parse_seccomp(seccomp::profile_text(name));
    REQUIRE(profile);
    auto compiled = seccomp::compile(*profile);
    REQUIRE(compiled);
    return *std::move(compiled);
}

void load_or_exit(const seccomp::Compiled& compiled) {
    sock_fprog program = {.len = static_cast<unsigned short>(compiled.instructions.size()),
                          .filter = const_cast<sock_filter*>(compiled.instructions.data())};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(kNotLoaded);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, compiled.flags, &program) != 0) _exit(kNotLoaded);
}

int wait_for(pid_t child) {
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return status;
}

// What the call leaves in errno under the filter; 0 when it succeeds.
int errno_of(const seccomp::Compiled& compiled, long number, long first = 0, long second = 0,
             long third = 0) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        load_or_exit(compiled);
        _exit(syscall(number, first, second, third, 0, 0, 0) < 0 ? errno : 0);
    }
    const int status = wait_for(child);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

struct Outcome {
    int exit_code = 0;
    std::string output = {};
    bool operator==(const Outcome&) const = default;
};

Outcome run(const seccomp::Compiled& compiled, const std::vector<const char*>& arguments) {
    int ends[2] = {};
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        std::vector<const char*> words = arguments;
        words.push_back(nullptr);
        const char* environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", nullptr};
        dup2(ends[1], STDOUT_FILENO);
        load_or_exit(compiled);
        execve(words[0], const_cast<char**>(words.data()), const_cast<char**>(environment));
        _exit(kNoProgram);
    }
    close(ends[1]);
    Outcome outcome = {};
    char buffer[4096];
    for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;) {
        outcome.output.append(buffer, static_cast<size_t>(got));
    }
    close(ends[0]);
    const int status = wait_for(child);
    outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return outcome;
}

bool is_installed(const char* program) {
    if (access(program, X_OK) == 0) return true;
    MESSAGE("not installed: ", program);
    return false;
}

}  // namespace

TEST_CASE("under default the kernel refuses what the profile closes") {
    const auto profile = built_in("default");

    CHECK(errno_of(profile, SYS_keyctl, 0, -3, 0) == EPERM);
    CHECK(errno_of(profile, SYS_socket, AF_PACKET, SOCK_RAW, 0) == EPERM);
    CHECK(errno_of(profile, SYS_socket, AF_VSOCK, SOCK_STREAM, 0) == EPERM);
    CHECK(errno_of(profile, SYS_socket, AF_ALG, SOCK_SEQPACKET, 0) == EPERM);
    CHECK(errno_of(profile, SYS_io_uring_setup, 1, 0, 0) == EPERM);
    CHECK(errno_of(profile, SYS_unshare, CLONE_NEWUSER) == EPERM);
    CHECK(errno_of(profile, SYS_clone, CLONE_NEWUSER) == EPERM);
    CHECK(errno_of(profile, SYS_clone3, 0, 0, 0) == ENOSYS);
    CHECK(errno_of(profile, SYS_mount, 0, 0, 0) == EPERM);
    CHECK(errno_of(profile, SYS_ptrace, 0, 0, 0) == EPERM);
    CHECK(errno_of(profile, SYS_bpf, 0, 0, 0) == EPERM);
    CHECK(errno_of(profile, SYS_memfd_secret) == EPERM);
    CHECK(errno_of(profile, SYS_ioctl, 0, TIOCSTI, 0) == EPERM);
    CHECK(errno_of(profile, SYS_ioctl, 0, TIOCSTI + (1L << 32), 0) == EPERM);
    CHECK(errno_of(profile, 500) == ENOSYS);
}

TEST_CASE("under default the kernel does what the profile leaves open") {
    const auto profile = built_in("default");

    CHECK(errno_of(profile, SYS_socket, AF_INET, SOCK_STREAM, 0) == 0);
    CHECK(errno_of(profile, SYS_socket, AF_UNIX, SOCK_STREAM, 0) == 0);
    CHECK(errno_of(profile, SYS_socket, AF_NETLINK, SOCK_RAW, 0) == 0);
    CHECK(errno_of(profile, SYS_memfd_create, reinterpret_cast<long>("name"), 0, 0) == 0);
    CHECK(errno_of(profile, SYS_getpid) == 0);
}

TEST_CASE("under strict there is no socket at all") {
    const auto profile = built_in("strict");

    CHECK(errno_of(profile, SYS_socket, AF_INET, SOCK_STREAM, 0) == EPERM);
    CHECK(errno_of(profile, SYS_socket, AF_UNIX, SOCK_STREAM, 0) == EPERM);
    CHECK(errno_of(profile, SYS_memfd_create, reinterpret_cast<long>("name"), 0, 0) == EPERM);
    CHECK(errno_of(profile, SYS_clone3, 0, 0, 0) == ENOSYS);
    CHECK(errno_of(profile, SYS_getpid) == 0);
}

TEST_CASE("no-memfd closes memfd_create and is loaded beside default") {
    const auto profile = built_in("no-memfd");
    const auto beside = built_in("default");
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        load_or_exit(beside);
        load_or_exit(profile);
        const bool closed = syscall(SYS_memfd_create, "name", 0) < 0 && errno == EPERM;
        _exit(closed && syscall(SYS_getpid) > 0 ? 0 : 1);
    }

    CHECK(wait_for(child) == 0);
    CHECK(errno_of(profile, SYS_memfd_create, reinterpret_cast<long>("name"), 0, 0) == EPERM);
    CHECK(errno_of(profile, SYS_socket, AF_INET, SOCK_STREAM, 0) == 0);
}

#ifdef __x86_64__
TEST_CASE("a call through the x32 ABI is killed under every built-in profile") {
    constexpr long x32 = 0x40000000;
    for (const std::string_view name : seccomp::profile_names()) {
        CAPTURE(name);
        const auto profile = built_in(name);
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            load_or_exit(profile);
            (void)syscall(x32 + SYS_getpid);
            _exit(0);
        }

        const int status = wait_for(child);

        CHECK(WIFSIGNALED(status));
        CHECK(WTERMSIG(status) == SIGSYS);
    }
}
#endif

TEST_CASE("python runs under default and strict") {
    constexpr const char* python = "/usr/bin/python3";
    if (!is_installed(python)) return;
    const std::vector<const char*> sum = {python, "-c", "print(sum(range(10**6)))"};
    const std::vector<const char*> threads = {
        python, "-c",
        "import threading, subprocess\n"
        "t = threading.Thread(target=lambda: print('thread', flush=True)); t.start(); t.join()\n"
        "print(subprocess.run(['/bin/echo', 'child'], capture_output=True, text=True).stdout, end='')"};

    for (const std::string_view name : {"default", "strict"}) {
        CAPTURE(name);
        CHECK(run(built_in(name), sum) == Outcome{0, "499999500000\n"});
        CHECK(run(built_in(name), threads) == Outcome{0, "thread\nchild\n"});
    }
}

TEST_CASE("python's sockets are refused as errors under strict") {
    constexpr const char* python = "/usr/bin/python3";
    if (!is_installed(python)) return;
    const std::vector<const char*> program = {python, "-c",
                                              "import socket\n"
                                              "try:\n    socket.socket()\n"
                                              "except PermissionError: print('refused')"};

    CHECK(run(built_in("strict"), program) == Outcome{0, "refused\n"});
    CHECK(run(built_in("default"), program) == Outcome{0, ""});
}

TEST_CASE("what python programs usually do works under python") {
    constexpr const char* python = "/usr/bin/python3";
    if (!is_installed(python)) return;
    const std::vector<const char*> program = {
        python, "-c",
        "import asyncio, multiprocessing, os, shutil, socket, subprocess, tempfile, threading\n"
        "def square(x): return x * x\n"
        "with multiprocessing.get_context('fork').Pool(2) as pool: print(pool.map(square, [1, 2, 3]))\n"
        "with tempfile.TemporaryDirectory() as place:\n"
        "    open(place + '/a', 'w').write('text'); shutil.copy2(place + '/a', place + '/b'); os.link(place "
        "+ '/a', place + '/c')\n"
        "    os.chmod(place + '/c', 0o600); print(len(os.listdir(place)))\n"
        "async def serve(reader, writer): writer.write(await reader.readline()); await writer.drain(); "
        "writer.close()\n"
        "async def talk():\n"
        "    server = await asyncio.start_server(serve, '127.0.0.1', 0)\n"
        "    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())\n"
        "    writer.write(b'hello\\n'); print((await reader.readline()).decode().strip())\n"
        "asyncio.run(talk())\n"
        "print(subprocess.run(['/bin/echo', 'child'], capture_output=True, text=True).stdout, end='')"};

    CHECK(run(built_in("python"), program) == Outcome{0, "[1, 4, 9]\n3\nhello\nchild\n"});
}

TEST_CASE("what node programs usually do works under node") {
    constexpr const char* node = "/usr/bin/nodejs";
    if (!is_installed(node)) return;
    const std::vector<const char*> program = {
        node, "-e",
        "const { Worker } = require('worker_threads'), http = require('http'), fs = require('fs');\n"
        "const worker = new Worker('let s = 0; for (let i = 0; i < 1e6; i++) s += i;"
        "require(\"worker_threads\").parentPort.postMessage(s)', { eval: true });\n"
        "worker.on('message', async sum => {\n"
        "  console.log(sum);\n"
        "  console.log(require('child_process').execFileSync('/bin/echo', ['child']).toString().trim());\n"
        "  console.log((await fs.promises.readFile('/etc/hostname')).length > 0);\n"
        "  const server = http.createServer((request, response) => response.end('served')).listen(0, "
        "'127.0.0.1', () =>\n"
        "    http.get({ port: server.address().port, agent: false }, response => response.on('data', data => "
        "{\n"
        "      console.log(data.toString()); server.close(); })));\n"
        "});"};

    CHECK(run(built_in("node"), program) == Outcome{0, "499999500000\nchild\ntrue\nserved\n"});
}

TEST_CASE("gcc and make build a program under build, and the program runs") {
    if (!is_installed("/usr/bin/gcc") || !is_installed("/usr/bin/make")) return;
    const std::vector<const char*> program = {
        "/bin/sh", "-c",
        "set -e; place=$(mktemp -d); trap 'rm -rf $place' EXIT; cd $place\n"
        "printf 'int two(void) { return 2; }' >two.c\n"
        "printf '#include <stdio.h>\\nint two(void); int main(void) { return printf(\"%%d\\\\n\", two()) < "
        "0; }' >main.c\n"
        "printf 'main: main.o libtwo.a\\n\\tgcc -o main main.o -L. -ltwo\\nlibtwo.a: two.o\\n\\tar rc "
        "libtwo.a two.o\\n' >Makefile\n"
        "make -s -j2 main CC=gcc && ./main"};

    CHECK(run(built_in("build"), program) == Outcome{0, "2\n"});
}

TEST_CASE("a shell with pipes, redirections and awk runs under default and strict") {
    const std::vector<const char*> busybox = {
        "/usr/bin/busybox", "sh", "-c",
        "seq 10 | busybox grep 1 | { read a; read b; echo $a $b; }; echo $(ls -d /) $$ >/dev/null"};
    const std::vector<const char*> awk = {"/bin/sh", "-c",
                                          "printf '1 2\\n3 4\\n' | awk '{s += $2} END {print s}' | cat"};

    for (const std::string_view name : {"default", "strict"}) {
        CAPTURE(name);
        if (is_installed(busybox[0])) CHECK(run(built_in(name), busybox) == Outcome{0, "1 10\n"});
        CHECK(run(built_in(name), awk) == Outcome{0, "6\n"});
    }
}
