// What is bound already is looked for first: asking a plan whether it takes values evaluates all of
// its expressions.
#include "tenon/runtime/part_cases.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::runtime {
namespace {

// Whether the case is meant for such values, or may take them. A plan for some ones takes the
// other variables to be at least 1; any other expects 0 of those that are counts.
bool Matches(const BoundCase& of_part, const Dim::Values& values, bool may_have_zeros) {
  const bool has_one =
      std::ranges::any_of(of_part.known, [](const auto& known) { return known.second == 1; });
  return std::ranges::all_of(values, [&](const auto& value) {
    const auto known = of_part.known.find(value.first);
    if (known != of_part.known.end()) return known->second == value.second;
    return value.second != 0 ||
           (may_have_zeros && !has_one && Dim::Symbol(value.first).LowerBound() == 0);
  });
}

[[noreturn]] void RefuseZeros(const Dim::Values& values) {
  std::vector<std::string> zeros;
  for (const auto& [name, value] : values) {
    if (value == 0) zeros.push_back(name);
  }
  throw InvalidArgument(StrCat("the saved program has no kernels for the case that ",
                               StrJoin(zeros, " and "), zeros.size() == 1 ? " is 0" : " are 0",
                               "; run the model itself for such values"));
}

Executable Bind(const std::vector<BoundCase>& cases, const Dim::Values& values) {
  const BoundCase* first = nullptr;
  for (const BoundCase& of_part : cases) {
    if (!Matches(of_part, values, true)) continue;
    if (std::optional<Executable> found = of_part.binder->Find(values)) return *std::move(found);
    if (of_part.binder->Takes(values)) return of_part.binder->At(values);
    if (first == nullptr && Matches(of_part, values, false)) first = &of_part;
  }
  if (first == nullptr) RefuseZeros(values);
  return first->binder->At(values);  // refuses them in words
}

}  // namespace

ProgramPart MakePart(std::vector<std::string> symbols, std::vector<BoundCase> cases) {
  if (symbols.empty()) return {.executable = cases[0].binder->At({})};
  Executable shown({.plan = cases[0].binder->plan(), .kernels = {}, .constants = {}});
  return {.executable = std::move(shown),
          .symbols = std::move(symbols),
          .bind = [cases = std::move(cases)](const Dim::Values& values) {
            return Bind(cases, values);
          }};
}

}  // namespace tenon::runtime
