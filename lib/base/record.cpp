// Records and their escapes.
// SPDX-License-Identifier: Apache-2.0
#include "base/record.hpp"

namespace rung {

std::string to_line(const Record& record) {
    std::string line;
    for (const std::string& field : record) {
        if (&field != &record.front()) line += '\t';
        for (const char letter : field) {
            switch (letter) {
                case '\t':
                    line += "\\t";
                    break;
                case '\n':
                    line += "\\n";
                    break;
                case '\\':
                    line += "\\\\";
                    break;
                default:
                    line += letter;
            }
        }
    }
    return line;
}

Record from_line(std::string_view line) {
    Record record(1);
    for (size_t at = 0; at < line.size(); ++at) {
        std::string& field = record.back();
        if (line[at] == '\t') {
            record.emplace_back();
        } else if (line[at] != '\\' || at + 1 == line.size()) {
            field += line[at];
        } else if (const char escaped = line[++at]; escaped == 't') {
            field += '\t';
        } else if (escaped == 'n') {
            field += '\n';
        } else if (escaped == '\\') {
            field += '\\';
        } else {
            field += '\\';
            field += escaped;
        }
    }
    return record;
}

}  // namespace rung
