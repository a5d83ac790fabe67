// Short copies, of rows of padded images for instance. LLVM unrolls such loops whole before it
// looks for vectors, and copies element by element. Here, as many lanes as fill a register, or the
// largest power of two of them that the row fills, are moved at a time. The last vector ends with
// the row and moves some elements twice. LLVM turns loops whose length is known only at run time
// into calls of memcpy and memset; here, their last vector is under a mask.
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
// Narrower elements have masks only with AVX-512.
constexpr std::size_t kMinMaskedBytes = 4;

bool LiesAlong(const Expr& index, const Var& var) {
  return UsesVar(index, var) && !UsesVar(Simplify(index - var), var);
}

class CopyVectorizer : public StmtMutator {
 public:
  explicit CopyVectorizer(bool of_any_length) : of_any_length_(of_any_length) {}

 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    const auto* loop = stmt.As<ForNode>();
    const auto* store = loop == nullptr ? nullptr : loop->body.As<StoreNode>();
    if (store == nullptr) return MutateStmtChildren(stmt);
    const auto* load = store->value.As<LoadNode>();
    if (loop->for_kind != ForKind::kSerial || store->predicate.defined() ||
        store->indices[0].dtype().lanes() > 1 || !LiesAlong(store->indices[0], loop->var) ||
        (load != nullptr && !IsCopy(*loop, *store, *load)))
      return stmt;
    const auto* extent = loop->extent.As<IntImmNode>();
    if (extent == nullptr) {
      const bool moves = load != nullptr || IsConstant(store->value);
      const bool has_masks = store->buffer->dtype.bytes() >= kMinMaskedBytes;
      return of_any_length_ && moves && has_masks ? UnderMask(*loop, loop->body) : stmt;
    }
    if (load == nullptr || extent->value < kMinElements || extent->value > kMaxElements)
      return stmt;
    return InVectors(*loop, *store, *load, extent->value);
  }

 private:
  static bool IsCopy(const ForNode& loop, const StoreNode& store, const LoadNode& load) {
    return !load.predicate.defined() && store.buffer != load.buffer &&
           LiesAlong(load.indices[0], loop.var);
  }
  static bool IsConstant(const Expr& value) {
    return value.kind() == ExprKind::kIntImm || value.kind() == ExprKind::kFloatImm;
  }

  static Stmt UnderMask(const ForNode& loop, const Stmt& store) {
    const std::size_t bytes = store.As<StoreNode>()->buffer->dtype.bytes();
    const std::int64_t lanes = kVectorBytes / static_cast<std::int64_t>(bytes);
    const Expr whole = Max(FloorDiv(loop.extent, lanes), 0);
    const auto vector = [&](const Expr& from, bool is_last) {
      const Var lane(loop.var.name());
      const Stmt moved = Substitute(store, {{loop.var, loop.min + from + lane}});
      return For(lane, 0, lanes, ForKind::kVectorized,
                 is_last ? If(from + lane < loop.extent, moved) : moved);
    };
    const Var block(loop.var.name());
    return Seq({For(block, 0, whole, ForKind::kSerial, vector(block * lanes, false)),
                vector(whole * lanes, true)});
  }

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

  const bool of_any_length_;
};

}  // namespace

Stmt VectorizeCopies(const Stmt& stmt, bool of_any_length) {
  return CopyVectorizer(of_any_length)(stmt);
}

}  // namespace tenon::loop
