// The order of the fields is runc's, for people who compare.
// SPDX-License-Identifier: Apache-2.0
#include "container_json.hpp"

#include <nlohmann/json.hpp>

namespace rung::cli {

namespace {

using Json = nlohmann::ordered_json;

// An annotation may hold any bytes; what is not UTF-8 is replaced rather than refused.
std::string dump(const Json& value, int indent) {
    return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json to_value(const runtime::ContainerInfo& container) {
    Json value = {
        {"ociVersion", container.oci_version}, {"id", container.id},         {"pid", container.pid},
        {"status", container.status},          {"bundle", container.bundle}, {"rootfs", container.rootfs},
        {"created", container.created},        {"owner", container.owner}};
    if (!container.annotations.empty()) value["annotations"] = container.annotations;
    return value;
}

}  // namespace

std::string to_json(const runtime::ContainerInfo& container) {
    return dump(to_value(container), 2);
}

std::string to_json(const std::vector<runtime::ContainerInfo>& containers) {
    Json list;
    for (const runtime::ContainerInfo& container : containers)
        list.push_back(to_value(container));
    return dump(list, -1);
}

}  // namespace rung::cli
