// Properties travel as text; here each value becomes what its signature says. sd_bus_message_append(3).
// SPDX-License-Identifier: Apache-2.0
#include "message.hpp"

#include <cerrno>
#include <charconv>
#include <cstdlib>

namespace rung::systemd {

namespace {

Error bad_value(const Property& property, const std::string& text) {
    return Error{.message =
                     "property " + property.name + ": \"" + text + "\" is not of type " + property.type};
}

template <typename Number>
Status append_number(sd_bus_message* message, const Property& property, char type, const std::string& text) {
    Number number = {};
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return bad_value(property, text);
    const int result = sd_bus_message_append_basic(message, type, &number);
    return result < 0 ? Status{errno_error("property " + property.name, -result)} : Status{};
}

Status append_basic(sd_bus_message* message, const Property& property, char type, const std::string& text) {
    switch (type) {
        case 'y':
            return append_number<uint8_t>(message, property, type, text);
        case 'i':
            return append_number<int32_t>(message, property, type, text);
        case 'u':
            return append_number<uint32_t>(message, property, type, text);
        case 'x':
            return append_number<int64_t>(message, property, type, text);
        case 't':
            return append_number<uint64_t>(message, property, type, text);
        case 'd':
            return append_number<double>(message, property, type, text);
        case 'b': {
            const int flag = text == "true" ? 1 : 0;
            if (flag == 0 && text != "false") return bad_value(property, text);
            const int result = sd_bus_message_append_basic(message, type, &flag);
            return result < 0 ? Status{errno_error("property " + property.name, -result)} : Status{};
        }
        case 's': {
            const int result = sd_bus_message_append_basic(message, type, text.c_str());
            return result < 0 ? Status{errno_error("property " + property.name, -result)} : Status{};
        }
        default:
            return bad_value(property, text);
    }
}

// "a(ss)": values two by two. "as": one by one.
Status append_array(sd_bus_message* message, const Property& property) {
    const std::string element = property.type.substr(1);
    const bool is_struct = element.size() > 2 && element.front() == '(' && element.back() == ')';
    const std::string members = is_struct ? element.substr(1, element.size() - 2) : element;
    if (property.values.size() % members.size() != 0) return bad_value(property, "");
    if (const int result = sd_bus_message_open_container(message, 'a', element.c_str()); result < 0)
        return errno_error("property " + property.name, -result);
    for (size_t at = 0; at < property.values.size();) {
        if (is_struct && sd_bus_message_open_container(message, 'r', members.c_str()) < 0)
            return bad_value(property, "");
        for (const char type : members)
            TRY(append_basic(message, property, type, property.values[at++]));
        if (is_struct && sd_bus_message_close_container(message) < 0) return bad_value(property, "");
    }
    (void)sd_bus_message_close_container(message);  // fails only when what was opened is incomplete
    return {};
}

Status append_value(sd_bus_message* message, const Property& property) {
    if (property.type.size() > 1 && property.type.front() == 'a') return append_array(message, property);
    if (property.type.size() != 1 || property.values.size() != 1) return bad_value(property, "");
    return append_basic(message, property, property.type.front(), property.values.front());
}

}  // namespace

Status append_properties(sd_bus_message* message, const std::vector<Property>& properties) {
    if (sd_bus_message_open_container(message, 'a', "(sv)") < 0) return errno_error("properties", ENOMEM);
    for (const Property& property : properties) {
        if (sd_bus_message_open_container(message, 'r', "sv") < 0 ||
            sd_bus_message_append_basic(message, 's', property.name.c_str()) < 0 ||
            sd_bus_message_open_container(message, 'v', property.type.c_str()) < 0) {
            return bad_value(property, "");
        }
        TRY(append_value(message, property));
        (void)sd_bus_message_close_container(message);
        (void)sd_bus_message_close_container(message);
    }
    (void)sd_bus_message_close_container(message);
    return {};
}

}  // namespace rung::systemd
