// Asks the oracle every question of the list.
// SPDX-License-Identifier: Apache-2.0
#include "property/answers.hpp"

#include <string>

#include "property/grant_oracle.hpp"

namespace rung::property {

std::vector<bool> answers(const grant::Grant& grant) {
    std::vector<bool> all;
    for (const char* path : kPathQuestions) {
        all.push_back(may_read(grant, path));
        all.push_back(may_write(grant, path));
        for (const char digit : {'a', 'b', 'c'})
            all.push_back(may_execute(grant, path, std::string(64, digit)));
        for (uint64_t size = 1; size <= 4; ++size)
            all.push_back(may_have_scratch(grant, path, size));
    }
    for (uint16_t port = 439; port <= 450; ++port) {
        for (const char* host : kHostQuestions) {
            for (const char* method : {"", "GET", "POST"}) {
                for (const char* path : {"/a", "/b/**"}) {
                    all.push_back(
                        may_call(grant, {.host = host, .port = port, .method = method, .path = path}));
                }
            }
        }
        for (const uint32_t address : kAddressQuestions)
            all.push_back(may_connect(grant, address, port));
    }
    for (unsigned number = 0; number < 4; ++number) {
        all.push_back((grant.capabilities.value_or(0) >> number & 1) != 0);
    }
    return all;
}

bool allows_no_more(const std::vector<bool>& narrow, const std::vector<bool>& wide) {
    for (std::size_t index = 0; index < narrow.size(); ++index) {
        if (narrow[index] && !wide[index]) return false;
    }
    return true;
}

}  // namespace rung::property
