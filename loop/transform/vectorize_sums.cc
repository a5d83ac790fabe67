// Sums of floats that may go in any order over terms that lie side by side in memory, and whose
// number is not a multiple of what fills LLVM's accumulators. LLVM sums what is left over in
// shorter vectors and then one by one, which for rows of a thousand takes as long as half of the
// row. Sums of what the kernel has just computed become vectors here, too, for FuseLoops to find.
//
// Each lane keeps a sum of its own over blocks of all lanes. What is left over is read as a block
// that ends with the row. Elements that have been taken already count as 0 in it, so that nothing
// beyond the row is read and no load needs a mask. Then halves of the lanes are added up until one
// is left. The order depends on the extent alone. Elements that do not fill the lanes, such as a
// block of values of vector mathematics, take the largest power of two of lanes that they fill.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <unordered_set>

#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"
#include "tenon/support/arithmetic.h"

namespace tenon::loop {
namespace {

// The bytes of the accumulators: several vector registers, which hide how long an addition takes.
constexpr std::int64_t kBytes = 256;
constexpr std::int64_t kRegisterBytes = 64;
// Elements of a block, of values of vector mathematics for instance, that LLVM would add one by
// one.
constexpr std::int64_t kMinElements = 8;

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
    if (const auto* allocate = stmt.As<AllocateNode>()) allocated_.insert(allocate->buffer);
    const auto* n = stmt.As<ForNode>();
    if (n == nullptr) return MutateStmtChildren(stmt);
    const auto* extent = n->extent.As<IntImmNode>();
    if (n->for_kind != ForKind::kSerial || extent == nullptr) return MutateStmtChildren(stmt);
    const auto* store = n->body.As<StoreNode>();
    if (store == nullptr) return MutateStmtChildren(stmt);
    const auto bytes = static_cast<std::int64_t>(store->buffer->dtype.bytes());
    const std::int64_t lanes = kBytes / bytes;
    if (!IsSum(*n, *store)) return stmt;
    if (extent->value >= kMinElements && (SumsABlock(*store, lanes) || extent->value < lanes))
      return ByLane(
          *n, *store, extent->value,
          static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(extent->value))));
    if (extent->value < lanes || (extent->value % lanes == 0 && !ReadsAllocated(*store)))
      return stmt;
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

  bool ReadsAllocated(const StoreNode& store) const {
    bool reads = false;
    VisitExpr(store.value.As<BinaryNode>()->b, [&](const Expr& e) {
      const auto* load = e.As<LoadNode>();
      reads = reads || (load != nullptr && allocated_.contains(load->buffer));
    });
    return reads;
  }

  Stmt ByLane(const ForNode& loop, const StoreNode& store, std::int64_t extent,
              std::int64_t lanes) const {
    const auto& sum = *store.value.As<BinaryNode>();
    const DataType type = store.buffer->dtype;
    const Buffer sums = Buffer::Make(store.buffer->name + ".lanes", type, {lanes});
    const Var lane(loop.var.name() + ".lane"), block(loop.var.name() + ".block");
    // If a row is stored just before it is read, vectors of one register find what they read.
    const std::int64_t width =
        ReadsAllocated(store) ? kRegisterBytes / static_cast<std::int64_t>(type.bytes()) : lanes;
    const auto in_lanes = [&](std::int64_t count, const std::function<Expr(const Expr&)>& value) {
      std::vector<Stmt> vectors;
      for (std::int64_t first = 0; first < count; first += width) {
        const Expr at = lane + first;
        vectors.push_back(For(lane, 0, std::min(width, count - first), ForKind::kVectorized,
                              Store(sums, value(at), {at}, StoreKind::kReassociated)));
      }
      return Seq(std::move(vectors));
    };
    const auto so_far = [&](const Expr& at) { return Load(sums, {at}); };
    const auto term_at = [&](const Expr& k) {
      return Substitute(sum.b, {{loop.var, loop.min + k}});
    };
    const std::int64_t whole = extent / lanes;
    std::vector<Stmt> steps = {in_lanes(lanes, [&](const Expr&) { return Constant(type, 0); })};
    steps.push_back(For(block, 0, whole, ForKind::kSerial, in_lanes(lanes, [&](const Expr& at) {
                          return so_far(at) + term_at(block * lanes + at);
                        })));
    const std::int64_t last = extent - lanes, taken = whole * lanes - last;
    if (extent % lanes != 0)
      steps.push_back(in_lanes(lanes, [&](const Expr& at) {
        return so_far(at) + Select(at >= taken, term_at(last + at), Constant(type, 0));
      }));
    for (std::int64_t half = lanes / 2; half >= 1; half /= 2)
      steps.push_back(
          in_lanes(half, [&](const Expr& at) { return so_far(at) + Load(sums, {at + half}); }));
    steps.push_back(
        Store(store.buffer, sum.a + Load(sums, {0}), store.indices, StoreKind::kReassociated));
    return Allocate(sums, Seq(std::move(steps)));
  }

  std::unordered_set<Buffer, BufferHash> allocated_;
};

}  // namespace

Stmt VectorizeSums(const Stmt& stmt) { return SumVectorizer()(stmt); }

}  // namespace tenon::loop
