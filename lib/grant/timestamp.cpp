// RFC 3339 times, by position: the C library's readers accept more and know a locale.
// SPDX-License-Identifier: Apache-2.0
#include "grant/timestamp.hpp"

#include <array>
#include <chrono>
#include <cstdio>

namespace rung::grant {

namespace {

// The years 0 to 9999: what can be written again, whatever offset it was written with.
constexpr int64_t kFirstTime = -62167219200;
constexpr int64_t kLastTime = 253402300799;

// Takes a value off the front of `text`; the first thing that does not fit makes everything after it fail.
class Cursor {
  public:
    explicit Cursor(std::string_view text) : text_(text) {}

    bool failed() const { return failed_; }
    bool at_end() const { return text_.empty(); }

    int number(std::size_t length) {
        int value = 0;
        for (std::size_t digit = 0; digit < length; ++digit)
            value = value * 10 + take_digit();
        return value;
    }

    int number_up_to(std::size_t length, int most) {
        const int value = number(length);
        failed_ = failed_ || value > most;
        return value;
    }

    void expect(char wanted) { failed_ = !skip(wanted) || failed_; }

    bool skip(char wanted) {
        if (!text_.starts_with(wanted)) return false;
        text_.remove_prefix(1);
        return true;
    }

    bool next_is_digit() const { return !text_.empty() && text_[0] >= '0' && text_[0] <= '9'; }

    int take_digit() {
        if (!next_is_digit()) {
            failed_ = true;
            return 0;
        }
        const int digit = text_[0] - '0';
        text_.remove_prefix(1);
        return digit;
    }

  private:
    std::string_view text_;
    bool failed_ = false;
};

// True when a fraction stands here and is not zero.
bool take_fraction(Cursor& cursor) {
    if (!cursor.skip('.')) return false;
    bool not_zero = cursor.take_digit() != 0;
    while (cursor.next_is_digit())
        not_zero = cursor.take_digit() != 0 || not_zero;
    return not_zero;
}

int take_offset_seconds(Cursor& cursor) {
    if (cursor.skip('Z')) return 0;
    const int sign = cursor.skip('-') ? -1 : 1;
    if (sign > 0) cursor.expect('+');
    const int hours = cursor.number_up_to(2, 23);
    cursor.expect(':');
    return sign * (hours * 3600 + cursor.number_up_to(2, 59) * 60);
}

}  // namespace

std::optional<int64_t> parse_timestamp(std::string_view text, Rounding rounding) {
    Cursor cursor{text};
    const int year = cursor.number(4);
    cursor.expect('-');
    const int month = cursor.number(2);
    cursor.expect('-');
    const int day = cursor.number(2);
    cursor.expect('T');
    const int hour = cursor.number_up_to(2, 23);
    cursor.expect(':');
    const int minute = cursor.number_up_to(2, 59);
    cursor.expect(':');
    const int second = cursor.number_up_to(2, 59);
    const bool fraction = take_fraction(cursor);
    const int offset = take_offset_seconds(cursor);

    const std::chrono::year_month_day date{std::chrono::year{year},
                                           std::chrono::month{static_cast<unsigned>(month)},
                                           std::chrono::day{static_cast<unsigned>(day)}};
    if (cursor.failed() || !cursor.at_end() || !date.ok()) return std::nullopt;
    const int64_t days = std::chrono::sys_days{date}.time_since_epoch().count();
    const int64_t round_up = fraction && rounding == Rounding::up ? 1 : 0;
    const int64_t time = days * 86400 + hour * 3600 + minute * 60 + second - offset + round_up;
    if (time < kFirstTime || time > kLastTime) return std::nullopt;
    return time;
}

std::string timestamp_text(int64_t seconds) {
    const std::chrono::sys_seconds time{std::chrono::seconds{seconds}};
    const auto day = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date{day};
    const auto second = (time - day).count();
    std::array<char, 32> text = {};
    (void)std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ",
                        static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                        static_cast<unsigned>(date.day()), static_cast<int>(second / 3600),
                        static_cast<int>(second / 60 % 60), static_cast<int>(second % 60));
    return text.data();
}

}  // namespace rung::grant
