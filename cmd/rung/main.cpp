// rung: the command line. Read from top to bottom, this is what one call does.
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/prctl.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "options.hpp"
#include "own_program.hpp"
#include "protect_self.hpp"
#include "standard_streams.hpp"
#include "verbs.hpp"

namespace {

using namespace rung;

// How a verb's failure is shown. containerd, Docker and podman look for the prefixes and take 255 for a failed set-up of exec.
struct Failure {
    std::string prefix = {};
    int code = 1;
};

Failure failure_of(const cli::Verb& verb, const std::string& program) {
    if (std::holds_alternative<cli::Create>(verb)) return {.prefix = program + " create failed"};
    if (std::holds_alternative<cli::Run>(verb)) return {.prefix = program + " run failed"};
    if (std::holds_alternative<cli::Exec>(verb)) return {.prefix = "exec failed", .code = 255};
    if (std::holds_alternative<cli::Unknown>(verb)) return {.code = 3};
    return {};
}

int report(Error error, Failure failure) {
    if (!failure.prefix.empty()) error = std::move(error).context(failure.prefix);
    log::error(error.message);
    return failure.code;
}

// "rung", or what it was called as: runc's clients look for its name in help, version and errors.
std::string program_name(const char* path) {
    const std::string_view name{path};
    return std::string{name.substr(name.rfind('/') + 1)};
}

int run_verb(const std::string& program, const std::vector<std::string>& words) {
    auto options = cli::parse_globals(words);
    if (!options) return report(options.error(), {});
    options->globals.own_program = cli::own_program();
    options->globals.called_as = program;
    if (const auto opened = log::open(options->log_file, options->log_format, options->least); !opened) {
        return report(opened.error(), {});
    }
    for (const std::string& remark : options->remarks)
        log::debug(remark);
    const auto verb = cli::parse_verb(options->rest, program);
    if (!verb) return report(verb.error(), {});

    const auto code = std::visit(
        [&](const auto& alternative) { return cli::perform(options->globals, alternative); }, *verb);
    return code ? *code : report(code.error(), failure_of(*verb, program));
}

}  // namespace

int main(int argc, char** argv) {
    // Before anything of ours can be seen from inside a container (CVE-2016-9962).
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    cli::open_missing_streams();
    // Inherited as ignored, it would make the kernel reap our children and lose their exit codes.
    (void)signal(SIGCHLD, SIG_DFL);
    if (cli::may_enter_container(argc, argv)) {
        if (const auto is_protected = cli::protect_self(argv); !is_protected)
            return report(is_protected.error(), {});
    }
    return run_verb(program_name(argv[0]), {argv + 1, argv + argc});
}
