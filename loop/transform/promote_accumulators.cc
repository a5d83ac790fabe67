// In `for r: s[v] = s[v] + x(r)` with a mask over the lanes of v, where neither v nor the mask
// depends on r, s[v] becomes a buffer of one vector around the loop, which LLVM keeps in a register
// (Allen and Kennedy, "Optimizing Compilers for Modern Architectures", scalar replacement). So it
// does around stores in a row, which are what is left of an unrolled loop. LLVM does so by itself
// only with whole vectors. A CPU does not forward what a masked store writes to the load that
// follows, so each addition would wait for the cache.
#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_set>
#include <vector>

#include "tenon/loop/simplify/guards.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"
#include "tenon/support/strings.h"

namespace tenon::loop {
namespace {

// A vector in memory.
struct Place {
  Buffer buffer;
  Expr index;
  Expr predicate;

  template <typename Access>
  static Place Of(const Access& access) {
    return {access.buffer, access.indices[0], access.predicate};
  }
  bool operator==(const Place& other) const {
    return buffer.get() == other.buffer.get() && StructuralEqual(index, other.index) &&
           predicate.defined() == other.predicate.defined() &&
           (!predicate.defined() || StructuralEqual(predicate, other.predicate));
  }
};

// The element that an index begins with, and how many follow each other from there.
struct Span {
  Expr first;
  std::int64_t count;
};
std::optional<Span> SpanOf(const Expr& index) {
  if (index.dtype().lanes() == 1) return Span{index, 1};
  const auto* ramp = index.As<RampNode>();
  if (ramp == nullptr || !IsConstInt(ramp->stride, 1)) return std::nullopt;
  return Span{ramp->base, ramp->lanes};
}

bool AreDisjoint(const Expr& a, const Expr& b) {
  const auto x = SpanOf(a), y = SpanOf(b);
  if (!x || !y) return false;
  const Linear distance = ToLinear(y->first - x->first, {});
  return distance.terms.empty() &&
         (distance.constant >= x->count || -distance.constant >= y->count);
}

// Whether lane l of a node depends on lane l of its operands alone.
bool IsLanewise(const Expr& e) {
  const auto* select = e.As<SelectNode>();
  return e.kind() == ExprKind::kCast || e.kind() == ExprKind::kBinary ||
         e.kind() == ExprKind::kNot || e.kind() == ExprKind::kCall ||
         (select != nullptr && !select->lazy);
}

// Whether what `value` reads at `place` stays in its lanes. A load reads 0 where its mask is false;
// the vector that stands for it has anything there.
bool ReadsLanewise(const Expr& value, const Place& place) {
  std::unordered_set<Expr, ExprHash, ExprSame> depends;
  bool is_lanewise = true;
  VisitExpr(value, [&](const Expr& e) {
    const auto* load = e.As<LoadNode>();
    if (load != nullptr && Place::Of(*load) == place) depends.insert(e);
    for (const Expr& child : Children(e)) {
      if (!depends.contains(child)) continue;
      depends.insert(e);
      is_lanewise = is_lanewise && IsLanewise(e) && child.dtype().lanes() == e.dtype().lanes();
    }
  });
  return is_lanewise;
}

// Serial loops, or stores in a row. It is unusable if it does anything except store.
class Region {
 public:
  explicit Region(const Stmt& part) : is_loop_(part.As<ForNode>() != nullptr) {
    VisitStmts(part, [&](const Stmt& s) {
      if (const auto* n = s.As<ForNode>()) {
        vars_.push_back(n->var);
        is_plain_ = is_plain_ && n->for_kind == ForKind::kSerial;
        for (const Expr& bound : {n->min, n->extent}) Add(bound, &other_reads_);
      } else if (const auto* n = s.As<StoreNode>()) {
        Update& update = updates_.emplace_back(Update{n, IndexOf(Place::Of(*n)), {}});
        Add(n->value, &update.reads);
        Add(n->indices[0], &other_reads_);
        if (n->predicate.defined()) Add(n->predicate, &other_reads_);
      } else {
        is_plain_ = is_plain_ && s.kind() == StmtKind::kSeq;
      }
    });
  }

  std::vector<Place> Accumulators() const {
    std::vector<Place> found;
    if (!is_plain_) return found;
    for (std::size_t p = 0; p < places_.size(); ++p) {
      const Place& place = places_[p];
      if (place.predicate.defined() && place.predicate.dtype().lanes() > 1 &&
          IsInvariant(place.index) && IsInvariant(place.predicate) && ReadsAgain(p) &&
          KeepsApart(p))
        found.push_back(place);
    }
    return found;
  }

  // Whether the first use of `place` gives it a value. In a loop it is not known to be the first.
  bool Starts(const Place& place) const {
    if (is_loop_) return false;
    const auto first = std::find_if(updates_.begin(), updates_.end(), [&](const Update& update) {
      return places_[update.place] == place || Reads(update, place);
    });
    return first != updates_.end() && !Reads(*first, place);
  }

 private:
  // A store: what it writes, and what its value reads, as indices of places.
  struct Update {
    const StoreNode* store;
    std::size_t place;
    std::vector<std::size_t> reads;
  };

  std::size_t IndexOf(const Place& place) {
    const auto at = std::find(places_.begin(), places_.end(), place);
    if (at == places_.end()) {
      places_.push_back(place);
      return places_.size() - 1;
    }
    return static_cast<std::size_t>(at - places_.begin());
  }

  void Add(const Expr& e, std::vector<std::size_t>* reads) {
    VisitExpr(e, [&](const Expr& node) {
      if (const auto* n = node.As<LoadNode>()) reads->push_back(IndexOf(Place::Of(*n)));
      // Who has its address reads it, too.
      is_plain_ = is_plain_ && node.kind() != ExprKind::kAddress;
    });
  }

  bool Reads(const Update& update, const Place& place) const {
    return std::any_of(update.reads.begin(), update.reads.end(),
                       [&](std::size_t read) { return places_[read] == place; });
  }

  bool IsInvariant(const Expr& e) const {
    for (const Var& var : vars_) {
      if (UsesVar(e, var)) return false;
    }
    return !LoadsAnything(e);
  }

  // Whether the place is stored, and a turn of the loops or a later store reads it.
  bool ReadsAgain(std::size_t place) const {
    bool is_stored = is_loop_ && std::any_of(updates_.begin(), updates_.end(),
                                             [&](const auto& u) { return u.place == place; });
    for (const Update& update : updates_) {
      if (is_stored && std::ranges::count(update.reads, place) > 0) return true;
      is_stored = is_stored || update.place == place;
    }
    return false;
  }

  // Whether the buffer of the place is used at that very place, lane by lane and under its mask, or
  // away from it.
  bool KeepsApart(std::size_t p) const {
    const Place& place = places_[p];
    for (std::size_t other = 0; other < places_.size(); ++other) {
      if (other != p && places_[other].buffer.get() == place.buffer.get() &&
          !AreDisjoint(places_[other].index, place.index))
        return false;
    }
    if (std::ranges::count(other_reads_, p) > 0) return false;
    return std::all_of(updates_.begin(), updates_.end(), [&](const Update& update) {
      const StoreNode& store = *update.store;
      if (update.place == p && store.store_kind == StoreKind::kStreaming) return false;
      if (std::ranges::count(update.reads, p) == 0) return true;
      return store.predicate.defined() && StructuralEqual(store.predicate, place.predicate) &&
             ReadsLanewise(store.value, place);
    });
  }

  std::vector<Var> vars_;
  std::vector<Place> places_;  // each once
  std::vector<Update> updates_;
  std::vector<std::size_t> other_reads_;  // those of indices, masks and bounds
  bool is_plain_ = true;
  const bool is_loop_;
};

// Replaces a place by the buffer of one vector.
class Replacer : public StmtMutator {
 public:
  Replacer(const Place& place, Buffer with, Expr index, bool keeps_order)
      : place_(place),
        with_(std::move(with)),
        index_(std::move(index)),
        keeps_order_(keeps_order) {}

 protected:
  Expr Mutate(const Expr& e) override {
    const auto* load = e.As<LoadNode>();
    if (load != nullptr && Place::Of(*load) == place_) return Load(with_, {index_});
    return MutateChildren(e);
  }
  Stmt MutateStmt(const Stmt& stmt) override {
    const auto* store = stmt.As<StoreNode>();
    if (store == nullptr || !(Place::Of(*store) == place_)) return MutateStmtChildren(stmt);
    return Store(with_, (*this)(store->value), {index_},
                 keeps_order_ ? StoreKind::kPlain : store->store_kind);
  }

 private:
  const Place& place_;
  const Buffer with_;
  const Expr index_;
  const bool keeps_order_;
};

class Promoter : public StmtMutator {
 protected:
  Expr Mutate(const Expr& e) override { return e; }

  Stmt MutateStmt(const Stmt& stmt) override {
    if (stmt.As<ForNode>() != nullptr) return Promoted(stmt, nullptr);
    const auto* seq = stmt.As<SeqNode>();
    if (seq == nullptr) return MutateStmtChildren(stmt);
    std::vector<Stmt> parts;
    bool changed = false;
    for (std::size_t i = 0; i < seq->stmts.size();) {
      const std::size_t end = EndOfStores(seq->stmts, i);
      const Stmt part =
          end <= i + 1 ? seq->stmts[i]
                       : Seq(std::vector(seq->stmts.begin() + At(i), seq->stmts.begin() + At(end)));
      i = std::max(i + 1, end);
      const bool is_region = part.As<ForNode>() != nullptr || part.As<SeqNode>() != nullptr;
      const Stmt result = is_region ? Promoted(part, &parts) : MutateStmt(part);
      changed = changed || !(result == part);
      const auto* stores = result.As<SeqNode>();
      if (stores == nullptr) {
        parts.push_back(result);
      } else {
        parts.insert(parts.end(), stores->stmts.begin(), stores->stmts.end());
      }
    }
    return changed ? Seq(std::move(parts)) : stmt;
  }

 private:
  static std::ptrdiff_t At(std::size_t i) { return static_cast<std::ptrdiff_t>(i); }

  // The end of the stores in a row from `begin` on, of which so many are one region.
  static std::size_t EndOfStores(const std::vector<Stmt>& stmts, std::size_t begin) {
    constexpr std::size_t kMaxStores = 256;
    std::size_t end = begin;
    while (end < stmts.size() && end < begin + kMaxStores && stmts[end].As<StoreNode>() != nullptr)
      ++end;
    return end;
  }

  // `before` is what runs before the region; stores of first values are taken out of it.
  Stmt Promoted(const Stmt& part, std::vector<Stmt>* before) {
    const bool is_loop = part.As<ForNode>() != nullptr;
    const Region region(part);
    const std::vector<Place> places = region.Accumulators();
    if (places.empty()) return is_loop ? MutateStmtChildren(part) : part;
    Stmt body = part;
    std::vector<Stmt> first, last;
    std::vector<Buffer> buffers;
    for (const Place& place : places) {
      const int lanes = place.index.dtype().lanes();
      const Buffer sum = Buffer::Make(StrCat(place.buffer->name, ".acc"), place.buffer->dtype,
                                      {Expr(lanes)}, Memory::kStack);
      const Expr index = Ramp(0, 1, lanes);
      // In memory the sums of a row of stores went one after the other; so they do in registers.
      body = Replacer(place, sum, index, !is_loop)(body);
      const bool starts = region.Starts(place);
      const std::optional<Expr> start =
          before == nullptr || starts ? std::nullopt : TakeStart(place, before);
      if (!starts) {
        first.push_back(
            Store(sum, start ? *start : Load(place.buffer, {place.index}, nullptr, place.predicate),
                  {index}));
      }
      last.push_back(Store(place.buffer, Load(sum, {index}), {place.index}, StoreKind::kPlain,
                           place.predicate));
      buffers.push_back(sum);
    }
    first.push_back(body);
    first.insert(first.end(), last.begin(), last.end());
    Stmt result = Seq(std::move(first));
    for (const Buffer& buffer : buffers) result = Allocate(buffer, result);
    return result;
  }

  // The value that the last statements store there, which need not do so any more.
  static std::optional<Expr> TakeStart(const Place& place, std::vector<Stmt>* before) {
    for (auto it = before->rbegin(); it != before->rend(); ++it) {
      const auto* store = it->As<StoreNode>();
      if (store == nullptr || LoadsAnything(store->value)) return std::nullopt;
      if (Place::Of(*store) == place) {
        const Expr value = store->value;
        before->erase(std::next(it).base());
        return value;
      }
      if (store->buffer.get() == place.buffer.get() && !AreDisjoint(store->indices[0], place.index))
        return std::nullopt;
    }
    return std::nullopt;
  }
};

}  // namespace

Stmt PromoteAccumulators(const Stmt& stmt) { return Promoter()(stmt); }

}  // namespace tenon::loop
