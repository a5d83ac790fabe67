#include "tenon/verify/draw/call_operands.h"

#include "tenon/loop/expr.h"

namespace tenon::verify {

using schedule::Stage;
using te::IterVar;

loop::Expr CallOperands::Factor() {
  static const std::vector<int>& factors =
      *new std::vector<int>{1, 2, 3, 4, 5, 7, 8, 8, 16, 16, 32, 64};
  return Pick(factors);
}

schedule::Tail CallOperands::RandomTail() {
  switch (Next() % 6) {
    case 0:
      return schedule::Tail::kRoundUp;
    case 1:
      return schedule::Tail::kShiftInwards;
    default:
      return schedule::Tail::kGuard;
  }
}

std::vector<Stage*> CallOperands::ReadersOf(const te::Tensor& tensor) {
  std::vector<Stage*> readers;
  for (const auto& stage : s_.stages()) {
    for (const te::Tensor& input : te::InputsOf(*stage->op())) {
      if (s_.Find(input.op().get()) == s_.Find(tensor.op().get()) &&
          input.index() == tensor.index()) {
        readers.push_back(stage.get());
        break;
      }
    }
  }
  return readers;
}

std::optional<IterVar> CallOperands::InnermostSpace(const Stage& stage) {
  std::optional<IterVar> last;
  for (const IterVar& leaf : stage.leaves()) {
    if (!leaf.is_reduce) last = leaf;
  }
  return last;
}

}  // namespace tenon::verify
