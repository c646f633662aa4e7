// exec: one more process in a running container.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <charconv>

#include "base/log.hpp"
#include "base/path.hpp"
#include "config/capability.hpp"
#include "config/id_list.hpp"
#include "config/parse.hpp"
#include "kernel/files.hpp"
#include "kernel/syscalls.hpp"
#include "plan/make.hpp"
#include "runtime/container.hpp"
#include "runtime/creation.hpp"
#include "runtime/device_rules.hpp"
#include "runtime/inherited.hpp"
#include "runtime/join_cgroup.hpp"
#include "runtime/launch.hpp"
#include "runtime/prepare.hpp"
#include "runtime/runtime.hpp"
#include "runtime/seccomp_agent.hpp"
#include "runtime/terminal.hpp"
#include "runtime/unix_socket.hpp"
#include "runtime/wording.hpp"

namespace rung::runtime {
namespace {

Status check_executable_in(Phase phase, const ExecOptions& options) {
    // Until it is created its process may still stand in the host's root.
    if (phase == Phase::creating)
        return Error{.message = "cannot exec in a container that is still being created"};
    if (phase == Phase::stopped) return Error{.message = std::string{wording::kExecStopped}};
    if (phase == Phase::paused && !options.ignore_paused)
        return Error{.message = std::string{wording::kExecPaused}};
    return {};
}

// Decimal digits and nothing else: "1" must never be read as something that ends as root (CVE-2026-30892).
Result<uint32_t> parse_id(std::string_view text, std::string_view whole) {
    uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty()) {
        return Error{.message = "--user: " + std::string{whole} + " is not UID[:GID] in numbers"};
    }
    if (value > INT32_MAX) return Error{.message = "--user: uids and gids must be in range 0-2147483647"};
    return value;
}

Status set_user(config::User& user, const std::string& text) {
    const size_t colon = text.find(':');
    user.uid = TRY(parse_id(std::string_view{text}.substr(0, colon), text));
    // Without one the group stays the container's, and so do the further groups, as with runc.
    if (colon != std::string::npos) user.gid = TRY(parse_id(std::string_view{text}.substr(colon + 1), text));
    return {};
}

Status add_capabilities(config::Process& process, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        const auto number = config::capability_number(name);
        if (!number) {
            log::warn("--cap: unknown capability " + name + " is ignored");  // as in config.json (runc#2853)
            continue;
        }
        if (!process.capabilities) process.capabilities.emplace();
        const uint64_t bit = uint64_t{1} << *number;
        process.capabilities->bounding |= bit;
        process.capabilities->effective |= bit;
        process.capabilities->permitted |= bit;
        // What the container's programs hand on to each other, they hand on to this one's as well.
        process.capabilities->ambient |= process.capabilities->inheritable & bit;
    }
    return {};
}

// The container's own process with what the options say instead, or the --process file alone (youki#3439).
Result<config::Process> requested_process(const config::Process& container, const ExecOptions& options) {
    if (!options.process_file.empty()) {
        auto process =
            TRY(config::parse_process(TRY(kernel::read_file(options.process_file).context("--process"))));
        // As runc: none at all means the container's; an empty object means none.
        if (!process.capabilities) process.capabilities = container.capabilities;
        return process;
    }
    for (const std::string& entry : options.env) {
        if (entry.find('=') == std::string::npos)
            return Error{.message = "--env: invalid environment variable: \"" + entry + "\" has no '='"};
    }
    config::Process process = container;
    process.args = options.args;
    process.env.insert(process.env.end(), options.env.begin(), options.env.end());
    process.terminal = options.tty;
    process.console_size = {};
    if (options.cwd) process.cwd = *options.cwd;
    if (options.user && !options.user->empty()) TRY(set_user(process.user, *options.user));
    auto& gids = process.user.additional_gids;
    gids.insert(gids.end(), options.additional_gids.begin(), options.additional_gids.end());
    TRY(add_capabilities(process, options.capabilities));
    if (!options.apparmor.empty()) process.apparmor_profile = options.apparmor;
    if (!options.process_label.empty()) process.selinux_label = options.process_label;
    if (options.no_new_privs) process.no_new_privileges = *options.no_new_privs;
    if (!path::is_absolute(process.cwd)) return Error{.message = std::string{wording::kCwdNotAbsolute}};
    return process;
}

// Of this process, and so of the new one until it has joined the container's cgroup (runtime-spec config.md, "execCPUAffinity").
Status use_initial_cpus(const std::vector<uint64_t>& cpus) {
    if (cpus.empty()) return {};
    const int result = kernel::sched_setaffinity(0, cpus.size() * sizeof cpus.front(), cpus.data());
    if (result < 0) return errno_error("process.execCPUAffinity.initial", -result);
    log::debug(wording::initial_affinity(config::hexadecimal_mask(cpus)));
    return {};
}

// A process on its way into the container, killed unless it arrived.
Result<Joined> start_process(const Container& container, const ExecOptions& options, plan::Lowered& lowered,
                             Fd init, pid_t init_pid) {
    Slots slots(static_cast<size_t>(lowered.slot_count));
    for (size_t index = 1; index < slots.size(); ++index) {
        slots[index] = Fd{fcntl(init.get(), F_DUPFD_CLOEXEC, 0)};
        if (!slots[index]) return errno_error("duplicate a pidfd", errno);
    }
    slots[0] = std::move(init);
    Fd console_socket;
    if (!options.console_socket.empty()) console_socket = TRY(connect_console_socket(options.console_socket));
    // Asked for by name, it is that cgroup or an error.
    const pid_t followed = options.cgroups.empty() ? init_pid : 0;
    return launch_into(container.state.cgroup, followed, lowered, slots,
                       {.console_socket = console_socket.get()});
}

Status hand_listener_over(Launched& process, const child::Report& report, const Container& container,
                          const plan::SeccompAgent& agent) {
    const Fd listener = TRY(process.take_listener(report));
    TRY(process.answer({}));
    return send_to_seccomp_agent(agent, oci_state(container, Phase::running), process.pid(), listener);
}

// What a grant limits holds for every process of the container or there is none.
Status bring_in(const Container& container, const Joined& joined) {
    Status arrived = cgroup::bring_in(container.state.cgroup, joined.process.pid(), joined.followed);
    if (arrived) return {};
    if (!container.state.grants.empty()) return std::move(arrived).context("grant_unenforceable: limits");
    log::warn(arrived.error().message);
    return {};
}

Status bring_to_exec(Joined& joined, const Container& container, const plan::Lowered& lowered,
                     const ExecOptions& options) {
    Launched& process = joined.process;
    while (true) {
        const auto report = TRY(process.await_report(lowered));
        if (report.kind == child::ReportKind::ready) break;
        if (report.kind == child::ReportKind::listener) {
            TRY(hand_listener_over(process, report, container, lowered.seccomp_agent));
            continue;
        }
        if (container.state.resctrl) TRY(join_resctrl_group(*container.state.resctrl, process.pid()));
        if (joined.is_outside) TRY(bring_in(container, joined));
        TRY(process.answer(TRY(cgroup::open_join_files(container.state.cgroup)
                                   .context(wording::adding_to_cgroups(std::to_string(process.pid()))))));
    }
    TRY(set_rlimits(process.pid(), lowered.rlimits));
    if (!options.pid_file.empty()) TRY(write_pid_file(options.pid_file, process.pid()));
    if (!options.pidfd_socket.empty()) TRY(send_pidfd(options.pidfd_socket, process.pidfd()));
    log::debug(wording::kStageExec);
    TRY(process.answer({}));
    return process.await_exec(lowered.program);
}

}  // namespace

Result<int> exec(const Globals& globals, const ExecOptions& options) {
    Container container = TRY(open_container(globals, options.id));
    TRY(check_executable_in(container.phase(), options));
    const Inherited inherited = TRY(preserved_descriptors(options.preserve_fds));
    const auto init = container.directory.read_init();
    if (!init) return Error{.message = std::string{wording::kExecStopped}};

    const Prepared prepared = TRY(prepare_again(container.directory, container.state));
    const auto asked = TRY(requested_process(prepared.plan.spec.process, options));
    auto wanted = plan::narrow_process(prepared.plan, prepared.grant, asked);
    if (wanted.args.empty()) return Error{.message = std::string{wording::kEmptyArgs}};
    const config::Spec& spec = prepared.plan.spec;
    wanted = without_making_devices(spec.linux_.resources.devices, container.state.cgroup, spec, wanted);
    TRY(check_device_rules(spec.linux_.resources.devices, container.state.cgroup, spec, wanted));
    TRY(check_console(options.console_socket, wanted.terminal,
                      options.detach ? Foreground::no : Foreground::yes));

    if (!options.detach && wanted.terminal && !wanted.console_size)
        wanted.console_size = caller_window_size();

    container.state.cgroup = TRY(cgroup::sub_cgroup(container.state.cgroup, options.cgroups));
    Fd pidfd = TRY(open_process(*init));
    if (!pidfd) return Error{.message = std::string{wording::kExecStopped}};
    const int namespaces = TRY(differing_namespaces(init->pid));
    // Only now is it certain that what was compared were the container's and not those of a process with its number.
    if (kernel::pidfd_send_signal(pidfd.get(), 0, 0) != 0)
        return Error{.message = std::string{wording::kExecStopped}};
    auto lowered = TRY(plan::lower_exec(prepared.plan, wanted, prepared.host,
                                        {.id = options.id,
                                         .namespaces = namespaces,
                                         .rootfs = prepared.rootfs,
                                         .new_keyring = container.state.new_keyring,
                                         .preserve_fds = inherited.count}));
    TRY(compile_filters(lowered, prepared.plan.spec.linux_.seccomp));

    lowered.program.explains_failed_exec = !options.detach && !prepared.grant;
    TRY(use_initial_cpus(wanted.exec_cpu_affinity.initial));
    if (!options.detach) hold_signals();
    give_streams_to_mapped_user(prepared.plan.spec.linux_, wanted);
    auto joined = TRY(start_process(container, options, lowered, std::move(pidfd), init->pid));
    Launched& process = joined.process;
    if (const auto arrived = bring_to_exec(joined, container, lowered, options); !arrived) {
        process.kill();
        return arrived.error();
    }
    if (options.detach) return 0;
    return relay_until_exit(
        {.pidfd = process.pidfd().get(), .init_pid = process.pid(), .pty_master = process.take_terminal()});
}

Result<std::string> describe_plan(const Globals& globals, const CreateOptions& options, bool json) {
    const Prepared prepared = TRY(prepare(globals, options));
    return json ? plan::print_json(prepared.plan) : plan::print(prepared.plan);
}

}  // namespace rung::runtime
