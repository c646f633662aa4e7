// The words of failed steps. Engines match them: lib/runtime/wording.hpp says which.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/failure.hpp"

#include <doctest/doctest.h>
#include <sched.h>

#include <cerrno>
#include <cstring>
#include <string>

using namespace rung;
using child::Detail;
using child::ReportKind;
using runtime::describe_failure;

namespace {

child::Program program_of(child::Step step, std::string name = "app") {
    child::Program program;
    program.steps.push_back(std::move(step));
    program.args = {std::move(name)};
    return program;
}

child::Report report_with_text(child::Report report, const char* text) {
    strncpy(report.text, text, sizeof report.text - 1);
    return report;
}

}  // namespace

TEST_CASE("a program that cannot be started is worded as Docker and podman expect it") {
    const auto missing = program_of(child::FindExecutable{}, "nosuch");
    const auto absent = program_of(child::FindExecutable{}, "/nope");
    const auto passwd = program_of(child::FindExecutable{}, "/etc/passwd");
    const auto directory = program_of(child::FindExecutable{}, "/etc");

    CHECK(describe_failure(missing, {.kind = ReportKind::failed, .detail = Detail::executable_not_in_path})
              .message ==
          "unable to start container process: exec: \"nosuch\": executable file not found in $PATH");
    CHECK(describe_failure(
              absent, {.kind = ReportKind::failed, .errno_value = ENOENT, .detail = Detail::executable_stat})
              .message ==
          "unable to start container process: exec: \"/nope\": stat /nope: no such file or directory");
    CHECK(describe_failure(
              passwd,
              {.kind = ReportKind::failed, .errno_value = EACCES, .detail = Detail::executable_not_allowed})
              .message == "unable to start container process: exec: \"/etc/passwd\": permission denied");
    CHECK(describe_failure(
              directory,
              {.kind = ReportKind::failed, .errno_value = EISDIR, .detail = Detail::executable_is_directory})
              .message == "unable to start container process: exec: \"/etc\": is a directory");
}

TEST_CASE("a script without its interpreter names the script") {
    const auto program = program_of(child::Execute{}, "run.sh");

    const Error error = describe_failure(
        program,
        report_with_text({.kind = ReportKind::failed, .errno_value = ENOENT, .detail = Detail::execve},
                         "/run.sh"));

    CHECK(error.message == "unable to start container process: exec /run.sh: no such file or directory");
    CHECK(error.errno_value == ENOENT);
}

TEST_CASE("a working directory that is missing is called cwd") {
    const auto program = program_of(child::ChangeDirectory{.path = "/nope"});

    CHECK(describe_failure(program, {.kind = ReportKind::failed, .errno_value = ENOENT}).message ==
          "unable to start container process: chdir to cwd (\"/nope\") set in config.json failed: no such "
          "file or directory");
    CHECK(describe_failure(program, {.kind = ReportKind::failed, .detail = Detail::cwd_outside_container})
              .message ==
          "unable to start container process: chdir to cwd (\"/nope\") set in config.json failed: it lies "
          "outside the "
          "container's root");
}

TEST_CASE("a failed mount names its source and its target") {
    const auto mount =
        program_of(child::MountFilesystem{.type = "tmpfs", .source = "scratch", .target = "/tmp"});
    const auto proc = program_of(child::MountFilesystem{.type = "proc", .source = "proc", .target = "/link"});
    const auto tree = program_of(child::AttachTree{.tree = 3, .target = "/etc/hosts"});

    CHECK(describe_failure(mount, {.kind = ReportKind::failed, .errno_value = EPERM}).message ==
          "unable to start container process: error during container init: error mounting \"scratch\" to "
          "rootfs at "
          "\"/tmp\": operation not permitted");
    CHECK(describe_failure(proc, {.kind = ReportKind::failed, .detail = Detail::target_is_symlink}).message ==
          "unable to start container process: error during container init: error mounting \"proc\" to rootfs "
          "at "
          "\"/link\": filesystem \"proc\" must be mounted on ordinary directory");
    CHECK(describe_failure(tree, {.kind = ReportKind::failed, .errno_value = ENOTDIR},
                           {{.slot = 2, .source = "/a", .target = "/b"}, {.slot = 3, .source = "/srv/hosts"}})
              .message ==
          "unable to start container process: error during container init: error mounting \"/srv/hosts\" to "
          "rootfs at "
          "\"/etc/hosts\": not a directory");
    CHECK(describe_failure(
              tree, report_with_text(
                        {.kind = ReportKind::failed, .errno_value = EROFS, .detail = Detail::target_create},
                        "/etc/hosts"))
              .message ==
          "unable to start container process: error during container init: error mounting \"bind\" to rootfs "
          "at "
          "\"/etc/hosts\": create /etc/hosts: read-only file system");
}

TEST_CASE("a failed hook is named by kind and number") {
    const auto program = program_of(child::RunHooks{
        .kind = "createContainer", .hooks = {{.path = "/bin/true"}, {.path = "/bin/none"}}, .status = {}});
    const std::string begin = "unable to start container process: error during container init: ";

    CHECK(describe_failure(program,
                           {.kind = ReportKind::failed, .detail = Detail::hook_exit, .value = 3, .index = 0})
              .message == begin + "error running createContainer hook #0: exit status 3");
    CHECK(describe_failure(
              program, {.kind = ReportKind::failed, .detail = Detail::hook_signal, .value = 9, .index = 1})
              .message == begin + "error running createContainer hook #1: signal: killed");
    CHECK(
        describe_failure(program, {.kind = ReportKind::failed, .errno_value = ENOENT, .index = 1}).message ==
        begin + "error running createContainer hook #1: fork/exec /bin/none: no such file or directory");
}

TEST_CASE("namespaces are called by name") {
    const auto make = program_of(child::UnshareNamespaces{.flags = CLONE_NEWNET | CLONE_NEWIPC});
    const auto join = program_of(child::JoinNamespace{.slot = 0, .flag = CLONE_NEWNET});

    CHECK(describe_failure(make, {.kind = ReportKind::failed, .errno_value = EPERM}).message ==
          "unable to start container process: error during container init: make new namespaces (network, "
          "ipc): operation "
          "not permitted");
    CHECK(describe_failure(join, {.kind = ReportKind::failed, .errno_value = EINVAL}).message ==
          "unable to start container process: error during container init: join the network namespace: "
          "invalid argument");
}

TEST_CASE("a keyring over quota says what to do") {
    const auto program = program_of(child::NewKeyring{.name = "c"});

    CHECK(describe_failure(program, {.kind = ReportKind::failed, .errno_value = EDQUOT}).message ==
          "unable to start container process: error during container init: unable to join session keyring: "
          "disk quota "
          "exceeded (raise /proc/sys/kernel/keys/maxkeys, or use --no-new-keyring)");
}

TEST_CASE("a warning has the words of the failure without its prefix") {
    const auto program = program_of(child::SetCapabilities{});

    CHECK(describe_failure(program, {.kind = ReportKind::warned,
                                     .errno_value = EPERM,
                                     .detail = Detail::capability_raise,
                                     .value = 5})
              .message == "can't raise ambient capability CAP_KILL: operation not permitted");
    CHECK(
        describe_failure(program_of(child::SetUser{.user = {.additional_gids = {5}}}),
                         {.kind = ReportKind::warned, .errno_value = EPERM, .detail = Detail::groups_denied})
            .message == "process.user.additionalGids is ignored: the user namespace denies setgroups");
}

TEST_CASE("a step that does not exist and a text without an end are no danger") {
    auto report = child::Report{.kind = ReportKind::failed, .step = 7, .errno_value = EIO};
    memset(report.text, 'x', sizeof report.text);
    const auto program = program_of(child::PivotRoot{});

    CHECK(describe_failure(program, report).message ==
          "unable to start container process: error during container init: step 7: input/output error");
    report.step = 0;
    CHECK(describe_failure(program, report).message.size() < 400);
}
