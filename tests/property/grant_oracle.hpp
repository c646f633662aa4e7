// The oracle: what a grant allows, answered question by question from the contract and without the meet's
// code.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "grant/grant.hpp"

namespace rung::property {

bool may_read(const grant::Grant& grant, std::string_view path);
bool may_write(const grant::Grant& grant, std::string_view path);
// A tmpfs of `size` bytes mounted at `path`: where it is listed, or where all of what it covers may be written anyway.
bool may_have_scratch(const grant::Grant& grant, std::string_view path, uint64_t size);
bool may_execute(const grant::Grant& grant, std::string_view path, std::string_view sha256);

struct Call {
    std::string host = {};
    uint16_t port = 443;
    std::string method = {};  // empty = no HTTP
    std::string path = {};    // as a rule writes it
};
bool may_call(const grant::Grant& grant, const Call& call);
// By IPv4 address.
bool may_connect(const grant::Grant& grant, uint32_t address, uint16_t port);

}  // namespace rung::property
