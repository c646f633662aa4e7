// linux.seccomp and the files of seccomp-profiles/: words to enumerations. What a rule means is lib/seccomp's concern.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "config/named_value.hpp"
#include "config/quoted.hpp"
#include "config/readers.hpp"

namespace rung::config {
namespace {

constexpr NamedValue entry(std::string_view name, SeccompAction action) {
    return {.name = name, .value = static_cast<int>(action)};
}

constexpr NamedValue entry(std::string_view name, SeccompOperator op) {
    return {.name = name, .value = static_cast<int>(op)};
}

// SCMP_ACT_KILL is the old name of killing the thread alone, seccomp(2).
constexpr NamedValue kActions[] = {
    entry("SCMP_ACT_ALLOW", SeccompAction::allow),
    entry("SCMP_ACT_ERRNO", SeccompAction::error),
    entry("SCMP_ACT_KILL", SeccompAction::kill_thread),
    entry("SCMP_ACT_KILL_PROCESS", SeccompAction::kill_process),
    entry("SCMP_ACT_KILL_THREAD", SeccompAction::kill_thread),
    entry("SCMP_ACT_LOG", SeccompAction::log),
    entry("SCMP_ACT_NOTIFY", SeccompAction::notify),
    entry("SCMP_ACT_TRACE", SeccompAction::trace),
    entry("SCMP_ACT_TRAP", SeccompAction::trap),
};

constexpr NamedValue kOperators[] = {
    entry("SCMP_CMP_EQ", SeccompOperator::equal),
    entry("SCMP_CMP_NE", SeccompOperator::not_equal),
    entry("SCMP_CMP_LT", SeccompOperator::less),
    entry("SCMP_CMP_LE", SeccompOperator::less_equal),
    entry("SCMP_CMP_GT", SeccompOperator::greater),
    entry("SCMP_CMP_GE", SeccompOperator::greater_equal),
    entry("SCMP_CMP_MASKED_EQ", SeccompOperator::masked_equal),
};

constexpr uint32_t kMaxArguments = 6;

SeccompAction read_action(const Object& object, std::string_view field) {
    const std::string name = object.text(field);
    const auto value = find_value(kActions, name);
    if (!value) object.refuse(field, "unknown action " + quoted(name));
    return static_cast<SeccompAction>(value.value_or(0));
}

SeccompArg read_argument(const Object& object) {
    SeccompArg argument;
    argument.index = object.uint32("index").value_or(0);
    if (argument.index >= kMaxArguments) object.refuse("index", "a system call has arguments 0 to 5");
    argument.value = object.uint64("value").value_or(0);
    argument.value_two = object.uint64("valueTwo").value_or(0);
    const std::string name = object.text("op");
    const auto value = find_value(kOperators, name);
    if (!value) object.refuse("op", "unknown operator " + quoted(name));
    argument.op = static_cast<SeccompOperator>(value.value_or(0));
    return argument;
}

SeccompRule read_rule(const Object& object) {
    SeccompRule rule;
    rule.names = object.texts("names");
    rule.action = read_action(object, "action");
    rule.errno_ret = object.uint32("errnoRet");
    for (const Object& argument : object.objects("args"))
        rule.args.push_back(read_argument(argument));
    return rule;
}

}  // namespace

bool notifies(const Seccomp& seccomp) {
    return std::any_of(seccomp.rules.begin(), seccomp.rules.end(),
                       [](const SeccompRule& rule) { return rule.action == SeccompAction::notify; });
}

std::optional<Seccomp> read_seccomp(const Object& object) {
    if (!object.has("defaultAction") && !object.has("syscalls")) return {};
    Seccomp seccomp;
    seccomp.default_action = read_action(object, "defaultAction");
    seccomp.default_errno_ret = object.uint32("defaultErrnoRet");
    seccomp.architectures = object.texts("architectures");
    seccomp.flags = object.texts("flags");
    seccomp.listener_path = object.text("listenerPath");
    seccomp.listener_metadata = object.text("listenerMetadata");
    const std::vector<Object> rules = object.objects("syscalls");
    seccomp.rules.reserve(rules.size());
    for (const Object& rule : rules)
        seccomp.rules.push_back(read_rule(rule));
    return seccomp;
}

}  // namespace rung::config
