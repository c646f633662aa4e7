// The OCI state of a container as hooks read it on standard input (runtime-spec runtime.md, "State").
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>

namespace rung::runtime {

struct OciState {
    std::string oci_version = {};
    std::string id = {};
    std::string status = {};
    int pid = 0;  // left out when 0
    std::string bundle = {};
    std::map<std::string, std::string> annotations = {};
};

// One line of JSON, slashes unescaped (runc#1057).
std::string to_json(const OciState& state);

// The same text cut where the pid goes, with "@status@" for the status: the child fills both in without allocating.
std::pair<std::string, std::string> split_at_pid(OciState state);

}  // namespace rung::runtime
