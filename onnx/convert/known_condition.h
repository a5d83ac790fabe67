// Conditions that need no run of the model: constants, and comparisons of extents.
//
//   KnownCondition(less(shape_of(x)[0], 1));   // false: an extent is at least 1
//   TestOf(equal(shape_of(x)[0], 4));          // whether n - 4 is 0: only a run knows n
#ifndef TENON_ONNX_CONVERT_KNOWN_CONDITION_H_
#define TENON_ONNX_CONVERT_KNOWN_CONDITION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/support/extent_condition.h"

namespace tenon::onnx_import {

// A question about extents: every comparison of two is one of these, or the contrary.
struct ExtentTest {
  enum class Kind : std::uint8_t { kIsZero, kIsPositive };

  Kind kind = Kind::kIsZero;
  Dim difference;
  bool is_negated = false;  // the condition holds where the test does not
};

// A test whose answer the import takes for granted.
struct ExtentFact {
  ExtentTest test;  // not negated
  bool holds = true;
};

// The value of a condition that is the same for all values of the model's variables; nothing for
// any other. Throws InvalidArgument for what is no condition.
std::optional<bool> KnownCondition(const ir::Expr& condition);
// What a condition asks of extents; nothing where it asks something else.
std::optional<ExtentTest> TestOf(const ir::Expr& condition);
// The answer that follows from the facts, which are few.
std::optional<bool> AnswerOf(const ExtentTest& test, const std::vector<ExtentFact>& facts);
// The fact as a condition on the model's variables; nothing where it excludes a number that may lie
// between others.
std::optional<ExtentCondition> ConditionOf(const ExtentFact& fact);
// Whether `condition` says at least what `fact` says.
bool Implies(const ExtentCondition& condition, const ExtentCondition& fact);

// How users fix a condition that is not known: by extents that it compares ("it compares h/2 with
// 1; ..."), or by an input.
std::string WayToFix(const ir::Expr& condition);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_KNOWN_CONDITION_H_
