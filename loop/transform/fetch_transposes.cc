// The loops
//   for s: for t: for i: for lane: y[n (s R + i) + t L + lane] = f(x[m (t L + lane) + s R + i])
// read down a column of T L rows, a line of each. No processor foresees that, since the next lines
// of a column are rows apart. So each tile fetches the same lines of the next T L rows.
#include <optional>

#include "tenon/loop/transform/tile.h"
#include "tenon/loop/transform/transforms.h"
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
    return Around(*nest->sources, Around(*nest->results, body));
  }
};

}  // namespace

Stmt FetchTransposes(const Stmt& stmt) { return TransposeFetcher()(stmt); }

}  // namespace tenon::loop
