// The leading axes that the elements of a call's result share with those of its operand.
#ifndef TENON_PASSES_FUSION_FUSION_AXES_H_
#define TENON_PASSES_FUSION_FUSION_AXES_H_

#include <cstddef>
#include <limits>

#include "tenon/ir/expr.h"

namespace tenon::passes {

constexpr std::size_t kAllAxes = std::numeric_limits<std::size_t>::max();

// The largest n such that a result element reads only operand elements at its own first n indices.
// `argument` counts the call's arguments; a tuple argument stands for all its fields. Requires
// checked types. 0 when nothing is known about the operator.
std::size_t SharedAxes(const ir::CallNode& call, std::size_t argument);

// The same for all ways in which `consumer` reads `producer`. It is kAllAxes if nothing is read by
// index.
std::size_t AxesOfEdge(const ir::Expr& producer, const ir::Expr& consumer);

// Whether it is a heavy operator that reduces rows of its input and broadcasts back: softmax,
// normalisations.
bool NormalizesRows(const ir::CallNode& call);

}  // namespace tenon::passes

#endif  // TENON_PASSES_FUSION_FUSION_AXES_H_
