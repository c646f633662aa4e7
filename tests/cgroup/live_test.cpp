// The cgroup layer against the kernel. Needs root; each case makes a cgroup of its own below (v1) or beside
// (v2) the caller's and removes it. A hybrid host runs each case three times: as it is, as if it had no
// cgroup2 mount, and on that mount alone.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "cgroup/cgroup.hpp"
#include "cgroup/devices.hpp"
#include "kernel/files.hpp"
#include "kernel/probe.hpp"
#include "kernel/syscalls.hpp"

using namespace rung;
using cgroup::Cgroup;
using kernel::CgroupLayout;

namespace {

// The ways in which this host can hold a container's cgroup; none without root.
std::vector<Cgroup> variants(const std::string& name) {
    const Result<kernel::HostFacts> host = kernel::probe();
    if (!host || geteuid() != 0 || host->in_user_namespace) return {};
    const std::string path = "rung-test-" + std::to_string(getpid()) + "-" + name;
    Cgroup whole = cgroup::locate(host->cgroup, path, "unused");
    std::vector<Cgroup> all{whole};
    if (whole.layout != CgroupLayout::v1 || whole.unified.empty()) return all;
    all.push_back(whole);
    all.back().unified.clear();
    all.push_back({.layout = CgroupLayout::v2,
                   .unified = whole.unified,
                   .unified_mount_point = whole.unified_mount_point});
    return all;
}

// A cgroup that is gone with the scope, whatever the test found.
class Live {
  public:
    explicit Live(Cgroup cgroup) : cgroup_(std::move(cgroup)) { REQUIRE(cgroup::create(cgroup_)); }
    ~Live() {
        CHECK(cgroup::kill_all(cgroup_));
        for (const pid_t child : children_)
            waitpid(child, nullptr, 0);
        CHECK(cgroup::remove(cgroup_));
        for (const cgroup::Directory& directory : cgroup_.v1)
            CHECK_FALSE(kernel::exists(directory.path));
        if (!cgroup_.unified.empty()) CHECK_FALSE(kernel::exists(cgroup_.unified));
    }
    Live(const Live&) = delete;
    Live& operator=(const Live&) = delete;

    const Cgroup& get() const { return cgroup_; }
    bool has(const std::string& controller) const {
        if (cgroup_.layout == CgroupLayout::v1) return !cgroup_.directory_of(controller).empty();
        const auto controllers = kernel::read_file(cgroup_.unified + "/cgroup.controllers");
        return controllers && (" " + *controllers).find(" " + controller) != std::string::npos;
    }
    std::string read(const std::string& controller, const std::string& file) const {
        const auto text = kernel::read_file(cgroup_.directory_of(controller) + "/" + file);
        return text ? *text : text.error().message;
    }

    // A process inside, as create starts one: into the cgroup2 directory by clone3, into v1 by its own
    // writes.
    template <typename Body>
    pid_t run(Body body) {
        const Result<std::vector<Fd>> files = cgroup::open_join_files(cgroup_);
        const Result<Fd> unified = cgroup::open_unified(cgroup_);
        REQUIRE(files);
        REQUIRE(unified);
        clone_args arguments = {};
        arguments.exit_signal = SIGCHLD;
        if (*unified) {
            arguments.flags = CLONE_INTO_CGROUP;
            arguments.cgroup = static_cast<uint64_t>(unified->get());
        }
        const int child = kernel::clone3(arguments);
        if (child == 0) {
            for (const Fd& file : *files) {
                if (::write(file.get(), "0", 1) != 1) _exit(99);
            }
            body();
            _exit(0);
        }
        REQUIRE(child > 0);
        children_.push_back(child);
        return child;
    }
    int exit_status(pid_t child) {
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        std::erase(children_, child);
        return status;
    }

    // Until the child has joined everything.
    void await_processes(size_t count) const {
        for (int attempt = 0; attempt < 2000; ++attempt) {
            const auto pids = cgroup::processes(cgroup_);
            REQUIRE(pids);
            if (pids->size() >= count && joined_everywhere()) return;
            usleep(1000);
        }
        FAIL("the processes did not appear");
    }

  private:
    bool joined_everywhere() const {
        for (const cgroup::Directory& directory : cgroup_.v1) {
            const auto pids = kernel::read_file(directory.path + "/cgroup.procs");
            if (!pids || pids->empty()) return false;
        }
        return true;
    }

    Cgroup cgroup_ = {};
    std::vector<pid_t> children_ = {};
};

void sleep_forever() {
    for (;;)
        pause();
}

// Every process of it forks for ever.
void fork_bomb() {
    for (;;)
        (void)::syscall(SYS_fork);
}

}  // namespace

TEST_CASE("limits arrive in the control files") {
    for (const Cgroup& where : variants("limits")) {
        Live live{where};
        const bool is_v1 = where.layout == CgroupLayout::v1;

        if (live.has("pids")) {
            REQUIRE(cgroup::apply(live.get(), {.pids_limit = 20}));
            CHECK(live.read("pids", "pids.max") == "20\n");
        }
        if (live.has("memory")) {
            REQUIRE(cgroup::apply(live.get(), {.memory = {.limit = 64 << 20}}));
            CHECK(live.read("memory", is_v1 ? "memory.limit_in_bytes" : "memory.max") == "67108864\n");
        }
        if (live.has("cpu")) {
            REQUIRE(cgroup::apply(live.get(), {.cpu = {.shares = 1024, .quota = 50000, .period = 100000}}));
            CHECK(live.read("cpu", is_v1 ? "cpu.cfs_quota_us" : "cpu.max") ==
                  (is_v1 ? "50000\n" : "50000 100000\n"));
        }
        if (live.has("cpuset")) {
            REQUIRE(cgroup::apply(live.get(), {.cpu = {.cpus = "0"}}));
            CHECK(live.read("cpuset", "cpuset.cpus") == "0\n");
        }
    }
}

TEST_CASE("memory with swap moves up and down in one update") {
    for (const Cgroup& where : variants("memory")) {
        if (where.layout != CgroupLayout::v1 || where.directory_of("memory").empty()) continue;
        Live live{where};
        REQUIRE(cgroup::apply(live.get(), {.memory = {.limit = 64 << 20, .swap = 64 << 20}}));

        REQUIRE(cgroup::update(live.get(), {.memory = {.limit = 128 << 20, .swap = 128 << 20}}));
        CHECK(live.read("memory", "memory.limit_in_bytes") == "134217728\n");
        CHECK(live.read("memory", "memory.memsw.limit_in_bytes") == "134217728\n");

        REQUIRE(cgroup::update(live.get(), {.memory = {.limit = 32 << 20, .swap = 32 << 20}}));
        CHECK(live.read("memory", "memory.limit_in_bytes") == "33554432\n");

        REQUIRE(cgroup::update(live.get(), {.memory = {.limit = -1}}));
        CHECK(live.read("memory", "memory.memsw.limit_in_bytes") ==
              live.read("memory", "memory.limit_in_bytes"));
    }
}

TEST_CASE("a period alone leaves the quota as it is") {
    for (const Cgroup& where : variants("period")) {
        Live live{where};
        if (!live.has("cpu")) continue;
        const bool is_v1 = where.layout == CgroupLayout::v1;
        REQUIRE(cgroup::apply(live.get(), {.cpu = {.quota = 20000, .period = 100000}}));

        REQUIRE(cgroup::update(live.get(), {.cpu = {.period = 50000}}));

        CHECK(live.read("cpu", is_v1 ? "cpu.cfs_quota_us" : "cpu.max") ==
              (is_v1 ? "20000\n" : "20000 50000\n"));
    }
}

TEST_CASE("a limit below the usage is rejected when that is asked for") {
    for (const Cgroup& where : variants("usage")) {
        Live live{where};
        if (!live.has("memory")) continue;
        live.run([] {
            (void)mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
                       -1, 0);
            sleep_forever();
        });
        live.await_processes(1);
        usleep(50'000);

        const Status refused =
            cgroup::update(live.get(), {.memory = {.limit = 4096, .check_before_update = true}});

        REQUIRE_FALSE(refused);
        CHECK(refused.error().message.find("rejecting memory limit 4096") != std::string::npos);
    }
}

TEST_CASE("a limit that the kernel does not have is an error that names the field") {
    for (const Cgroup& where : variants("unknown")) {
        Live live{where};
        if (where.layout == CgroupLayout::v1 && !where.directory_of("hugetlb").empty()) continue;

        const Status applied =
            cgroup::apply(live.get(), {.hugepage_limits = {{.page_size = "3MB", .limit = 1}}});

        REQUIRE_FALSE(applied);
        CHECK(applied.error().message.find("linux.resources.hugepageLimits") != std::string::npos);
    }
}

TEST_CASE("killing everything ends a fork bomb") {
    for (const Cgroup& where : variants("bomb")) {
        Live live{where};
        if (!live.has("pids")) continue;
        REQUIRE(cgroup::apply(live.get(), {.pids_limit = 20}));
        live.run(fork_bomb);
        live.await_processes(10);

        REQUIRE(cgroup::kill_all(live.get()));

        CHECK(cgroup::processes(live.get())->empty());
        CHECK_FALSE(*cgroup::is_frozen(live.get()));
    }
}

TEST_CASE("a frozen cgroup does not run, and continues when thawed") {
    for (const Cgroup& where : variants("freeze")) {
        Live live{where};
        const pid_t child = live.run([] { usleep(50'000); });
        live.await_processes(1);

        REQUIRE(cgroup::freeze(live.get()));
        usleep(100'000);

        CHECK(*cgroup::is_frozen(live.get()));
        CHECK(waitpid(child, nullptr, WNOHANG) == 0);
        REQUIRE(cgroup::thaw(live.get()));
        CHECK_FALSE(*cgroup::is_frozen(live.get()));
        CHECK(live.exit_status(child) == 0);
    }
}

TEST_CASE("a frozen cgroup dies of SIGKILL") {
    for (const Cgroup& where : variants("frozen")) {
        Live live{where};
        const pid_t child = live.run(sleep_forever);
        live.await_processes(1);
        REQUIRE(cgroup::freeze(live.get()));

        REQUIRE(cgroup::kill_all(live.get()));

        CHECK(WTERMSIG(live.exit_status(child)) == SIGKILL);
    }
}

TEST_CASE("a cgroup that the v1 freezer froze from outside dies of SIGKILL as well") {
    for (const Cgroup& where : variants("outside")) {
        if (where.directory_of("freezer").empty() || where.layout != CgroupLayout::v1) continue;
        Live live{where};
        live.run(sleep_forever);
        live.await_processes(1);
        REQUIRE(kernel::write_file(where.directory_of("freezer") + "/freezer.state", "FROZEN"));
        CHECK(*cgroup::is_frozen(live.get()));

        CHECK(cgroup::kill_all(live.get()));
    }
}

TEST_CASE("a signal reaches every process") {
    for (const Cgroup& where : variants("signal")) {
        Live live{where};
        const pid_t first = live.run(sleep_forever);
        const pid_t second = live.run(sleep_forever);
        live.await_processes(2);

        REQUIRE(cgroup::signal_all(live.get(), SIGUSR1));

        CHECK(WTERMSIG(live.exit_status(first)) == SIGUSR1);
        CHECK(WTERMSIG(live.exit_status(second)) == SIGUSR1);
    }
}

TEST_CASE("a cgroup in use, or frozen, is not taken for another container") {
    for (const Cgroup& where : variants("used")) {
        Live live{where};
        REQUIRE(cgroup::create(live.get()));
        REQUIRE(cgroup::freeze(live.get()));
        const Status frozen = cgroup::create(live.get());
        REQUIRE(cgroup::thaw(live.get()));
        live.run(sleep_forever);
        live.await_processes(1);

        const Status used = cgroup::create(live.get());

        CHECK_FALSE(cgroup::check_unused(live.get()));
        REQUIRE_FALSE(frozen);
        CHECK(frozen.error().message.find("container's cgroup unexpectedly frozen") == 0);
        REQUIRE_FALSE(used);
        CHECK(used.error().message.find("container's cgroup is not empty: 1 process(es) found") == 0);
    }
}

TEST_CASE("a failed creation removes only what it made") {
    for (const Cgroup& where : variants("undo")) {
        Live live{where};
        Cgroup inner = live.get();
        for (cgroup::Directory& directory : inner.v1)
            directory.path += "/a/b";
        if (!inner.unified.empty()) inner.unified += "/a/b";
        // The last directory cannot be made: no cgroup has a newline in its name.
        std::string& last = inner.unified.empty() ? inner.v1.back().path : inner.unified;
        last += '\n';

        const Status created = cgroup::create(inner);

        REQUIRE_FALSE(created);
        CHECK(created.error().errno_value == EINVAL);
        for (const cgroup::Directory& directory : live.get().v1) {
            CHECK(kernel::list_subdirectories(directory.path)->empty());
        }
        if (!live.get().unified.empty()) CHECK(kernel::list_subdirectories(live.get().unified)->empty());
    }
}

TEST_CASE("cgroups nested by the container are removed, threaded and populated ones too") {
    for (const Cgroup& where : variants("nested")) {
        Live live{where};
        for (const cgroup::Directory& directory : where.v1)
            REQUIRE(kernel::make_directories(directory.path + "/a/b", 0755));
        if (!where.unified.empty()) {
            REQUIRE(kernel::make_directories(where.unified + "/a/b", 0755));
            REQUIRE(kernel::make_directory(where.unified + "/threads", 0755));
            (void)kernel::write_file(where.unified + "/threads/cgroup.type", "threaded");
        }
        // Moved deeper, as a container's own init would.
        const std::string pids = where.directory_of("freezer") + "/a/b/cgroup.procs";
        const pid_t child = live.run(sleep_forever);
        live.await_processes(1);
        (void)kernel::write_file(pids, std::to_string(child));

        CHECK(cgroup::processes(live.get())->size() == 1);
        CHECK(cgroup::remove(live.get()));
        CHECK(WTERMSIG(live.exit_status(child)) == SIGKILL);
    }
}

TEST_CASE("what is gone is removed, killed and read without complaint") {
    for (const Cgroup& where : variants("gone")) {
        CHECK(cgroup::remove(where));
        CHECK(cgroup::kill_all(where));
        CHECK(cgroup::signal_all(where, SIGUSR1));
        CHECK(cgroup::processes(where)->empty());
        CHECK_FALSE(*cgroup::is_frozen(where));
    }
    CHECK(cgroup::remove(Cgroup{}));
    CHECK(cgroup::kill_all(Cgroup{}));
    CHECK(cgroup::apply(Cgroup{}, {}));
}

TEST_CASE("the root of a hierarchy is never a container's, nor killed, nor removed") {
    for (Cgroup where : variants("root")) {
        for (cgroup::Directory& directory : where.v1)
            directory.path = directory.mount_point;
        if (!where.unified.empty()) where.unified = where.unified_mount_point;

        const Status created = cgroup::create(where);
        const Status checked = cgroup::check_unused(where);

        REQUIRE_FALSE(created);
        CHECK(created.error().message.find("linux.cgroupsPath names") == 0);
        CHECK_FALSE(checked);
        CHECK(cgroup::processes(where)->empty());
        CHECK(cgroup::remove(where));
    }
}

TEST_CASE("a device that no rule allows cannot be opened inside, and the usual ones can") {
    for (const Cgroup& where : variants("devices")) {
        Live live{where};
        if (where.layout == CgroupLayout::v1 && where.directory_of("devices").empty()) continue;
        const auto open_kmsg = [] { _exit(open("/dev/kmsg", O_RDONLY | O_NONBLOCK) >= 0 ? 0 : 1); };
        const auto open_null = [] { _exit(open("/dev/null", O_RDWR) >= 0 ? 0 : 1); };

        REQUIRE(cgroup::apply(live.get(), {}));
        CHECK(live.exit_status(live.run(open_kmsg)) != 0);
        CHECK(live.exit_status(live.run(open_null)) == 0);

        // Applied once more, the new rules take the place of the old ones.
        REQUIRE(cgroup::apply(
            live.get(), {.devices = {{.allow = true, .type = 'c', .major = 1, .minor = 11, .access = "r"}}}));
        CHECK(live.exit_status(live.run(open_kmsg)) == 0);

        REQUIRE(cgroup::update(live.get(), {.devices = {{.allow = false}}}));
        CHECK(live.exit_status(live.run(open_kmsg)) == 0);
    }
}

TEST_CASE("a process in a child cgroup is found there, and nowhere once it has ended") {
    for (const Cgroup& where : variants("deeper")) {
        if (where.unified.empty()) continue;
        Live live{where};
        const pid_t child = live.run(sleep_forever);
        live.await_processes(1);
        REQUIRE(kernel::make_directories(where.unified + "/a/b", 0755));
        REQUIRE(kernel::write_file(where.unified + "/a/b/cgroup.procs", std::to_string(child)));

        const Result<Fd> found = cgroup::open_unified_of(where, child);
        const Result<Fd> stranger = cgroup::open_unified_of(where, getpid());

        REQUIRE(found);
        REQUIRE(*found);
        char path[256] = {};
        const std::string link = "/proc/self/fd/" + std::to_string(found->get());
        REQUIRE(readlink(link.c_str(), path, sizeof path - 1) > 0);
        CHECK(std::string{path} == where.unified + "/a/b");
        REQUIRE(stranger);
        CHECK_FALSE(*stranger);
    }
}

TEST_CASE("a delegated cgroup belongs to its user, and its limits do not") {
    for (const Cgroup& where : variants("delegated")) {
        if (where.layout != CgroupLayout::v2) continue;
        Live live{where};

        REQUIRE(cgroup::give_to(where, 65534));

        struct stat facts = {};
        REQUIRE(stat(where.unified.c_str(), &facts) == 0);
        CHECK(facts.st_uid == 65534);
        REQUIRE(stat((where.unified + "/cgroup.procs").c_str(), &facts) == 0);
        CHECK(facts.st_uid == 65534);
        REQUIRE(stat((where.unified + "/cgroup.freeze").c_str(), &facts) == 0);
        CHECK(facts.st_uid == 0);
    }
}

TEST_CASE("what root may make is kept whole") {
    for (const Cgroup& where : variants("permitted")) {
        const Result<Cgroup> kept = cgroup::keep_permitted(where, false, {.pids_limit = 5});

        REQUIRE(kept);
        CHECK(*kept == where);
    }
}

TEST_CASE("a user to whom nothing is delegated keeps no cgroup, unless one is asked for") {
    for (const Cgroup& where : variants("refused")) {
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            if (setresuid(65534, 65534, 65534) != 0) _exit(9);
            const Result<Cgroup> kept = cgroup::keep_permitted(where, false, {});
            const Result<Cgroup> asked = cgroup::keep_permitted(where, true, {});
            if (!kept || !kept->v1.empty() || !kept->unified.empty()) _exit(1);
            Cgroup without_unified = where;
            if (where.layout != CgroupLayout::v2) without_unified.unified.clear();
            if (!asked || *asked != without_unified) _exit(2);
            const Result<Cgroup> limited = cgroup::keep_permitted(where, false, {.pids_limit = 5});
            const bool is_v2 = where.layout == CgroupLayout::v2;
            if (is_v2 == static_cast<bool>(limited)) _exit(3);
            if (is_v2 && limited.error().message.find("rootless needs no limits + no cgrouppath") != 0)
                _exit(4);
            _exit(0);
        }
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK(WEXITSTATUS(status) == 0);
    }
}
