// Extents that the values of a run decide: each becomes a variable, "#Range", of which a value of
// the module has as many elements (count_up).
#ifndef TENON_ONNX_CONVERT_RUN_TIME_EXTENT_H_
#define TENON_ONNX_CONVERT_RUN_TIME_EXTENT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

// Whether an input of the model decides the value, or variables of the graph around it do. A
// constant that the import could not compute depends on none.
bool DependsOnInputs(const Expr& value);

// The variable for a count, one typed integer. A run refuses a count below 0, naming the node,
// unless it `is_clamped`: then it is 0. A `rule` says what the node wants where the count is below
// 0 for another reason.
Dim ExtentOf(const Node& node, const Expr& count, bool is_clamped = false,
             const std::string& rule = "");
// A number that may be below 0: the difference of two variables, of which one is 0.
Dim NumberOf(const Node& node, const Expr& number);
// 0, an int64 without axes. A run in which the bool `is_wrong` is true is refused if anything reads
// this. `rule` says what the node wants.
Expr ZeroUnlessWrong(const Node& node, const Expr& is_wrong, const std::string& rule);
// The other way round: a scalar of int64 that has the value of an expression, which is at least 0.
Expr ValueOfCount(const Node& node, const Dim& count);

// One element of a typed vector. Where it was moved there from another value, it is that.
Expr ElementAt(const Node& node, const Expr& vector, std::size_t place);

// The integers of an input as extents: numbers, expressions of variables, and new variables for
// those that only a run knows. Throws Unimplemented for a vector whose length is not known.
std::vector<Dim> ExtentsAt(const Node& node, std::size_t input);
// The same of integers that may be below 0.
std::vector<Dim> NumbersAt(const Node& node, std::size_t input);

// `x` broadcast to the shape at an input, in both directions, as ONNX's Expand has it.
Expr Expanded(const Node& node, const Expr& x, std::size_t input);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_RUN_TIME_EXTENT_H_
