// rung --version: lines that containerd, Docker and podman read by their first words.
// SPDX-License-Identifier: Apache-2.0
#include "build_info.hpp"
#include "standard_streams.hpp"
#include "verbs.hpp"

namespace rung::cli {

Result<int> perform(const runtime::Globals&, const Version& verb) {
    // go-runc looks for this one name.
    const std::string name = verb.program == "runc" ? "runc" : "rung";
    // The last line is crun's, whose tests choose by it what to try.
    TRY(print(name + " version " + rung_version() + "\ncommit: " + commit() + "\nspec: " + spec_version() +
              "\nlibseccomp: " + libseccomp_version() +
              "\n+APPARMOR +CAP +EBPF +SECCOMP +SELINUX +SYSTEMD\n"));
    return 0;
}

}  // namespace rung::cli
