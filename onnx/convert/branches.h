// Two ways to go on, of which a run takes one.
#ifndef TENON_ONNX_CONVERT_BRANCHES_H_
#define TENON_ONNX_CONVERT_BRANCHES_H_

#include <optional>
#include <vector>

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

// `yes` where the condition, a bool without axes, holds in a run, else `no`. These are tensors of
// pairwise one type.
std::vector<Expr> BranchAtRunTime(const Node& node, const Expr& condition,
                                  const std::vector<Expr>& yes, const std::vector<Expr>& no);

// The same for values whose extents may differ, and a condition of one element. Nothing where no
// if can give both.
std::optional<std::vector<Expr>> Joined(const Node& node, const Expr& condition,
                                        std::vector<Expr> yes, std::vector<Expr> no);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_BRANCHES_H_
