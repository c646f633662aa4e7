// The hooks' view of a container.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/oci_state.hpp"

#include <nlohmann/json.hpp>

namespace rung::runtime {

std::string to_json(const OciState& state) {
    nlohmann::ordered_json json = {
        {"ociVersion", state.oci_version}, {"id", state.id}, {"status", state.status}};
    if (state.pid != 0) json["pid"] = state.pid;
    json["bundle"] = state.bundle;
    if (!state.annotations.empty()) json["annotations"] = state.annotations;
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::pair<std::string, std::string> split_at_pid(OciState state) {
    // No id, version or status can contain this text: the first match is the pid's own place.
    constexpr int kMarker = 1999999999;
    state.pid = kMarker;
    state.status = "@status@";
    const std::string text = to_json(state);
    const std::string marker = "\"pid\":" + std::to_string(kMarker);
    const size_t place = text.find(marker);
    const size_t digits = place + std::string{"\"pid\":"}.size();
    return {text.substr(0, digits), text.substr(place + marker.size())};
}

}  // namespace rung::runtime
