#include "tenon/onnx/convert/known_condition.h"

#include "tenon/onnx/convert/run_time_loop.h"
#include "tenon/onnx/convert/symbolic_shapes.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

using ir::Expr;
using Known = std::optional<bool>;

// An integer that follows from extents.
std::optional<Dim> NumberOf(const Expr& e) {
  const std::optional<std::vector<Dim>> values = DimsOfValue(e);
  return values && values->size() == 1 ? std::optional((*values)[0]) : std::nullopt;
}

// Where it holds, or fails, for all values of the variables.
Known IsPositive(const Dim& difference) {
  if (const auto least = difference.LowerBound(); least && *least > 0) return true;
  if (const auto least = (Dim(0) - difference).LowerBound(); least && *least >= 0) return false;
  return std::nullopt;
}

Known Answer(const ExtentTest& test) {
  const Dim& d = test.difference;
  Known known = IsPositive(d);
  if (test.kind == ExtentTest::Kind::kIsZero) {
    const bool is_other = known.value_or(false) || IsPositive(Dim(0) - d).value_or(false);
    known = d == Dim(0) ? Known(true) : is_other ? Known(false) : std::nullopt;
  }
  return known && test.is_negated ? Known(!*known) : known;
}

std::optional<ExtentTest> TestOfComparison(const Expr& op, const Dim& a, const Dim& b) {
  using Kind = ExtentTest::Kind;
  const auto& known = ops::Known();
  if (op == known.equal) return ExtentTest{Kind::kIsZero, a - b};
  if (op == known.not_equal) return ExtentTest{Kind::kIsZero, a - b, true};
  if (op == known.less) return ExtentTest{Kind::kIsPositive, b - a};
  if (op == known.greater) return ExtentTest{Kind::kIsPositive, a - b};
  if (op == known.less_equal) return ExtentTest{Kind::kIsPositive, a - b, true};
  if (op == known.greater_equal) return ExtentTest{Kind::kIsPositive, b - a, true};
  return std::nullopt;
}

std::optional<ExtentTest> Negated(std::optional<ExtentTest> test) {
  if (test) test->is_negated = !test->is_negated;
  return test;
}

enum class Sign : std::uint8_t { kEqual, kAtLeast, kAtMost };

// As a reader would write it: n <= 4 for n - 4 <= 0, and 4 <= n for 4 - n <= 0.
ExtentCondition Compared(const Dim& expression, Sign sign, std::int64_t number) {
  Dim rest = expression, bound = number;
  const std::vector<Dim::Term>& terms = expression.terms();
  if (terms.back().atoms.empty()) {
    rest = rest - terms.back().coefficient;
    bound = bound - terms.back().coefficient;
  }
  // A limit is read as extents are, of which none is a number below 0.
  if (bound.value() < 0 || (bound.value() == 0 && terms.front().coefficient < 0)) {
    rest = Dim(0) - rest;
    bound = Dim(0) - bound;
    sign = sign == Sign::kAtLeast ? Sign::kAtMost : sign == Sign::kAtMost ? Sign::kAtLeast : sign;
  }
  using Kind = ExtentCondition::Kind;
  if (sign == Sign::kAtLeast) return {bound, Kind::kAtMost, rest, ""};
  return {rest, sign == Sign::kEqual ? Kind::kEqual : Kind::kAtMost, bound, ""};
}

// The value that a condition of one element says of itself.
Known OfConstant(const Expr& condition) {
  const auto* constant = condition.As<ir::ConstantNode>();
  return constant != nullptr && constant->data.dtype().is_bool() && constant->data.size() == 1
             ? Known(*constant->data.data<bool>())
             : std::nullopt;
}

// Whether a number of extents, as a narrow integer, may be 0 where it is not.
bool MayWrap(const Expr& e) {
  const auto* type = e.checked_type().As<ir::TensorTypeNode>();
  return type == nullptr ||
         (type->dtype.is_integral() && !type->dtype.is_bool() && type->dtype.bits() < 32);
}

// `condition` has one element.
Known Decided(const Expr& condition) {
  if (const Known constant = OfConstant(condition)) return constant;
  const std::optional<ExtentTest> test = TestOf(condition);
  return test ? Answer(*test) : std::nullopt;
}

}  // namespace

std::optional<ExtentTest> TestOf(const Expr& condition) {
  const auto* call = condition.As<ir::CallNode>();
  if (call == nullptr) return std::nullopt;
  const auto& known = ops::Known();
  const bool is_same = call->callee == known.reshape || call->callee == known.squeeze ||
                       call->callee == known.expand_dims;
  if (is_same) return TestOf(call->args[0]);
  if (call->callee == known.logical_not) return Negated(TestOf(call->args[0]));
  if (call->callee == known.cast) {
    if (MayWrap(condition)) return std::nullopt;
    const std::optional<Dim> number = NumberOf(call->args[0]);
    if (!number) return TestOf(call->args[0]);
    return ExtentTest{ExtentTest::Kind::kIsZero, *number, true};
  }
  if (call->args.size() != 2) return std::nullopt;
  const std::optional<Dim> a = NumberOf(call->args[0]), b = NumberOf(call->args[1]);
  return a && b ? TestOfComparison(call->callee, *a, *b) : std::nullopt;
}

Known AnswerOf(const ExtentTest& test, const std::vector<ExtentFact>& facts) {
  for (const ExtentFact& fact : facts) {
    if (fact.test.kind != test.kind) continue;
    const bool is_same = fact.test.difference == test.difference ||
                         (test.kind == ExtentTest::Kind::kIsZero &&
                          fact.test.difference + test.difference == Dim(0));
    if (is_same) return fact.holds != test.is_negated;
  }
  return std::nullopt;
}

std::optional<ExtentCondition> ConditionOf(const ExtentFact& fact) {
  const Dim& d = fact.test.difference;
  if (fact.test.kind == ExtentTest::Kind::kIsPositive)
    return fact.holds ? Compared(d, Sign::kAtLeast, 1) : Compared(d, Sign::kAtMost, 0);
  if (fact.holds) return Compared(d, Sign::kEqual, 0);
  if (const auto least = d.LowerBound(); least && *least >= 0)
    return Compared(d, Sign::kAtLeast, 1);
  if (const auto least = (Dim(0) - d).LowerBound(); least && *least >= 0)
    return Compared(d, Sign::kAtMost, -1);
  return std::nullopt;
}

bool Implies(const ExtentCondition& condition, const ExtentCondition& fact) {
  const Dim given = condition.b - condition.a, wanted = fact.b - fact.a;
  const bool is_equal = given == wanted || given + wanted == Dim(0);
  if (condition.kind == ExtentCondition::Kind::kEqual) return is_equal;
  return condition.kind == fact.kind && given == wanted;
}

std::string WayToFix(const Expr& condition) {
  if (const auto* call = condition.As<ir::CallNode>()) {
    const bool is_same = call->args.size() == 1 && call->callee != ops::Known().cast;
    if (is_same) return WayToFix(call->args[0]);
    const auto a = NumberOf(call->args[0]);
    const auto b = call->args.size() == 2 ? NumberOf(call->args[1]) : std::nullopt;
    if (a && b)
      return StrCat(
          "it compares ", a->ToString(), " with ", b->ToString(),
          "; numbers for these extents decide it (--shape, --dim, ImportOptions::shapes)");
  }
  return kFixingACondition;
}

Known KnownCondition(const Expr& condition) {
  const auto* type = condition.checked_type().As<ir::TensorTypeNode>();
  if (type == nullptr || !type->dtype.is_bool())
    throw InvalidArgument("the condition must be a bool");
  if (const auto* constant = condition.As<ir::ConstantNode>();
      constant != nullptr && constant->data.size() != 1)
    throw InvalidArgument("the condition must have one element");
  const Dim size = ops::Product(type->shape);
  return size == Dim(1) ? Decided(condition) : std::nullopt;
}

}  // namespace tenon::onnx_import
