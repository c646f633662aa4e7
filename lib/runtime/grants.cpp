// Reading every grant source and meeting them.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/grants.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "grant/meet.hpp"
#include "grant/parse.hpp"
#include "kernel/files.hpp"

namespace rung::runtime {
namespace {

constexpr const char* kPrefix = "dev.rung.";
constexpr const char* kInlineGrant = "dev.rung.grant";
constexpr const char* kGrantReference = "dev.rung.grant-ref";
constexpr const char* kContainerGrantPrefix = "dev.rung.grant.";
constexpr const char* kDropBox = "/run/rung/grants.d";
constexpr const char* kCeiling = "/etc/rung/ceiling.yaml";
// More than the parser accepts, so that "too large" is the parser's to say, with its reason code.
constexpr size_t kMostGrantBytes = 256 * 1024;

Error refuse(const std::string& code, const std::string& what) {
    return Error{.message = code + ": " + what, .reason = code};
}

Result<GrantSource> read_grant(const std::string& name, const std::string& path) {
    auto text = kernel::read_document(path, kMostGrantBytes);
    if (text) return GrantSource{.name = name, .text = std::move(*text)};
    if (text.error().errno_value == EFBIG)
        return refuse("grant_too_large", path + ": a grant has at most 64 KiB");
    if (text.error().errno_value == ENOENT) return refuse("grant_missing", text.error().message);
    return refuse("grant_parse_error", text.error().message);
}

// A dangling symlink counts as present: whoever put it there meant a grant, and running without one would fail open.
Result<bool> is_present(const std::string& path) {
    if (faccessat(AT_FDCWD, path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) return true;
    if (errno == ENOENT || errno == ENOTDIR) return false;
    return errno_error(path, errno);
}

Status check_annotation(const std::string& name) {
    if (name == kInlineGrant) return {};
    if (name == kGrantReference || name.starts_with(kContainerGrantPrefix)) {
        return refuse("grant_unenforceable", "annotation " + name + ": this build takes a grant from " +
                                                 kInlineGrant + ", --grant or grant.json only");
    }
    return refuse("grant_unknown_field", "annotation " + name + ": there is no such rung annotation");
}

}  // namespace

Result<std::vector<GrantSource>> collect_grants(const GrantPlaces& places) {
    if (TRY(is_present(kCeiling))) {
        return refuse("grant_unenforceable", std::string{kCeiling} + ": this build does not apply a ceiling");
    }
    const std::string dropped = std::string{kDropBox} + "/" + places.id + ".json";
    if (!places.id.empty() && TRY(is_present(dropped))) {
        return refuse("grant_unenforceable", dropped + ": this build does not read the drop box");
    }
    std::vector<GrantSource> sources;
    for (const std::string& file : places.files)
        sources.push_back(TRY(read_grant("--grant " + file, file)));

    const std::string beside = places.bundle + "/grant.json";
    if (TRY(is_present(beside))) sources.push_back(TRY(read_grant("grant.json", beside)));

    for (const auto& [name, value] : places.annotations) {
        if (!name.starts_with(kPrefix)) continue;
        TRY(check_annotation(name));
        sources.push_back({.name = "annotation " + name, .text = value});
    }
    return sources;
}

Result<std::optional<grant::Grant>> meet_grants(const std::vector<GrantSource>& sources) {
    std::optional<grant::Grant> met;
    for (const GrantSource& source : sources) {
        auto parsed = grant::parse_grant(source.text);
        if (!parsed) {
            Error error = std::move(parsed).error();
            error.message += " [" + source.name + "]";
            return error;
        }
        met = met ? grant::meet(*met, *parsed) : grant::normalized(*parsed);
    }
    return met;
}

}  // namespace rung::runtime
