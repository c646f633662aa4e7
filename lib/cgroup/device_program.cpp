// Device rules as a BPF program, which is how cgroup v2 controls devices; bpf(2), linux/bpf.h.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/fd.hpp"
#include "cgroup/devices.hpp"
#include "kernel/files.hpp"

namespace rung::cgroup {

namespace {

// Registers while the program runs. r0 is the answer, r1 the context that the kernel passes.
constexpr uint8_t kAnswer = BPF_REG_0;
constexpr uint8_t kContext = BPF_REG_1;
constexpr uint8_t kType = BPF_REG_2;
constexpr uint8_t kPending = BPF_REG_3;  // access that no rule has decided yet
constexpr uint8_t kMajor = BPF_REG_4;
constexpr uint8_t kMinor = BPF_REG_5;

constexpr int32_t kAllAccess = BPF_DEVCG_ACC_MKNOD | BPF_DEVCG_ACC_READ | BPF_DEVCG_ACC_WRITE;

class Assembler {
  public:
    void load(uint8_t destination, size_t context_offset) {
        emit(BPF_LDX | BPF_MEM | BPF_W, destination, kContext, static_cast<int16_t>(context_offset), 0);
    }
    void set(uint8_t destination, int32_t value) {
        emit(BPF_ALU64 | BPF_MOV | BPF_K, destination, 0, 0, value);
    }
    void copy(uint8_t destination, uint8_t source) {
        emit(BPF_ALU64 | BPF_MOV | BPF_X, destination, source, 0, 0);
    }
    void mask(uint8_t destination, int32_t bits) {
        emit(BPF_ALU64 | BPF_AND | BPF_K, destination, 0, 0, bits);
    }
    void shift_right(uint8_t destination, int32_t bits) {
        emit(BPF_ALU64 | BPF_RSH | BPF_K, destination, 0, 0, bits);
    }
    // To the next rule, whose place is not known yet.
    void skip_rule_unless_equal(uint8_t left, int32_t right) {
        emit_skip(BPF_JMP | BPF_JNE | BPF_K, left, right);
    }
    void skip_rule_if_zero(uint8_t left) { emit_skip(BPF_JMP | BPF_JEQ | BPF_K, left, 0); }
    void answer(int32_t value) {
        set(kAnswer, value);
        emit(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
    }
    void end_rule() {
        for (const size_t skip : skips_) {
            instructions_[skip].off = static_cast<int16_t>(instructions_.size() - skip - 1);
        }
        skips_.clear();
    }
    std::vector<bpf_insn> take() { return std::move(instructions_); }

  private:
    void emit(int code, uint8_t destination, uint8_t source, int16_t offset, int32_t immediate) {
        bpf_insn instruction = {};
        instruction.code = static_cast<uint8_t>(code);
        instruction.dst_reg = destination & 0xf;
        instruction.src_reg = source & 0xf;
        instruction.off = offset;
        instruction.imm = immediate;
        instructions_.push_back(instruction);
    }
    void emit_skip(int code, uint8_t left, int32_t right) {
        skips_.push_back(instructions_.size());
        emit(code, left, 0, 0, right);
    }

    std::vector<bpf_insn> instructions_ = {};
    std::vector<size_t> skips_ = {};
};

int32_t access_bits(const std::string& access) {
    int32_t bits = 0;
    for (const char letter : access) {
        if (letter == 'r') bits |= BPF_DEVCG_ACC_READ;
        if (letter == 'w') bits |= BPF_DEVCG_ACC_WRITE;
        if (letter == 'm') bits |= BPF_DEVCG_ACC_MKNOD;
    }
    return bits;
}

void skip_other_devices(Assembler& assembler, const config::DeviceRule& rule) {
    assembler.skip_rule_unless_equal(kType, rule.type == 'b' ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR);
    if (rule.major.value_or(-1) >= 0) {
        assembler.skip_rule_unless_equal(kMajor, static_cast<int32_t>(*rule.major));
    }
    if (rule.minor.value_or(-1) >= 0) {
        assembler.skip_rule_unless_equal(kMinor, static_cast<int32_t>(*rule.minor));
    }
}

void decide(Assembler& assembler, const config::DeviceRule& rule) {
    const int32_t bits = access_bits(rule.access);
    if (bits == kAllAccess) {
        assembler.answer(rule.allow ? 1 : 0);
    } else if (rule.allow) {
        // What is asked beyond these bits is for an earlier rule to decide.
        assembler.mask(kPending, ~bits);
        assembler.skip_rule_unless_equal(kPending, 0);
        assembler.answer(1);
    } else {
        assembler.copy(kAnswer, kPending);
        assembler.mask(kAnswer, bits);
        assembler.skip_rule_if_zero(kAnswer);
        assembler.answer(0);
    }
}

// The name tells rung's program from systemd's on the same cgroup.
constexpr const char* kProgramName = "rung_devices";

long bpf(int command, bpf_attr& attributes) {
    return ::syscall(SYS_bpf, command, &attributes, sizeof attributes);
}

uint64_t address_of(const void* object) {
    return reinterpret_cast<uintptr_t>(object);
}

// bpf_attr is a union: only a whole clearing leaves no stray bytes, which the kernel refuses.
bpf_attr cleared() {
    bpf_attr attributes;
    std::memset(&attributes, 0, sizeof attributes);
    return attributes;
}

Result<Fd> load_program(const std::vector<bpf_insn>& program) {
    bpf_attr attributes = cleared();
    attributes.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
    attributes.insns = address_of(program.data());
    attributes.insn_cnt = static_cast<uint32_t>(program.size());
    attributes.license = address_of("Apache-2.0");
    std::strncpy(attributes.prog_name, kProgramName, sizeof attributes.prog_name - 1);
    Fd loaded{static_cast<int>(bpf(BPF_PROG_LOAD, attributes))};
    if (!loaded) return errno_error("load the device program", errno);
    return loaded;
}

bool is_ours(const Fd& program) {
    bpf_prog_info information;
    std::memset(&information, 0, sizeof information);
    bpf_attr attributes = cleared();
    attributes.info.bpf_fd = static_cast<uint32_t>(program.get());
    attributes.info.info_len = sizeof information;
    attributes.info.info = address_of(&information);
    return bpf(BPF_OBJ_GET_INFO_BY_FD, attributes) == 0 && std::strcmp(information.name, kProgramName) == 0;
}

// The program that an earlier call attached to this very cgroup; an empty Fd when there is none.
Result<Fd> find_predecessor(const Fd& cgroup, const std::string& path) {
    std::array<uint32_t, 64> ids = {};  // the kernel's own bound on programs of one kind in a cgroup
    bpf_attr query = cleared();
    query.query.target_fd = static_cast<uint32_t>(cgroup.get());
    query.query.attach_type = BPF_CGROUP_DEVICE;
    query.query.prog_ids = address_of(ids.data());
    query.query.prog_cnt = ids.size();
    if (bpf(BPF_PROG_QUERY, query) != 0) return errno_error("query the device programs of " + path, errno);
    for (uint32_t index = 0; index < query.query.prog_cnt; ++index) {
        bpf_attr attributes = cleared();
        attributes.prog_id = ids[index];
        Fd program{static_cast<int>(bpf(BPF_PROG_GET_FD_BY_ID, attributes))};
        if (program && is_ours(program)) return program;
    }
    return Fd{};
}

}  // namespace

std::vector<bpf_insn> compile_device_program(const std::vector<config::DeviceRule>& rules) {
    Assembler assembler;
    assembler.load(kType, offsetof(bpf_cgroup_dev_ctx, access_type));
    assembler.copy(kPending, kType);
    assembler.mask(kType, 0xffff);
    assembler.shift_right(kPending, 16);
    assembler.load(kMajor, offsetof(bpf_cgroup_dev_ctx, major));
    assembler.load(kMinor, offsetof(bpf_cgroup_dev_ctx, minor));

    // The last rule that matches decides, so the program asks from the last to the first.
    for (auto rule = rules.rbegin(); rule != rules.rend(); ++rule) {
        if (rule->type == 'a') {
            // Nothing before it is ever asked, and the kernel refuses instructions that cannot be reached.
            assembler.answer(rule->allow ? 1 : 0);
            return assembler.take();
        }
        skip_other_devices(assembler, *rule);
        decide(assembler, *rule);
        assembler.end_rule();
    }
    assembler.answer(0);
    return assembler.take();
}

Status attach_device_program(const std::string& path, const std::vector<bpf_insn>& program) {
    const Fd cgroup = TRY(kernel::open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY));
    const Fd loaded = TRY(load_program(program));
    const Fd predecessor = TRY(find_predecessor(cgroup, path));
    bpf_attr attributes = cleared();
    attributes.target_fd = static_cast<uint32_t>(cgroup.get());
    attributes.attach_bpf_fd = static_cast<uint32_t>(loaded.get());
    attributes.attach_type = BPF_CGROUP_DEVICE;
    attributes.attach_flags = BPF_F_ALLOW_MULTI;
    if (predecessor) {
        attributes.attach_flags |= BPF_F_REPLACE;
        attributes.replace_bpf_fd = static_cast<uint32_t>(predecessor.get());
    }
    if (bpf(BPF_PROG_ATTACH, attributes) != 0)
        return errno_error("attach the device program to " + path, errno);
    return {};
}

}  // namespace rung::cgroup
