// Fuzz target: any bytes as config.json, and as what exec and update read.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>

#include "config/parse.hpp"

using namespace rung;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
    const std::string text{reinterpret_cast<const char*>(data), size};
    const auto spec = config::parse_spec(text);
    if (!spec && spec.error().message.empty()) __builtin_trap();
    (void)config::parse_process(text);
    (void)config::parse_resources(text);
    return 0;
}
