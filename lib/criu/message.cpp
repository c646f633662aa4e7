// Values to protocol buffers and back.
// SPDX-License-Identifier: Apache-2.0
#include "criu/message.hpp"

#include <memory>

#include "rpc.pb-c.h"

namespace rung::criu {
namespace {

// Of CRIU: errors, warnings, and what it is doing. A failure is explained by what came before it.
constexpr int kLogLevel = 4;

// The generated structures borrow; the generated code only reads what they point to.
char* text_of(const std::string& text) {
    return text.empty() ? nullptr : const_cast<char*>(text.c_str());
}

template <typename Message>
std::vector<Message*> pointers_to(std::vector<Message>& messages) {
    std::vector<Message*> pointers;
    for (Message& message : messages)
        pointers.push_back(&message);
    return pointers;
}

Rpc__ExternalMount external_mount(const Pair& pair) {
    Rpc__ExternalMount message = RPC__EXTERNAL_MOUNT__INIT;
    message.key = const_cast<char*>(pair.key.c_str());
    message.value = const_cast<char*>(pair.value.c_str());
    return message;
}

Rpc__JoinedNamespace joined_namespace(const Pair& pair) {
    Rpc__JoinedNamespace message = RPC__JOINED_NAMESPACE__INIT;
    message.kind = const_cast<char*>(pair.key.c_str());
    message.path = const_cast<char*>(pair.value.c_str());
    return message;
}

Rpc__CgroupRoot cgroup_root(const Pair& pair) {
    Rpc__CgroupRoot message = RPC__CGROUP_ROOT__INIT;
    message.controller = const_cast<char*>(pair.key.c_str());
    message.path = const_cast<char*>(pair.value.c_str());
    return message;
}

Rpc__InheritedDescriptor inherited_descriptor(const Inherited& inherited) {
    Rpc__InheritedDescriptor message = RPC__INHERITED_DESCRIPTOR__INIT;
    message.key = const_cast<char*>(inherited.key.c_str());
    message.number = inherited.number;
    return message;
}

template <typename Message, typename Value>
std::vector<Message> messages_of(const std::vector<Value>& values, Message (*make)(const Value&)) {
    std::vector<Message> messages;
    for (const Value& value : values)
        messages.push_back(make(value));
    return messages;
}

Rpc__CgroupMode wire_mode(CgroupMode mode) {
    switch (mode) {
        case CgroupMode::ignore:
            return RPC__CGROUP_MODE__IGNORE;
        case CgroupMode::soft:
            return RPC__CGROUP_MODE__SOFT;
        case CgroupMode::full:
            return RPC__CGROUP_MODE__FULL;
        case CgroupMode::strict:
            return RPC__CGROUP_MODE__STRICT;
        case CgroupMode::unset:
            break;
    }
    return RPC__CGROUP_MODE__DEFAULT;
}

Rpc__Task wire_task(Task task) {
    switch (task) {
        case Task::version:
            return RPC__TASK__VERSION;
        case Task::check_features:
            return RPC__TASK__FEATURE_CHECK;
        case Task::dump:
            return RPC__TASK__DUMP;
        case Task::pre_dump:
            return RPC__TASK__PRE_DUMP;
        case Task::restore:
            break;
    }
    return RPC__TASK__RESTORE;
}

std::string pack(const Rpc__Request& request) {
    std::string bytes(rpc__request__get_packed_size(&request), '\0');
    rpc__request__pack(&request, reinterpret_cast<uint8_t*>(bytes.data()));
    return bytes;
}

void set(protobuf_c_boolean& has, protobuf_c_boolean& field, bool value) {
    has = 1;
    field = value ? 1 : 0;
}

void fill_flags(Rpc__Options& wire, const Options& options, Task task) {
    set(wire.has_leave_running, wire.leave_running, options.leave_running);
    set(wire.has_external_unix_sockets, wire.external_unix_sockets, options.external_unix_sockets);
    set(wire.has_tcp_established, wire.tcp_established, options.tcp_established);
    set(wire.has_tcp_skip_in_flight, wire.tcp_skip_in_flight, options.tcp_skip_in_flight);
    set(wire.has_shell_job, wire.shell_job, options.shell_job);
    set(wire.has_file_locks, wire.file_locks, options.file_locks);
    set(wire.has_link_remap, wire.link_remap, options.link_remap);
    if (options.track_memory) set(wire.has_track_memory, wire.track_memory, true);
    set(wire.has_auto_dedup, wire.auto_dedup, options.auto_dedup);
    set(wire.has_lazy_pages, wire.lazy_pages, options.lazy_pages);
    // A terminal whose other end is not in the container: its master is handed to us.
    set(wire.has_orphan_terminal, wire.orphan_terminal, true);
    set(wire.has_notify, wire.notify, true);
    set(wire.has_manage_cgroups, wire.manage_cgroups, true);
    if (task != Task::restore) return;
    // A device node may have gained another path of the same device.
    set(wire.has_evasive_devices, wire.evasive_devices, true);
    // Our child and not CRIU's, which ends.
    set(wire.has_restore_as_sibling, wire.restore_as_sibling, true);
}

void fill_values(Rpc__Options& wire, const Options& options) {
    wire.images_directory = options.images_directory;
    if (options.work_directory >= 0) {
        wire.has_work_directory = 1;
        wire.work_directory = options.work_directory;
    }
    if (options.pid > 0) {
        wire.has_pid = 1;
        wire.pid = options.pid;
    }
    wire.has_log_level = 1;
    wire.log_level = kLogLevel;
    wire.log_file = text_of(options.log_file);
    wire.root = text_of(options.root);
    wire.config_file = text_of(options.config_file);
    wire.parent_images = text_of(options.parent_images);
    wire.freezer = text_of(options.freezer);
    wire.lsm_profile = text_of(options.lsm_profile);
    wire.lsm_mount_context = text_of(options.lsm_mount_context);
    wire.has_cgroup_mode = 1;
    wire.cgroup_mode = wire_mode(options.cgroup_mode);
    wire.has_empty_namespaces = 1;
    wire.empty_namespaces = options.empty_namespaces;
}

struct Freed {
    void operator()(Rpc__Response* response) const { rpc__response__free_unpacked(response, nullptr); }
};

std::string name_of(Rpc__Task task) {
    const ProtobufCEnumValue* value = protobuf_c_enum_descriptor_get_value(&rpc__task__descriptor, task);
    return value != nullptr ? value->name : std::to_string(task);
}

std::string copy_of(const char* text) {
    return text != nullptr ? text : "";
}

}  // namespace

std::string encode_version_request() {
    Rpc__Request request = RPC__REQUEST__INIT;
    request.task = wire_task(Task::version);
    return pack(request);
}

std::string encode_feature_request(const Features& asked) {
    Rpc__Features features = RPC__FEATURES__INIT;
    if (asked.memory_tracking) set(features.has_memory_tracking, features.memory_tracking, true);
    if (asked.lazy_pages) set(features.has_lazy_pages, features.lazy_pages, true);
    Rpc__Request request = RPC__REQUEST__INIT;
    request.task = wire_task(Task::check_features);
    request.features = &features;
    return pack(request);
}

std::string encode_request(Task task, const Options& options) {
    Rpc__Options wire = RPC__OPTIONS__INIT;
    fill_values(wire, options);
    fill_flags(wire, options, task);

    Rpc__PageServer page_server = RPC__PAGE_SERVER__INIT;
    if (options.page_server) {
        page_server.address = text_of(options.page_server->address);
        page_server.has_port = 1;
        page_server.port = options.page_server->port;
        wire.page_server = &page_server;
    }
    auto mounts = messages_of(options.external_mounts, external_mount);
    auto mount_pointers = pointers_to(mounts);
    wire.n_external_mounts = mount_pointers.size();
    wire.external_mounts = mount_pointers.data();
    auto joined = messages_of(options.joined_namespaces, joined_namespace);
    auto joined_pointers = pointers_to(joined);
    wire.n_joined_namespaces = joined_pointers.size();
    wire.joined_namespaces = joined_pointers.data();
    auto roots = messages_of(options.cgroup_roots, cgroup_root);
    auto root_pointers = pointers_to(roots);
    wire.n_cgroup_roots = root_pointers.size();
    wire.cgroup_roots = root_pointers.data();
    auto inherited = messages_of(options.inherited, inherited_descriptor);
    auto inherited_pointers = pointers_to(inherited);
    wire.n_inherited = inherited_pointers.size();
    wire.inherited = inherited_pointers.data();
    std::vector<char*> external;
    for (const std::string& entry : options.external)
        external.push_back(const_cast<char*>(entry.c_str()));
    wire.n_external = external.size();
    wire.external = external.data();

    Rpc__Request request = RPC__REQUEST__INIT;
    request.task = wire_task(task);
    request.options = &wire;
    return pack(request);
}

std::string encode_answer(bool go_on) {
    Rpc__Request request = RPC__REQUEST__INIT;
    request.task = RPC__TASK__NOTIFY;
    set(request.has_notify_success, request.notify_success, go_on);
    return pack(request);
}

Result<Response> decode_response(std::string_view bytes) {
    const std::unique_ptr<Rpc__Response, Freed> wire{
        rpc__response__unpack(nullptr, bytes.size(), reinterpret_cast<const uint8_t*>(bytes.data()))};
    if (!wire) return Error{.message = "criu sent a malformed response"};
    Response response{
        .kind = wire->task == RPC__TASK__NOTIFY ? Response::Kind::notification : Response::Kind::result,
        .task = name_of(wire->task),
        .success = wire->success != 0,
        .error_number = wire->error_number,
        .error_text = copy_of(wire->error_text)};
    if (wire->notification != nullptr) {
        response.script = copy_of(wire->notification->script);
        response.pid = wire->notification->pid;
    }
    if (wire->restored != nullptr) response.pid = wire->restored->pid;
    if (wire->version != nullptr)
        response.version = {wire->version->major, wire->version->minor, wire->version->sublevel};
    if (wire->features != nullptr) {
        response.features = {.memory_tracking = wire->features->memory_tracking != 0,
                             .lazy_pages = wire->features->lazy_pages != 0};
    }
    return response;
}

}  // namespace rung::criu
