// The shapes that statistics files of cgroups have. A file that does not exist reads as zero or as nothing: which ones there
// are depends on the kernel and on the controllers that are enabled.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cgroup/stats.hpp"

namespace rung::cgroup {

// ---- pure ----
// "max" is the greatest number, as is "no limit".
Result<uint64_t> parse_count(std::string_view text);
std::vector<std::string_view> words_of(std::string_view text, std::string_view separators = " \t\n");
std::vector<std::string_view> lines_of(std::string_view text);
// "NAME NUMBER" on each line; others are passed over.
std::map<std::string, uint64_t> parse_counts(std::string_view text);
// "0-2,5".
std::vector<uint16_t> parse_list(std::string_view text);
// "some avg10=0.00 avg60=0.00 avg300=0.00 total=0" and the same for "full".
Pressures parse_pressures(std::string_view text);
// v1: "MAJOR:MINOR OPERATION NUMBER", and a total that is passed over.
std::vector<IoEntry> parse_block_io(std::string_view text);
// v2: "MAJOR:MINOR rbytes=N wbytes=N rios=N wios=N ...", in v1's tables.
std::map<std::string, std::vector<IoEntry>> parse_io(std::string_view text);

// ---- read ----
Result<std::string> read_text(const std::string& path);  // empty when it is not there
Result<uint64_t> read_count(const std::string& path);    // 0 when it is not there

Status read_v1_stats(const Cgroup& cgroup, Stats& stats);
Status read_v2_stats(const std::string& directory, Stats& stats);

}  // namespace rung::cgroup
