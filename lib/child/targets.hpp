// Targets: container paths resolved once, inside the root, to descriptors. Private to lib/child but for the two that take a root.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "child/context.hpp"

namespace rung::child {

enum class TargetKind { directory, file };

// As resolve() and resolve_or_make() below, in the directory `root`.
int resolve_in(int root, const char* path);
int resolve_or_make_in(int root, const char* path, TargetKind kind);

// An O_PATH descriptor of `path` in the root, or a negative errno. No symlink leads out of the root and no
// magic link is followed.
int resolve(const Context& context, const char* path);

// The same without any symlink: ELOOP when there is one in `path`.
int resolve_plain(const Context& context, const char* path);

// The same for a directory that is reached without any symlink: ELOOP when there is one in `path`, ENOTDIR
// for anything but a directory.
int resolve_plain_directory(const Context& context, const char* path);

// The same for what lies below the mount at `mount`: ELOOP when a symlink of that mount is in the way.
int resolve_plain_piece(const Context& context, const char* path, const char* mount);

// As resolve(), with what is missing made: parents 0755, then a directory or an empty file. A dangling
// symlink's target is made inside the root (crun#426).
int resolve_or_make(const Context& context, const char* path, TargetKind kind);

// The same of a last component that is a symlink: itself, not what it points to.
int resolve_or_make_itself(const Context& context, const char* path, TargetKind kind);

// The directory that holds `path`'s last component, made when missing; `name` gets where that component
// starts in `path`.
int resolve_parent(const Context& context, const char* path, const char*& name);

// From here on every target is looked for below `root`, which is taken over.
void keep_root(Context& context, int root);

// The kind of target that suits what `source` refers to (fstat(2)).
TargetKind kind_of(int source);

// Moves the detached mount `tree` onto the descriptor `target`; 0 or a negative errno.
int attach(int tree, int target);

}  // namespace rung::child
