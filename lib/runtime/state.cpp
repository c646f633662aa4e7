// The files of one container's state directory.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/state.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "kernel/files.hpp"
#include "kernel/syscalls.hpp"
#include "runtime/wording.hpp"

namespace rung::runtime {
namespace {

constexpr const char* kConfig = "config.json";
constexpr const char* kState = "state.json";
constexpr const char* kInit = "init";
constexpr const char* kCrunStatus = "status";
constexpr const char* kResctrl = "resctrl";
constexpr const char* kStartFifo = "exec.fifo";
constexpr const char* kNotifyDirectory = "notify";
constexpr const char* kNotifySocket = "notify/notify";
constexpr const char* kStartFifoUnannounced = "exec.fifo.new";
constexpr size_t kMaxIdLength = 1024;

bool is_alphanumeric(char character) {
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9');
}

bool may_start_id(char character) {
    return is_alphanumeric(character) || character == '_' || character == '+';
}
bool may_be_in_id(char character) {
    return may_start_id(character) || character == '.' || character == '-';
}

// What a write that was killed before its rename has left.
bool is_temporary(const std::string& name) {
    const bool ours = name.starts_with(kConfig) || name.starts_with(kState) || name.starts_with(kInit) ||
                      name.starts_with(kCrunStatus) || name.starts_with(kResctrl);
    return ours && name.ends_with(".tmp");
}

// Where the standard streams of a process lead; empty for what we may not see.
std::vector<std::string> streams_of(pid_t pid) {
    std::vector<std::string> streams;
    for (const char* number : {"0", "1", "2"}) {
        char content[PATH_MAX];
        const std::string link = "/proc/" + std::to_string(pid) + "/fd/" + number;
        const ssize_t length = readlink(link.c_str(), content, sizeof content);
        streams.emplace_back(content, static_cast<size_t>(std::max<ssize_t>(length, 0)));
    }
    return streams;
}

std::optional<ProcessIdentity> parse_init(std::string_view text) {
    ProcessIdentity init;
    const char* const end = text.data() + text.size();
    const auto pid = std::from_chars(text.data(), end, init.pid);
    if (pid.ec != std::errc{} || pid.ptr == end) return {};
    const auto start_time = std::from_chars(pid.ptr + 1, end, init.start_time);
    if (start_time.ec != std::errc{} || init.pid <= 0) return {};
    return init;
}

}  // namespace

Status check_id(const std::string& id) {
    const std::string invalid = std::string{wording::kInvalidId} + ": " + id;
    if (id.empty() || id.size() > kMaxIdLength) return Error{.message = invalid};
    for (size_t index = 0; index < id.size(); ++index) {
        const bool valid = index == 0 ? may_start_id(id[index]) : may_be_in_id(id[index]);
        if (!valid) return Error{.message = invalid + ": invalid character at " + std::to_string(index + 1)};
    }
    return {};
}

std::string phase_name(Phase phase) {
    switch (phase) {
        case Phase::creating:
            return "creating";
        case Phase::created:
            return "created";
        case Phase::running:
            return "running";
        case Phase::paused:
            return "paused";
        case Phase::stopped:
            break;
    }
    return "stopped";
}

StateDirectory::StateDirectory(std::string root, std::string id, Fd directory)
    : root_(std::move(root)), id_(std::move(id)), directory_(std::move(directory)) {}

Result<StateDirectory> StateDirectory::claim(const std::string& root, const std::string& id) {
    // Sticky, what systemd's tmpfiles.d(5) passes over when it clears a user's runtime directory.
    TRY(kernel::make_directories(root, geteuid() == 0 ? 0711 : 01700).context("--root"));
    const std::string path = root + "/" + id;
    if (mkdir(path.c_str(), 0700) < 0) {
        if (errno == EEXIST) return Error{.message = std::string{wording::kIdInUse}};
        return errno_error("claim the name " + id + " under " + root, errno);
    }
    Fd directory = TRY(kernel::open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    return StateDirectory{root, id, std::move(directory)};
}

Result<StateDirectory> StateDirectory::open(const std::string& root, const std::string& id) {
    auto directory = kernel::open_at(AT_FDCWD, root + "/" + id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!directory) {
        if (directory.error().errno_value == ENOENT)
            return Error{.message = std::string{wording::kDoesNotExist}};
        return std::move(directory).error();
    }
    return StateDirectory{root, id, std::move(*directory)};
}

Status StateDirectory::lock() {
    while (flock(directory_.get(), LOCK_EX) < 0) {
        if (errno != EINTR) return errno_error("lock container " + id_, errno);
    }
    locked_ = true;
    return {};
}

void StateDirectory::unlock() {
    (void)flock(directory_.get(), LOCK_UN);  // cannot fail on an open directory
    locked_ = false;
}

bool StateDirectory::is_removed() const {
    struct stat status {};
    return fstat(directory_.get(), &status) < 0 || status.st_nlink == 0;
}

Result<bool> StateDirectory::try_lock() {
    if (flock(directory_.get(), LOCK_EX | LOCK_NB) == 0) {
        locked_ = true;
        return true;
    }
    if (errno == EWOULDBLOCK) return false;
    return errno_error("lock container " + id_, errno);
}

bool StateDirectory::is_being_changed() const {
    if (locked_) return false;
    if (flock(directory_.get(), LOCK_SH | LOCK_NB) < 0) return true;
    (void)flock(directory_.get(), LOCK_UN);  // taken only to see that nobody else has it
    return false;
}

Status StateDirectory::write_config(const std::string& text) {
    return kernel::write_file_atomically(directory_.get(), {.name = kConfig, .text = text});
}

Status StateDirectory::write_state(const State& state) {
    const std::string text = state_to_json(state);
    return kernel::write_file_atomically(directory_.get(), {.name = kState, .text = text});
}

Status StateDirectory::write_init(const ProcessIdentity& init, const cgroup::Cgroup& cgroup) {
    const std::string text = std::to_string(init.pid) + ' ' + std::to_string(init.start_time) + '\n' +
                             cgroup_to_text(cgroup) + '\n';
    return kernel::write_file_atomically(directory_.get(), {.name = kInit, .text = text});
}

Status StateDirectory::write_crun_status() {
    const auto state = TRY(read_state());
    const auto init = read_init();
    if (!state || !init) return {};
    const std::string text = crun_status(*state, *init, streams_of(init->pid));
    return kernel::write_file_atomically(directory_.get(), {.name = kCrunStatus, .text = text});
}

Result<Fd> StateDirectory::make_start_fifo() {
    if (mkfifoat(directory_.get(), kStartFifoUnannounced, 0600) < 0)
        return errno_error("make exec.fifo", errno);
    // Read and write: a reader alone would get end-of-file before `start` comes.
    return kernel::open_at(directory_.get(), kStartFifoUnannounced, O_RDWR);
}

Status StateDirectory::announce_created() {
    if (renameat(directory_.get(), kStartFifoUnannounced, directory_.get(), kStartFifo) < 0) {
        return errno_error("announce exec.fifo", errno);
    }
    return {};
}

void StateDirectory::forget_start_fifo() {
    (void)unlinkat(directory_.get(), kStartFifo, 0);  // it is not there when `run` made the container
    (void)unlinkat(directory_.get(), kStartFifoUnannounced, 0);  // nor this once it was announced
}

Status StateDirectory::make_notify_directory() {
    TRY(kernel::make_directory_at(directory_.get(), kNotifyDirectory, 0755));
    // Users of the container pass through it, whatever the caller's umask is.
    if (fchmodat(directory_.get(), kNotifyDirectory, 0755, 0) < 0)
        return errno_error(kNotifyDirectory, errno);
    return {};
}

std::optional<std::string> StateDirectory::notify_directory() const {
    if (faccessat(directory_.get(), kNotifyDirectory, F_OK, 0) != 0) return {};
    return notify_directory_of(root_, id_);
}

std::string notify_directory_of(const std::string& root, const std::string& id) {
    return root + "/" + id + "/" + kNotifyDirectory;
}

Result<std::string> StateDirectory::read_config() const {
    return kernel::read_file_at(directory_.get(), kConfig).context("container " + id_);
}

Result<std::optional<State>> StateDirectory::read_state() const {
    const auto text = kernel::read_file_at(directory_.get(), kState);
    if (!text) {
        if (text.error().errno_value == ENOENT) return std::optional<State>{};
        return text.error();
    }
    return std::optional{TRY(state_from_json(*text).context("container " + id_))};
}

std::optional<ProcessIdentity> StateDirectory::read_init() const {
    const auto text = kernel::read_file_at(directory_.get(), kInit);
    if (!text) return {};
    return parse_init(*text);
}

std::optional<cgroup::Cgroup> StateDirectory::read_cgroup() const {
    const auto text = kernel::read_file_at(directory_.get(), kInit);
    if (!text) return {};
    const size_t line = std::min(text->find('\n'), text->size());
    return cgroup_from_text(std::string_view{*text}.substr(line));
}

Status StateDirectory::note_resctrl() {
    return kernel::write_file_atomically(directory_.get(), {.name = kResctrl, .text = ""});
}

bool StateDirectory::has_resctrl() const {
    return faccessat(directory_.get(), kResctrl, F_OK, 0) == 0;
}

bool StateDirectory::start_fifo_is_announced() const {
    return faccessat(directory_.get(), kStartFifo, F_OK, 0) == 0;
}

bool StateDirectory::start_fifo_is_unannounced() const {
    return faccessat(directory_.get(), kStartFifoUnannounced, F_OK, 0) == 0;
}

Result<Fd> StateDirectory::open_start_fifo() const {
    return kernel::open_at(directory_.get(), kStartFifo, O_WRONLY | O_NONBLOCK);
}

Result<std::string> StateDirectory::path() const {
    char target[PATH_MAX];
    const std::string link = "/proc/self/fd/" + std::to_string(directory_.get());
    const ssize_t length = readlink(link.c_str(), target, sizeof target);
    if (length < 0) return errno_error(link, errno);
    return std::string(target, static_cast<size_t>(length));
}

Status StateDirectory::remove() {
    const Fd root = TRY(kernel::open_at(AT_FDCWD, root_, O_RDONLY | O_DIRECTORY));
    // Only what a container's directory holds: a name that is somebody else's directory must not lose its content. state.json goes last: while
    // it is there, an interrupted delete can be repeated with full knowledge.
    for (const std::string& name : TRY(kernel::list_directory_at(directory_.get(), "."))) {
        if (is_temporary(name)) (void)unlinkat(directory_.get(), name.c_str(), 0);
    }
    (void)unlinkat(directory_.get(), kNotifySocket, 0);
    (void)unlinkat(directory_.get(), kNotifyDirectory, AT_REMOVEDIR);
    for (const char* name :
         {kStartFifo, kStartFifoUnannounced, kInit, kCrunStatus, kResctrl, kConfig, kState}) {
        (void)unlinkat(directory_.get(), name, 0);  // whichever are there
    }
    auto removed = kernel::remove_directory_at(root.get(), id_);
    if (!removed && removed.error().errno_value == ENOENT) return {};
    return removed;
}

Phase phase_of(const StateDirectory& directory, const State& state) {
    const auto init = directory.read_init();
    // A create that was killed before its first process existed has left a container that stands still.
    if (!init) return directory.is_being_changed() ? Phase::creating : Phase::stopped;
    if (!is_alive(*init)) return Phase::stopped;
    if (directory.start_fifo_is_unannounced()) return Phase::creating;
    // Before "created": a container can be paused before it was started.
    if (const auto frozen = cgroup::is_frozen(state.cgroup); frozen && *frozen) return Phase::paused;
    // A FIFO that nobody reads is what a `start` killed half-way has left: the process went on.
    const bool waits = directory.start_fifo_is_announced() && directory.open_start_fifo();
    return waits ? Phase::created : Phase::running;
}

}  // namespace rung::runtime
