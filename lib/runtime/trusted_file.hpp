// Files by which the host's administrator rules: read only where nobody else could have put them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace rung::runtime {

struct TrustedFile {
    std::string path = {};    // absolute and clean
    std::string reason = {};  // code of the error when somebody else may write it
    mode_t closed = 022;      // what the file's directory must not permit
    size_t most = 0;          // bytes
};

// The text; nothing when there is no such file. Refuses a file that is not root's own, that others may write, that is reached through a
// symlink, or that lies in a directory where others could replace it.
Result<std::optional<std::string>> read_trusted(const TrustedFile& file);

}  // namespace rung::runtime
