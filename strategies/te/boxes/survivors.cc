// The function lists the rows of all images. Where those of each image begin is counted.
#include "tenon/strategies/te/boxes/survivors.h"

#include <functional>

#include "tenon/jit/library_functions.h"
#include "tenon/strategies/schedule/register_tile.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/extern.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {

using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

Survivors::Survivors(const Tensor& boxes, const Tensor& scores, std::int64_t most, double overlap,
                     double lowest)
    : total(NumElements(ShapeOf(scores))) {
  const Shape shape = ShapeOf(scores);
  const auto number = [](std::int64_t n) { return loop::IntImm(Int64, n); };
  const auto one = [](const Expr& value) { return Filled({1}, value); };
  const std::vector<Tensor> results = te::Extern(
      {{total, 3}, {1}, {4 * shape[2]}},
      {boxes, scores, one(number(most)), one(loop::FloatImm(Float32, overlap)),
       one(loop::FloatImm(Float32, lowest))},
      {Int64, Int64, Int64},
      [&](const std::vector<Expr>& in, const std::vector<Expr>& out) {
        return te::ExternCall(jit::SuppressFunction(),
                              {in[0], in[1], in[2], in[3], in[4], out[0], out[1], out[2],
                               number(shape[0]), number(shape[1]), number(shape[2])});
      },
      "survivors");
  rows = results[0];
  const auto rows_where =
      [&](const char* name, const std::function<Expr(const Expr& of, const Expr& image)>& counts) {
        const IterVar row = te::ReduceAxis(0, total, "row");
        return te::Compute(
            {shape[0]},
            [&](const Var& image) {
              const Expr is_row = row.var < results[1](Expr(0));
              return te::Sum(
                  te::Select(is_row && counts(rows(row.var, Expr(0)), image), Expr(1), Expr(0)),
                  {row});
            },
            name, te::Stored{});
      };
  first = rows_where("first_row", [](const Expr& of, const Expr& image) { return of < image; });
  count = rows_where("row_count", [](const Expr& of, const Expr& image) { return of == image; });
}

Expr Survivors::RowAt(const Expr& image, const Expr& place) const {
  return te::Min(first(image) + place, Expr(total - 1));
}

}  // namespace tenon::strategies
