// Fuzz target: any bytes as a ceiling. Each rule of one that is accepted can be met with a grant, and never widens it.
// SPDX-License-Identifier: Apache-2.0
#include "grant/ceiling.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "grant/layers.hpp"

using namespace rung;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
    const auto ceiling = grant::parse_ceiling({reinterpret_cast<const char*>(data), size});
    if (!ceiling) {
        if (ceiling.error().reason.empty()) __builtin_trap();
        return 0;
    }
    (void)grant::matching_rule(*ceiling, {.k8s_namespace = "tenant-1-x", .handler = "rung", .uid = 1000});
    for (std::size_t rule = 0; rule < ceiling->rules.size(); ++rule) {
        const grant::Layer layer{.name = "ceiling", .grant = grant::ceiling_grant(*ceiling, rule)};
        const auto effective = grant::meet_layers(
            {.grants = {{.name = "grant", .grant = ceiling->rules[0].ceiling}}, .ceiling = layer});
        if (!effective || !grant::is_within(*effective->grant, layer.grant)) __builtin_trap();
    }
    return 0;
}
