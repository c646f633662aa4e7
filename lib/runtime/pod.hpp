// Pod: what an engine's annotations say about the Kubernetes pod that a container is of.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/result.hpp"

namespace rung::runtime {

// Empty: not said.
struct Pod {
    std::string k8s_namespace = {};
    std::string container = {};   // the container's name in the pod
    std::string sandbox_id = {};  // of the container that holds the pod's namespaces; its own id for that one
    std::string handler = {};     // of the runtime class
};

// What containerd and CRI-O each write. Two names for one thing that differ are refused with grant_conflict: one of them is not the engine's.
Result<Pod> pod_of(const std::map<std::string, std::string>& annotations);

}  // namespace rung::runtime
