// The oracle, written for obviousness: strings are compared component by component, addresses as numbers.
// SPDX-License-Identifier: Apache-2.0
#include "property/grant_oracle.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace rung::property {

namespace {

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts{""};
    for (const char character : text) {
        if (character == separator) {
            parts.emplace_back();
        } else {
            parts.back() += character;
        }
    }
    std::erase(parts, "");
    return parts;
}

bool lies_beneath(std::string_view root, std::string_view path) {
    const auto outer = split(root, '/');
    const auto inner = split(path, '/');
    return outer.size() <= inner.size() && std::equal(outer.begin(), outer.end(), inner.begin());
}

bool any_above(const std::vector<std::string>& roots, std::string_view path) {
    return std::any_of(roots.begin(), roots.end(),
                       [&](const auto& root) { return lies_beneath(root, path); });
}

enum class Listed { no, readable, writable };

// By the deepest entry; readOnly where both lists have it.
Listed is_listed(const grant::Filesystem& filesystem, std::string_view path) {
    Listed found = Listed::no;
    std::size_t depth = 0;
    const auto consider = [&](const std::vector<std::string>& entries, Listed meaning) {
        for (const std::string& entry : entries) {
            const std::size_t entry_depth = split(entry, '/').size() + 1;
            if (!lies_beneath(entry, path) || entry_depth < depth) continue;
            found = meaning;
            depth = entry_depth;
        }
    };
    consider(filesystem.read_write, Listed::writable);
    consider(filesystem.read_only, Listed::readable);
    return found;
}

bool host_fits(const std::string& pattern, const std::string& host) {
    auto wanted = split(pattern, '.');
    auto labels = split(host, '.');
    const std::string first = wanted.front();
    if (first != "*" && first != "**") return wanted == labels;
    if (labels.size() < wanted.size()) return false;
    if (first == "*" && labels.size() != wanted.size()) return false;
    return std::equal(wanted.rbegin(), wanted.rend() - 1, labels.rbegin());
}

bool port_fits(const grant::EgressRule& rule, uint16_t port) {
    return std::any_of(rule.ports.begin(), rule.ports.end(), [&](const grant::PortRange& range) {
        return range.first <= port && port <= range.last;
    });
}

// An IPv6 prefix holds no IPv4 address.
bool address_fits(const std::string& cidr, uint32_t address) {
    if (cidr.find(':') != std::string::npos) return false;
    const auto parts = split(cidr, '/');
    uint32_t base = 0;
    for (const std::string& byte : split(parts.at(0), '.'))
        base = base * 256 + static_cast<uint32_t>(std::stoul(byte));
    const uint32_t size = static_cast<uint32_t>(std::stoul(parts.at(1)));
    return (base ^ address) >> (32 - size) == 0;
}

bool any_fits(const std::vector<std::string>& cidrs, uint32_t address) {
    return std::any_of(cidrs.begin(), cidrs.end(),
                       [&](const auto& cidr) { return address_fits(cidr, address); });
}

bool http_fits(const grant::EgressRule& rule, const Call& call) {
    if (rule.http.empty()) return true;
    return std::any_of(rule.http.begin(), rule.http.end(), [&](const grant::HttpRule& http) {
        const auto has = [&](const char* method) {
            return std::find(http.methods.begin(), http.methods.end(), method) != http.methods.end();
        };
        return http.path == call.path && (has("ANY") || has(call.method.c_str()));
    });
}

}  // namespace

bool may_write(const grant::Grant& grant, std::string_view path) {
    if (!grant.filesystem || any_above(grant.filesystem->hidden, path)) return false;
    const auto& tmpfs = grant.filesystem->tmpfs;
    return is_listed(*grant.filesystem, path) == Listed::writable ||
           std::any_of(tmpfs.begin(), tmpfs.end(),
                       [&](const auto& entry) { return lies_beneath(entry.path, path); });
}

bool may_read(const grant::Grant& grant, std::string_view path) {
    if (!grant.filesystem || any_above(grant.filesystem->hidden, path)) return false;
    return grant.filesystem->rootfs == grant::RootfsAccess::read_only ||
           is_listed(*grant.filesystem, path) != Listed::no || may_write(grant, path);
}

bool may_have_scratch(const grant::Grant& grant, std::string_view path, uint64_t size) {
    if (!grant.filesystem) return false;
    const grant::Filesystem& filesystem = *grant.filesystem;
    bool listed = false;
    for (const grant::Tmpfs& entry : filesystem.tmpfs) {
        if (entry.path != path) continue;
        if (entry.size < size) return false;
        listed = true;
    }
    const bool pieces_are_kept =
        std::any_of(filesystem.read_only.begin(), filesystem.read_only.end(),
                    [&](const std::string& piece) { return lies_beneath(path, piece); });
    return listed || (is_listed(filesystem, path) == Listed::writable && !pieces_are_kept);
}

bool may_execute(const grant::Grant& grant, std::string_view path, std::string_view sha256) {
    if (!grant.tools) return false;
    bool granted = false;
    for (const grant::Tool& tool : *grant.tools) {
        if (tool.sha256.empty()) {
            granted = granted || lies_beneath(tool.path, path);
        } else if (tool.path == path) {
            if (tool.sha256 != sha256) return false;
            granted = true;
        }
    }
    return granted;
}

bool may_call(const grant::Grant& grant, const Call& call) {
    if (!grant.network) return false;
    const auto& rules = grant.network->egress;
    return std::any_of(rules.begin(), rules.end(), [&](const grant::EgressRule& rule) {
        return !rule.host.empty() && host_fits(rule.host, call.host) && port_fits(rule, call.port) &&
               http_fits(rule, call);
    });
}

bool may_connect(const grant::Grant& grant, uint32_t address, uint16_t port) {
    if (!grant.network) return false;
    const std::vector<std::string> private_ranges = {"10.0.0.0/8", "192.168.0.0/16"};
    const auto& rules = grant.network->egress;
    return std::any_of(rules.begin(), rules.end(), [&](const grant::EgressRule& rule) {
        return !rule.cidr.empty() && address_fits(rule.cidr, address) && !any_fits(rule.except, address) &&
               port_fits(rule, port) &&
               (!any_fits(private_ranges, address) || any_fits(rule.allow_private, address));
    });
}

}  // namespace rung::property
