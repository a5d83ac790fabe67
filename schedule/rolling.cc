// With a window of `length` elements that moves by `step`, iteration v computes the last `step`
// elements of its window. Earlier iterations have computed the `length - step` elements before
// them; iteration 0 computes those, too. `length` places are enough: an element takes the place of
// the one `length` before it, which no later iteration reads.
#include "tenon/schedule/rolling.h"

#include <optional>
#include <string>
#include <variant>

#include "tenon/loop/print.h"
#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {

using loop::Expr;

namespace {

using Found = std::variant<RollingRegion, std::string>;

// The window, or why there is none.
Found Find(const std::vector<Range>& region, const IterVar& axis) {
  std::optional<std::size_t> slides;
  for (std::size_t d = 0; d < region.size(); ++d) {
    if (loop::UsesVar(region[d].extent, axis.var))
      return "iterations read parts of different size; they must be alike";
    if (!loop::UsesVar(region[d].min, axis.var)) continue;
    if (slides) return "the window moves along two dimensions; it may move along one";
    slides = d;
  }
  if (!slides) return "all iterations read the same part; computing it at a loop around is enough";
  const Range& window = region[*slides];
  const Expr moved =
      loop::Simplify(loop::Substitute(window.min, {{axis.var, Expr(axis.var) + 1}}) - window.min);
  const auto* step = moved.As<loop::IntImmNode>();
  const auto* length = window.extent.As<loop::IntImmNode>();
  if (step == nullptr || length == nullptr || step->value < 1)
    return StrCat("the window begins at ", loop::Print(window.min), " and has ",
                  loop::Print(window.extent),
                  " elements; it must move forward by a constant number of elements and have a "
                  "constant size");
  if (step->value >= length->value)
    return StrCat("the window has ", length->value, " elements and moves by ", step->value,
                  ", so that iterations share nothing");
  RollingRegion rolling{*slides, region, region};
  rolling.first[*slides].extent = length->value - step->value;
  rolling.next[*slides] = {loop::Simplify(window.min + (length->value - step->value)), step->value};
  return rolling;
}

}  // namespace

RollingRegion FindRolling(const Stage& producer, const std::vector<Range>& region,
                          const IterVar& axis) {
  const Found found = Find(region, axis);
  if (const auto* rolling = std::get_if<RollingRegion>(&found)) return *rolling;
  throw InvalidArgument(StrCat("rolling_buffer: stage ", producer.name(), ", computed at axis ",
                               axis.var.name(), ": ", std::get<std::string>(found)));
}

std::optional<RollingRegion> WindowOf(const std::vector<Range>& region, const IterVar& axis) {
  const Found found = Find(region, axis);
  if (const auto* rolling = std::get_if<RollingRegion>(&found)) return *rolling;
  return std::nullopt;
}

}  // namespace tenon::schedule
