// The instructions are those of classic BPF over struct seccomp_data: aligned 32-bit loads, no packet (seccomp(2)).
// SPDX-License-Identifier: Apache-2.0
#include "seccomp/evaluate.hpp"

#include <cstring>
#include <stdexcept>

namespace rung::seccomp::test {
namespace {

struct Machine {
    uint32_t accumulator = 0;
    uint32_t index = 0;
    std::array<uint32_t, BPF_MEMWORDS> memory = {};
};

uint32_t load(const seccomp_data& data, uint32_t offset) {
    if (offset % 4 != 0 || offset > sizeof data - 4) throw std::runtime_error("load outside seccomp_data");
    uint32_t word = 0;
    std::memcpy(&word, reinterpret_cast<const char*>(&data) + offset, sizeof word);
    return word;
}

uint32_t calculate(uint32_t operation, uint32_t left, uint32_t right) {
    switch (operation) {
        case BPF_ADD:
            return left + right;
        case BPF_SUB:
            return left - right;
        case BPF_AND:
            return left & right;
        case BPF_OR:
            return left | right;
        case BPF_XOR:
            return left ^ right;
        case BPF_LSH:
            return left << right;
        case BPF_RSH:
            return left >> right;
        default:
            throw std::runtime_error("unknown arithmetic");
    }
}

bool holds(uint32_t test, uint32_t left, uint32_t right) {
    switch (test) {
        case BPF_JEQ:
            return left == right;
        case BPF_JGT:
            return left > right;
        case BPF_JGE:
            return left >= right;
        case BPF_JSET:
            return (left & right) != 0;
        default:
            throw std::runtime_error("unknown jump");
    }
}

// How many instructions to skip after this one.
size_t distance(const sock_filter& jump, const Machine& machine) {
    const uint32_t test = BPF_OP(jump.code);
    if (test == BPF_JA) return jump.k;
    const uint32_t right = BPF_SRC(jump.code) == BPF_X ? machine.index : jump.k;
    return holds(test, machine.accumulator, right) ? jump.jt : jump.jf;
}

void step(Machine& machine, const sock_filter& instruction, const seccomp_data& data) {
    switch (instruction.code) {
        case BPF_LD | BPF_W | BPF_ABS:
            machine.accumulator = load(data, instruction.k);
            return;
        case BPF_LD | BPF_IMM:
            machine.accumulator = instruction.k;
            return;
        case BPF_LDX | BPF_IMM:
            machine.index = instruction.k;
            return;
        case BPF_LD | BPF_MEM:
            machine.accumulator = machine.memory.at(instruction.k);
            return;
        case BPF_ST:
            machine.memory.at(instruction.k) = machine.accumulator;
            return;
        case BPF_MISC | BPF_TAX:
            machine.index = machine.accumulator;
            return;
        case BPF_MISC | BPF_TXA:
            machine.accumulator = machine.index;
            return;
        default:
            break;
    }
    if (BPF_CLASS(instruction.code) != BPF_ALU) throw std::runtime_error("unknown instruction");
    const uint32_t right = BPF_SRC(instruction.code) == BPF_X ? machine.index : instruction.k;
    machine.accumulator = calculate(BPF_OP(instruction.code), machine.accumulator, right);
}

}  // namespace

Verdict evaluate(const std::vector<sock_filter>& program, const Call& call) {
    seccomp_data data = {};
    data.nr = call.number;
    data.arch = call.architecture;
    for (size_t i = 0; i < call.args.size(); i++)
        data.args[i] = call.args[i];

    Machine machine = {};
    size_t steps = 0;
    for (size_t at = 0; at < program.size(); at++) {
        const sock_filter& instruction = program[at];
        steps++;
        switch (BPF_CLASS(instruction.code)) {
            case BPF_RET:
                return {.action = BPF_RVAL(instruction.code) == BPF_A ? machine.accumulator : instruction.k,
                        .steps = steps};
            case BPF_JMP:
                at += distance(instruction, machine);
                break;
            default:
                step(machine, instruction, data);
        }
    }
    throw std::runtime_error("the program does not end in a return");
}

}  // namespace rung::seccomp::test
