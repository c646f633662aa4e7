// The annotations by which containerd's CRI plugin, CRI-O and podman describe a pod. What a pod's author can set is not among them, except
// that CRI-O hands on annotations of any name: there the labels that the kubelet writes have to agree.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/pod.hpp"

#include <initializer_list>

namespace rung::runtime {
namespace {

using Annotations = std::map<std::string, std::string>;

Result<std::string> agreed(const Annotations& annotations, std::initializer_list<const char*> names) {
    const Annotations::value_type* first = nullptr;
    for (const char* name : names) {
        const auto found = annotations.find(name);
        if (found == annotations.end() || found->second.empty()) continue;
        if (first == nullptr) first = &*found;
        if (found->second == first->second) continue;
        return Error{.message = "grant_conflict: annotations " + first->first + " and " + found->first +
                                ": they name different things",
                     .reason = "grant_conflict"};
    }
    return first == nullptr ? std::string{} : first->second;
}

}  // namespace

Result<Pod> pod_of(const Annotations& annotations) {
    Pod pod;
    pod.k8s_namespace =
        TRY(agreed(annotations, {"io.kubernetes.cri.sandbox-namespace", "io.kubernetes.cri-o.Namespace",
                                 "io.kubernetes.pod.namespace"}));
    pod.container =
        TRY(agreed(annotations, {"io.kubernetes.cri.container-name", "io.kubernetes.container.name"}));
    pod.sandbox_id =
        TRY(agreed(annotations, {"io.kubernetes.cri.sandbox-id", "io.kubernetes.cri-o.SandboxID"}));
    pod.handler = TRY(agreed(annotations, {"io.kubernetes.cri-o.RuntimeHandler"}));
    return pod;
}

}  // namespace rung::runtime
