// POSIX extended regular expressions, as crun's.
// SPDX-License-Identifier: Apache-2.0
#include "matching.hpp"

#include <regex.h>

namespace rung::cli {

namespace {

// regcomp(3) and regfree(3).
class Expression {
  public:
    Expression() = default;
    Expression(const Expression&) = delete;
    Expression& operator=(const Expression&) = delete;
    ~Expression() {
        if (compiled_) regfree(&expression_);
    }

    Status compile(const std::string& text) {
        const int error = regcomp(&expression_, text.c_str(), REG_EXTENDED | REG_NOSUB);
        compiled_ = error == 0;
        if (compiled_) return {};
        char reason[128] = "";
        (void)regerror(error, &expression_, reason, sizeof reason);
        return Error{.message = "--regex: " + text + ": " + reason};
    }
    bool fits(const std::string& text) const {
        return regexec(&expression_, text.c_str(), 0, nullptr, 0) == 0;
    }

  private:
    regex_t expression_ = {};
    bool compiled_ = false;
};

}  // namespace

Status for_each_matching(const runtime::Globals& globals, const std::string& id, bool regex,
                         const std::function<Status(const std::string&)>& act) {
    if (!regex) return act(id);
    Expression expression;
    TRY(expression.compile(id));
    Status result;
    for (const runtime::ContainerInfo& container : TRY(runtime::list(globals))) {
        if (!expression.fits(container.id)) continue;
        Status done = act(container.id).context(container.id);
        if (!done && result) result = std::move(done);
    }
    return result;
}

}  // namespace rung::cli
