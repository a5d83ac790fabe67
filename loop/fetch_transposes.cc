// for s: for t: for i: for lane: y[b + n (s R + i) + t L + lane] = f(x[a + m (t L + lane) + s R +
// i]) reads down a column of T L rows, a line of each, which no processor foresees: the next lines
// of a column are rows apart. Each tile fetches the same lines of the next T L rows, into the
// second level: those of a column may fall into few sets of the first one.
//
// A tile with fewer iterations than fill a line of the source fetches its share of the rows of a
// column of whole lines.
#include <algorithm>
#include <utility>
#include <vector>

#include "tenon/loop/tile.h"
#include "tenon/loop/transforms.h"
#include "tenon/loop/visit.h"
#include "tenon/support/alignment.h"

namespace tenon::loop {
namespace {

class TransposeFetcher : public StmtMutator {
 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    const std::optional<TileNest> nest = TileNestOf(stmt);
    if (!nest) return MutateStmtChildren(stmt);
    const std::vector<Expr> gathers = nest->Gathers();
    if (!StreamsLines(*nest) || gathers.empty()) return stmt;
    std::vector<Stmt> body;
    for (const Expr& gather : gathers) AddFetches(*nest, *gather.As<LoadNode>(), body);
    body.push_back(nest->results->body);
    const auto around = [](const ForNode& loop, Stmt inside) {
      return For(loop.var, loop.min, loop.extent, loop.for_kind, std::move(inside));
    };
    return around(*nest->sources, around(*nest->results, Seq(std::move(body))));
  }

 private:
  static void AddFetches(const TileNest& nest, const LoadNode& gather, std::vector<Stmt>& fetches) {
    const auto element = static_cast<std::int64_t>(gather.buffer->dtype.bytes());
    const std::int64_t tiles_in_line =
        std::clamp(kCacheLineBytes / (element * nest.row_count), std::int64_t{1}, nest.lane_count);
    const Expr tile = nest.sources->var;
    const Expr in_line = FloorMod(tile, tiles_in_line);
    const std::int64_t share = nest.lane_count / tiles_in_line;
    for (std::int64_t i = 0; i < share; ++i) {
      for (std::int64_t line = 0; line < nest.row_count; line += kCacheLineBytes / element) {
        const ExprMap next = {{nest.results->var, nest.results->var + nest.result_count},
                              {nest.lanes->var, in_line * share + i},
                              {nest.sources->var, tile - in_line},
                              {nest.rows->var, line}};
        std::vector<Expr> indices;
        for (const Expr& index : gather.indices) indices.push_back(Substitute(index, next));
        fetches.push_back(
            Evaluate(Call(Intrinsic::kPrefetchLater, {Load(gather.buffer, std::move(indices))})));
      }
    }
  }
};

}  // namespace

Stmt FetchTransposes(const Stmt& stmt) { return TransposeFetcher()(stmt); }

}  // namespace tenon::loop
