// The only file that is compiled anew for a new commit.
// SPDX-License-Identifier: Apache-2.0
#include <seccomp.h>

#include "build_info.hpp"

namespace rung::cli {

std::string rung_version() {
    return RUNG_VERSION;
}

std::string commit() {
    return RUNG_COMMIT;
}

std::string spec_version() {
    return "1.3.0";
}

std::string libseccomp_version() {
    const scmp_version* version = seccomp_version();
    if (version == nullptr) return "unknown";
    return std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->micro);
}

}  // namespace rung::cli
