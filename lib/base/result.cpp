// Error wording: context chains and errno texts.
// SPDX-License-Identifier: Apache-2.0
#include "base/result.hpp"

#include <cstring>

namespace rung {

Error Error::context(std::string_view what) && {
    std::string longer{what};
    longer += ": ";
    longer += message;
    message = std::move(longer);
    return std::move(*this);
}

std::string errno_text(int errno_value) {
    const char* description = strerrordesc_np(errno_value);
    std::string text = description != nullptr ? description : "errno " + std::to_string(errno_value);
    // Engines match "permission denied" and "no such file or directory" in Go's lower case.
    if (text.size() > 1 && text[0] >= 'A' && text[0] <= 'Z' && !(text[1] >= 'A' && text[1] <= 'Z')) {
        text[0] = static_cast<char>(text[0] - 'A' + 'a');
    }
    return text;
}

Error errno_error(std::string_view what, int errno_value) {
    return Error{.message = std::string{what} + ": " + errno_text(errno_value), .errno_value = errno_value};
}

}  // namespace rung
