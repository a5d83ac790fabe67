// An array is streamed if it is larger than the caches, if one store, whose vectors fill lines,
// writes all of it, and if nothing reads it. Then nobody misses the lines that a plain store would
// have read and kept.
#include "tenon/loop/transform/stream_results.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"
#include "tenon/support/alignment.h"

namespace tenon::loop {
namespace {

bool IsLarge(const Buffer& buffer) {
  const auto element = static_cast<std::int64_t>(buffer->dtype.bytes());
  const std::optional<std::int64_t> elements = ConstantElements(buffer);
  return elements && *elements >= kStreamedBytes / element &&
         AreRunsOfLines(buffer->shape.back().As<IntImmNode>()->value * element);
}

// Whether one store is all that uses it.
bool IsStoredOnce(const Buffer& buffer, const Stmt& stmt) {
  const auto uses = [&](const auto& node) {
    const Buffer* used = BufferOf(node);
    return used != nullptr && *used == buffer;
  };
  int stores = 0;
  bool is_read = false;
  VisitStmts(stmt, [&](const Stmt& s) { stores += uses(s) ? 1 : 0; });
  VisitExprs(stmt, [&](const Expr& e) { is_read = is_read || uses(e); });
  return stores == 1 && !is_read;
}

class ResultStreamer : public StmtMutator {
 public:
  explicit ResultStreamer(const std::vector<Buffer>& results) : results_(results) {}

 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    if (const auto* loop = stmt.As<ForNode>()) {
      const ForNode* outer = std::exchange(loop_, loop);
      Stmt mutated = MutateStmtChildren(stmt);
      loop_ = outer;
      return mutated;
    }
    const auto* store = stmt.As<StoreNode>();
    if (store == nullptr || !Streams(*store)) return MutateStmtChildren(stmt);
    return Store(store->buffer, store->value, store->indices, StoreKind::kStreaming,
                 store->predicate);
  }

 private:
  // Whether the store writes a result and the loop around it makes it a vector of whole lines. A
  // loop that calls mathematics is slower than memory, and waiting stores would hold it up.
  bool Streams(const StoreNode& store) const {
    if (loop_ == nullptr || loop_->for_kind != ForKind::kVectorized ||
        std::find(results_.begin(), results_.end(), store.buffer) == results_.end())
      return false;
    const auto* lanes = loop_->extent.As<IntImmNode>();
    const auto element = static_cast<std::int64_t>(store.buffer->dtype.bytes());
    if (lanes == nullptr || lanes->value * element % kCacheLineBytes != 0) return false;
    const Linear offset = ToLinear(OffsetOf(store.buffer, store.indices), {});
    return offset.CoefficientOf(loop_->var) == 1 && !CallsVectorMath(loop_->body);
  }

  const std::vector<Buffer>& results_;
  const ForNode* loop_ = nullptr;  // the innermost one
};

}  // namespace

bool AreRunsOfLines(std::int64_t bytes) {
  constexpr std::int64_t kLongRun = 16 * kCacheLineBytes;
  return bytes % kCacheLineBytes == 0 || bytes >= kLongRun;
}

Stmt StreamResults(const Stmt& stmt, const std::vector<Buffer>& params) {
  std::vector<Buffer> results;
  std::copy_if(params.begin(), params.end(), std::back_inserter(results),
               [&](const Buffer& param) { return IsLarge(param) && IsStoredOnce(param, stmt); });
  return results.empty() ? stmt : ResultStreamer(results)(stmt);
}

}  // namespace tenon::loop
