// Sums of floats that may go in any order over terms that lie side by side in memory, of which
// there are not as many as fill LLVM's accumulators: LLVM sums what is left over in shorter vectors
// and then one by one, which for rows of a thousand takes as long as half of the row.
//
// Each lane keeps a sum of its own over blocks of all lanes. What is left over is read as a
// block that ends with the row, in which what has been taken already counts as 0, so that nothing
// beyond the row is read and no load needs a mask. Then halves of the lanes are added up until one
// is left. The order depends on the extent alone. Elements that do not fill the lanes, as a block
// of values of vector mathematics, take as many lanes as the largest power of two of them.
#include <bit>
#include <cstdint>

#include "tenon/loop/simplify.h"
#include "tenon/loop/transforms.h"
#include "tenon/loop/visit.h"
#include "tenon/support/arithmetic.h"

namespace tenon::loop {
namespace {

// Of the accumulators: several vector registers, which hide how long an addition takes.
constexpr std::int64_t kBytes = 256;
// Elements of a block, of values of vector mathematics for instance, that LLVM would add one by
// one.
constexpr std::int64_t kLeastElements = 8;

// Whether iterations read the elements of `e` side by side, or the same one each time.
bool ReadsAlongMemory(const Expr& e, const Var& var) {
  bool along = true, any = false;
  VisitExpr(e, [&](const Expr& x) {
    const auto* select = x.As<SelectNode>();
    if (x.kind() == ExprKind::kExternCall || (select != nullptr && select->lazy)) along = false;
    const auto* load = x.As<LoadNode>();
    if (load == nullptr) return;
    if (load->predicate.defined()) along = false;
    if (!UsesVar(load->indices[0], var)) return;
    any = true;
    along = along && !UsesVar(Simplify(load->indices[0] - var), var);
  });
  return along && any;
}

class SumVectorizer : public StmtMutator {
 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    const auto* n = stmt.As<ForNode>();
    if (n == nullptr) return MutateStmtChildren(stmt);
    const auto* extent = n->extent.As<IntImmNode>();
    if (n->for_kind != ForKind::kSerial || extent == nullptr) return MutateStmtChildren(stmt);
    const auto* store = n->body.As<StoreNode>();
    if (store == nullptr) return MutateStmtChildren(stmt);
    const auto bytes = static_cast<std::int64_t>(store->buffer->dtype.bytes());
    const std::int64_t lanes = kBytes / bytes;
    if (!IsSum(*n, *store)) return stmt;
    if (extent->value >= kLeastElements && SumsABlock(*store, lanes))
      return ByLane(
          *n, *store, extent->value,
          static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(extent->value))));
    if (extent->value < lanes || extent->value % lanes == 0) return stmt;
    return ByLane(*n, *store, extent->value, lanes);
  }

 private:
  static bool IsSum(const ForNode& loop, const StoreNode& store) {
    const DataType type = store.value.dtype();
    if (!MayReassociate(store) || store.predicate.defined() || (type != Float32 && type != Float64))
      return false;
    const auto* sum = store.value.As<BinaryNode>();
    if (sum == nullptr || sum->op != BinaryOp::kAdd) return false;
    const auto* result = sum->a.As<LoadNode>();
    if (result == nullptr || !(result->buffer == store.buffer)) return false;
    if (UsesVar(store.indices[0], loop.var) ||
        !StructuralEqual(result->indices[0], store.indices[0]))
      return false;
    bool reads_result = false;
    VisitExpr(sum->b, [&](const Expr& x) {
      const auto* load = x.As<LoadNode>();
      reads_result = reads_result || (load != nullptr && load->buffer == store.buffer);
    });
    return !reads_result && !CallsVectorMath(sum->b) && ReadsAlongMemory(sum->b, loop.var);
  }

  // Whether the terms are the elements of a buffer that the lanes hold, as a block of values is.
  static bool SumsABlock(const StoreNode& store, std::int64_t lanes) {
    const auto* load = store.value.As<BinaryNode>()->b.As<LoadNode>();
    if (load == nullptr || load->buffer->shape.size() != 1) return false;
    const auto* elements = load->buffer->shape[0].As<IntImmNode>();
    return elements != nullptr && elements->value <= lanes;
  }

  static Stmt ByLane(const ForNode& loop, const StoreNode& store, std::int64_t extent,
                     std::int64_t lanes) {
    const auto& sum = *store.value.As<BinaryNode>();
    const DataType type = store.buffer->dtype;
    const Buffer sums = Buffer::Make(store.buffer->name + ".lanes", type, {lanes});
    const Var lane(loop.var.name() + ".lane"), block(loop.var.name() + ".block");
    const auto in_lanes = [&](std::int64_t count, const Expr& value) {
      return For(lane, 0, count, ForKind::kVectorized,
                 Store(sums, value, {lane}, StoreKind::kReassociated));
    };
    const auto term_at = [&](const Expr& k) {
      return Substitute(sum.b, {{loop.var, loop.min + k}});
    };
    const Expr so_far = Load(sums, {lane});
    const std::int64_t whole = extent / lanes;
    std::vector<Stmt> steps = {in_lanes(lanes, Constant(type, 0))};
    steps.push_back(For(block, 0, whole, ForKind::kSerial,
                        in_lanes(lanes, so_far + term_at(block * lanes + lane))));
    const std::int64_t last = extent - lanes, taken = whole * lanes - last;
    if (extent % lanes != 0)
      steps.push_back(
          in_lanes(lanes, so_far + Select(lane >= taken, term_at(last + lane), Constant(type, 0))));
    for (std::int64_t half = lanes / 2; half >= 1; half /= 2)
      steps.push_back(in_lanes(half, so_far + Load(sums, {lane + half})));
    steps.push_back(
        Store(store.buffer, sum.a + Load(sums, {0}), store.indices, StoreKind::kReassociated));
    return Allocate(sums, Seq(std::move(steps)));
  }
};

}  // namespace

Stmt VectorizeSums(const Stmt& stmt) { return SumVectorizer()(stmt); }

}  // namespace tenon::loop
