// rung update: from flags, or a file with linux.resources, to the container's limits.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include "base/log.hpp"
#include "config/parse.hpp"
#include "kernel/files.hpp"
#include "limit_values.hpp"
#include "verbs.hpp"

namespace rung::cli {

namespace {

Result<std::string> read_source(const std::string& name) {
    if (name != "-") return kernel::read_file(name);
    const Fd input{fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)};
    if (!input) return errno_error("standard input", errno);
    return kernel::read_all(input, "standard input");
}

Status refuse_cache_schemata(const Update& verb) {
    for (const auto& [flag, words] : {std::pair{"l3-cache-schema", "Intel RDT/CAT: l3 cache schema"},
                                      std::pair{"mem-bw-schema", "Intel RDT/MBA: memory bandwidth schema"}}) {
        if (verb.limits.contains(flag)) return Error{.message = std::string{words} + " is not enabled"};
    }
    return {};
}

// No current kernel has such a limit (Linux 5.16), and some engines still name it.
void forget_kernel_memory(config::MemoryResources& memory) {
    if (memory.kernel.value_or(0) != 0 || memory.kernel_tcp.value_or(0) != 0)
        log::warn("Kernel memory settings are ignored and will be removed");
    memory.kernel.reset();
    memory.kernel_tcp.reset();
}

}  // namespace

Result<int> perform(const runtime::Globals& globals, const Update& verb) {
    config::Resources resources = verb.resources.empty()
                                      ? TRY(resources_of(verb.limits))
                                      : TRY(config::parse_resources(TRY(read_source(verb.resources))));
    TRY(refuse_cache_schemata(verb));
    forget_kernel_memory(resources.memory);
    TRY(runtime::update(globals, verb.id, resources));
    return 0;
}

}  // namespace rung::cli
