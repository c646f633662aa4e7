// Mount options, from words to flags. The later of two contradicting words wins, as in mount(8).
// SPDX-License-Identifier: Apache-2.0
#include "config/mount_options.hpp"

#include <sys/mount.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "config/quoted.hpp"

namespace rung::config {
namespace {

enum class Kind {
    set,              // set the attribute
    clear,            // clear the attribute
    recursive_set,    // set it in the whole mount tree: "rro"
    recursive_clear,  // clear it in the whole mount tree: "rrw"
    propagation,      // MS_PRIVATE and its kin
    turn_on,          // a member of MountOptions
    turn_off,         // a member of MountOptions
    nothing,          // accepted without effect
};

struct Option {
    std::string_view name = {};
    Kind kind = Kind::nothing;
    unsigned long value = 0;
    bool MountOptions::*member = nullptr;
};

constexpr Option turn_on(std::string_view name, bool MountOptions::*member) {
    return {.name = name, .kind = Kind::turn_on, .value = 0, .member = member};
}

constexpr Option turn_off(std::string_view name, bool MountOptions::*member) {
    return {.name = name, .kind = Kind::turn_off, .value = 0, .member = member};
}

// Sorted by name. acl, iversion and silent were flags of mount(2) that no file system of today's kernels looks at: access lists and change
// counters are on wherever there are any, and silence was about messages of the kernel's log.
constexpr Option kOptions[] = {
    {"acl", Kind::nothing},
    turn_off("async", &MountOptions::sync),
    {"atime", Kind::clear, MOUNT_ATTR_NOATIME},
    turn_on("bind", &MountOptions::bind),
    turn_on("copy-symlink", &MountOptions::copy_symlink),
    {"defaults", Kind::nothing},
    turn_on("dest-nofollow", &MountOptions::target_nofollow),
    {"dev", Kind::clear, MOUNT_ATTR_NODEV},
    {"diratime", Kind::clear, MOUNT_ATTR_NODIRATIME},
    turn_on("dirsync", &MountOptions::dirsync),
    {"exec", Kind::clear, MOUNT_ATTR_NOEXEC},
    turn_on("idmap", &MountOptions::idmap),
    {"iversion", Kind::nothing},
    turn_on("lazytime", &MountOptions::lazytime),
    {"loud", Kind::nothing},
    turn_on("mand", &MountOptions::mandatory_lock),
    {"noacl", Kind::nothing},
    {"noatime", Kind::set, MOUNT_ATTR_NOATIME},
    {"nodev", Kind::set, MOUNT_ATTR_NODEV},
    {"nodiratime", Kind::set, MOUNT_ATTR_NODIRATIME},
    {"noexec", Kind::set, MOUNT_ATTR_NOEXEC},
    {"noiversion", Kind::nothing},
    turn_off("nolazytime", &MountOptions::lazytime),
    turn_off("nomand", &MountOptions::mandatory_lock),
    {"norelatime", Kind::clear, MOUNT_ATTR_RELATIME},
    {"nostrictatime", Kind::clear, MOUNT_ATTR_STRICTATIME},
    {"nosuid", Kind::set, MOUNT_ATTR_NOSUID},
    {"nosymfollow", Kind::set, MOUNT_ATTR_NOSYMFOLLOW},
    {"private", Kind::propagation, MS_PRIVATE},
    {"ratime", Kind::recursive_clear, MOUNT_ATTR_NOATIME},
    turn_on("rbind", &MountOptions::recursive_bind),
    {"rdev", Kind::recursive_clear, MOUNT_ATTR_NODEV},
    {"rdiratime", Kind::recursive_clear, MOUNT_ATTR_NODIRATIME},
    {"relatime", Kind::set, MOUNT_ATTR_RELATIME},
    turn_on("remount", &MountOptions::remount),
    {"rexec", Kind::recursive_clear, MOUNT_ATTR_NOEXEC},
    turn_on("ridmap", &MountOptions::recursive_idmap),
    {"rnoatime", Kind::recursive_set, MOUNT_ATTR_NOATIME},
    {"rnodev", Kind::recursive_set, MOUNT_ATTR_NODEV},
    {"rnodiratime", Kind::recursive_set, MOUNT_ATTR_NODIRATIME},
    {"rnoexec", Kind::recursive_set, MOUNT_ATTR_NOEXEC},
    {"rnorelatime", Kind::recursive_clear, MOUNT_ATTR_RELATIME},
    {"rnostrictatime", Kind::recursive_clear, MOUNT_ATTR_STRICTATIME},
    {"rnosuid", Kind::recursive_set, MOUNT_ATTR_NOSUID},
    {"rnosymfollow", Kind::recursive_set, MOUNT_ATTR_NOSYMFOLLOW},
    {"ro", Kind::set, MOUNT_ATTR_RDONLY},
    {"rprivate", Kind::propagation, MS_PRIVATE | MS_REC},
    {"rrelatime", Kind::recursive_set, MOUNT_ATTR_RELATIME},
    {"rro", Kind::recursive_set, MOUNT_ATTR_RDONLY},
    {"rrw", Kind::recursive_clear, MOUNT_ATTR_RDONLY},
    {"rshared", Kind::propagation, MS_SHARED | MS_REC},
    {"rslave", Kind::propagation, MS_SLAVE | MS_REC},
    {"rstrictatime", Kind::recursive_set, MOUNT_ATTR_STRICTATIME},
    {"rsuid", Kind::recursive_clear, MOUNT_ATTR_NOSUID},
    {"rsymfollow", Kind::recursive_clear, MOUNT_ATTR_NOSYMFOLLOW},
    {"runbindable", Kind::propagation, MS_UNBINDABLE | MS_REC},
    {"rw", Kind::clear, MOUNT_ATTR_RDONLY},
    {"shared", Kind::propagation, MS_SHARED},
    {"silent", Kind::nothing},
    {"slave", Kind::propagation, MS_SLAVE},
    turn_on("src-nofollow", &MountOptions::source_nofollow),
    {"strictatime", Kind::set, MOUNT_ATTR_STRICTATIME},
    {"suid", Kind::clear, MOUNT_ATTR_NOSUID},
    {"symfollow", Kind::clear, MOUNT_ATTR_NOSYMFOLLOW},
    turn_on("sync", &MountOptions::sync),
    turn_on("tmpcopyup", &MountOptions::copy_up),
    {"unbindable", Kind::propagation, MS_UNBINDABLE},
};

const Option* find_option(std::string_view name) {
    const auto found =
        std::lower_bound(std::begin(kOptions), std::end(kOptions), name,
                         [](const Option& option, std::string_view key) { return option.name < key; });
    return found != std::end(kOptions) && found->name == name ? found : nullptr;
}

// The pair that mount_setattr(2) takes.
struct Attributes {
    uint64_t set = 0;
    uint64_t clear = 0;
};

bool is_atime_mode(uint64_t attribute) {
    return (attribute & ~uint64_t{MOUNT_ATTR__ATIME}) == 0;
}

Attributes with(Attributes before, uint64_t attribute) {
    if (is_atime_mode(attribute)) {
        // A number in a field of three bits, not a bit: the kernel wants the field cleared when it is set.
        return {.set = (before.set & ~uint64_t{MOUNT_ATTR__ATIME}) | attribute,
                .clear = before.clear | MOUNT_ATTR__ATIME};
    }
    return {.set = before.set | attribute, .clear = before.clear & ~attribute};
}

// "atime" takes back a "noatime" before it and leaves "strictatime" alone; what the mount has already it does not change (mount(2), and
// so runc).
Attributes without_mode(Attributes before, uint64_t mode) {
    const bool is_named = (before.clear & MOUNT_ATTR__ATIME) != 0;
    if (!is_named || (before.set & MOUNT_ATTR__ATIME) != mode) return before;
    return {.set = before.set & ~uint64_t{MOUNT_ATTR__ATIME},
            .clear = before.clear & ~uint64_t{MOUNT_ATTR__ATIME}};
}

Attributes without(Attributes before, uint64_t attribute) {
    if (is_atime_mode(attribute)) {
        // "ratime" undoes "rnoatime" and leaves "rstrictatime" alone. What remains is relatime, the default.
        const bool other_mode =
            (before.set & MOUNT_ATTR__ATIME) != 0 && (before.set & MOUNT_ATTR__ATIME) != attribute;
        return other_mode ? before : with(before, MOUNT_ATTR_RELATIME);
    }
    return {.set = before.set & ~attribute, .clear = before.clear | attribute};
}

void apply(const Option& option, MountOptions& result) {
    const Attributes own = {.set = result.set, .clear = result.clear};
    const Attributes tree = {.set = result.recursive_set, .clear = result.recursive_clear};
    const auto store_own = [&](Attributes now) { result.set = now.set, result.clear = now.clear; };
    const auto store_tree = [&](Attributes now) {
        result.recursive_set = now.set, result.recursive_clear = now.clear;
    };
    switch (option.kind) {
        case Kind::set:
            result.names_attribute = true;
            return store_own(with(own, option.value));
        case Kind::clear:
            result.names_attribute = true;
            return store_own(is_atime_mode(option.value) ? without_mode(own, option.value)
                                                         : without(own, option.value));
        case Kind::recursive_set:
            return store_tree(with(tree, option.value));
        case Kind::recursive_clear:
            return store_tree(without(tree, option.value));
        case Kind::propagation:
            return result.propagation.push_back(option.value);
        case Kind::turn_on:
            result.*option.member = true;
            return;
        case Kind::turn_off:
            result.*option.member = false;
            return;
        case Kind::nothing:
            return;
    }
}

}  // namespace

Result<MountOptions> parse_mount_options(const std::vector<std::string>& options) {
    MountOptions result;
    for (const std::string& text : options) {
        if (text.empty()) continue;
        if (const Option* option = find_option(text); option != nullptr) {
            apply(*option, result);
            continue;
        }
        const size_t equals = text.find('=');
        if (equals == 0) return Error{.message = "option " + quoted(text) + " has no name"};
        const bool has_value = equals != std::string::npos;
        result.data.emplace_back(text.substr(0, equals), has_value ? text.substr(equals + 1) : "");
    }
    return result;
}

std::vector<std::string> known_mount_options() {
    std::vector<std::string> names;
    for (const Option& option : kOptions)
        names.emplace_back(option.name);
    return names;
}

bool is_bind(const Mount& mount, const MountOptions& options) {
    return mount.type == "bind" || options.bind || options.recursive_bind;
}

}  // namespace rung::config
