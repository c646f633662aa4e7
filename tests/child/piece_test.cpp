// A granted piece of a mount: found without following what others may have put into that mount.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <sys/mount.h>

#include "child/sandbox.hpp"

using namespace rung;
using namespace rung::child;

TEST_CASE("a kept piece is not looked for behind a symlink of the mount that holds it") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        make_directory(sandbox.rootfs() + "/etc");
        make_directory(sandbox.outside() + "/plain");
        make_symlink("/etc", sandbox.outside() + "/link");
        (void)sandbox.bind_root();
        (void)perform(sandbox.context, BindHostPath{.source = sandbox.outside(), .target = "/data"});
        int slots[] = {-1, -1};
        sandbox.context.descriptors.slots = slots;
        const auto keep = [&](Slot slot, const std::string& path) {
            return text_of(perform(sandbox.context, KeepTree{.kept = slot, .path = path, .mount = "/data"}));
        };
        return keep(0, "/data/plain") + " " + keep(1, "/data/link") + " " + keep(1, "/data/missing");
    });

    CHECK(seen == "done ELOOP ENOENT");
}

TEST_CASE("a kept piece is not put back behind a symlink that has come meanwhile") {
    const std::string seen = in_sandbox([](Sandbox& sandbox) {
        make_directory(sandbox.rootfs() + "/etc");
        make_directory(sandbox.outside() + "/piece");
        (void)sandbox.bind_root();
        (void)perform(sandbox.context, BindHostPath{.source = sandbox.outside(), .target = "/data"});
        int slots[] = {-1};
        sandbox.context.descriptors.slots = slots;
        const std::string kept =
            text_of(perform(sandbox.context, KeepTree{.kept = 0, .path = "/data/piece", .mount = "/data"}));
        (void)rename((sandbox.outside() + "/piece").c_str(), (sandbox.outside() + "/gone").c_str());
        make_symlink("/etc", sandbox.outside() + "/piece");
        return kept + " " +
               text_of(perform(sandbox.context,
                               AttachTree{.tree = 0, .target = "/data/piece", .mount = "/data"}));
    });

    CHECK(seen == "done ELOOP");
}
