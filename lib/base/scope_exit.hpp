// ScopeExit: an action that undoes something when the scope ends, unless dismissed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace rung {

template <typename Action>
class ScopeExit {
  public:
    explicit ScopeExit(Action action) : action_(std::move(action)) {}
    ScopeExit(const ScopeExit&) = delete;
    ScopeExit& operator=(const ScopeExit&) = delete;
    ~ScopeExit() {
        if (armed_) action_();
    }
    void dismiss() { armed_ = false; }

  private:
    Action action_;
    bool armed_ = true;
};

}  // namespace rung
