// One connection for one listener, closed after it: SCM_RIGHTS with the state as payload.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/seccomp_agent.hpp"

#include <nlohmann/json.hpp>

#include "base/log.hpp"
#include "child/descriptors.hpp"
#include "runtime/unix_socket.hpp"
#include "runtime/wording.hpp"

namespace rung::runtime {
namespace {

// Of the message, not of the specification: agents compare it letter by letter.
constexpr const char* kMessageVersion = "0.2.0";

}  // namespace

std::string container_process_state(const plan::SeccompAgent& agent, const OciState& state, pid_t pid) {
    using Json = nlohmann::ordered_json;
    Json json = {{"ociVersion", kMessageVersion}, {"fds", {"seccompFd"}}, {"pid", pid}};
    if (!agent.metadata.empty()) json["metadata"] = agent.metadata;
    json["state"] = Json::parse(to_json(state));
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Status send_to_seccomp_agent(const plan::SeccompAgent& agent, const OciState& state, pid_t pid,
                             const Fd& listener) {
    const auto socket = connect_stream_socket(agent.path, std::string{wording::kNoSeccompAgent});
    if (!socket && !agent.required) {
        log::debug("no seccomp agent, and no rule that needs one: " + socket.error().message);
        return {};
    }
    if (!socket) return socket.error();
    // In one message: agents read once, and what comes after a descriptor comes with the next reading.
    const std::string text = container_process_state(agent, state, pid);
    const int result = child::send_descriptor(socket->get(), text.data(), text.size(), listener.get());
    if (result < 0) return errno_error("send the listener to the seccomp agent " + agent.path, -result);
    return {};
}

}  // namespace rung::runtime
