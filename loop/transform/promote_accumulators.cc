// In `for r: s[v] = s[v] + x(r)` with a mask over the lanes of v, where neither v nor the mask
// depends on r, s[v] becomes a buffer of one vector around the loop, which LLVM keeps in a register
// (Allen and Kennedy, "Optimizing Compilers for Modern Architectures", scalar replacement). LLVM
// does so by itself only with whole vectors. A CPU does not forward what a masked store writes to
// the load that follows, so each addition would wait for the cache.
#include <algorithm>
#include <iterator>
#include <optional>
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

// What a nest of serial loops does. It is unusable if it does anything except store.
struct Nest {
  std::vector<Var> vars;
  std::vector<const StoreNode*> stores;
  std::vector<const LoadNode*> loads;
  bool is_plain = true;

  explicit Nest(const Stmt& loop) {
    VisitStmts(loop, [&](const Stmt& s) {
      if (const auto* n = s.As<ForNode>()) {
        vars.push_back(n->var);
        is_plain = is_plain && n->for_kind == ForKind::kSerial;
      } else if (const auto* n = s.As<StoreNode>()) {
        stores.push_back(n);
      } else {
        is_plain = is_plain && s.kind() == StmtKind::kSeq;
      }
    });
    VisitExprs(loop, [&](const Expr& e) {
      if (const auto* n = e.As<LoadNode>()) loads.push_back(n);
    });
  }

  bool IsInvariant(const Expr& e) const {
    for (const Var& var : vars) {
      if (UsesVar(e, var)) return false;
    }
    return !LoadsAnything(e);
  }

  // Whether the nest uses the buffer of `place` at that very place or away from it.
  bool KeepsApart(const Place& place) const {
    const auto apart = [&](const auto& access) {
      return access.buffer.get() != place.buffer.get() || Place::Of(access) == place ||
             AreDisjoint(access.indices[0], place.index);
    };
    for (const StoreNode* store : stores) {
      if (!apart(*store)) return false;
    }
    for (const LoadNode* load : loads) {
      if (!apart(*load)) return false;
    }
    return true;
  }

  std::vector<Place> Accumulators() const {
    std::vector<Place> found;
    if (!is_plain) return found;
    for (const StoreNode* store : stores) {
      const Place place = Place::Of(*store);
      if (!place.predicate.defined() || place.predicate.dtype().lanes() == 1 ||
          !IsInvariant(place.index) || !IsInvariant(place.predicate) || !KeepsApart(place))
        continue;
      const bool is_read = std::any_of(loads.begin(), loads.end(), [&](const LoadNode* load) {
        return Place::Of(*load) == place;
      });
      if (is_read && std::find(found.begin(), found.end(), place) == found.end())
        found.push_back(place);
    }
    return found;
  }
};

// Replaces a place by the buffer of one vector.
class Replacer : public StmtMutator {
 public:
  Replacer(const Place& place, Buffer with, Expr index)
      : place_(place), with_(std::move(with)), index_(std::move(index)) {}

 protected:
  Expr Mutate(const Expr& e) override {
    const auto* load = e.As<LoadNode>();
    if (load != nullptr && Place::Of(*load) == place_) return Load(with_, {index_});
    return MutateChildren(e);
  }
  Stmt MutateStmt(const Stmt& stmt) override {
    const auto* store = stmt.As<StoreNode>();
    if (store == nullptr || !(Place::Of(*store) == place_)) return MutateStmtChildren(stmt);
    return Store(with_, (*this)(store->value), {index_}, store->store_kind);
  }

 private:
  const Place& place_;
  const Buffer with_;
  const Expr index_;
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
    for (const Stmt& part : seq->stmts) {
      parts.push_back(part.As<ForNode>() != nullptr ? Promoted(part, &parts) : MutateStmt(part));
      changed = changed || !(parts.back() == part);
    }
    return changed ? Seq(std::move(parts)) : stmt;
  }

 private:
  // `before` is what runs before the loop; stores of first values are taken out of it.
  Stmt Promoted(const Stmt& loop, std::vector<Stmt>* before) {
    const std::vector<Place> places = Nest(loop).Accumulators();
    if (places.empty()) return MutateStmtChildren(loop);
    Stmt body = loop;
    std::vector<Stmt> first, last;
    std::vector<Buffer> buffers;
    for (const Place& place : places) {
      const int lanes = place.index.dtype().lanes();
      const Buffer sum = Buffer::Make(StrCat(place.buffer->name, ".acc"), place.buffer->dtype,
                                      {Expr(lanes)}, Memory::kStack);
      const Expr index = Ramp(0, 1, lanes);
      body = Replacer(place, sum, index)(body);
      const std::optional<Expr> start = before == nullptr ? std::nullopt : TakeStart(place, before);
      first.push_back(
          Store(sum, start ? *start : Load(place.buffer, {place.index}, nullptr, place.predicate),
                {index}));
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
