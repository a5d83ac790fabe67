// A plug-in with a matrix product as everyone writes it first - three loops - and a schedule that
// leaves its numbers open. `tenon tune` finds them.
//
//   plugin="--plugin libtuned_matmul_plugin.so"
//   tenon tune --op my.matmul $plugin --shape a=512,512 --shape b=512,512
//
//   tenon compile examples/plugin/tuned_matmul.relay $plugin --explain
#include "tenon/strategies/register_op.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace {

using tenon::strategies::OpSchedule;
using tenon::strategies::TeCall;
namespace te = tenon::te;

void TypeOfProduct(tenon::ops::TypeCall& call) {
  const auto *a = call.tensor(0), *b = call.tensor(1);
  if (a == nullptr || b == nullptr) return;  // not known yet
  if (a->shape.size() != 2 || b->shape.size() != 2 || !(a->shape[1] == b->shape[0]))
    call.Refuse(
        "the operands must be matrices, of which the first has as many columns as the second has "
        "rows");
  call.LearnResult(tenon::ir::TensorType({a->shape[0], b->shape[1]}, a->dtype));
}

std::vector<te::Tensor> Product(const TeCall& call) {
  const te::Tensor &a = call.input(0), &b = call.input(1);
  const te::IterVar k = te::ReduceAxis(0, a.shape()[1], "k");
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<te::Var>& i) { return te::Sum(a(i[0], k.var) * b(k.var, i[1]), {k}); },
      "product")};
}

// A block of results stays in registers while the sums are added up, and the second operand is
// copied in the order in which the blocks read it.
void ScheduleProduct(const OpSchedule& s) {
  const std::int64_t lanes = s.target.Lanes(4);
  const std::int64_t rows = s.config.Knob("rows", {1, 2, 3, 4, 5, 6, 8, 10, 12});
  const std::int64_t vectors = s.config.Knob("vectors", {1, 2, 3, 4});
  const bool packs = s.config.Knob("pack", {0, 1}) == 1;
  const std::int64_t steps = s.config.Knob("steps", {1, 2, 4, 8});

  tenon::schedule::Schedule& schedule = s.schedule;
  const te::Tensor& product = s.results[0];
  const te::Tensor& result = s.outputs[0];  // the product, or what operators after it make of it
  const std::int64_t width = vectors * lanes;
  const te::Tensor sums = result == product ? schedule.CacheWrite(product, "local") : product;
  if (packs) {
    const te::Tensor panels = schedule.CacheRead(s.inputs[1], "global", {sums});
    const auto axes = schedule.TransformLayout(panels, [&](const std::vector<te::Var>& at) {
      return std::vector<te::Expr>{te::FloorDiv(at[1], width), at[0], te::FloorMod(at[1], width)};
    });
    auto& copy = schedule[panels];
    copy.Parallel(axes[0]).Vectorize(copy.Split(axes[2], lanes).second);
  }
  auto& stage = schedule[result];
  auto [row_block, column_block, row, column] =
      stage.Tile(stage.axis(0), stage.axis(1), rows, width);
  stage.Reorder({column_block, row_block, row, column});
  stage.Vectorize(stage.Split(column, lanes).second);
  stage.Parallel(column_block);
  auto& tile = schedule[sums];
  tile.SetScope("local").ComputeAt(stage, row_block);
  const auto [vector, lane] = tile.Split(tile.axis(1), lanes);
  const auto [outer, step] = tile.Split(tile.reduce_axis(0), steps);
  tile.Reorder({outer, step, tile.axis(0), vector, lane});
  tile.Unroll(step).Unroll(tile.axis(0)).Unroll(vector).Vectorize(lane);
}

TENON_REGISTER_OP("my.matmul")
    .Describe("a b, of two matrices")
    .Argument("a", "Tensor", "rows by depth")
    .Argument("b", "Tensor", "depth by columns")
    .TypeRelation(TypeOfProduct, "product of matrices")
    .Pattern(tenon::ops::OpPattern::kOutEWiseFusable)
    .Compute(Product)
    .Schedule(ScheduleProduct);

}  // namespace
