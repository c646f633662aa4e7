// Running ps(1) and reading its table: which columns there are depends on its options, and only PID matters here.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/process_table.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>

#include "kernel/files.hpp"
#include "runtime/signal_name.hpp"
#include "runtime/spawn.hpp"
#include "runtime/wording.hpp"

namespace rung::runtime {
namespace {

Result<pid_t> spawn_ps(std::vector<std::string> arguments, const Fd& output) {
    arguments.insert(arguments.begin(), "ps");
    std::vector<char*> pointers;
    for (std::string& argument : arguments)
        pointers.push_back(argument.data());
    pointers.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, output.get(), 1);
    posix_spawn_file_actions_adddup2(&actions, output.get(), 2);
    pid_t pid = 0;
    const int result = posix_spawnp(&pid, "ps", &actions, nullptr, pointers.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (result == ENOENT) return Error{.message = wording::exec_failed("ps", wording::kNotInPath)};
    if (result != 0) return errno_error("ps", result);
    return pid;
}

std::string on_one_line(std::string text) {
    while (text.ends_with('\n'))
        text.pop_back();
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

std::vector<std::string_view> fields_of(std::string_view line) {
    constexpr std::string_view kBlank = " \t";
    std::vector<std::string_view> fields;
    for (size_t at = line.find_first_not_of(kBlank); at != std::string_view::npos;) {
        const size_t end = std::min(line.find_first_of(kBlank, at), line.size());
        fields.push_back(line.substr(at, end - at));
        at = line.find_first_not_of(kBlank, end);
    }
    return fields;
}

std::optional<pid_t> parse_pid(std::string_view text) {
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
    if (error != std::errc{} || end != text.data() + text.size()) return {};
    return pid;
}

}  // namespace

Result<std::string> run_ps(const std::vector<std::string>& arguments) {
    const Fd output = TRY(memory_file({}));
    const int status = TRY(wait_for_end(TRY(spawn_ps(arguments, output)), "ps"));
    if (lseek(output.get(), 0, SEEK_SET) < 0) return errno_error("rewind the output of ps", errno);
    std::string text = TRY(kernel::read_all(output, "the output of ps"));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;

    const std::string how = WIFEXITED(status) ? "exit status " + std::to_string(WEXITSTATUS(status))
                                              : "signal: " + signal_text(WTERMSIG(status));
    return Error{.message = "ps: " + how + ": " + on_one_line(std::move(text))};
}

Result<std::string> keep_processes(const std::string& table, const std::vector<pid_t>& pids) {
    const size_t headline_end = std::min(table.find('\n'), table.size());
    const std::string_view headline = std::string_view{table}.substr(0, headline_end);
    const std::vector<std::string_view> columns = fields_of(headline);
    const auto column = std::find(columns.begin(), columns.end(), "PID");
    if (column == columns.end()) return Error{.message = "couldn't find PID field in ps output"};
    const auto place = static_cast<size_t>(column - columns.begin());

    std::string kept = std::string{headline} + "\n";
    for (size_t begin = headline_end + 1; begin < table.size();) {
        const size_t end = std::min(table.find('\n', begin), table.size());
        const std::string_view line = std::string_view{table}.substr(begin, end - begin);
        begin = end + 1;
        const std::vector<std::string_view> fields = fields_of(line);
        if (fields.empty()) continue;
        const auto pid = place < fields.size() ? parse_pid(fields[place]) : std::nullopt;
        if (!pid) return Error{.message = "unable to parse pid in ps output: " + std::string{line}};
        if (std::binary_search(pids.begin(), pids.end(), *pid)) kept += std::string{line} + "\n";
    }
    return kept;
}

}  // namespace rung::runtime
