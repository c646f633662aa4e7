// rung grant: what is wrong with a grant, what several come to, and the name of one.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "grant/canonical.hpp"
#include "grant/check.hpp"
#include "grant/meet.hpp"
#include "grant_file.hpp"
#include "standard_streams.hpp"
#include "verbs.hpp"

namespace rung::cli {
namespace {

using nlohmann::ordered_json;

struct Finding {
    std::string file = {};
    grant::Problem problem = {};
};

// "grant.yaml:3:14: grant_unknown_field: filesystem.readwrite: there is no such field", as compilers say it.
std::string line_of(const Finding& finding) {
    const grant::Place& place = finding.problem.place;
    std::string line = finding.file;
    if (place.mark.line > 0)
        line += ":" + std::to_string(place.mark.line) + ":" + std::to_string(place.mark.column);
    line += ": " + finding.problem.code + ": ";
    if (!place.field.empty()) line += place.field + ": ";
    return line + place.what + "\n";
}

std::string json_of(const std::vector<Finding>& findings) {
    ordered_json list = ordered_json::array();
    for (const Finding& finding : findings) {
        const grant::Place& place = finding.problem.place;
        list.push_back({{"file", finding.file},
                        {"code", finding.problem.code},
                        {"field", place.field},
                        {"message", place.what},
                        {"line", place.mark.line},
                        {"column", place.mark.column}});
    }
    return list.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

Result<int> check(const GrantDocuments& verb) {
    std::vector<Finding> findings;
    for (const std::string& file : verb.files) {
        const std::string text = TRY(read_grant_text(file));
        for (grant::Problem& problem : grant::check_grant(text))
            findings.push_back({.file = file, .problem = std::move(problem)});
    }
    std::string text;
    if (verb.json) {
        text = json_of(findings);
    } else {
        for (const Finding& finding : findings)
            text += line_of(finding);
    }
    TRY(print(text));
    return findings.empty() ? 0 : 1;
}

Result<int> meet(const GrantDocuments& verb) {
    std::optional<grant::Grant> met;
    for (const std::string& file : verb.files) {
        grant::Grant next = TRY(read_grant(file));
        met = met ? grant::meet(*met, next) : std::move(next);
    }
    TRY(print(grant::canonical_json(*met) + "\n"));
    return 0;
}

Result<int> digest(const GrantDocuments& verb) {
    std::string text;
    for (const std::string& file : verb.files)
        text += grant::digest(TRY(read_grant(file))) + "  " + file + "\n";
    TRY(print(text));
    return 0;
}

}  // namespace

Result<int> perform(const runtime::Globals&, const GrantDocuments& verb) {
    if (verb.action == "check") return check(verb);
    if (verb.action == "meet") return meet(verb);
    if (verb.action == "digest") return digest(verb);
    return Error{.message = "rung grant: there is no \"" + verb.action +
                            "\": check, meet and digest are what it does"};
}

}  // namespace rung::cli
