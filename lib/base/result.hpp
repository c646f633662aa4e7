// Result<T>: a value or an Error, the way every fallible function in rung returns.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rung {

// What went wrong, worded for a person. `message` grows to the left: outer context first.
struct Error {
    std::string message = {};
    int errno_value = 0;      // the errno behind it, 0 when no system call was
    std::string reason = {};  // stable code such as "grant_unknown_field", empty outside admission

    Error context(std::string_view what) &&;
};

// "no such file or directory": the errno's text as Go and therefore engines spell it, in lower case.
std::string errno_text(int errno_value);

// "WHAT: no such file or directory".
Error errno_error(std::string_view what, int errno_value);

template <typename T>
class [[nodiscard]] Result {
  public:
    Result(T value) : value_(std::move(value)) {}
    Result(Error error) : error_(std::move(error)) {}

    explicit operator bool() const { return value_.has_value(); }
    T& operator*() & { return *value_; }
    const T& operator*() const& { return *value_; }
    T&& operator*() && { return *std::move(value_); }
    T* operator->() { return &*value_; }
    const T* operator->() const { return &*value_; }

    const Error& error() const& { return error_; }
    Error&& error() && { return std::move(error_); }

    Result context(std::string_view what) && {
        if (!value_) error_ = std::move(error_).context(what);
        return std::move(*this);
    }

  private:
    std::optional<T> value_ = {};
    Error error_ = {};
};

template <>
class [[nodiscard]] Result<void> {
  public:
    Result() = default;
    Result(Error error) : error_(std::move(error)) {}

    explicit operator bool() const { return !error_; }
    void operator*() const {}

    const Error& error() const& { return *error_; }
    Error&& error() && { return *std::move(error_); }

    Result context(std::string_view what) && {
        if (error_) error_ = std::move(*error_).context(what);
        return std::move(*this);
    }

  private:
    std::optional<Error> error_ = {};
};

using Status = Result<void>;

}  // namespace rung

// The value of a Result, or return its error from the calling function.
// A GNU statement expression (GCC manual 6.1); g++ and clang++ both have it. The counter lets one TRY stand inside another.
#define TRY(expression) RUNG_TRY_NAMED_(expression, __COUNTER__)
#define RUNG_TRY_NAMED_(expression, number) RUNG_TRY_(expression, RUNG_JOIN_(rung_try_result_, number))
#define RUNG_JOIN_(left, right) left##right
#define RUNG_TRY_(expression, result)                  \
    __extension__({                                    \
        auto result = (expression);                    \
        if (!result) return std::move(result).error(); \
        *std::move(result);                            \
    })
