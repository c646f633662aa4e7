// What a seccomp agent is told.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/seccomp_agent.hpp"

#include <doctest/doctest.h>

using namespace rung;

TEST_CASE("the agent is told of the descriptor, the process and the container") {
    const runtime::OciState state{.oci_version = "1.3.0",
                                  .id = "c",
                                  .status = "creating",
                                  .pid = 7,
                                  .bundle = "/b/ü",
                                  .annotations = {{"a", "1"}}};

    CHECK(
        runtime::container_process_state({.path = "/agent", .metadata = "some \"words\""}, state, 9) ==
        R"({"ociVersion":"0.2.0","fds":["seccompFd"],"pid":9,"metadata":"some \"words\"","state":)"
        R"({"ociVersion":"1.3.0","id":"c","status":"creating","pid":7,"bundle":"/b/ü","annotations":{"a":"1"}}})");
    CHECK(runtime::container_process_state({}, {.id = "c"}, 9) ==
          R"({"ociVersion":"0.2.0","fds":["seccompFd"],"pid":9,"state":)"
          R"({"ociVersion":"","id":"c","status":"","bundle":""}})");
}
