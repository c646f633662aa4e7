// Sandbox: a process with mount namespace and rootfs of its own, in which a test drives single steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "child/context.hpp"

namespace rung::child {

// What a body works with, in the process that runs it. `base` holds "rootfs" and "outside", and is removed
// afterwards.
struct Sandbox {
    std::string base = {};
    Program program = {};
    Context context{.program = program};

    std::string rootfs() const { return base + "/rootfs"; }
    std::string outside() const { return base + "/outside"; }
    // Binds the rootfs, as every container with a mount namespace begins.
    Outcome bind_root() { return perform(context, BindRootfs{.path = rootfs()}); }
};

// Runs `body` with the namespaces `flags` (CLONE_NEW*; CLONE_NEWNS always) and umask 0, and gives back what
// it returned.
using Body = std::function<std::string(Sandbox&)>;
std::string in_sandbox(const Body& body, unsigned long flags = 0);

// "done", or the errno's name: "ENOENT".
std::string text_of(const Outcome& outcome);
std::string text_of(int result);

// Files as text, for arranging and checking.
void make_directory(const std::string& path, mode_t mode = 0755);
void make_symlink(const std::string& content, const std::string& path);
void write_text(const std::string& path, const std::string& text);
std::string read_text(const std::string& path);  // or the errno's name
// "directory 0755", "file 0644", "symlink to x", "char 1:3 0666", "fifo 0600"; or the errno's name.
std::string look_at(const std::string& path);
// Names in the directory, sorted and separated by blanks.
std::string names_in(const std::string& path);
// What writing a file of that name ends in: "done" or the errno's name.
std::string try_write(const std::string& path);

}  // namespace rung::child
