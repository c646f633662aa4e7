// The log: one line per event, text or JSON, as engines read it (`--log`, `--log-format`).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace rung::log {

enum class Level { debug, warn, error };
enum class Format { text, json };

// Opens `target`: a path or "file:" and a path (append, 0600, CLOEXEC), "syslog:NAME", "journald:NAME"; empty is standard error. Fails when
// it cannot be opened; lines then go to standard error in the format asked for. No call here ever blocks: a reader that does not read loses
// lines.
Status open(const std::string& target, Format format, Level least);

void debug(std::string_view message);
// Not written into a JSON log file unless `least` is debug: podman parses that file as one object, the error.
void warn(std::string_view message);
// Only cmd/rung/main.cpp calls this, once, with the whole chain. With a log file the bare message also goes to
// standard error, where containerd's shim looks after `kill` and `delete`.
void error(std::string_view message);

// The bytes of one log line without its newline: pure, so that the format is tested.
std::string format_line(Format format, Level level, std::string_view message, std::string_view rfc3339_time);

}  // namespace rung::log
