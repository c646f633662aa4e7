// Every answer of a grant to a fixed list of questions: what two grants allow is compared by it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "grant/grant.hpp"

namespace rung::property {

inline constexpr std::array kPathQuestions = {"/",           "/usr",        "/usr/bin/git", "/usr/bin/gitk",
                                              "/usr/lib",    "/work",       "/work/in/a",   "/work/in/a/b",
                                              "/work/out",   "/workshop/x", "/tmp/x/y",     "/tmp",
                                              "/etc/passwd", "/work/in",    "/usr/bin"};
inline constexpr std::array kHostQuestions = {"a.example.com", "b.example.com", "x.a.example.com",
                                              "example.com",   "example.org",   "y.x.a.example.com"};
inline constexpr std::array<uint32_t, 6> kAddressQuestions = {0xcb007101, 0xcb007150, 0xcb0071c1,
                                                              0x0a000001, 0x0a140001, 0x0a141e01};

std::vector<bool> answers(const grant::Grant& grant);
bool allows_no_more(const std::vector<bool>& narrow, const std::vector<bool>& wide);

}  // namespace rung::property
