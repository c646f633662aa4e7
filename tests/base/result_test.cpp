// Results, errors and what undoes or closes things at the end of a scope.
// SPDX-License-Identifier: Apache-2.0
#include "base/result.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.hpp"
#include "base/scope_exit.hpp"

using namespace rung;

namespace {

Result<int> half(int number) {
    if (number % 2 != 0) return Error{.message = "odd number"};
    return number / 2;
}

Result<int> quarter(int number) {
    const int once = TRY(half(number).context("first"));
    return TRY(half(once).context("second"));
}

Status check_even(int number) {
    TRY(half(number));
    return {};
}

bool is_open(int number) {
    return fcntl(number, F_GETFD) >= 0;
}

}  // namespace

TEST_CASE("TRY gives the value, or returns the error with its context") {
    const Result<int> whole = quarter(8);
    const Result<int> late = quarter(6);

    REQUIRE(whole);
    CHECK(*whole == 2);
    REQUIRE_FALSE(late);
    CHECK(late.error().message == "second: odd number");
}

TEST_CASE("a status is true without an error") {
    CHECK(check_even(2));
    REQUIRE_FALSE(check_even(3));
    CHECK(check_even(3).error().message == "odd number");
}

TEST_CASE("context grows to the left and leaves a good result alone") {
    CHECK(half(1).context("inner").context("outer").error().message == "outer: inner: odd number");
    CHECK(*half(4).context("unused") == 2);
    CHECK(Status{Error{.message = "x"}}.context("y").error().message == "y: x");
}

TEST_CASE("errno texts begin in lower case, as engines match them") {
    CHECK(errno_text(EACCES) == "permission denied");
    CHECK(errno_text(ENOENT) == "no such file or directory");
    CHECK(errno_error("open /x", ENOENT).message == "open /x: no such file or directory");
    CHECK(errno_error("open /x", ENOENT).errno_value == ENOENT);
    CHECK(errno_text(99999) == "errno 99999");
}

TEST_CASE("an Fd closes its descriptor once, and moving hands it over") {
    const int number = open("/dev/null", O_RDONLY | O_CLOEXEC);
    {
        Fd first{number};
        Fd second = std::move(first);
        CHECK(second.get() == number);
        CHECK(is_open(number));
    }
    CHECK_FALSE(is_open(number));
}

TEST_CASE("a released descriptor stays open and a reset one does not") {
    Fd file{open("/dev/null", O_RDONLY | O_CLOEXEC)};
    const int number = file.release();
    CHECK_FALSE(file);
    CHECK(is_open(number));

    Fd again{number};
    again.reset();
    CHECK_FALSE(is_open(number));
}

TEST_CASE("a scope's exit action runs unless it was dismissed") {
    int runs = 0;
    {
        const ScopeExit undo{[&] { ++runs; }};
    }
    {
        ScopeExit kept{[&] { ++runs; }};
        kept.dismiss();
    }
    CHECK(runs == 1);
}
