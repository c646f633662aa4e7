// Reading every grant source and meeting them, with the ceiling deciding which sources count.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/grants.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/log.hpp"
#include "grant/canonical.hpp"
#include "grant/field.hpp"
#include "grant/parse.hpp"
#include "kernel/files.hpp"
#include "runtime/pod.hpp"
#include "runtime/trusted_file.hpp"

namespace rung::runtime {
namespace {

using grant::Ceiling;
using grant::Origin;
using grant::Trust;

constexpr std::string_view kPrefix = "dev.rung.";
constexpr std::string_view kInlineGrant = "dev.rung.grant";
constexpr std::string_view kGrantReference = "dev.rung.grant-ref";
constexpr std::string_view kContainerGrantPrefix = "dev.rung.grant.";
constexpr std::string_view kEnvironmentGrant = "RUNG_GRANT=";
constexpr std::string_view kDropBoxName = "drop box ";
// More than the parsers accept, so that "too large" is theirs to say, with the reason code.
constexpr size_t kMostGrantBytes = 256 * 1024;
constexpr size_t kMostCeilingBytes = 1024 * 1024;

Error refuse(const std::string& code, const std::string& what) {
    return Error{.message = code + ": " + what, .reason = code};
}

template <typename T>
Result<T> name_source(Result<T> parsed, const std::string& source) {
    if (!parsed) {
        Error error = std::move(parsed).error();
        error.message += " [" + source + "]";
        return error;
    }
    return parsed;
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

Result<GrantSource> read_named(const HostGrants& host, const std::string& name, const std::string& source,
                               SourceKind kind) {
    // No path is made from anything else.
    if (!grant::is_dns_label(name)) {
        return refuse("grant_parse_error",
                      source + ": a grant's name is 1 to 63 lower-case letters, digits and inner hyphens");
    }
    std::vector<GrantSource> found;
    for (const char* ending : {".yaml", ".json"}) {
        const std::string path = host.named + "/" + name + ending;
        auto text =
            TRY(read_trusted({.path = path, .reason = "grant_untrusted_source", .most = kMostGrantBytes}));
        if (text) found.push_back({.name = source + " " + path, .text = std::move(*text), .kind = kind});
    }
    if (found.empty())
        return refuse("grant_missing", source + ": " + host.named + " has no grant named " + name);
    if (found.size() > 1)
        return refuse("grant_conflict", source + ": " + host.named + " has both " + name + ".yaml and .json");
    return std::move(found.front());
}

Result<std::optional<GrantSource>> read_drop_box(const HostGrants& host, const std::string& id) {
    if (id.empty()) return std::optional<GrantSource>{};  // `rung plan` without an id
    const std::string path = host.drop_box + "/" + id + ".json";
    auto text = TRY(read_trusted(
        {.path = path, .reason = "grant_untrusted_source", .closed = 077, .most = kMostGrantBytes}));
    if (!text) return std::optional<GrantSource>{};
    return std::optional{GrantSource{
        .name = std::string{kDropBoxName} + path, .text = std::move(*text), .kind = SourceKind::drop_box}};
}

struct Applied {
    Ceiling ceiling = {};
    GrantSource source = {};
};

Result<std::optional<Applied>> find_ceiling(const GrantPlaces& places, const Pod& pod) {
    const std::string& path = places.host.ceiling;
    const auto text =
        TRY(read_trusted({.path = path, .reason = "ceiling_insecure", .most = kMostCeilingBytes}));
    if (!text) return std::optional<Applied>{};
    Ceiling ceiling = TRY(name_source(grant::parse_ceiling(*text), path));
    const auto rule = grant::matching_rule(
        ceiling, {.k8s_namespace = pod.k8s_namespace, .handler = places.handler, .uid = getuid()});
    if (!rule) {
        return refuse("ceiling_missing", path + ": no rule is for handler \"" + places.handler + "\", uid " +
                                             std::to_string(getuid()) + " and namespace \"" +
                                             pod.k8s_namespace + "\"");
    }
    GrantSource source{.name = path + " rule " + std::to_string(*rule + 1),
                       .text = *text,
                       .kind = SourceKind::ceiling,
                       .rule = *rule};
    return std::optional{Applied{.ceiling = std::move(ceiling), .source = std::move(source)}};
}

// Collects sources under the ceiling's table of trust.
class Collection {
  public:
    explicit Collection(grant::TrustTable trust) : trust_(std::move(trust)) {}

    bool reads(Origin origin) const { return trust_.of(origin) != Trust::ignored; }

    // False: a source of this kind does not count. To be asked about one that is there.
    Result<bool> accepts(Origin origin, const std::string& name) {
        const Trust trust = trust_.of(origin);
        if (trust == Trust::only_signed) {
            return refuse(
                "grant_untrusted_source",
                name + ": the ceiling accepts it with a signature only, and this build checks none");
        }
        if (!reads(origin)) log::debug("ignoring the grant of " + name + ", as the ceiling says");
        may_start_ = may_start_ || trust == Trust::granting;
        return reads(origin);
    }
    void add(GrantSource source) { sources_.push_back(std::move(source)); }

    // A granting source is present.
    bool may_start() const { return may_start_; }
    std::vector<GrantSource> take() { return std::move(sources_); }

  private:
    grant::TrustTable trust_;
    bool may_start_ = false;
    std::vector<GrantSource> sources_ = {};
};

Status add_files(Collection& collection, const GrantPlaces& places) {
    for (const std::string& file : places.runtime_files) {
        if (TRY(collection.accepts(Origin::runtime_args, "--grant " + file)))
            collection.add(TRY(read_grant("--grant " + file, file)));
    }
    for (const std::string& file : places.files) {
        if (TRY(collection.accepts(Origin::bundle, "--grant " + file)))
            collection.add(TRY(read_grant("--grant " + file, file)));
    }
    const std::string beside = places.bundle + "/grant.json";
    if (TRY(is_present(beside)) && TRY(collection.accepts(Origin::bundle, "grant.json")))
        collection.add(TRY(read_grant("grant.json", beside)));
    if (!collection.reads(Origin::dropbox)) return {};
    if (auto dropped = TRY(read_drop_box(places.host, places.id));
        dropped && TRY(collection.accepts(Origin::dropbox, dropped->name))) {
        collection.add(std::move(*dropped));
    }
    return {};
}

Status add_annotation(Collection& collection, const GrantPlaces& places, const Pod& pod,
                      const std::string& name, const std::string& value) {
    const std::string source = "annotation " + name;
    const bool of_container = name.starts_with(kContainerGrantPrefix);
    if (of_container && grant::is_dns_label(std::string_view{name}.substr(kContainerGrantPrefix.size()))) {
        // Another container's has to be sound as well: a pod with a broken grant fails at its first container and not at its last.
        TRY(name_source(grant::parse_grant(value), source));
        if (pod.container.empty() && pod.sandbox_id.empty()) {
            return refuse("grant_unenforceable",
                          source + ": the engine does not say which container of a pod this is");
        }
        if (name.substr(kContainerGrantPrefix.size()) != pod.container) return {};
    } else if (name != kInlineGrant && name != kGrantReference) {
        return refuse("grant_unknown_field", source + ": there is no such rung annotation");
    }
    if (!TRY(collection.accepts(Origin::annotation, source))) return {};
    if (name == kGrantReference) {
        collection.add(TRY(read_named(places.host, value, source, SourceKind::grant)));
    } else {
        collection.add({.name = source, .text = value});
    }
    return {};
}

// Authors of images write here, so it grants nothing.
Status add_environment(Collection& collection, const GrantPlaces& places) {
    for (const std::string& variable : places.environment) {
        if (!variable.starts_with(kEnvironmentGrant)) continue;
        if (TRY(collection.accepts(Origin::environment, "RUNG_GRANT in process.env")))
            collection.add({.name = "RUNG_GRANT", .text = variable.substr(kEnvironmentGrant.size())});
    }
    return {};
}

const GrantSource* ceiling_among(const std::vector<GrantSource>& sources) {
    const auto found = std::find_if(sources.begin(), sources.end(), [](const GrantSource& source) {
        return source.kind == SourceKind::ceiling;
    });
    return found == sources.end() ? nullptr : &*found;
}

std::string field_names(const std::vector<grant::Narrowed>& losses) {
    std::string names;
    for (const grant::Narrowed& loss : losses)
        names += (names.empty() ? "" : ", ") + loss.field;
    // What is not an entry or a value that was asked for: a limit that is missing.
    return names.empty() ? "a limit is missing" : names;
}

}  // namespace

Result<std::vector<GrantSource>> collect_grants(const GrantPlaces& places) {
    const Pod pod = TRY(pod_of(places.annotations));
    const auto applied = TRY(find_ceiling(places, pod));
    Collection collection{applied ? applied->ceiling.trust : grant::TrustTable{}};
    TRY(add_files(collection, places));
    for (const auto& [name, value] : places.annotations) {
        if (name.starts_with(kPrefix)) TRY(add_annotation(collection, places, pod, name, value));
    }
    TRY(add_environment(collection, places));
    if (!applied) return collection.take();

    if (!collection.may_start()) {
        const auto& name = applied->ceiling.default_grant;
        if (!name) {
            return refuse("grant_missing",
                          places.host.ceiling + ": no container starts without a grant (defaultGrant: deny)");
        }
        collection.add(TRY(read_named(places.host, *name, "defaultGrant", SourceKind::fallback)));
    }
    collection.add(applied->source);
    return collection.take();
}

Result<grant::Effective> meet_sources(const std::vector<GrantSource>& sources) {
    grant::Layers layers;
    for (const GrantSource& source : sources) {
        if (source.kind != SourceKind::ceiling) {
            grant::Grant parsed = TRY(name_source(grant::parse_grant(source.text), source.name));
            layers.grants.push_back({.name = source.name, .grant = std::move(parsed)});
            continue;
        }
        const Ceiling ceiling = TRY(name_source(grant::parse_ceiling(source.text), source.name));
        if (source.rule >= ceiling.rules.size())
            return refuse("ceiling_missing", source.name + ": there is no such rule");
        layers.ceiling = {.name = source.name, .grant = grant::ceiling_grant(ceiling, source.rule)};
        layers.on_exceed = ceiling.on_exceed;
        layers.requirements = ceiling.requirements;
        layers.blocked_ranges = ceiling.blocked_ranges;
    }
    return grant::meet_layers(layers);
}

Result<std::optional<grant::Grant>> meet_grants(const std::vector<GrantSource>& sources) {
    return TRY(meet_sources(sources)).grant;
}

Status check_within_sandbox(const State& sandbox, const std::string& container,
                            const grant::Effective& effective) {
    if (!sandbox.grants_are_known)
        return refuse("grant_conflict",
                      "sandbox " + sandbox.id + ": its state does not say under which grants it is");
    std::vector<GrantSource> pinned;
    bool has_grant = false;
    for (const GrantSource& source : sandbox.grants) {
        // What a sandbox runs under for want of a grant is no statement about the pod.
        if (source.kind == SourceKind::fallback) continue;
        has_grant = has_grant || source.kind != SourceKind::ceiling;
        pinned.push_back(source);
    }
    const auto own = sandbox.annotations.find(std::string{kContainerGrantPrefix} + container);
    if (!container.empty() && own != sandbox.annotations.end()) {
        pinned.push_back(
            {.name = "annotation " + own->first + " of sandbox " + sandbox.id, .text = own->second});
        has_grant = true;
    }
    if (!has_grant) return {};
    const auto most = TRY(meet_sources(pinned)).grant;
    if (effective.grant && most && grant::is_within(*effective.grant, *most)) return {};
    const std::string asked =
        effective.grant && most ? field_names(grant::losses(*effective.grant, *most)) : "it has no grant";
    return refuse("grant_conflict", asked + ": wider than what sandbox " + sandbox.id + " was created under" +
                                        (most ? " (" + grant::digest(*most) + ")" : ""));
}

Status check_drop_box(const State& state, const HostGrants& host) {
    if (const GrantSource* source = ceiling_among(state.grants)) {
        const Ceiling ceiling = TRY(name_source(grant::parse_ceiling(source->text), source->name));
        if (ceiling.trust.dropbox == Trust::ignored) return {};
    }
    const auto dropped = TRY(read_drop_box(host, state.id));
    if (!dropped) return {};
    if (!state.grants_are_known)
        return refuse("grant_conflict",
                      dropped->name + ": the state does not say under which grants " + state.id + " is");
    const bool is_applied =
        std::any_of(state.grants.begin(), state.grants.end(), [&](const GrantSource& source) {
            return source.kind == SourceKind::drop_box && source.text == dropped->text;
        });
    if (is_applied) return {};
    const grant::Grant late = TRY(name_source(grant::parse_grant(dropped->text), dropped->name));
    const auto applied = TRY(meet_grants(state.grants));
    if (applied && grant::is_within(*applied, late)) return {};
    return refuse("grant_conflict", dropped->name + ": it came after create, and is narrower than what " +
                                        state.id + " was created under: write it before create");
}

}  // namespace rung::runtime
