// The top of config.json, and the entry points for it and for the parts that stand alone.
// SPDX-License-Identifier: Apache-2.0
#include "base/path.hpp"
#include "config/id_map_option.hpp"
#include "config/mount_options.hpp"
#include "config/parse.hpp"
#include "config/quoted.hpp"
#include "config/readers.hpp"
#include "config/validate.hpp"

namespace rung::config {
namespace {

// Versions of one major number only add; an absent version is taken as the current one, as runc does. Those before 1.0 are the
// specification's own examples, which runc takes.
bool is_supported_version(std::string_view version) {
    return version.empty() || version.starts_with("1.") || version.starts_with("0.");
}

Mount read_mount(const Object& object) {
    Mount mount;
    const std::string destination = object.text("destination");
    if (destination.empty()) object.refuse("destination", "must not be empty");
    mount.destination = path::join("/", destination);
    mount.type = object.text("type");
    mount.source = object.text("source");
    mount.options = object.texts("options");
    mount.uid_mappings = read_mappings(object, "uidMappings");
    mount.gid_mappings = read_mappings(object, "gidMappings");
    return mount;
}

std::vector<Hook> read_hook_list(const Object& hooks, std::string_view name) {
    std::vector<Hook> list;
    for (const Object& object : hooks.objects(name)) {
        Hook hook = {.path = object.text("path"),
                     .args = object.texts("args"),
                     .env = object.texts("env"),
                     .timeout_seconds = object.int32("timeout")};
        if (!path::is_absolute(hook.path)) object.refuse("path", "must be an absolute path");
        if (hook.timeout_seconds.value_or(1) <= 0) object.refuse("timeout", "must be greater than zero");
        list.push_back(std::move(hook));
    }
    return list;
}

Hooks read_hooks(const Object& object) {
    return {.prestart = read_hook_list(object, "prestart"),
            .create_runtime = read_hook_list(object, "createRuntime"),
            .create_container = read_hook_list(object, "createContainer"),
            .start_container = read_hook_list(object, "startContainer"),
            .poststart = read_hook_list(object, "poststart"),
            .poststop = read_hook_list(object, "poststop")};
}

Spec read_spec(const Object& object) {
    Spec spec;
    spec.oci_version = object.text("ociVersion");
    if (!is_supported_version(spec.oci_version)) {
        object.refuse("ociVersion", "runtime spec version " + quoted(spec.oci_version) + " not supported");
    }
    const Object root = object.object("root");
    if (!object.has("root")) object.refuse("root", "must be specified");
    spec.root = {.path = root.text("path"), .read_only = root.boolean("readonly")};
    const Object process = object.object("process");
    if (!object.has("process")) object.refuse("process", "must not be empty");
    spec.process = read_process(process);
    spec.hostname = object.text("hostname");
    spec.domainname = object.text("domainname");
    for (const Object& mount : object.objects("mounts"))
        spec.mounts.push_back(read_mount(mount));
    const Object hooks = object.object("hooks");
    spec.hooks = read_hooks(hooks);
    spec.annotations = object.text_map("annotations");
    const Object linux_object = object.object("linux");
    spec.linux_ = read_linux(linux_object);
    const auto strict = spec.annotations.find("run.oci.seccomp_fail_unknown_syscall");
    if (strict != spec.annotations.end() && spec.linux_.seccomp)
        spec.linux_.seccomp->refuses_unknown_calls = strict->second != "0";
    return spec;
}

}  // namespace

Result<Spec> parse_spec(std::string_view json) {
    const Document document{"config.json", json};
    const Object root = document.root();
    Spec spec = read_spec(root);
    TRY(document.status());
    TRY(expand_id_maps(spec).context("config.json"));
    TRY(validate(spec));
    return spec;
}

Result<Process> parse_process(std::string_view json) {
    const Document document{"process.json", json};
    const Object root = document.root();
    Process process = read_process(root);
    TRY(document.status());
    TRY(validate_process(process, "").context("process.json"));
    return process;
}

Result<std::vector<Mount>> parse_mounts(std::string_view json) {
    const std::string named = "{\"mounts\":" + std::string{json} + "}";
    const Document document{"mounts", named};
    const Object root = document.root();
    std::vector<Mount> mounts;
    for (const Object& mount : root.objects("mounts"))
        mounts.push_back(read_mount(mount));
    TRY(document.status());
    return mounts;
}

Result<Resources> parse_resources(std::string_view json) {
    const Document document{"resources", json};
    const Object root = document.root();
    Resources resources = read_resources(root);
    TRY(document.status());
    TRY(validate_resources(resources, "").context("resources"));
    return resources;
}

Result<Seccomp> parse_seccomp(std::string_view json) {
    const Document document{"seccomp", json};
    const Object root = document.root();
    if (!root.has("defaultAction")) root.refuse("defaultAction", "must be specified");
    std::optional<Seccomp> seccomp = read_seccomp(root);
    TRY(document.status());
    return *std::move(seccomp);
}

}  // namespace rung::config
