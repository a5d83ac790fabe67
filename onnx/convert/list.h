// Sequences of which only a run knows how many elements they have: lists. The elements lie in one
// array, one after the other along a new first axis. Where they differ along an axis, they are
// joined along it instead.
#ifndef TENON_ONNX_CONVERT_LIST_H_
#define TENON_ONNX_CONVERT_LIST_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

struct List {
  Expr array;
  std::optional<std::int64_t> joined_along = std::nullopt;
};

// As a value of the model, and back; nothing for any other value.
Expr ValueOf(const Node& node, const List& list);
std::optional<List> ListIn(const Expr& value);

// Of elements of one type, at least one.
List ListOf(const Node& node, const std::vector<Expr>& elements);
// `x` in parts of one element along an axis, which they keep or not.
List ListOfParts(const Node& node, const Expr& x, std::int64_t axis, bool keeps_axis);

// The element at a place, counted from the end where it is negative. A run with fewer elements is
// refused. Throws InvalidArgument where the sequence always has.
Expr ElementAt(const Node& node, const List& list, std::int64_t place);
// The same at a place that a run says; of one outside the sequence, the element next to it.
Expr ElementOf(const Node& node, const List& list, const Expr& place);
Expr LengthOf(const Node& node, const List& list);
// All elements along an axis, which may be new.
Expr Joined(const Node& node, const List& list, std::int64_t axis, bool is_new);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_LIST_H_
