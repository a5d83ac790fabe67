#include "tenon/verify/draw/random_module.h"

#include <array>

#include "tenon/ops/registry.h"
#include "tenon/strategies/strategy.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/verify/draw/module_draft.h"
#include "tenon/verify/draw/module_drawers.h"
#include "tenon/verify/draw/random_attributes.h"

namespace tenon::verify {
namespace {

using ir::Expr;

constexpr int kDrawsACall = 30;

// Single calls, those that passes have most to do with more than once.
constexpr std::array kCalls = {
    DrawConv2D,      DrawConv2D,  DrawDense,     DrawBatchMatmul, DrawBiasAdd,
    DrawBatchNorm,   DrawScale,   DrawScale,     DrawActivation,  DrawPool,
    DrawConcatenate, DrawReshape, DrawTranspose, DrawBinary,      DrawBinary,
    DrawScalar,      DrawReduce,  DrawCast,      DrawQuantized,   DrawLayout,
};
// Those of networks for images, where layouts matter.
constexpr std::array kImageCalls = {
    DrawConv2D, DrawConv2D, DrawBiasAdd,     DrawBatchNorm, DrawScale,
    DrawPool,   DrawLayout, DrawConcatenate, DrawBinary,    DrawActivation,
};
// Those around products of matrices.
constexpr std::array kProductCalls = {
    DrawProduct,    DrawProduct, DrawProduct, DrawBiasAdd, DrawActivation,
    DrawActivation, DrawBinary,  DrawBinary,  DrawScale,   DrawBroadcast,
};
// Those of normalisations.
constexpr std::array kStatisticCalls = {
    DrawStatistic, DrawStatistic, DrawStatistic,  DrawBroadcast, DrawBroadcast,
    DrawBroadcast, DrawBinary,    DrawActivation, DrawScalar,    DrawScale,
};

// Several calls at once.
constexpr std::array kCombinedCalls = {DrawBranches, DrawPadded, DrawPerChannel};

class Builder {
 public:
  explicit Builder(std::uint64_t seed) : draft_(seed), random_(draft_.random()) {}

  RandomModule Build() {
    const std::int64_t calls = 2 + random_.Below(9);
    for (std::int64_t call = 0; call < calls; ++call) AddCall();
    return draft_.Finish();
  }

 private:
  void AddCall() {
    const auto draw = [this] {
      if (draft_.floats() != FloatValues::kUsual && draft_.special_random().Chance(35))
        return DrawSpecial(draft_);
      if (draft_.special_random().Chance(8)) return DrawRounding(draft_);
      if (draft_.special_random().Chance(12)) return DrawOneOf(kCombinedCalls);
      return random_.Chance(70) ? DrawCall() : DrawOperator();
    };
    for (int attempt = 0; attempt < kDrawsACall && !draft_.TryToKeep(draw); ++attempt) {
    }
  }

  template <std::size_t n>
  Expr DrawOneOf(const std::array<Expr (*)(ModuleDraft&), n>& drawers) {
    return drawers[static_cast<std::size_t>(random_.Below(static_cast<std::int64_t>(n)))](draft_);
  }
  Expr DrawCall() {
    switch (draft_.kind()) {
      case ModuleKind::kImages:
        return DrawOneOf(kImageCalls);
      case ModuleKind::kProducts:
        return DrawOneOf(kProductCalls);
      case ModuleKind::kStatistics:
        return DrawOneOf(kStatisticCalls);
      case ModuleKind::kAny:
      case ModuleKind::kEdges:
        break;
    }
    return DrawOneOf(kCalls);
  }

  // Any operator with a compute. Its arguments are values of the graph or new ones.
  Expr DrawOperator() {
    static const std::vector<std::string>& names =
        *new std::vector<std::string>(OperatorsWithCompute());
    const Expr& callee = ops::OpRegistry::Global().Get(random_.Of(names));
    const ops::OpDef& op = *ops::OpOf(callee);
    std::vector<Expr> args;
    const Expr first = draft_.Some();
    for (std::size_t i = 0; i < op.arguments.size(); ++i) {
      if (op.arguments[i].type.starts_with("Tuple")) {
        args.push_back(
            ir::Tuple::Make({first, draft_.OfShape(draft_.ShapeOf(first), draft_.TypeOf(first))}));
      } else if (i == 0) {
        args.push_back(first);
      } else {
        args.push_back(random_.Chance(50)
                           ? draft_.OfShape(draft_.ShapeOf(first), draft_.TypeOf(first))
                           : draft_.Some());
      }
    }
    return ir::Call::Make(callee, std::move(args), DrawAttributes(op, random_));
  }
  static std::vector<std::string> OperatorsWithCompute() {
    strategies::RegisterStrategies(ops::OpRegistry::Global());
    std::vector<std::string> names;
    for (const std::string& name : ops::OpRegistry::Global().Names()) {
      const ops::OpDef& op = *ops::OpOf(ops::OpRegistry::Global().Get(name));
      if (op.Column<strategies::TeCompute>() != nullptr && !op.stateful) names.push_back(name);
    }
    return names;
  }

  ModuleDraft draft_;
  Random& random_;
};

}  // namespace

RandomModule MakeRandomModule(std::uint64_t seed) { return Builder(seed).Build(); }

}  // namespace tenon::verify
