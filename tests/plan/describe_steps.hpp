// Steps as text, one a line: what the tests of lower() compare.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "child/program.hpp"

namespace rung::test {

// "MountFilesystem proc /proc". Without what a test does not look at: numbers of attributes are hexadecimal.
std::string describe(const child::Step& step);
std::vector<std::string> describe(const std::vector<child::Step>& steps);

}  // namespace rung::test
