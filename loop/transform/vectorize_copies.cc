// Short copies, of rows of padded images for instance: LLVM unrolls such loops whole before it
// looks for vectors, and copies element by element. As many lanes as fill a register, or the
// largest power of two of them that the row fills, are moved at a time. The last vector ends with
// the row and moves some elements twice.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"

namespace tenon::loop {
namespace {

constexpr std::int64_t kVectorBytes = 64;
constexpr std::int64_t kMinElements = 4;
// Longer loops LLVM vectorises as they are.
constexpr std::int64_t kMaxElements = 128;

bool LiesAlong(const Expr& index, const Var& var) {
  return UsesVar(index, var) && !UsesVar(Simplify(index - var), var);
}

class CopyVectorizer : public StmtMutator {
 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    const auto* loop = stmt.As<ForNode>();
    const auto* store = loop == nullptr ? nullptr : loop->body.As<StoreNode>();
    if (store == nullptr) return MutateStmtChildren(stmt);
    const auto* extent = loop->extent.As<IntImmNode>();
    const auto* load = store->value.As<LoadNode>();
    if (loop->for_kind != ForKind::kSerial || extent == nullptr || load == nullptr ||
        extent->value < kMinElements || extent->value > kMaxElements ||
        store->predicate.defined() || load->predicate.defined() || store->buffer == load->buffer ||
        store->indices[0].dtype().lanes() > 1 || !LiesAlong(store->indices[0], loop->var) ||
        !LiesAlong(load->indices[0], loop->var))
      return stmt;
    return InVectors(*loop, *store, *load, extent->value);
  }

 private:
  static Stmt InVectors(const ForNode& loop, const StoreNode& store, const LoadNode& load,
                        std::int64_t extent) {
    const auto bytes = static_cast<std::int64_t>(store.buffer->dtype.bytes());
    const auto lanes =
        std::min(kVectorBytes / bytes,
                 static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(extent))));
    std::vector<Stmt> vectors;
    for (std::int64_t from = 0; from < extent; from += lanes) {
      const Var lane(loop.var.name());
      const Expr at = loop.min + std::min(from, extent - lanes) + lane;
      const auto moved = [&](const Expr& index) { return Substitute(index, {{loop.var, at}}); };
      vectors.push_back(For(lane, 0, lanes, ForKind::kVectorized,
                            Store(store.buffer, Load(load.buffer, {moved(load.indices[0])}),
                                  {moved(store.indices[0])}, store.store_kind)));
    }
    return Seq(std::move(vectors));
  }
};

}  // namespace

Stmt VectorizeCopies(const Stmt& stmt) { return CopyVectorizer()(stmt); }

}  // namespace tenon::loop
