// Numbers are in host order: a cache does not travel between machines, and the machine's name is in the key.
//
//     magic and format, 8 | checksum of all that follows, 8 | key | flags, 4 | notify, 4 | warnings | instructions
//
// A text is its length in 4 bytes, then its bytes; a list is its count in 4 bytes, then its items.
// SPDX-License-Identifier: Apache-2.0
#include "seccomp/entry.hpp"

#include <cstdint>
#include <cstring>

namespace rung::seccomp {
namespace {

// The last character counts up whenever compile() would make another filter from the same profile.
constexpr std::string_view kMagic = "rungbpf1";

class Writer {
  public:
    void raw(const void* bytes, size_t size) { bytes_.append(static_cast<const char*>(bytes), size); }
    void number(uint32_t value) { raw(&value, sizeof value); }
    void wide(uint64_t value) { raw(&value, sizeof value); }
    void count(size_t value) { number(static_cast<uint32_t>(value)); }
    void text(std::string_view value) {
        count(value.size());
        bytes_.append(value);
    }
    void texts(const std::vector<std::string>& values) {
        count(values.size());
        for (const std::string& value : values)
            text(value);
    }
    const std::string& bytes() const { return bytes_; }

  private:
    std::string bytes_ = {};
};

// Yields zeroes and empty texts once the input has ended; the caller asks whole() at the end.
class Reader {
  public:
    explicit Reader(std::string_view bytes) : rest_(bytes) {}

    std::string_view take(size_t size) {
        if (size > rest_.size()) {
            intact_ = false;
            rest_ = {};
            return {};
        }
        const std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }
    uint32_t number() {
        uint32_t value = 0;
        const std::string_view taken = take(sizeof value);
        if (!taken.empty()) std::memcpy(&value, taken.data(), sizeof value);
        return value;
    }
    uint64_t wide() {
        uint64_t value = 0;
        const std::string_view taken = take(sizeof value);
        if (!taken.empty()) std::memcpy(&value, taken.data(), sizeof value);
        return value;
    }
    std::string_view text() { return take(number()); }
    std::vector<std::string> texts() {
        std::vector<std::string> values = {};
        const uint32_t count = number();
        for (uint32_t i = 0; i < count && intact_; i++)
            values.emplace_back(text());
        return values;
    }
    bool whole() const { return intact_ && rest_.empty(); }

  private:
    std::string_view rest_;
    bool intact_ = true;
};

// FNV-1a, over words of 8 bytes where it can: it runs at every start, and guards against accidents only.
uint64_t hash(std::string_view bytes) {
    constexpr uint64_t prime = 0x100000001b3;
    uint64_t state = 0xcbf29ce484222325 ^ bytes.size();
    while (!bytes.empty()) {
        uint64_t word = 0;
        const size_t size = bytes.size() < sizeof word ? bytes.size() : sizeof word;
        std::memcpy(&word, bytes.data(), size);
        bytes.remove_prefix(size);
        state = (state ^ word) * prime;
        state ^= state >> 32;  // a multiplication alone never carries high bits down
    }
    return state;
}

void write_errno(Writer& writer, std::optional<uint32_t> errno_ret) {
    writer.number(uint32_t{errno_ret.has_value()});
    writer.number(errno_ret.value_or(0));
}

void write_rule(Writer& writer, const config::SeccompRule& rule) {
    writer.texts(rule.names);
    writer.number(static_cast<uint32_t>(rule.action));
    write_errno(writer, rule.errno_ret);
    writer.count(rule.args.size());
    for (const config::SeccompArg& arg : rule.args) {
        writer.number(arg.index);
        writer.wide(arg.value);
        writer.wide(arg.value_two);
        writer.number(static_cast<uint32_t>(arg.op));
    }
}

}  // namespace

std::string cache_key(const config::Seccomp& profile, const Toolchain& toolchain) {
    Writer writer = {};
    writer.text(toolchain.library_version);
    writer.text(toolchain.machine);
    writer.number(static_cast<uint32_t>(profile.default_action));
    write_errno(writer, profile.default_errno_ret);
    writer.texts(profile.architectures);
    writer.texts(profile.flags);
    writer.text(profile.listener_path);
    writer.text(profile.listener_metadata);
    writer.count(profile.rules.size());
    for (const config::SeccompRule& rule : profile.rules)
        write_rule(writer, rule);
    return writer.bytes();
}

std::string entry_name(std::string_view key) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string name = {};
    const uint64_t value = hash(key);
    for (int shift = 60; shift >= 0; shift -= 4)
        name.push_back(digits[(value >> shift) & 15]);
    return name;
}

std::string encode_entry(std::string_view key, const Compiled& compiled) {
    Writer body = {};
    body.text(key);
    body.number(compiled.flags);
    body.number(uint32_t{compiled.notify});
    body.texts(compiled.warnings);
    body.count(compiled.instructions.size());
    body.raw(compiled.instructions.data(), compiled.instructions.size() * sizeof(sock_filter));
    Writer entry = {};
    entry.wide(hash(body.bytes()));
    return std::string(kMagic) + entry.bytes() + body.bytes();
}

std::optional<Compiled> decode_entry(std::string_view bytes, std::string_view key) {
    Reader reader(bytes);
    if (reader.take(kMagic.size()) != kMagic) return {};
    const uint64_t checksum = reader.wide();
    if (bytes.size() < kMagic.size() + sizeof checksum) return {};
    if (hash(bytes.substr(kMagic.size() + sizeof checksum)) != checksum) return {};
    if (reader.text() != key) return {};

    Compiled compiled = {};
    compiled.flags = reader.number();
    compiled.notify = reader.number() != 0;
    compiled.warnings = reader.texts();
    const uint32_t count = reader.number();
    if (count == 0 || count > BPF_MAXINSNS) return {};
    const std::string_view program = reader.take(count * sizeof(sock_filter));
    if (!reader.whole()) return {};
    compiled.instructions.resize(count);
    std::memcpy(compiled.instructions.data(), program.data(), program.size());
    return compiled;
}

}  // namespace rung::seccomp
