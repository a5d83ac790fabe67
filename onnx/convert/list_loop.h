// Loops that append to sequences, as PyTorch writes lists of scripted functions.
//
//   Loop(n, true, []) { y = ...; ys = SequenceInsert(ys, y) }
#ifndef TENON_ONNX_CONVERT_LIST_LOOP_H_
#define TENON_ONNX_CONVERT_LIST_LOOP_H_

#include <functional>
#include <optional>
#include <vector>

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

// The results of a Loop that carries sequences, each of which a turn only appends to: lists.
// `convert` gives the results of the loop that has an output for each turn in their place. Nothing
// where it carries no sequence, or does something else with one.
std::optional<std::vector<Expr>> LoopOfLists(
    Node& node, const std::function<std::vector<Expr>(Node& loop)>& convert);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_LIST_LOOP_H_
