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

namespace tenon::loop {
namespace {

class TransposeFetcher : public StmtMutator {
 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    const std::optional<TileNest> nest = TileNestOf(stmt);
    if (!nest) return MutateStmtChildren(stmt);
    if (!StreamsLines(*nest) || nest->Gathers().empty()) return stmt;
    const Stmt body = Seq({FetchOfNextRows(*nest), nest->results->body});
    const auto around = [](const ForNode& loop, Stmt inside) {
      return For(loop.var, loop.min, loop.extent, loop.for_kind, std::move(inside));
    };
    return around(*nest->sources, around(*nest->results, body));
  }
};

}  // namespace

Stmt FetchTransposes(const Stmt& stmt) { return TransposeFetcher()(stmt); }

}  // namespace tenon::loop
