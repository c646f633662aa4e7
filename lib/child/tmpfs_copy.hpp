// What tmpcopyup does: the content of a directory, in another. Private to lib/child.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rung::child {

// Copies what is in the directory `source` into the directory `target`, both descriptors: modes, owners,
// extended attributes, symlinks as they are, device nodes. 0 or a negative errno; ELOOP when the directories
// are nested deeper than 32.
int copy_content(int source, int target);

}  // namespace rung::child
