// The conversation with systemd: org.freedesktop.systemd1(5), over sd-bus(3).
// SPDX-License-Identifier: Apache-2.0
#include "bus.hpp"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "message.hpp"

namespace rung::systemd {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kPatience = 30s;
constexpr auto kCleaningPatience = 10s;
constexpr auto kLook = 20ms;  // how often a unit that is being cleaned away is looked at

constexpr const char* kService = "org.freedesktop.systemd1";
constexpr const char* kObject = "/org/freedesktop/systemd1";
constexpr const char* kManager = "org.freedesktop.systemd1.Manager";
constexpr const char* kUnitExists = "org.freedesktop.systemd1.UnitExists";
constexpr const char* kNoSuchUnit = "org.freedesktop.systemd1.NoSuchUnit";

// Results of jobs that ended, by their path; filled by a signal handler of sd-bus, which takes a plain pointer.
using JobResults = std::map<std::string, std::string>;
JobResults& job_results() {
    static JobResults results;
    return results;
}

int on_job_removed(sd_bus_message* message, void*, sd_bus_error*) {
    uint32_t id = 0;
    const char* job = nullptr;
    const char* unit = nullptr;
    const char* result = nullptr;
    if (sd_bus_message_read(message, "uoss", &id, &job, &unit, &result) >= 0) job_results()[job] = result;
    return 0;
}

struct Failure {
    sd_bus_error error{};  // SD_BUS_ERROR_NULL is a compound literal, which clang refuses in C++
    Failure() = default;
    Failure(const Failure&) = delete;
    Failure& operator=(const Failure&) = delete;
    ~Failure() { sd_bus_error_free(&error); }
    bool is(const char* name) const { return sd_bus_error_has_name(&error, name) != 0; }
};

// The D-Bus error's name goes into `reason`.
Error worded(const std::string& what, const Failure& failure, int result) {
    if (failure.error.name == nullptr) return errno_error(what, -result);
    const char* text = failure.error.message == nullptr ? failure.error.name : failure.error.message;
    return Error{.message = what + ": " + text, .errno_value = -result, .reason = failure.error.name};
}

struct Message {
    sd_bus_message* message = nullptr;
    Message() = default;
    Message(const Message&) = delete;
    Message& operator=(const Message&) = delete;
    ~Message() { sd_bus_message_unref(message); }
};

int open_private(sd_bus** bus, const std::string& socket) {
    int result = sd_bus_new(bus);
    if (result >= 0) result = sd_bus_set_address(*bus, ("unix:path=" + socket).c_str());
    if (result >= 0) result = sd_bus_start(*bus);
    return result;
}

int open_user(sd_bus** bus) {
    const int result = sd_bus_open_user(bus);
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    if (result >= 0 || runtime == nullptr) return result;
    return open_private(bus, std::string{runtime} + "/systemd/private");
}

int open_system(sd_bus** bus) {
    const int result = sd_bus_open_system(bus);
    if (result >= 0 || geteuid() != 0) return result;
    return open_private(bus, "/run/systemd/private");
}

constexpr const char* kUserBusHint =
    "; is the package dbus-user-session installed, and has the user a session (loginctl enable-linger)?";

}  // namespace

Result<Bus> Bus::open(Which which) {
    sd_bus* bus = nullptr;
    const int result = which == Which::user ? open_user(&bus) : open_system(&bus);
    if (result < 0) {
        sd_bus_unref(bus);
        const bool is_user = which == Which::user;
        Error error = errno_error(is_user ? "connect to the user's systemd" : "connect to systemd", -result);
        // sd-bus has only "no medium found" for that.
        if (is_user && std::getenv("XDG_RUNTIME_DIR") == nullptr &&
            std::getenv("DBUS_SESSION_BUS_ADDRESS") == nullptr)
            error.message =
                "connect to the user's systemd: neither XDG_RUNTIME_DIR nor DBUS_SESSION_BUS_ADDRESS is set";
        error.message +=
            is_user ? kUserBusHint : "; is systemd running as PID 1, and the package dbus installed?";
        return error;
    }
    Bus opened{bus};
    TRY(opened.listen());
    return opened;
}

Bus::Bus(Bus&& other) noexcept : bus_(std::exchange(other.bus_, nullptr)) {}

Bus::~Bus() {
    if (bus_ != nullptr) sd_bus_flush_close_unref(bus_);
}

// Before any call: the signal of a quick job must not be missed.
Status Bus::listen() {
    int result =
        sd_bus_match_signal(bus_, nullptr, nullptr, kObject, kManager, "JobRemoved", on_job_removed, nullptr);
    if (result < 0) return errno_error("listen to systemd", -result);
    Failure failure;
    result = sd_bus_call_method(bus_, kService, kObject, kManager, "Subscribe", &failure.error, nullptr, "");
    if (result < 0) return worded("subscribe to systemd's signals", failure, result);
    return {};
}

Status Bus::pass_time() {
    const int processed = sd_bus_process(bus_, nullptr);
    if (processed < 0) return errno_error("talk to systemd", -processed);
    if (processed > 0) return {};
    const int waited = sd_bus_wait(bus_, std::chrono::microseconds(kLook).count());
    if (waited < 0 && waited != -EINTR) return errno_error("talk to systemd", -waited);
    return {};
}

Result<std::string> Bus::await_job(const std::string& job) {
    const auto deadline = Clock::now() + kPatience;
    while (!job_results().contains(job)) {
        if (Clock::now() > deadline) return errno_error("wait for systemd's job", ETIMEDOUT);
        TRY(pass_time());
    }
    return job_results()[job];
}

Result<std::string> Bus::manager_property(const char* name) {
    Failure failure;
    char* text = nullptr;
    const int result =
        sd_bus_get_property_string(bus_, kService, kObject, kManager, name, &failure.error, &text);
    if (result < 0) return worded(std::string{"read systemd's "} + name, failure, result);
    std::string value = text;
    std::free(text);
    return value;
}

Result<Manager> Bus::describe_manager() {
    Manager manager{.version = TRY(manager_property("Version"))};
    manager.control_group = TRY(manager_property("ControlGroup"));
    return manager;
}

// "" when there is no such unit.
std::string Bus::active_state(const std::string& unit) {
    char* path = nullptr;
    if (sd_bus_path_encode("/org/freedesktop/systemd1/unit", unit.c_str(), &path) < 0) return {};
    char* text = nullptr;
    const int result = sd_bus_get_property_string(bus_, kService, path, "org.freedesktop.systemd1.Unit",
                                                  "ActiveState", nullptr, &text);
    std::free(path);
    std::string state = result < 0 ? "" : text;
    std::free(text);
    return state;
}

void Bus::reset_failed(const std::string& unit) {
    // As a rule there is nothing to reset.
    (void)sd_bus_call_method(bus_, kService, kObject, kManager, "ResetFailedUnit", nullptr, nullptr, "s",
                             unit.c_str());
}

Status Bus::try_to_start(const std::string& unit, const std::vector<Property>& properties) {
    Message call;
    int result = sd_bus_message_new_method_call(bus_, &call.message, kService, kObject, kManager,
                                                "StartTransientUnit");
    if (result >= 0) result = sd_bus_message_append(call.message, "ss", unit.c_str(), "fail");
    if (result < 0) return errno_error("ask systemd for " + unit, -result);
    TRY(append_properties(call.message, properties));
    result = sd_bus_message_append(call.message, "a(sa(sv))", 0U);
    if (result < 0) return errno_error("ask systemd for " + unit, -result);

    Failure failure;
    Message reply;
    result = sd_bus_call(bus_, call.message, 0, &failure.error, &reply.message);
    if (result < 0) return worded("start unit " + unit, failure, result);
    const char* job = nullptr;
    result = sd_bus_message_read(reply.message, "o", &job);
    if (result < 0) return errno_error("start unit " + unit, -result);
    const auto ended = await_job(job);
    if (ended && *ended == "done") return {};
    (void)stop(unit);
    return Error{.message = "start unit " + unit + ": " +
                            (ended ? "the job ended as " + *ended : ended.error().message)};
}

Status Bus::start_transient(const std::string& unit, const std::vector<Property>& properties) {
    const auto deadline = Clock::now() + kCleaningPatience;
    while (true) {
        Status started = try_to_start(unit, properties);
        if (started || started.error().reason != kUnitExists) return started;
        const std::string state = active_state(unit);
        if (state == "failed") reset_failed(unit);
        // What is active is somebody's. What is not is on its way out: systemd cleans up after it has told of the job's end.
        const bool is_leftover =
            state.empty() || state == "failed" || state == "inactive" || state == "deactivating";
        if (!is_leftover || Clock::now() > deadline) return started;
        TRY(pass_time());
    }
}

Status Bus::stop(const std::string& unit) {
    Failure failure;
    Message reply;
    const int result = sd_bus_call_method(bus_, kService, kObject, kManager, "StopUnit", &failure.error,
                                          &reply.message, "ss", unit.c_str(), "replace");
    if (result < 0 && !failure.is(kNoSuchUnit)) return worded("stop unit " + unit, failure, result);
    const char* job = nullptr;
    if (result >= 0 && sd_bus_message_read(reply.message, "o", &job) >= 0) TRY(await_job(job));
    reset_failed(unit);
    return {};
}

Status Bus::set(const std::string& unit, const std::vector<Property>& properties) {
    Message call;
    int result =
        sd_bus_message_new_method_call(bus_, &call.message, kService, kObject, kManager, "SetUnitProperties");
    const int runtime_only = 1;
    if (result >= 0) result = sd_bus_message_append(call.message, "sb", unit.c_str(), runtime_only);
    if (result < 0) return errno_error("set properties of unit " + unit, -result);
    TRY(append_properties(call.message, properties));
    Failure failure;
    result = sd_bus_call(bus_, call.message, 0, &failure.error, nullptr);
    if (result < 0) return worded("set properties of unit " + unit, failure, result);
    // systemd answers first and writes the control files afterwards, before it takes the next call: after that they are the caller's.
    (void)TRY(manager_property("Version"));
    return {};
}

Status Bus::attach(const std::string& unit, const std::string& below, const std::vector<uint32_t>& pids) {
    Message call;
    int result = sd_bus_message_new_method_call(bus_, &call.message, kService, kObject, kManager,
                                                "AttachProcessesToUnit");
    if (result >= 0) result = sd_bus_message_append(call.message, "ss", unit.c_str(), below.c_str());
    if (result >= 0)
        result = sd_bus_message_append_array(call.message, 'u', pids.data(), pids.size() * sizeof(uint32_t));
    if (result < 0) return errno_error("attach to unit " + unit, -result);
    Failure failure;
    result = sd_bus_call(bus_, call.message, 0, &failure.error, nullptr);
    if (result < 0) return worded("attach to unit " + unit, failure, result);
    return {};
}

}  // namespace rung::systemd
