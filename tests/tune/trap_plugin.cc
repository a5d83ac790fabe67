// A plug-in whose operator has candidates that a tuner must survive: one ends the process, one
// never returns.
#include <csignal>

#include <unistd.h>

#include "tenon/strategies/register_op.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace {

using tenon::strategies::OpSchedule;
using tenon::strategies::TeCall;
namespace te = tenon::te;

constexpr std::int64_t kPlain = 0, kEnds = 1, kVectors = 2, kHangs = 3;

TENON_REGISTER_OP("my.trap")
    .Describe("x times the sums of its columns")
    .Argument("data", "Tensor", "input")
    .TypeRelation(tenon::ops::Identity)
    .Pattern(tenon::ops::OpPattern::kOpaque)
    .Compute([](const TeCall& call) {
      const te::Tensor& x = call.input(0);
      const te::IterVar k = te::ReduceAxis(0, x.shape()[0], "k");
      return std::vector<te::Tensor>{te::Compute(call.te_shape(), [&](te::Var i, te::Var j) {
        return te::Sum(x(k.var, j) * x(i, j), {k});
      })};
    })
    .Schedule([](const OpSchedule& s) {
      const std::int64_t way = s.config.Knob("way", {kPlain, kEnds, kVectors, kHangs});
      if (way == kEnds) std::raise(SIGSEGV);
      while (way == kHangs) pause();
      if (way != kVectors) return;
      auto& stage = s.schedule[s.results[0]];
      const auto [outer, lanes] = stage.Split(stage.axis(1), s.target.Lanes(4));
      stage.Reorder({outer, stage.reduce_axis(0), lanes});
      stage.Vectorize(lanes);
    });

}  // namespace
