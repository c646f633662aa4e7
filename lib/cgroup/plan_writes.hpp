// The two dialects behind plan_writes, and the arithmetic between them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cgroup/cgroup.hpp"
#include "config/resources.hpp"

namespace rung::cgroup {

// Neither looks at which controllers the host has.
Result<std::vector<Write>> plan_v1_writes(const config::Resources& resources);
Result<std::vector<Write>> plan_v2_writes(const config::Resources& resources);

// cpu.shares 2..262144 to cpu.weight 1..10000, so that the default of one (1024) is the default of the other
// (100).
uint64_t weight_of_shares(uint64_t shares);
// blkio.weight 10..1000 to io.weight 1..10000.
uint64_t io_weight_of_block_io_weight(uint64_t weight);

// What is spelt alike in both.
std::vector<Write> plan_cpuset_writes(const config::CpuResources& cpu);
std::vector<Write> plan_pids_writes(const std::optional<int64_t>& limit);
// `file_end` follows the page size in a file's name: ".max", ".limit_in_bytes".
Result<std::vector<Write>> plan_hugepage_writes(const std::vector<config::HugepageLimit>& limits,
                                                const std::string& file_end);
Result<std::vector<Write>> plan_rdma_writes(const std::map<std::string, config::RdmaLimit>& limits);

// A zero means "not set" wherever engines send one for an option that nobody gave.
template <typename Number>
bool is_set(const std::optional<Number>& value) {
    return value.value_or(0) != 0;
}

// The error for a value that no host accepts; `field` is below linux.resources.
Error invalid(const std::string& field, const std::string& why);

void append(std::vector<Write>& writes, std::vector<Write> more);

}  // namespace rung::cgroup
