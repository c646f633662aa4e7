// Reading /etc/passwd piece by piece, without allocating.
// SPDX-License-Identifier: Apache-2.0
#include "child/passwd.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace rung::child {
namespace {

constexpr size_t kMaxLine = 2048;
constexpr size_t kMaxFile = size_t{16} << 20;
constexpr int kUidField = 2;
constexpr int kHomeField = 5;

// The field's beginning and length; nullptr when the line has too few.
const char* field(const char* line, int wanted, size_t& length) {
    for (int index = 0; index < wanted; ++index) {
        line = strchr(line, ':');
        if (line == nullptr) return nullptr;
        ++line;
    }
    length = strcspn(line, ":");
    return line;
}

bool is_number(const char* digits, size_t length, uid_t wanted) {
    if (length == 0 || length > 10) return false;
    uint64_t value = 0;
    for (size_t index = 0; index < length; ++index) {
        if (digits[index] < '0' || digits[index] > '9') return false;
        value = value * 10 + static_cast<uint64_t>(digits[index] - '0');
    }
    return value == wanted;
}

bool take_home(const char* line, uid_t uid, char* home, size_t size) {
    size_t length = 0;
    const char* id = field(line, kUidField, length);
    if (id == nullptr || !is_number(id, length, uid)) return false;
    const char* directory = field(line, kHomeField, length);
    if (directory == nullptr || length == 0 || length >= size)
        return true;  // the user is known, a home is not
    memcpy(home, directory, length);
    home[length] = '\0';
    return true;
}

}  // namespace

void find_home(uid_t uid, char* home, size_t size) {
    memcpy(home, "/", 2);
    // O_NONBLOCK: a FIFO of that name must not stop us; nor is anything but a regular file read.
    const int file = open("/etc/passwd", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return;
    struct stat status {};
    char line[kMaxLine];
    char buffer[kMaxLine];
    size_t used = 0;
    size_t total = 0;
    bool overlong = false;
    bool found = fstat(file, &status) < 0 || !S_ISREG(status.st_mode);
    while (!found && total < kMaxFile) {
        const ssize_t count = read(file, buffer, sizeof buffer);
        if (count <= 0) break;
        total += static_cast<size_t>(count);
        for (ssize_t index = 0; index < count && !found; ++index) {
            if (buffer[index] != '\n') {
                overlong = overlong || used + 1 >= sizeof line;
                if (!overlong) line[used++] = buffer[index];
                continue;
            }
            line[used] = '\0';
            found = !overlong && take_home(line, uid, home, size);
            used = 0;
            overlong = false;
        }
    }
    line[used] = '\0';
    if (!found && !overlong) (void)take_home(line, uid, home, size);  // a last line without its newline
    (void)close(file);
}

}  // namespace rung::child
