// Device rules: the v1 model of exceptions, and the v2 program, run by a small evaluator of the few
// instructions it uses.
// SPDX-License-Identifier: Apache-2.0
#include "cgroup/devices.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>

using namespace rung;
using cgroup::DevicePolicy;
using cgroup::DeviceWrite;
using config::DeviceRule;

namespace {

const DeviceRule kDenyAll{.allow = false};
const DeviceRule kAllowAll{.allow = true};

DeviceRule allow(char type, int64_t major, int64_t minor, const char* access) {
    return {.allow = true, .type = type, .major = major, .minor = minor, .access = access};
}

DeviceRule deny(char type, int64_t major, int64_t minor, const char* access) {
    return {.allow = false, .type = type, .major = major, .minor = minor, .access = access};
}

struct Request {
    char type = 'c';
    uint32_t major = 0;
    uint32_t minor = 0;
    const char* access = "rw";
};

bpf_cgroup_dev_ctx context_of(const Request& request) {
    uint32_t access = 0;
    if (std::strchr(request.access, 'r') != nullptr) access |= BPF_DEVCG_ACC_READ;
    if (std::strchr(request.access, 'w') != nullptr) access |= BPF_DEVCG_ACC_WRITE;
    if (std::strchr(request.access, 'm') != nullptr) access |= BPF_DEVCG_ACC_MKNOD;
    const uint32_t type = request.type == 'b' ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR;
    return {.access_type = access << 16 | type, .major = request.major, .minor = request.minor};
}

// -1 for an instruction that the evaluator does not know.
int evaluate(const std::vector<bpf_insn>& program, const Request& request) {
    const bpf_cgroup_dev_ctx context = context_of(request);
    std::array<uint64_t, 11> registers = {};
    for (size_t at = 0; at < program.size(); ++at) {
        const bpf_insn& instruction = program[at];
        uint64_t& destination = registers[instruction.dst_reg];
        const auto immediate = static_cast<uint64_t>(int64_t{instruction.imm});
        const auto jump = [&](bool taken) { at += taken ? static_cast<size_t>(instruction.off) : 0; };
        switch (instruction.code) {
            case BPF_LDX | BPF_MEM | BPF_W: {
                uint32_t word = 0;
                std::memcpy(&word, reinterpret_cast<const char*>(&context) + instruction.off, sizeof word);
                destination = word;
                break;
            }
            case BPF_ALU64 | BPF_MOV | BPF_K:
                destination = immediate;
                break;
            case BPF_ALU64 | BPF_MOV | BPF_X:
                destination = registers[instruction.src_reg];
                break;
            case BPF_ALU64 | BPF_AND | BPF_K:
                destination &= immediate;
                break;
            case BPF_ALU64 | BPF_RSH | BPF_K:
                destination >>= immediate;
                break;
            case BPF_JMP | BPF_JNE | BPF_K:
                jump(destination != immediate);
                break;
            case BPF_JMP | BPF_JEQ | BPF_K:
                jump(destination == immediate);
                break;
            case BPF_JMP | BPF_EXIT:
                return static_cast<int>(registers[0]);
            default:
                return -1;
        }
    }
    return -1;
}

bool permits(const std::vector<DeviceRule>& rules, const Request& request) {
    const int answer = evaluate(cgroup::compile_device_program(rules), request);
    REQUIRE((answer == 0 || answer == 1));
    return answer == 1;
}

}  // namespace

TEST_CASE("without rules only the usual nodes can be used, and any node can be made") {
    const std::vector<DeviceRule> rules = cgroup::with_usual_devices({});

    CHECK(permits(rules, {.type = 'c', .major = 1, .minor = 3, .access = "rw"}));
    CHECK(permits(rules, {.type = 'c', .major = 136, .minor = 42, .access = "rw"}));
    CHECK(permits(rules, {.type = 'c', .major = 5, .minor = 2, .access = "rw"}));
    CHECK(permits(rules, {.type = 'b', .major = 8, .minor = 0, .access = "m"}));
    CHECK_FALSE(permits(rules, {.type = 'b', .major = 8, .minor = 0, .access = "r"}));
    CHECK_FALSE(permits(rules, {.type = 'b', .major = 8, .minor = 0, .access = "rm"}));
    CHECK_FALSE(permits(rules, {.type = 'c', .major = 1, .minor = 1, .access = "r"}));
    CHECK_FALSE(permits(rules, {.type = 'c', .major = 10, .minor = 229, .access = "w"}));
}

TEST_CASE("the last rule that matches decides, for each kind of access alone") {
    const std::vector<DeviceRule> rules{kDenyAll, allow('c', 10, -1, "rw"), deny('c', 10, 229, "w"),
                                        allow('c', 10, 229, "m")};

    CHECK(permits(rules, {.major = 10, .minor = 1, .access = "rw"}));
    CHECK(permits(rules, {.major = 10, .minor = 229, .access = "r"}));
    CHECK(permits(rules, {.major = 10, .minor = 229, .access = "rm"}));
    CHECK_FALSE(permits(rules, {.major = 10, .minor = 229, .access = "w"}));
    CHECK_FALSE(permits(rules, {.major = 10, .minor = 229, .access = "rw"}));
    CHECK_FALSE(permits(rules, {.type = 'b', .major = 10, .minor = 1, .access = "r"}));
}

TEST_CASE("a rule for all devices makes what stands before it void") {
    CHECK(permits({deny('c', 1, 3, "rwm"), kAllowAll}, {.major = 1, .minor = 3}));
    CHECK_FALSE(permits({allow('c', 1, 3, "rwm"), kDenyAll}, {.major = 1, .minor = 3}));
    CHECK_FALSE(permits({kAllowAll, deny('b', -1, -1, "rwm")}, {.type = 'b', .major = 8, .minor = 1}));
    CHECK(permits({kAllowAll, deny('b', -1, -1, "rwm")}, {.type = 'c', .major = 8, .minor = 1}));
}

TEST_CASE("no program is needed when everything is allowed") {
    CHECK(cgroup::allows_everything(cgroup::with_usual_devices({kDenyAll, kAllowAll})));
    CHECK_FALSE(cgroup::allows_everything(cgroup::with_usual_devices({kAllowAll, deny('c', 10, 229, "w")})));
    CHECK_FALSE(cgroup::allows_everything({}));
}

TEST_CASE("rules reduce to a default and its exceptions") {
    const auto denied =
        cgroup::reduce_to_policy({kDenyAll, allow('c', 1, 3, "r"), allow('c', 1, 3, "mw"),
                                  allow('c', 1, 5, "rwm"), deny('c', 1, 5, "m"), deny('c', 10, 229, "rwm")});
    const auto allowed =
        cgroup::reduce_to_policy({kAllowAll, deny('c', 10, 229, "rwm"), allow('c', -1, -1, "m")});

    REQUIRE(denied);
    CHECK(*denied == DevicePolicy{.exceptions = {allow('c', 1, 3, "rwm"), allow('c', 1, 5, "rw")}});
    REQUIRE(allowed);
    CHECK(*allowed == DevicePolicy{.allow_by_default = true, .exceptions = {deny('c', 10, 229, "rw")}});
}

TEST_CASE("a wider rule takes back every exception that it covers") {
    const auto policy =
        cgroup::reduce_to_policy({allow('c', 1, 3, "rwm"), allow('b', 1, 3, "r"), deny('c', 1, -1, "rwm")});

    REQUIRE(policy);
    CHECK(*policy == DevicePolicy{.exceptions = {allow('b', 1, 3, "r")}});
}

TEST_CASE("a part cut out of an exception cannot be said on v1") {
    const auto policy = cgroup::reduce_to_policy({allow('c', 10, -1, "rwm"), deny('c', 10, 229, "rw")});

    REQUIRE_FALSE(policy);
    CHECK(policy.error().message ==
          "invalid configuration: linux.resources.devices: \"c 10:229 rw\" is only a part of the earlier \"c "
          "10:* rwm\", "
          "which cgroup v1 cannot express");
}

TEST_CASE("a fresh v1 cgroup is closed first and then opened piece by piece") {
    const DevicePolicy policy{.exceptions = {allow('c', 1, 3, "rwm"), allow('b', -1, -1, "m")}};

    CHECK(cgroup::plan_device_writes(policy, "a *:* rwm\n") ==
          std::vector<DeviceWrite>{
              {"devices.deny", "a"}, {"devices.allow", "c 1:3 rwm"}, {"devices.allow", "b *:* m"}});
}

TEST_CASE("a v1 cgroup in use changes only where it differs") {
    const DevicePolicy policy{.exceptions = {allow('c', 1, 3, "rwm"), allow('c', 1, 11, "r")}};

    CHECK(cgroup::plan_device_writes(policy, "c 1:3 rwm\nc 10:200 rwm\n") ==
          std::vector<DeviceWrite>{{"devices.allow", "c 1:11 r"}, {"devices.deny", "c 10:200 rwm"}});
}

TEST_CASE("a v1 cgroup that may use all devices is wiped before its exceptions") {
    const DevicePolicy policy{.allow_by_default = true, .exceptions = {deny('c', 10, 229, "rw")}};

    CHECK(cgroup::plan_device_writes(policy, "a *:* rwm\n") ==
          std::vector<DeviceWrite>{{"devices.allow", "a"}, {"devices.deny", "c 10:229 rw"}});
}
