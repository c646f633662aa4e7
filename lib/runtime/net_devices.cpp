// A device loses its addresses on the way, so they are read before and added after. Renaming and moving are one request: no moment at which
// the new name could clash on the host.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/net_devices.hpp"

#include <fcntl.h>
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "base/log.hpp"
#include "kernel/files.hpp"
#include "kernel/route_socket.hpp"
#include "kernel/syscalls.hpp"

namespace rung::runtime {
namespace {

using kernel::RouteMessage;
using kernel::RouteSocket;

template <typename T>
T first_of(std::string_view body) {
    T value{};
    std::memcpy(&value, body.data(), std::min(body.size(), sizeof value));
    return value;
}

template <typename T>
std::string as_text(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

// Both sockets stay in the namespace that they were made in.
struct Place {
    RouteSocket route;
    Fd control = {};  // for the ioctls of netdevice(7)
};

Result<Place> open_place() {
    RouteSocket route = TRY(RouteSocket::open());
    Fd control{socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    if (!control) return errno_error("socket", errno);
    return Place{.route = std::move(route), .control = std::move(control)};
}

// This process has one thread, and is back in its own namespace when the function returns.
Result<Place> open_place_in(const Fd& network) {
    const Fd own = TRY(kernel::open_at(AT_FDCWD, "/proc/self/ns/net", O_RDONLY));
    if (const int joined = kernel::setns(network.get(), CLONE_NEWNET); joined < 0)
        return errno_error("enter the container's network namespace", -joined);
    auto place = open_place();
    if (const int back = kernel::setns(own.get(), CLONE_NEWNET); back < 0)
        return errno_error("come back from the container's network namespace", -back);
    return place;
}

ifreq named(const std::string& name) {
    ifreq request{};
    std::memcpy(request.ifr_name, name.data(), std::min(name.size(), sizeof request.ifr_name - 1));
    return request;
}

Result<int> index_of(const Place& place, const std::string& name) {
    ifreq request = named(name);
    if (ioctl(place.control.get(), SIOCGIFINDEX, &request) < 0) return errno_error(name, errno);
    return request.ifr_ifindex;
}

RouteMessage link_message(int index, unsigned int flags, unsigned int change) {
    ifinfomsg link{};
    link.ifi_index = index;
    link.ifi_flags = flags;
    link.ifi_change = change;
    return {.type = RTM_NEWLINK, .body = as_text(link)};
}

Status set_up(Place& place, int index) {
    return place.route.request(link_message(index, IFF_UP, IFF_UP));
}

Result<bool> is_up(const Place& place, const std::string& name) {
    ifreq request = named(name);
    if (ioctl(place.control.get(), SIOCGIFFLAGS, &request) < 0) return errno_error(name, errno);
    return (request.ifr_flags & IFF_UP) != 0;
}

// An address of the answer to RTM_GETADDR, as the request that adds it again; nothing for one that belongs to the host's network.
struct Address {
    ifaddrmsg header = {};
    std::string attributes = {};
};

std::optional<Address> lasting_address(std::string_view body, int index) {
    if (body.size() < sizeof(ifaddrmsg)) return {};
    Address address{.header = first_of<ifaddrmsg>(body)};
    uint32_t flags = address.header.ifa_flags;
    body.remove_prefix(std::min(size_t{NLMSG_ALIGN(sizeof(ifaddrmsg))}, body.size()));
    while (body.size() >= sizeof(rtattr)) {
        const auto attribute = first_of<rtattr>(body);
        if (attribute.rta_len < sizeof attribute || attribute.rta_len > body.size()) break;
        const std::string_view value = body.substr(RTA_LENGTH(0), attribute.rta_len - RTA_LENGTH(0));
        if (attribute.rta_type == IFA_FLAGS) flags = first_of<uint32_t>(value);
        // IFA_LABEL is left out: it holds the interface's old name.
        const bool kept = attribute.rta_type == IFA_ADDRESS || attribute.rta_type == IFA_LOCAL ||
                          attribute.rta_type == IFA_BROADCAST;
        if (kept) kernel::add_attribute(address.attributes, attribute.rta_type, value);
        body.remove_prefix(std::min<size_t>(RTA_ALIGN(attribute.rta_len), body.size()));
    }
    const bool wanted = static_cast<int>(address.header.ifa_index) == index &&
                        address.header.ifa_scope == RT_SCOPE_UNIVERSE && (flags & IFA_F_PERMANENT) != 0;
    return wanted ? std::optional{std::move(address)} : std::nullopt;
}

Result<std::vector<Address>> addresses_of(Place& place, int index) {
    std::vector<Address> addresses;
    for (const RouteMessage& message :
         TRY(place.route.dump({.type = RTM_GETADDR, .body = as_text(ifaddrmsg{})}))) {
        if (auto address = lasting_address(message.body, index)) addresses.push_back(*std::move(address));
    }
    return addresses;
}

Status add_address(Place& place, int index, const Address& address) {
    ifaddrmsg header = address.header;
    header.ifa_index = static_cast<uint32_t>(index);
    header.ifa_flags = 0;
    return place.route.request({.type = RTM_NEWADDR, .body = as_text(header) + address.attributes},
                               NLM_F_CREATE | NLM_F_EXCL);
}

Result<std::vector<int>> indexes(Place& place) {
    std::vector<int> all;
    for (const RouteMessage& message :
         TRY(place.route.dump({.type = RTM_GETLINK, .body = as_text(ifinfomsg{})})))
        all.push_back(first_of<ifinfomsg>(message.body).ifi_index);
    return all;
}

Status change_namespace(Place& host, int index, const std::string& name, const Fd& network) {
    RouteMessage move = link_message(index, 0, 0);
    kernel::add_attribute(move.body, IFLA_IFNAME, std::string_view{name.c_str(), name.size() + 1});
    kernel::add_attribute(move.body, IFLA_NET_NS_FD, as_text(static_cast<uint32_t>(network.get())));
    return host.route.request(move);
}

struct Way {
    Place host;
    Place inside;
    Fd network = {};
};

// "eth%d": the kernel picks the number, and the device is the one that was not there before.
Result<int> index_inside(Way& way, const std::string& name, const std::vector<int>& before) {
    if (name.find('%') == std::string::npos) return index_of(way.inside, name);
    for (const int index : TRY(indexes(way.inside))) {
        if (std::find(before.begin(), before.end(), index) == before.end()) return index;
    }
    return errno_error(name, ENODEV);
}

Status move_device(Way& way, const std::string& name, const std::string& name_inside) {
    const int index = TRY(index_of(way.host, name));
    // The kernel would find out after the move, and the device would be gone with the container.
    if (index_of(way.inside, name_inside)) return errno_error(name_inside, EEXIST);
    const bool was_up = TRY(is_up(way.host, name));
    // Before it goes down: IPv6 addresses do not survive that.
    const auto addresses = TRY(addresses_of(way.host, index));
    const auto before = TRY(indexes(way.inside));
    TRY(way.host.route.request(link_message(index, 0, IFF_UP)).context("set it down"));

    if (auto moved = change_namespace(way.host, index, name_inside, way.network); !moved) {
        if (was_up && !set_up(way.host, index)) log::warn("the interface " + name + " stayed down");
        return moved;
    }
    const int inside = TRY(index_inside(way, name_inside, before));
    for (const Address& address : addresses)
        TRY(add_address(way.inside, inside, address).context("give it its addresses"));
    return set_up(way.inside, inside).context("set it up");
}

}  // namespace

Status move_net_devices(const std::map<std::string, std::string>& devices, pid_t pid) {
    const std::string path = "/proc/" + std::to_string(pid) + "/ns/net";
    Fd network = TRY(kernel::open_at(AT_FDCWD, path, O_RDONLY));
    Place inside = TRY(open_place_in(network));
    Way way{.host = TRY(open_place()), .inside = std::move(inside), .network = std::move(network)};
    for (const auto& [name, other] : devices) {
        const std::string& name_inside = other.empty() ? name : other;
        TRY(move_device(way, name, name_inside)
                .context("linux.netDevices: move " + name + " to the container as " + name_inside));
    }
    return {};
}

}  // namespace rung::runtime
