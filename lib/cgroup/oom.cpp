// v1 announces through an eventfd, registered in cgroup.event_control (admin-guide/cgroup-v1/memory, "OOM Control"), v2 by making
// memory.events ready with POLLPRI. Both announce more than kills, so the counter decides: an ancestor's limit that kills a
// stranger is no event of this cgroup (containerd#6323).
// SPDX-License-Identifier: Apache-2.0
#include "cgroup/oom.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cgroup/stat_files.hpp"
#include "kernel/files.hpp"

namespace rung::cgroup {

namespace {

// A control file is read anew from its start.
OomCounts read_counts(const Fd& file) {
    char text[4096];
    const ssize_t length = ::pread(file.get(), text, sizeof text, 0);
    if (length <= 0) return {};
    return parse_oom_counts({text, static_cast<size_t>(length)});
}

}  // namespace

OomCounts parse_oom_counts(std::string_view text) {
    const auto counts = parse_counts(text);
    const auto kills = counts.find("oom_kill");
    const auto waits = counts.find("under_oom");
    return {.kills = kills != counts.end() ? kills->second : 0,
            .waits = waits != counts.end() && waits->second != 0};
}

Result<OomWatch> OomWatch::open(const Cgroup& cgroup) {
    OomWatch watch;
    const std::string directory = cgroup.directory_of("memory");
    const bool is_v2 = cgroup.layout == kernel::CgroupLayout::v2;
    const std::string file = directory + (is_v2 ? "/memory.events" : "/memory.oom_control");
    if (directory.empty() || !kernel::exists(file)) return watch;

    watch.counts_ = TRY(kernel::open_at(AT_FDCWD, file, O_RDONLY));
    if (is_v2) {
        watch.descriptor_ = TRY(kernel::open_at(AT_FDCWD, file, O_RDONLY));
        watch.poll_events_ = POLLPRI;
    } else {
        watch.descriptor_ = Fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
        if (!watch.descriptor_) return errno_error("eventfd", errno);
        watch.poll_events_ = POLLIN;
        const std::string registration =
            std::to_string(watch.descriptor_.get()) + " " + std::to_string(watch.counts_.get());
        TRY(kernel::write_file(directory + "/cgroup.event_control", registration));
    }
    // Reading also arms v2's readiness.
    watch.acknowledge();
    watch.last_ = read_counts(watch.counts_);
    return watch;
}

void OomWatch::acknowledge() const {
    if (poll_events_ == POLLPRI) (void)read_counts(descriptor_);
    eventfd_t announced = 0;
    if (poll_events_ == POLLIN) (void)::eventfd_read(descriptor_.get(), &announced);  // there may be none
}

bool OomWatch::saw_more() {
    if (!counts_) return false;
    const OomCounts now = read_counts(counts_);
    const bool more = now.kills > last_.kills || (now.waits && !last_.waits);
    last_ = now;
    return more;
}

}  // namespace rung::cgroup
