// What checkpoint and restore have in common: the CRIU to use, its directories, and how the container is described to it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "config/spec.hpp"
#include "criu/session.hpp"
#include "plan/lower.hpp"
#include "runtime/checkpoint.hpp"
#include "runtime/prepare.hpp"

namespace rung::runtime {

// The program that globals.criu names, of a version that can do what is asked of it here. `verb` begins the error.
Result<criu::Program> find_criu(const Globals& globals, const std::string& verb);
// "--pre-dump: ..." when CRIU or the kernel cannot.
Status check_feature(const criu::Program& program, const criu::Features& needed, const std::string& flag);

struct CriuDirectories {
    Fd images = {};
    Fd work = {};
    std::string images_path = {};  // absolute, as the others
    std::string work_path = {};    // the images' when it was not given
    std::string log_path = {};
};
enum class Images { made_when_missing, must_exist };
// Of CRIU's log under that name, only what this run of it writes will be there.
Result<CriuDirectories> open_directories(const CriuOptions& options, Images images, const std::string& log);
// In the images' directory: what the standard streams of the processes in them were. runc's name and format.
inline constexpr const char* kDescriptorsFile = "descriptors.json";

// What is asked for, and what an annotation says of CRIU's configuration.
Result<criu::Options> criu_options(const CriuOptions& options, const config::Spec& spec);
// CRIU has the two directories as the descriptors `first` and the next.
void use_directories(criu::Options& request, const CriuDirectories& directories, int first);

// A mount that shows something of the host: CRIU saves no content, only its name, and makes it again of what the name stands for.
struct HostMount {
    std::string target = {};  // as config.json has it, cleaned; the name as well
    std::string source = {};
    bool operator==(const HostMount&) const = default;
};
Result<std::vector<HostMount>> host_mounts(const plan::Lowered& lowered);
// The name of every masked file: each shows the null device.
inline constexpr const char* kMaskedFile = "/dev/null";

// Refuses a container that CRIU would change. Under a grant that is every one: Landlock's rules do not survive it.
Status check_restorable(const Prepared& prepared, const plan::Lowered& lowered, const std::string& verb);

// How CRIU names a namespace that stays outside of its images.
struct OuterNamespace {
    const char* kind = nullptr;  // in /proc/PID/ns
    std::string path = {};
    std::string name = {};  // "extRootNetNS"
};
std::vector<OuterNamespace> outer_namespaces(const config::Spec& spec);

// Until CRIU's result; notifications are answered by `on_notification`, whose failure is the error and makes CRIU give up.
using OnNotification = std::function<Status(criu::Session::Received&)>;
Result<criu::Response> converse_with_criu(criu::Session& session, const CriuDirectories& directories,
                                          const OnNotification& on_notification);

}  // namespace rung::runtime
