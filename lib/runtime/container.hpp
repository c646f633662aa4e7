// Container: an existing container, opened by its id; what start, kill, exec, state and delete begin with.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "runtime/oci_state.hpp"
#include "runtime/runtime.hpp"
#include "runtime/state.hpp"

namespace rung::runtime {

struct Container {
    StateDirectory directory;
    State state = {};

    Phase phase() const { return phase_of(directory, state); }
};

// "container does not exist" when there is none, or when it is only the remains of an interrupted create.
Result<Container> open_container(const Globals& globals, const std::string& id);

// The same with the lock held: nobody starts, changes or removes it meanwhile.
Result<Container> lock_container(const Globals& globals, const std::string& id);

// The state that hooks of this container read.
OciState oci_state(const Container& container, Phase phase);

}  // namespace rung::runtime
