// Device rules as values, and as cgroup v1 files; kernel documentation admin-guide/cgroup-v1/devices.
// SPDX-License-Identifier: Apache-2.0
#include "cgroup/devices.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

namespace rung::cgroup {

namespace {

using config::DeviceRule;

constexpr std::string_view kAllAccess = "rwm";

DeviceRule allowed(char type, std::optional<int64_t> major, std::optional<int64_t> minor,
                   const char* access) {
    return {.allow = true, .type = type, .major = major, .minor = minor, .access = access};
}

std::optional<int64_t> exact(const std::optional<int64_t>& number) {
    return number.value_or(-1) < 0 ? std::nullopt : number;
}

bool has_access(const DeviceRule& rule, char access) {
    return rule.access.find(access) != std::string::npos;
}

// In the order in which the kernel prints access.
template <typename Predicate>
std::string access_where(Predicate predicate) {
    std::string access;
    std::copy_if(kAllAccess.begin(), kAllAccess.end(), std::back_inserter(access), predicate);
    return access;
}

bool is_same_device(const DeviceRule& one, const DeviceRule& other) {
    return one.type == other.type && exact(one.major) == exact(other.major) &&
           exact(one.minor) == exact(other.minor);
}

bool covers(const std::optional<int64_t>& wide, const std::optional<int64_t>& narrow) {
    return !exact(wide) || exact(wide) == exact(narrow);
}

bool covers_device(const DeviceRule& wide, const DeviceRule& narrow) {
    return wide.type == narrow.type && covers(wide.major, narrow.major) && covers(wide.minor, narrow.minor);
}

bool share_devices(const DeviceRule& one, const DeviceRule& other) {
    return one.type == other.type && (covers(one.major, other.major) || covers(other.major, one.major)) &&
           (covers(one.minor, other.minor) || covers(other.minor, one.minor));
}

bool share_access(const DeviceRule& one, const DeviceRule& other) {
    return std::any_of(one.access.begin(), one.access.end(),
                       [&](char access) { return has_access(other, access); });
}

std::string number_or_star(const std::optional<int64_t>& number) {
    return exact(number) ? std::to_string(*number) : "*";
}

std::string device_text(const DeviceRule& rule) {
    return std::string{rule.type} + " " + number_or_star(rule.major) + ":" + number_or_star(rule.minor) + " ";
}

void add_exception(std::vector<DeviceRule>& exceptions, const DeviceRule& rule) {
    for (DeviceRule& known : exceptions) {
        if (!is_same_device(known, rule)) continue;
        known.access =
            access_where([&](char access) { return has_access(known, access) || has_access(rule, access); });
        return;
    }
    exceptions.push_back(rule);
    exceptions.back().access = access_where([&](char access) { return has_access(rule, access); });
}

// `rule` agrees with the default, so it takes back what it covers of the exceptions.
Status remove_exceptions(std::vector<DeviceRule>& exceptions, const DeviceRule& rule) {
    for (DeviceRule& known : exceptions) {
        if (!share_devices(known, rule) || !share_access(known, rule)) continue;
        if (!covers_device(rule, known)) {
            return Error{.message = "invalid configuration: linux.resources.devices: \"" + device_text(rule) +
                                    rule.access + "\" is only a part of the earlier \"" + device_text(known) +
                                    known.access + "\", which cgroup v1 cannot express"};
        }
        known.access =
            access_where([&](char access) { return has_access(known, access) && !has_access(rule, access); });
    }
    std::erase_if(exceptions, [](const DeviceRule& known) { return known.access.empty(); });
    return {};
}

// "c 1:3 rwm", as devices.list prints an exception.
std::string exception_text(const DeviceRule& rule) {
    return device_text(rule) + rule.access;
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> found;
    size_t start = 0;
    for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
        found.push_back(text.substr(start, end - start));
        start = end + 1;
    }
    return found;
}

bool contains(const std::vector<std::string>& texts, const std::string& text) {
    return std::find(texts.begin(), texts.end(), text) != texts.end();
}

}  // namespace

std::vector<DeviceRule> with_usual_devices(const std::vector<DeviceRule>& rules) {
    std::vector<DeviceRule> all = rules;
    for (const char type : {'c', 'b'})
        all.push_back(allowed(type, std::nullopt, std::nullopt, "m"));
    for (const int64_t minor : {3, 8, 7, 5, 9})
        all.push_back(allowed('c', 1, minor, "rwm"));
    for (const int64_t minor : {0, 2})
        all.push_back(allowed('c', 5, minor, "rwm"));
    all.push_back(allowed('c', 136, std::nullopt, "rwm"));
    all.push_back(allowed('c', 10, 200, "rwm"));
    return all;
}

Result<DevicePolicy> reduce_to_policy(const std::vector<DeviceRule>& rules) {
    DevicePolicy policy;
    for (const DeviceRule& rule : rules) {
        // The kernel takes 'a' for every device and access, whatever else the rule says.
        if (rule.type == 'a') {
            policy = {.allow_by_default = rule.allow};
        } else if (rule.allow != policy.allow_by_default) {
            add_exception(policy.exceptions, rule);
        } else {
            TRY(remove_exceptions(policy.exceptions, rule));
        }
    }
    return policy;
}

std::vector<DeviceWrite> plan_device_writes(const DevicePolicy& policy, const std::string& current) {
    std::vector<std::string> wanted;
    for (const DeviceRule& exception : policy.exceptions)
        wanted.push_back(exception_text(exception));
    std::vector<DeviceWrite> writes;
    if (policy.allow_by_default) {
        // devices.list does not show what is denied while the default is to allow, so the slate is wiped.
        writes.push_back({.file = "devices.allow", .value = "a"});
        for (const std::string& text : wanted)
            writes.push_back({.file = "devices.deny", .value = text});
        return writes;
    }
    std::vector<std::string> present = lines(current);
    if (contains(present, "a *:* rwm")) {
        writes.push_back({.file = "devices.deny", .value = "a"});
        present.clear();
    }
    for (const std::string& text : wanted) {
        if (!contains(present, text)) writes.push_back({.file = "devices.allow", .value = text});
    }
    for (const std::string& text : present) {
        if (!contains(wanted, text)) writes.push_back({.file = "devices.deny", .value = text});
    }
    return writes;
}

bool allows_everything(const std::vector<DeviceRule>& rules) {
    for (auto rule = rules.rbegin(); rule != rules.rend(); ++rule) {
        if (!rule->allow) return false;
        if (rule->type == 'a') return true;
    }
    return false;
}

}  // namespace rung::cgroup
