// create and run.
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <optional>

#include "base/log.hpp"
#include "runtime/creation.hpp"
#include "runtime/inherited.hpp"
#include "runtime/prepare.hpp"
#include "runtime/runtime.hpp"
#include "runtime/terminal.hpp"

namespace rung::runtime {
namespace {

constexpr int kMostActivationSockets = 1 << 16;

std::optional<int> number_in(const char* text) {
    if (text == nullptr) return {};
    int number = 0;
    const char* const end = text + strlen(text);
    const auto [stopped, error] = std::from_chars(text, end, number);
    if (error != std::errc{} || stopped != end) return {};
    return number;
}

Status check_globals(const Globals& globals) {
    if (globals.without_network) return Error{.message = "--network=none is not supported"};
    return {};
}

// Sockets that a service manager has opened for us, from descriptor 3 on, are the workload's: sd_listen_fds(3). Those of an ancestor,
// which LISTEN_PID names, are not ours to give.
int activation_sockets() {
    const auto count = number_in(getenv("LISTEN_FDS"));
    if (!count || *count < 0 || *count > kMostActivationSockets) return 0;
    const char* const owner = getenv("LISTEN_PID");
    return owner == nullptr || number_in(owner) == getpid() ? *count : 0;
}

Result<Creation> begin(const Globals& globals, CreateOptions options, WhenReady when_ready) {
    TRY(check_globals(globals));
    TRY(check_id(options.id));
    const Inherited inherited = TRY(activated_descriptors(options.preserve_fds));
    auto prepared = TRY(prepare(globals, options));
    if (const int sockets = activation_sockets(); sockets > 0) {
        options.preserve_fds += sockets;
        auto& environment = prepared.plan.spec.process.env;
        environment.push_back("LISTEN_FDS=" + std::to_string(sockets));
        environment.emplace_back("LISTEN_PID=1");  // what the workload is in its pid namespace
    }
    const bool in_foreground = when_ready == WhenReady::go_on && !options.detach;
    TRY(check_console(options.console_socket, prepared.plan.spec.process.terminal,
                      in_foreground ? Foreground::yes : Foreground::no));
    config::Process& process = prepared.plan.spec.process;
    if (in_foreground && process.terminal && !process.console_size)
        process.console_size = caller_window_size();
    process.env.insert(process.env.end(), inherited.environment.begin(), inherited.environment.end());
    CreateOptions settled = options;
    settled.preserve_fds = inherited.count;
    return Creation{std::move(prepared), std::move(settled), when_ready};
}

}  // namespace

Status create(const Globals& globals, const CreateOptions& options) {
    auto creation = TRY(begin(globals, options, WhenReady::wait_for_start));
    return creation.build(globals.root);
}

Result<int> run(const Globals& globals, const CreateOptions& options) {
    auto creation = TRY(begin(globals, options, WhenReady::go_on));
    if (!options.detach) {
        hold_signals();
        // Processes that the container leaves behind come to us, and the last of them is reaped (prctl(2)).
        if (!options.no_subreaper) (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    }
    TRY(creation.build(globals.root));
    if (const auto started = creation.await_exec(); !started) {
        creation.undo();
        return started.error();
    }
    if (options.detach) return 0;

    Launched& process = creation.process();
    auto code = relay_until_exit(
        {.pidfd = process.pidfd().get(), .init_pid = process.pid(), .pty_master = process.take_terminal()});
    if (!options.keep) {
        if (const auto removed = remove(globals, options.id, true); !removed)
            log::warn(removed.error().message);
    }
    return code;
}

}  // namespace rung::runtime
