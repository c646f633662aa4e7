// All problems of a text: what is found wrong is set aside and the rest is read again, until nothing is left to complain about.
// SPDX-License-Identifier: Apache-2.0
#include "grant/check.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "grant/sections.hpp"

namespace rung::grant {

namespace {

constexpr std::size_t kMostProblems = 100;

// The names of the nodes from the one called `wanted` up to the whole, after setting it aside; empty when there is none of that name.
std::vector<std::string> set_aside(Node& node, const Field& field, const std::string& wanted) {
    // As an error words it, which is how `wanted` was written.
    const std::string name = place_of(refuse(field, "", "")).field;
    if (name == wanted) {
        node.set_aside = true;
        return {name};
    }
    for (std::size_t index = 0; index < node.children.size(); ++index) {
        Node& child = node.children[index];
        if (child.set_aside) continue;
        const Field inner =
            node.kind == Kind::map
                ? member_field(field, child)
                : Field{.node = &child, .name = field.name + "[" + std::to_string(index) + "]"};
        std::vector<std::string> path = set_aside(child, inner, wanted);
        if (path.empty()) continue;
        path.push_back(name);
        return path;
    }
    return {};
}

Problem problem_of(const Error& error) {
    return {.code = error.reason, .place = place_of(error)};
}

}  // namespace

std::vector<Problem> check_grant(std::string_view text) {
    auto document = read_document(text, {});
    if (!document) return {problem_of(document.error())};
    Node root = *std::move(document);
    const Field whole{.node = &root, .name = "grant", .is_whole = true};

    std::vector<Problem> problems;
    std::set<std::string>
        damaged;  // from which something was set aside: a complaint about one may be a mere consequence
    while (!root.set_aside && problems.size() < kMostProblems) {
        auto read = read_grant(whole);
        if (read) break;
        Problem problem = problem_of(read.error());
        const std::string field = problem.place.field;
        if (!damaged.contains(field)) problems.push_back(std::move(problem));
        const std::vector<std::string> path = set_aside(root, whole, field);
        if (path.empty()) break;
        damaged.insert(path.begin(), path.end());
    }
    std::stable_sort(problems.begin(), problems.end(), [](const Problem& left, const Problem& right) {
        return left.place.mark < right.place.mark;
    });
    return problems;
}

}  // namespace rung::grant
