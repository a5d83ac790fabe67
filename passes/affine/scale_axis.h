// Scales along the channel axes of a value, which BackwardFoldScaleAxis and ForwardFoldScaleAxis
// pass through a graph.
#ifndef TENON_PASSES_AFFINE_SCALE_AXIS_H_
#define TENON_PASSES_AFFINE_SCALE_AXIS_H_

#include <optional>
#include <unordered_map>
#include <vector>

#include "tenon/ir/module.h"
#include "tenon/ir/visit.h"
#include "tenon/passes/infer_type.h"

namespace tenon::passes {

template <typename T>
using ExprTable = std::unordered_map<ir::Expr, T, ir::ExprHash>;

// The tensor type of a typed expression; null for a tuple.
inline const ir::TensorTypeNode* TensorOf(const ir::Expr& e) {
  return e.checked_type().As<ir::TensorTypeNode>();
}

// Which scale a value can give away or take.
struct ScaleMessage {
  std::vector<std::size_t> axes;  // of the value
  // Every element must be known to be greater than zero (to pass an activation), or to differ from
  // zero (to divide by it).
  bool require_positive = false;
  bool require_nonzero = false;
};

// The least magnitude of elements other than 0, and the greatest one; 1 if there are none.
struct Magnitudes {
  double least = 1, greatest = 1;
  bool AreWithin(double limit) const { return least >= 1 / limit && greatest <= limit; }
};
// Of a constant of float32 or float64; nothing for any other expression.
std::optional<Magnitudes> MagnitudesOf(const ir::Expr& e);

// A scale as one value for all channels, or as a vector over the axes.
struct AxisScale {
  ir::Expr value;
  bool is_scalar = false;
  std::optional<Magnitudes> magnitudes = std::nullopt;  // where they are known

  // By a scale that is known to be very large or small, a weight, a shift or another scale may
  // become infinite or zero, although no result does.
  bool MayFold() const { return !magnitudes || magnitudes->AreWithin(0x1p40); }
};
// Whether a shift stays a normal number when it is multiplied or divided by a scale that may fold,
// and does not round what it is added to (RoundsSums), as far as it is known.
bool MayScale(const ir::Expr& shift);

// `e` as a scale of a value of `type` along the axes, when its elements differ only along these.
// Requires a checked type; squeezes the other axes away.
std::optional<AxisScale> ReadAxisScale(const ir::Expr& e, const ir::Type& type,
                                       const std::vector<std::size_t>& axes);
// Whether the scale is known to satisfy what the message requires.
bool Meets(const ir::Expr& scale, const ScaleMessage& message);
// The scale with axes of extent 1 inserted, so that it broadcasts along `axes` of a value of
// `rank`.
ir::Expr ExpandScale(const AxisScale& scale, std::size_t rank,
                     const std::vector<std::size_t>& axes);
AxisScale Product(const AxisScale& a, const AxisScale& b);

// Rewrites each function of the module, inputs first, by the Fold of a Folder that is made of it.
// Types are inferred again where something changed.
template <typename Folder>
ir::Module FoldFunctions(const ir::Module& module) {
  const ir::Module result = module.Map([](const ir::Expr& function) {
    Folder folder(function);
    return ir::RewritePostOrder(function, [&](const ir::Expr& original, const ir::Expr& rebuilt) {
      return folder.Fold(original, rebuilt);
    });
  });
  return result == module ? result : InferType(result);
}

}  // namespace tenon::passes

#endif  // TENON_PASSES_AFFINE_SCALE_AXIS_H_
