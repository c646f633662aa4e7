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
#include "runtime/remove.hpp"
#include "runtime/runtime.hpp"
#include "runtime/terminal.hpp"

namespace rung::runtime {
namespace {

Result<Creation> begin(const Globals& globals, const CreateOptions& options, WhenReady when_ready) {
    TRY(check_id(options.id));
    const Inherited inherited = TRY(activated_descriptors(options.preserve_fds));
    auto prepared = TRY(prepare(globals, options));
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
    if (!options.detach) prepare_to_stay(options);
    TRY(creation.build(globals.root));
    if (const auto started = creation.await_exec(); !started) {
        creation.undo();
        return started.error();
    }
    if (!options.detach) return stay_until_exit(globals, options, creation);
    std::optional<NotifySocket>& notify = creation.notify_socket();
    if (notify) notify->pass_on_until_ready(creation.process().pidfd(), creation.process().pid());
    return 0;
}

void prepare_to_stay(const CreateOptions& options) {
    hold_signals();
    // Processes that the container leaves behind come to us, and the last of them is reaped (prctl(2)).
    if (!options.no_subreaper) (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

Result<int> stay_until_exit(const Globals& globals, const CreateOptions& options, Creation& creation) {
    Launched& process = creation.process();
    auto code = relay_until_exit({.pidfd = process.pidfd().get(),
                                  .init_pid = process.pid(),
                                  .pty_master = process.take_terminal(),
                                  .notify = std::move(creation.notify_socket())});
    if (!options.keep) {
        if (const auto removed = remove_own(globals, options.id, process.pid()); !removed)
            log::warn(removed.error().message);
    }
    return code;
}

}  // namespace rung::runtime
