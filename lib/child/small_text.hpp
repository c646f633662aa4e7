// SmallText: text put together in a buffer of the caller's, where neither stdio nor an allocation is
// possible. Private to lib/child.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace rung::child {

// Always NUL-terminated. What does not fit is left out, and complete() then says so.
class SmallText {
  public:
    SmallText(char* buffer, size_t size) : buffer_(buffer), size_(size) { buffer_[0] = '\0'; }

    SmallText& add(const char* text) { return add(text, strlen(text)); }
    SmallText& add(const char* text, size_t length) {
        if (length >= size_ - length_) {
            complete_ = false;
            return *this;
        }
        memcpy(buffer_ + length_, text, length);
        length_ += length;
        buffer_[length_] = '\0';
        return *this;
    }
    SmallText& add_decimal(uint64_t number) { return add_number(number, 10); }
    SmallText& add_octal(uint64_t number) { return add_number(number, 8); }

    size_t length() const { return length_; }
    bool complete() const { return complete_; }

  private:
    SmallText& add_number(uint64_t number, unsigned int base) {
        char digits[24];
        size_t start = sizeof digits;
        do {
            digits[--start] = static_cast<char>('0' + number % base);
            number /= base;
        } while (number != 0);
        return add(digits + start, sizeof digits - start);
    }

    char* buffer_;
    size_t size_;
    size_t length_ = 0;
    bool complete_ = true;
};

}  // namespace rung::child
