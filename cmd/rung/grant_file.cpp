// Reading a grant that is named on the command line.
// SPDX-License-Identifier: Apache-2.0
#include "grant_file.hpp"

#include "grant/parse.hpp"
#include "kernel/files.hpp"

namespace rung::cli {
namespace {

// More than a grant may have, so that "too large" is the parser's to say.
constexpr size_t kMostBytes = 256 * 1024;

}  // namespace

Result<std::string> read_grant_text(const std::string& file) {
    return kernel::read_document(file == "-" ? "/dev/stdin" : file, kMostBytes);
}

Result<grant::Grant> read_grant(const std::string& file) {
    return grant::parse_grant(TRY(read_grant_text(file))).context(file);
}

}  // namespace rung::cli
