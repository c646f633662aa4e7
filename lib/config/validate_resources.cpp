// Rules over linux.resources. Some values become names of files in a cgroup, so their spelling is checked as well.
// SPDX-License-Identifier: Apache-2.0
#include "config/quoted.hpp"
#include "config/validate.hpp"

namespace rung::config {
namespace {

Error wrong(std::string_view prefix, std::string_view field, const std::string& what) {
    return Error{.message = std::string{prefix} + std::string{field} + ": " + what};
}

Status validate_memory(const MemoryResources& memory, std::string_view prefix) {
    const std::pair<std::string_view, std::optional<int64_t>> limits[] = {
        {"memory.limit", memory.limit},
        {"memory.reservation", memory.reservation},
        {"memory.swap", memory.swap},
        {"memory.kernel", memory.kernel},
        {"memory.kernelTCP", memory.kernel_tcp},
    };
    for (const auto& [field, limit] : limits) {
        if (limit.value_or(0) < -1)
            return wrong(prefix, field, "must be -1, for no limit, or a number of bytes");
    }
    if (memory.swappiness.value_or(0) > 100)
        return wrong(prefix, "memory.swappiness", "must be between 0 and 100");
    return {};
}

// The kernel has 32 bits for each. What does not fit must not be taken for the number that is left of it.
Status validate_device_numbers(const Resources& resources, std::string_view prefix) {
    constexpr int64_t kMost = 4294967295;
    for (size_t index = 0; index < resources.devices.size(); ++index) {
        const DeviceRule& rule = resources.devices[index];
        const std::string field = "devices[" + std::to_string(index) + "]";
        if (rule.major.value_or(0) > kMost || rule.minor.value_or(0) > kMost)
            return wrong(prefix, field, "major and minor are at most 4294967295");
    }
    return {};
}

// "memory.high": a file of the container's own cgroup, named CONTROLLER.PARAMETER.
Status validate_unified(const Resources& resources, std::string_view prefix) {
    for (const auto& [key, value] : resources.unified) {
        if (key.find('/') != std::string::npos) {
            return wrong(prefix, "unified", quoted(key) + " must be a file name, without a slash");
        }
        const size_t dot = key.find('.');
        if (dot == std::string::npos || dot == 0) {
            return wrong(prefix, "unified", quoted(key) + " must be in the form CONTROLLER.PARAMETER");
        }
    }
    return {};
}

}  // namespace

bool is_page_size(std::string_view text) {
    const size_t digits = text.find_first_not_of("0123456789");
    if (digits == 0 || digits == std::string_view::npos || text[0] == '0') return false;
    const std::string_view unit = text.substr(digits);
    return unit == "KB" || unit == "MB" || unit == "GB";
}

Status validate_resources(const Resources& resources, std::string_view prefix) {
    TRY(validate_memory(resources.memory, prefix));
    TRY(validate_device_numbers(resources, prefix));
    for (const HugepageLimit& limit : resources.hugepage_limits) {
        if (is_page_size(limit.page_size)) continue;
        return wrong(prefix, "hugepageLimits",
                     quoted(limit.page_size) + " is not a page size such as \"2MB\"");
    }
    return validate_unified(resources, prefix);
}

}  // namespace rung::config
