// The stages of a row come one loop after the other, each of which reads from memory what the one
// before has just stored. If the later loop's iteration touches no more than the same iteration of
// the earlier one, the two may take turns (loop fusion: Kennedy and McKinley, "Maximizing Loop
// Parallelism and Improving Data Locality via Loop Fusion and Distribution", 1993).
//
// The earlier loop moves down to the later one: past what lies between them, which must not touch
// the places that it writes, nor write those that it reads. What starts an accumulator of the later
// loop thus stays before it.
#include <algorithm>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "tenon/loop/block.h"
#include "tenon/loop/simplify/lanes.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"

namespace tenon::loop {
namespace {

// The most statements between two loops that are looked through, and the most accesses in them.
// Rows have few stages.
constexpr std::size_t kFarthest = 12, kMaxAccesses = 128;

struct Access {
  Buffer buffer;
  bool stores;
  Expr index;  // of all lanes, by variables; undefined where it is not known
  Expr first;  // of the first lane
};

struct Accesses {
  std::vector<Access> all;
  bool are_known = true;  // whether they are all, and few enough to compare
};

// The same loops over variables of their own. Copies of a loop run over one variable, which has one
// value where their iterations are compared.
class Renamer : public StmtMutator {
 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    const auto* loop = stmt.As<ForNode>();
    if (loop == nullptr) return MutateStmtChildren(stmt);
    const Var own(loop->var.name());
    return For(own, loop->min, loop->extent, loop->for_kind,
               Substitute(MutateStmt(loop->body), {{loop->var, own}}));
  }
};

// What the statements of a block touch, and where their variables are.
class Block {
 public:
  Accesses AccessesOf(const Stmt& stmt) {
    Accesses accesses;
    VisitStmts(stmt, [&](const Stmt& s) {
      if (const auto* loop = s.As<ForNode>()) Bind(*loop);
      if (const auto* store = s.As<StoreNode>())
        accesses.all.push_back(AccessOf(store->buffer, store->indices, true));
    });
    VisitExprs(stmt, [&](const Expr& e) {
      if (const auto* load = e.As<LoadNode>())
        accesses.all.push_back(AccessOf(load->buffer, load->indices, false));
      if (e.kind() == ExprKind::kExternCall || e.kind() == ExprKind::kAddress)
        accesses.are_known = false;
    });
    if (accesses.all.size() > kMaxAccesses) accesses.are_known = false;
    return accesses;
  }

  // The range of a - b. Everything if one of them is not known.
  Interval Difference(const Expr& a, const Expr& b) const {
    if (!a.defined() || !b.defined()) return {};
    return RangeOf(Simplify(a - b, bounds_), bounds_);
  }
  std::int64_t CoefficientOf(const Var& var, const Expr& index) const {
    return index.defined() ? ToLinear(index, bounds_).CoefficientOf(var) : 0;
  }

 private:
  // One variable may run in several loops.
  void Bind(const ForNode& loop) {
    Interval values{RangeOf(loop.min, {}).low, RangeOf(loop.min + loop.extent - 1, {}).high};
    if (!bound_.insert(loop.var).second) {
      const Interval before = bounds_.Of(loop.var);
      values = {std::min(values.low, before.low), std::max(values.high, before.high)};
    }
    bounds_.Bind(loop.var, values);
  }
  Access AccessOf(const Buffer& buffer, const std::vector<Expr>& indices, bool stores) {
    const Expr& index = indices[0];
    if (!index.dtype().is_vector()) return {buffer, stores, index, index};
    const Var lane("lane");
    bounds_.Bind(lane, {0, index.dtype().lanes() - 1});
    const Expr of_lane = AtLane(index, lane);
    if (!of_lane.defined()) return {buffer, stores, {}, {}};
    return {buffer, stores, of_lane, Substitute(of_lane, {{lane, Expr(0)}})};
  }

  Bounds bounds_;
  std::unordered_set<Expr, ExprHash, ExprSame> bound_;
};

// The loop, if it has few enough statements to share its iterations with another one. It must store
// vectors, which stay in the caches.
const ForNode* AsCandidate(const Item& item) {
  const auto* loop = item.stmt ? item.stmt.As<ForNode>() : nullptr;
  if (loop == nullptr || loop->for_kind != ForKind::kSerial || !IsConstInt(loop->min, 0) ||
      loop->extent.kind() != ExprKind::kIntImm)
    return nullptr;
  bool is_plain = true;
  VisitStmts(loop->body, [&](const Stmt& s) {
    if (const auto* inner = s.As<ForNode>())
      is_plain = is_plain && inner->body.kind() == StmtKind::kEvaluate;
    if (const auto* store = s.As<StoreNode>())
      is_plain = is_plain && store->value.dtype().is_vector() &&
                 store->store_kind != StoreKind::kStreaming;
  });
  return is_plain ? loop : nullptr;
}

// Whether no iteration of `second`, which runs by the variable of the first loop, touches what
// `first` writes in another iteration, nor the other way round; and one reads what the other wrote.
bool TakeTurns(const Block& block, const Accesses& first, const Accesses& second, const Var& var) {
  std::vector<Access> both = first.all;
  both.insert(both.end(), second.all.begin(), second.all.end());
  bool feeds = false;
  for (const Access& written : both) {
    if (!written.stores) continue;
    const auto count = [&](const Accesses& accesses) {
      return std::count_if(accesses.all.begin(), accesses.all.end(),
                           [&](const Access& x) { return x.buffer == written.buffer; });
    };
    if (count(first) == 0 || count(second) == 0) continue;
    Interval touched{0, 0};
    for (const Access& x : both) {
      if (!(x.buffer == written.buffer)) continue;
      const Interval here = block.Difference(x.index, written.first);
      touched = {std::min(touched.low, here.low), std::max(touched.high, here.high)};
    }
    // An unbounded end is as far away as numbers go.
    const std::int64_t step = block.CoefficientOf(var, written.first);
    if (touched.low <= -step || touched.high >= step || touched.high - touched.low >= step)
      return false;
    feeds = true;
  }
  return feeds;
}

// Whether what follows a loop writes nothing that the loop touches, and touches nothing that the
// loop writes.
bool CanPass(const Block& block, const Accesses& loop, const Accesses& after) {
  for (const Access& a : loop.all) {
    for (const Access& b : after.all) {
      if (!(a.buffer == b.buffer) || !(a.stores || b.stores)) continue;
      const Interval apart = block.Difference(b.index, a.index);
      if (apart.low <= 0 && apart.high >= 0) return false;
    }
  }
  return true;
}

// The loops of items `a` and `b` as one that stands at `b`, if that is possible.
std::optional<Stmt> Fused(const std::vector<Item>& items, std::size_t a, std::size_t b) {
  const ForNode* first = AsCandidate(items[a]);
  const ForNode* second = AsCandidate(items[b]);
  if (first == nullptr || second == nullptr || !StructuralEqual(first->extent, second->extent))
    return std::nullopt;
  const Stmt body = Substitute(second->body, {{second->var, first->var}});
  Block block;
  const Accesses of_first = block.AccessesOf(items[a].stmt), of_second = block.AccessesOf(body);
  if (!of_first.are_known || !of_second.are_known ||
      !TakeTurns(block, of_first, of_second, first->var))
    return std::nullopt;
  for (std::size_t i = a + 1; i < b; ++i) {
    if (!items[i].stmt) continue;
    const Accesses after = block.AccessesOf(Renamer()(items[i].stmt));
    if (!after.are_known || !CanPass(block, of_first, after)) return std::nullopt;
  }
  return For(first->var, first->min, first->extent, ForKind::kSerial, Seq({first->body, body}));
}

bool FuseIn(std::vector<Item>& items) {
  bool changed = false;
  for (std::size_t b = 1; b < items.size(); ++b) {
    if (AsCandidate(items[b]) == nullptr) continue;
    for (std::size_t a = b; a-- > (b > kFarthest ? b - kFarthest : 0);) {
      std::optional<Stmt> fused = Fused(items, a, b);
      if (!fused) continue;
      items[b].stmt = *std::move(fused);
      items.erase(items.begin() + static_cast<std::ptrdiff_t>(a));
      --b;
      changed = true;
    }
  }
  return changed;
}

// The items, with blocks among them replaced by their own items. The buffers of such blocks then
// exist for longer. Buffers in copies that unrolling made cannot, since copies share them.
std::vector<Item> Opened(const std::vector<Item>& items) {
  std::unordered_set<Buffer, BufferHash> buffers;
  std::vector<Item> opened;
  for (const Item& item : items) {
    const auto* allocate = item.stmt ? item.stmt.As<AllocateNode>() : nullptr;
    if (allocate == nullptr || !buffers.insert(allocate->buffer).second) {
      opened.push_back(item);
      continue;
    }
    for (Item& inner : ItemsOf(item.stmt)) opened.push_back(std::move(inner));
  }
  return opened;
}

class LoopFuser : public BlockMutator {
 protected:
  bool Change(std::vector<Item>& items) override {
    std::vector<Item> opened = Opened(items);
    const bool fused = FuseIn(opened);
    if (fused) items = std::move(opened);
    return fused;
  }
};

}  // namespace

Stmt FuseLoops(const Stmt& stmt) { return LoopFuser()(stmt); }

}  // namespace tenon::loop
