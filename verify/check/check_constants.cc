#include "tenon/verify/check/check_constants.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/te/interpret.h"
#include "tenon/te/math.h"
#include "tenon/te/tensor.h"
#include "tenon/verify/define/definition.h"

namespace tenon::verify {
namespace {

using loop::Expr;

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

struct Operator {
  const char* name;
  Expr (*make)(const Expr& a, const Expr& b);
  Whole (*of)(Whole a, Whole b);
};

const std::vector<Operator>& Operators() {
  static const auto& operators = *new std::vector<Operator>{
      {"<", [](const Expr& a, const Expr& b) { return a < b; },
       [](Whole a, Whole b) -> Whole { return a < b; }},
      {"<=", [](const Expr& a, const Expr& b) { return a <= b; },
       [](Whole a, Whole b) -> Whole { return a <= b; }},
      {">", [](const Expr& a, const Expr& b) { return a > b; },
       [](Whole a, Whole b) -> Whole { return a > b; }},
      {">=", [](const Expr& a, const Expr& b) { return a >= b; },
       [](Whole a, Whole b) -> Whole { return a >= b; }},
      {"==", [](const Expr& a, const Expr& b) { return a == b; },
       [](Whole a, Whole b) -> Whole { return a == b; }},
      {"!=", [](const Expr& a, const Expr& b) { return a != b; },
       [](Whole a, Whole b) -> Whole { return a != b; }},
      {"+", [](const Expr& a, const Expr& b) { return a + b; },
       [](Whole a, Whole b) { return a + b; }},
      {"-", [](const Expr& a, const Expr& b) { return a - b; },
       [](Whole a, Whole b) { return a - b; }},
      {"*", [](const Expr& a, const Expr& b) { return a * b; },
       [](Whole a, Whole b) { return a * b; }},
      {"min", [](const Expr& a, const Expr& b) { return loop::Min(a, b); },
       [](Whole a, Whole b) { return std::min(a, b); }},
      {"max", [](const Expr& a, const Expr& b) { return loop::Max(a, b); },
       [](Whole a, Whole b) { return std::max(a, b); }}};
  return operators;
}

// At or next to an end of a type, or to zero.
std::int64_t AnyConstant(Random& random) {
  const int bits = random.Of(std::vector<int>{0, 1, 7, 8, 15, 16, 31, 32, 63});
  const std::int64_t end = bits == 63 ? kMax : std::int64_t{1} << bits;
  const std::int64_t near = end == kMax ? kMax - random.Below(2) : end - 1 + random.Below(3);
  return random.Chance(50) ? near : random.Chance(10) ? kMin : -near;
}

}  // namespace

std::optional<std::string> CheckConstant(Random& random) {
  static const std::vector<DataType>& types =
      *new std::vector<DataType>{Int8, UInt8, Int16, UInt16, Int32, UInt32, Int64, UInt64};
  constexpr std::int64_t kCount = 8;
  const DataType type = random.Of(types);
  const Operator& op = random.Of(Operators());
  const std::int64_t constant = AnyConstant(random);
  const bool is_left = random.Chance(40);
  const NDArray x = WithEnds(RandomArray({kCount}, type, random), random);
  const std::string text =
      is_left ? StrCat(constant, " ", op.name, " x") : StrCat("x ", op.name, " ", constant);
  const auto finding = [&](const std::string& words) {
    return StrCat("the expression ", text, " for an x of ", type.ToString(), ": ", words);
  };
  const te::Tensor input = te::Placeholder({kCount}, type, "x");
  te::Tensor made;
  const absl::Status status = CatchErrors([&] {
    made = te::Compute(
        {kCount},
        [&](const te::Var& i) {
          return is_left ? op.make(Expr(constant), input(i)) : op.make(input(i), Expr(constant));
        },
        "made");
  });
  const bool fits = Wrapped(constant, type) == constant;
  if (!status.ok()) {
    if (status.code() == absl::StatusCode::kInvalidArgument && !fits) return std::nullopt;
    return finding(StrCat("it is refused: ", FromStatus(status).message()));
  }
  const NDArray result = te::Interpret({made}, {{input, x}}).at(0);
  for (std::int64_t i = 0; i < kCount; ++i) {
    const Whole element = ElementAt(x, i).whole;
    const Whole wanted =
        Wrapped(is_left ? op.of(constant, element) : op.of(element, constant), made.dtype());
    const Whole got = ElementAt(result, i).whole;
    if (got != wanted)
      return finding(StrCat("for ", static_cast<std::int64_t>(element), " it is ",
                            static_cast<std::int64_t>(got), "; it must be ",
                            static_cast<std::int64_t>(wanted)));
  }
  return std::nullopt;
}

}  // namespace tenon::verify
