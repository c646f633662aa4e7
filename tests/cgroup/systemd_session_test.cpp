// The conversation with the helper program, held with scripts that behave as a helper should not.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "cgroup/systemd.hpp"
#include "kernel/files.hpp"

using namespace rung;
using cgroup::SystemdSession;
using cgroup::UnitOwner;

namespace {

// A program that exists as long as this does.
class Script {
  public:
    explicit Script(const std::string& text) {
        char name[] = "/tmp/rung-helper-XXXXXX";
        REQUIRE(::mkdtemp(name) != nullptr);
        directory_ = name;
        const Fd directory{::open(name, O_PATH | O_DIRECTORY | O_CLOEXEC)};
        REQUIRE(kernel::write_file_atomically(
            directory.get(), {.name = "helper", .text = "#!/bin/sh\n" + text, .mode = 0700}));
    }
    ~Script() {
        ::unlink(path().c_str());
        ::rmdir(directory_.c_str());
    }
    Script(const Script&) = delete;
    Script& operator=(const Script&) = delete;

    std::string path() const { return directory_ + "/helper"; }

  private:
    std::string directory_ = {};
};

}  // namespace

TEST_CASE("a helper that does not end is ended with its session") {
    const Script script{"read -r line; echo ok; read -r line; printf 'ok\\t%s\\n' $$; exec sleep 1000"};
    pid_t helper = -1;

    {
        auto session = SystemdSession::open(script.path(), UnitOwner::system);
        REQUIRE(session);
        const auto answer = session->ask({"manager"});
        REQUIRE(answer);
        REQUIRE(answer->size() == 1);
        helper = std::atoi(answer->front().c_str());
    }

    REQUIRE(helper > 0);
    CHECK_FALSE(kernel::exists("/proc/" + std::to_string(helper)));
}

TEST_CASE("a helper that ends without an answer is an error") {
    const Script script{"exit 3"};

    const auto session = SystemdSession::open(script.path(), UnitOwner::system);

    REQUIRE_FALSE(session);
    CHECK(session.error().message.find("rung-systemd") != std::string::npos);
}
