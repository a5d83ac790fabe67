// Gives names, no two of which are equal.
#ifndef TENON_COMPILER_PLAN_UNIQUE_NAMES_H_
#define TENON_COMPILER_PLAN_UNIQUE_NAMES_H_

#include <string>
#include <string_view>
#include <unordered_map>

#include "tenon/support/strings.h"

namespace tenon::compiler {

class UniqueNames {
 public:
  // `name`, or `name` with `separator` and the next free number after it.
  std::string Unique(const std::string& name, std::string_view separator) {
    std::string unique = name;
    while (taken_.contains(unique)) unique = StrCat(name, separator, ++taken_[name]);
    taken_.emplace(unique, 0);
    return unique;
  }

 private:
  std::unordered_map<std::string, int> taken_;
};

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_PLAN_UNIQUE_NAMES_H_
