// Sequences and optional values during import. A sequence is a tuple of its elements, of which
// nothing is left in the module: every place in it must be known when the model is imported. An
// optional value is the value itself, or `Nothing()`.
#ifndef TENON_ONNX_CONVERT_SEQUENCE_H_
#define TENON_ONNX_CONVERT_SEQUENCE_H_

#include <string>
#include <vector>

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

Expr SequenceOf(const Node& node, std::vector<Expr> elements);
// Throws InvalidArgument when input `i` is no sequence.
const std::vector<Expr>& ElementsOf(const Node& node, std::size_t i);
bool IsSequence(const Expr& value);

// An optional value without an element.
const Expr& Nothing();

// "a sequence of 3", "an optional value without an element", or the type of a tensor.
std::string KindOf(const Expr& value);

// `yes` where the bool scalar `condition` is true, else `no`; both have one type.
Expr SelectedOf(const Node& node, const Expr& condition, const Expr& yes, const Expr& no);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_SEQUENCE_H_
