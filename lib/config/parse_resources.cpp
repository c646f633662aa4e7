// linux.resources, the part of config.json that `update` takes alone.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "config/quoted.hpp"
#include "config/readers.hpp"

namespace rung::config {
namespace {

// runc reads any negative limit as "no limit"; the specification's word for it is -1.
std::optional<int64_t> negative_means_unlimited(std::optional<int64_t> limit) {
    if (!limit) return {};
    return std::max<int64_t>(*limit, -1);
}

DeviceRule read_device_rule(const Object& object) {
    DeviceRule rule;
    rule.allow = object.boolean("allow");
    const std::string type = object.text("type");
    if (type.empty()) {
        rule.type = 'a';
    } else if (type == "a" || type == "b" || type == "c") {
        rule.type = type[0];
    } else {
        object.refuse("type", "expected \"a\", \"b\" or \"c\", not " + quoted(type));
    }
    rule.major = object.int64("major");
    rule.minor = object.int64("minor");
    // Other letters mean nothing, as for runc: they give no access and take none away.
    const std::string access = object.text("access");
    rule.access.clear();
    for (const char letter : {'r', 'w', 'm'}) {
        if (access.find(letter) != std::string::npos) rule.access += letter;
    }
    if (rule.access.empty())
        object.refuse("access", "expected one or more of r, w and m, not " + quoted(access));
    return rule;
}

MemoryResources read_memory(const Object& object) {
    return {.limit = object.int64("limit"),
            .reservation = object.int64("reservation"),
            .swap = object.int64("swap"),
            .kernel = object.int64("kernel"),
            .kernel_tcp = object.int64("kernelTCP"),
            .swappiness = object.uint64("swappiness"),
            .disable_oom_killer = object.optional_boolean("disableOOMKiller"),
            .use_hierarchy = object.optional_boolean("useHierarchy"),
            .check_before_update = object.optional_boolean("checkBeforeUpdate")};
}

CpuResources read_cpu(const Object& object) {
    return {.shares = object.uint64("shares"),
            .quota = negative_means_unlimited(object.int64("quota")),
            .burst = object.uint64("burst"),
            .period = object.uint64("period"),
            .realtime_runtime = object.int64("realtimeRuntime"),
            .realtime_period = object.uint64("realtimePeriod"),
            .cpus = object.text("cpus"),
            .mems = object.text("mems"),
            .idle = object.int64("idle")};
}

std::vector<ThrottleDevice> read_throttles(const Object& block_io, std::string_view name) {
    std::vector<ThrottleDevice> devices;
    for (const Object& object : block_io.objects(name)) {
        devices.push_back({.major = object.int64("major").value_or(0),
                           .minor = object.int64("minor").value_or(0),
                           .rate = object.uint64("rate").value_or(0)});
    }
    return devices;
}

BlockIoResources read_block_io(const Object& object) {
    BlockIoResources block_io;
    block_io.weight = object.uint16("weight");
    block_io.leaf_weight = object.uint16("leafWeight");
    for (const Object& device : object.objects("weightDevice")) {
        block_io.weight_devices.push_back({.major = device.int64("major").value_or(0),
                                           .minor = device.int64("minor").value_or(0),
                                           .weight = device.uint16("weight"),
                                           .leaf_weight = device.uint16("leafWeight")});
    }
    block_io.read_bps = read_throttles(object, "throttleReadBpsDevice");
    block_io.write_bps = read_throttles(object, "throttleWriteBpsDevice");
    block_io.read_iops = read_throttles(object, "throttleReadIOPSDevice");
    block_io.write_iops = read_throttles(object, "throttleWriteIOPSDevice");
    return block_io;
}

}  // namespace

Resources read_resources(const Object& object) {
    Resources resources;
    for (const Object& rule : object.objects("devices"))
        resources.devices.push_back(read_device_rule(rule));
    resources.memory = read_memory(object.object("memory"));
    resources.cpu = read_cpu(object.object("cpu"));
    resources.pids_limit = negative_means_unlimited(object.object("pids").int64("limit"));
    const Object block_io = object.object("blockIO");
    resources.block_io = read_block_io(block_io);
    for (const Object& limit : object.objects("hugepageLimits")) {
        resources.hugepage_limits.push_back(
            {.page_size = limit.text("pageSize"), .limit = limit.uint64("limit").value_or(0)});
    }
    const Object network = object.object("network");
    resources.network_class_id = network.uint32("classID");
    for (const Object& interface : network.objects("priorities")) {
        resources.network_priorities.push_back(
            {.name = interface.text("name"), .priority = interface.uint32("priority").value_or(0)});
    }
    const Object rdma = object.object("rdma");
    for (const auto& [device, limit] : rdma.members()) {
        resources.rdma[device] = {.handles = limit.uint32("hcaHandles"),
                                  .objects = limit.uint32("hcaObjects")};
    }
    resources.unified = object.text_map("unified");
    return resources;
}

}  // namespace rung::config
