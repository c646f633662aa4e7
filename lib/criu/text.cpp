// The small texts: flags of the command line, a list of cgroups, CRIU's log.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "criu/message.hpp"

namespace rung::criu {
namespace {

std::string_view take_line(std::string_view& rest) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return line;
}

}  // namespace

std::optional<CgroupMode> parse_cgroup_mode(std::string_view name) {
    if (name.empty()) return CgroupMode::unset;
    if (name == "ignore") return CgroupMode::ignore;
    if (name == "soft") return CgroupMode::soft;
    if (name == "full") return CgroupMode::full;
    if (name == "strict") return CgroupMode::strict;
    return {};
}

Result<PageServer> parse_page_server(const std::string& text) {
    const size_t colon = text.rfind(':');
    std::string address = text.substr(0, std::min(colon, text.size()));
    const bool is_bracketed = address.size() > 2 && address.front() == '[' && address.back() == ']';
    if (is_bracketed) address = address.substr(1, address.size() - 2);
    const bool is_ambiguous = !is_bracketed && address.find(':') != std::string::npos;
    if (colon == std::string::npos || address.empty() || colon + 1 == text.size() || is_ambiguous)
        return Error{.message = "--page-server: \"" + text + "\" is not ADDRESS:PORT"};
    uint16_t port = 0;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + colon + 1, end, port);
    if (parsed.ec != std::errc{} || parsed.ptr != end || port == 0)
        return Error{.message = "--page-server: \"" + text.substr(colon + 1) + "\" is not a port"};
    return PageServer{.address = std::move(address), .port = port};
}

std::vector<Pair> parse_cgroup_roots(std::string_view text) {
    std::vector<Pair> roots;
    while (!text.empty()) {
        const std::string_view line = take_line(text);
        const size_t first = line.find(':');
        const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
        if (second == std::string_view::npos) continue;
        const std::string path{line.substr(second + 1)};
        std::string_view controllers = line.substr(first + 1, second - first - 1);
        do {
            const size_t end = std::min(controllers.find(','), controllers.size());
            roots.push_back({.key = std::string{controllers.substr(0, end)}, .value = path});
            controllers.remove_prefix(std::min(end + 1, controllers.size()));
        } while (!controllers.empty());
    }
    return roots;
}

std::string last_errors(std::string_view log) {
    constexpr std::string_view kMark = "Error (";
    std::string before;
    std::string last;
    while (!log.empty()) {
        const std::string_view line = take_line(log);
        const size_t mark = line.find(kMark);
        const size_t end = mark == std::string_view::npos ? mark : line.find("): ", mark);
        // "Dumping FAILED." is not news.
        if (end == std::string_view::npos || line.ends_with(" FAILED.")) continue;
        before = std::move(last);
        last = line.substr(end + 3);
    }
    return before.empty() ? last : before + "; " + last;
}

}  // namespace rung::criu
