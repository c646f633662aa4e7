// Session: one CRIU that works for us (`criu swrk`), and the conversation with it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "criu/message.hpp"

namespace rung::criu {

struct Program {
    std::string path = {};  // absolute
    // What CRIU has beside its standard streams and its socket, by the numbers from first_further() on; borrowed.
    std::vector<int> further = {};
    // Runs in the new process before CRIU does; what it opens comes after `further`, and its error is that of start(). Empty: nothing.
    std::function<Result<std::vector<Fd>>()> prepare = {};
};

// The number of the first of Program::further in CRIU.
int first_further();

class Session {
  public:
    // CRIU has our standard streams, no signal blocked, and of our descriptors only those of the program.
    static Result<Session> start(const Program& program);
    Session(Session&& other) noexcept;
    Session& operator=(Session&&) = delete;
    ~Session();  // waits for CRIU, which ends when its socket is closed

    pid_t pid() const { return pid_; }

    Status send(const std::string& message);
    struct Received {
        Response response = {};
        Fd descriptor = {};  // the master of a terminal, with the notification "orphan-pts-master"
    };
    Result<Received> receive();
    // No more questions: CRIU's exit code.
    int finish();

  private:
    Session(Fd socket, pid_t pid) : socket_(std::move(socket)), pid_(pid) {}

    Fd socket_ = {};
    pid_t pid_ = 0;
};

// One question to a CRIU of its own, with the answer.
Result<Response> ask(const Program& program, const std::string& message);

}  // namespace rung::criu
