// rung-bench: times the verbs of several OCI runtimes side by side, as an engine's shim would call them.
// Runtimes take turns within a round, so that what disturbs the machine disturbs all of them.
// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

struct Runtime {
    std::string name = {};
    std::string path = {};
};

struct Options {
    std::string short_bundle = {};  // its process ends at once
    std::string long_bundle = {};   // its process waits to be killed
    std::string prefix = {};        // of every container's id
    std::string state = {};         // each runtime's --root lies below it
    int rounds = 20;
    int gap_ms = 60;  // from 60 ms on a start is "isolated": nothing of the one before helps it
    std::vector<Runtime> runtimes = {};
};

struct Sample {
    double wall_ms = 0;
    double cpu_ms = 0;  // of the runtime and of what it reaped
    long peak_kb = 0;
};

using Samples = std::map<std::pair<std::string, std::string>, std::vector<Sample>>;  // (flow, runtime)

constexpr int kWarmUpRounds = 2;

double now_ms() {
    timespec time = {};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

double to_ms(const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
}

[[noreturn]] void give_up(const std::string& message) {
    std::fprintf(stderr, "rung-bench: %s\n", message.c_str());
    std::exit(1);
}

// The number of runnable tasks, this one included, from /proc/stat.
int running_tasks() {
    char text[16384] = {};
    const int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    const ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    const char* found = length > 0 ? std::strstr(text, "procs_running ") : nullptr;
    return found != nullptr ? std::atoi(found + std::strlen("procs_running ")) : 0;
}

// Waits the gap, then until the machine is idle, half a second at most.
void settle(int gap_ms) {
    usleep(static_cast<useconds_t>(gap_ms) * 1000);
    const double began = now_ms();
    while (running_tasks() > 1 && now_ms() - began < 500)
        usleep(2000);
}

// Containers are re-parented to us; an engine's shim reaps them too.
void reap_containers() {
    while (waitpid(-1, nullptr, 0) > 0)
        continue;
}

// posix_spawn(3) does not copy this process, so its size does not count.
Sample timed(const std::vector<std::string>& command) {
    std::vector<char*> arguments;
    for (const auto& word : command)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t quiet = {};
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);

    const double began = now_ms();
    pid_t pid = -1;
    const int error = posix_spawn(&pid, arguments[0], &quiet, nullptr, arguments.data(), environ);
    if (error != 0) give_up(command[0] + ": " + std::strerror(error));
    int status = 0;
    rusage usage = {};
    while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR)
        continue;
    const double ended = now_ms();

    posix_spawn_file_actions_destroy(&quiet);
    if (status != 0) {
        std::string words;
        for (const auto& word : command)
            words += word + " ";
        give_up(words + "ended with status " + std::to_string(status));
    }
    return {.wall_ms = ended - began,
            .cpu_ms = to_ms(usage.ru_utime) + to_ms(usage.ru_stime),
            .peak_kb = usage.ru_maxrss};
}

// One round of every flow for one runtime.
void measure(const Options& options, const Runtime& runtime, const std::string& id, Samples& samples,
             bool keep) {
    const std::string root = options.state + "/" + runtime.name;
    const auto flow = [&](const std::string& title, std::vector<std::string> words) {
        std::vector<std::string> command = {runtime.path, "--root", root};
        std::move(words.begin(), words.end(), std::back_inserter(command));
        settle(options.gap_ms);
        const Sample sample = timed(command);
        if (keep) samples[{title, runtime.name}].push_back(sample);
    };

    flow("run", {"run", "--bundle", options.short_bundle, id});
    flow("create", {"create", "--bundle", options.short_bundle, id});
    flow("start", {"start", id});
    reap_containers();
    flow("delete", {"delete", id});

    flow("create (stays)", {"run", "--detach", "--bundle", options.long_bundle, id});
    flow("exec", {"exec", id, "/bin/true"});
    flow("delete -f", {"delete", "--force", id});
    reap_containers();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

// One line a flow and runtime: flow, runtime, median wall ms, median cpu ms, peak KiB.
void print(const Samples& samples) {
    for (const auto& [key, taken] : samples) {
        std::vector<double> wall;
        std::vector<double> cpu;
        long peak = 0;
        for (const auto& sample : taken) {
            wall.push_back(sample.wall_ms);
            cpu.push_back(sample.cpu_ms);
            peak = std::max(peak, sample.peak_kb);
        }
        std::printf("%s\t%s\t%.3f\t%.3f\t%ld\n", key.first.c_str(), key.second.c_str(), median(wall),
                    median(cpu), peak);
    }
}

int number(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        give_up("not a number: " + std::string(text));
    return value;
}

Options parse(int count, char** words) {
    Options options;
    for (int at = 1; at < count; ++at) {
        const std::string word = words[at];
        const auto equals = word.find('=');
        if (equals == std::string::npos) give_up("expected NAME=VALUE, not " + word);
        const std::string name = word.substr(0, equals);
        const std::string value = word.substr(equals + 1);
        if (name == "short") {
            options.short_bundle = value;
        } else if (name == "long") {
            options.long_bundle = value;
        } else if (name == "prefix") {
            options.prefix = value;
        } else if (name == "state") {
            options.state = value;
        } else if (name == "rounds") {
            options.rounds = number(value);
        } else if (name == "gap") {
            options.gap_ms = number(value);
        } else {
            options.runtimes.push_back({.name = name, .path = value});
        }
    }
    if (options.short_bundle.empty() || options.long_bundle.empty() || options.prefix.empty() ||
        options.state.empty() || options.runtimes.empty()) {
        give_up(
            "usage: rung-bench short=BUNDLE long=BUNDLE state=DIRECTORY prefix=WORD [rounds=N] [gap=MS] "
            "RUNTIME=PATH...");
    }
    return options;
}

}  // namespace

int main(int count, char** words) {
    const Options options = parse(count, words);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    (void)setpriority(PRIO_PROCESS, 0, -20);  // a calmer measurement where it is permitted
    Samples samples;
    for (int round = -kWarmUpRounds; round < options.rounds; ++round) {
        for (const auto& runtime : options.runtimes) {
            const std::string id = options.prefix + std::to_string(round + kWarmUpRounds);
            measure(options, runtime, id, samples, round >= 0);
        }
    }
    print(samples);
}
