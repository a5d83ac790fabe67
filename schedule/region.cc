// Interval arithmetic with symbolic ends: each loop variable that the statement defines stands for
// its range, everything else for itself. A condition bounds the sum of such variables that it
// names. A dimension whose ends are not known, or whose extent is not constant, is covered whole.
#include "tenon/schedule/region.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "tenon/loop/simplify/guards.h"
#include "tenon/loop/simplify/lanes.h"
#include "tenon/loop/visit.h"
#include "tenon/support/error.h"

namespace tenon::schedule {
namespace {

using loop::BinaryOp;
using loop::Expr;

using Ends = std::pair<Expr, Expr>;  // lowest and highest value

// Ranges that end above come from symbolic extents.
constexpr std::int64_t kWide = std::int64_t{1} << 24;

enum class Accesses { kLoads, kStores, kAll };

// The largest value, unless it rests on the assumed upper end of a symbolic extent. Then it moves
// when variables of so wide a range get a wider one.
std::optional<std::int64_t> LargestValueOf(const Expr& extent, const loop::Bounds& bounds) {
  const std::int64_t high = loop::RangeOf(extent, bounds).high;
  loop::Bounds wider = bounds;
  loop::VisitExpr(extent, [&](const Expr& e) {
    if (e.kind() != loop::ExprKind::kVar) return;
    const loop::Interval range = bounds.Of(e);
    if (range.high > kWide && range.high < loop::Interval::kHighest / 2)
      wider.Bind(loop::Var(e), {range.low, range.high * 2});
  });
  if (high == loop::Interval::kHighest || high != loop::RangeOf(extent, wider).high)
    return std::nullopt;
  return high;
}

// The largest value of an extent. A minimum of two that is added is at most either of them. Minus
// another minimum, it is at most the greater of the differences of their parts.
std::optional<std::int64_t> LargestOf(const Expr& extent, const loop::Bounds& bounds) {
  loop::Linear rest = loop::ToLinear(extent, bounds);
  const auto is_min = [](const auto& term) {
    const auto* n = term.first.template As<loop::BinaryNode>();
    return n != nullptr && n->op == BinaryOp::kMin;
  };
  const auto take = [&](auto wanted) -> std::optional<std::pair<Expr, std::int64_t>> {
    const auto found = std::find_if(rest.terms.begin(), rest.terms.end(), [&](const auto& term) {
      return is_min(term) && wanted(term.second);
    });
    if (found == rest.terms.end()) return std::nullopt;
    const auto term = *found;
    rest.terms.erase(found);
    return term;
  };
  const auto added = take([](std::int64_t times) { return times > 0; });
  if (!added) return LargestValueOf(extent, bounds);
  const std::int64_t times = added->second;
  const auto less = take([=](std::int64_t other) { return other == -times; });
  const auto with = [&](Expr part, const Expr* other) {
    if (other != nullptr) part = part - *other;
    return LargestOf(loop::Simplify(rest.ToExpr() + part * times, bounds), bounds);
  };
  const auto& high = *added->first.As<loop::BinaryNode>();
  const auto* low = less ? less->first.As<loop::BinaryNode>() : nullptr;
  const auto a = with(high.a, low == nullptr ? nullptr : &low->a);
  const auto b = with(high.b, low == nullptr ? nullptr : &low->b);
  if (low != nullptr) return a && b ? std::optional(std::max(*a, *b)) : std::nullopt;
  return a && b ? std::min(*a, *b) : a ? a : b;
}

// A sum of variables that the statement defines, and its largest value where an `if` is taken.
struct Guard {
  loop::Linear sum;
  std::int64_t most;
};

class RegionFinder {
 public:
  RegionFinder(const loop::Buffer& buffer, const loop::Bounds& outer, Accesses accesses)
      : buffer_(buffer),
        accesses_(accesses),
        bounds_(outer),
        dims_(buffer->shape.size()),
        whole_(buffer->shape.size(), false) {}

  void Visit(const loop::Stmt& stmt) {
    switch (stmt.kind()) {
      case loop::StmtKind::kFor: {
        const auto& n = *stmt.As<loop::ForNode>();
        Visit(n.min);
        Visit(n.extent);
        const std::optional<Ends> min = EndsOf(n.min), extent = EndsOf(n.extent);
        if (min && extent)
          inner_[n.var] = {min->first, min->second + extent->second - 1};
        else
          unknown_.emplace(n.var, true);
        const loop::Interval first = loop::RangeOf(n.min, bounds_),
                             count = loop::RangeOf(n.extent, bounds_);
        if (first.low != loop::Interval::kLowest && first.high < loop::Interval::kHighest / 2 &&
            count.high < loop::Interval::kHighest / 2) {
          bounds_.Bind(n.var, {first.low, first.high + count.high - 1});
        }
        Visit(n.body);
        // The cost of each question about ranges grows with the number of variables.
        bounds_.Forget(n.var);
        inner_.erase(n.var);
        return;
      }
      case loop::StmtKind::kStore: {
        const auto& n = *stmt.As<loop::StoreNode>();
        Visit(n.value);
        for (const Expr& index : n.indices) Visit(index);
        if (accesses_ != Accesses::kLoads && n.buffer == buffer_) CoverElement(n.indices);
        return;
      }
      case loop::StmtKind::kSeq:
        for (const loop::Stmt& part : stmt.As<loop::SeqNode>()->stmts) Visit(part);
        return;
      case loop::StmtKind::kIf:
        Visit(stmt.As<loop::IfNode>()->condition);
        VisitGuarded(*stmt.As<loop::IfNode>());
        if (stmt.As<loop::IfNode>()->else_case) Visit(stmt.As<loop::IfNode>()->else_case);
        return;
      case loop::StmtKind::kAllocate:
        return Visit(stmt.As<loop::AllocateNode>()->body);
      case loop::StmtKind::kLet:
        unknown_.emplace(stmt.As<loop::LetStmtNode>()->var, true);
        Visit(stmt.As<loop::LetStmtNode>()->value);
        return Visit(stmt.As<loop::LetStmtNode>()->body);
      case loop::StmtKind::kEvaluate:
        return Visit(stmt.As<loop::EvaluateNode>()->value);
    }
  }

  std::optional<std::vector<Range>> Result() const {
    if (!found_) return std::nullopt;
    std::vector<Range> region;
    for (std::size_t d = 0; d < dims_.size(); ++d) {
      const Expr& shape = buffer_->shape[d];
      if (whole_[d]) {
        region.push_back({0, shape});
        continue;
      }
      const Expr low = loop::Simplify(dims_[d]->first, bounds_);
      Expr extent = loop::Simplify(dims_[d]->second - low + 1, bounds_);
      if (extent.kind() != loop::ExprKind::kIntImm) {
        const std::optional<std::int64_t> most = LargestOf(extent, bounds_);
        if (!most) {
          region.push_back({0, shape});
          continue;
        }
        extent = *most;
      }
      // Nothing is read in a loop that never runs, such as the one over k in x[10 * k + j].
      if (extent.As<loop::IntImmNode>()->value < 0) extent = 0;
      // A box as large as the dimension may as well start at its beginning.
      const auto* whole = shape.As<loop::IntImmNode>();
      if (whole != nullptr && extent.As<loop::IntImmNode>()->value >= whole->value) {
        region.push_back({0, shape});
      } else {
        region.push_back({low, extent});
      }
    }
    return region;
  }

 private:
  void VisitGuarded(const loop::IfNode& branch) {
    const std::size_t before = guards_.size();
    std::vector<Expr> parts;
    loop::SplitConjunction(branch.condition, &parts);
    for (const Expr& part : parts) {
      const auto* less = part.As<loop::BinaryNode>();
      if (less == nullptr || less->op != BinaryOp::kLT || !less->a.dtype().is_int()) continue;
      loop::Linear sum = loop::ToLinear(less->a - less->b, {});
      const bool is_inner = std::ranges::all_of(
          sum.terms, [&](const auto& term) { return inner_.contains(term.first); });
      if (!is_inner || sum.terms.empty()) continue;
      const std::int64_t most = -sum.constant - 1;
      sum.constant = 0;
      guards_.push_back({std::move(sum), most});
    }
    Visit(branch.then_case);
    guards_.resize(before);
  }

  // The ends of a sum that holds a guarded one.
  std::optional<Ends> EndsOfGuarded(const Expr& e) const {
    const loop::Linear all = loop::ToLinear(e, {});
    for (const Guard& guard : guards_) {
      const auto is_part = [&](const auto& term) {
        return all.CoefficientOf(term.first) == term.second;
      };
      if (!std::ranges::all_of(guard.sum.terms, is_part)) continue;
      const Expr sum = guard.sum.ToExpr();
      const std::optional<Ends> part = PlainEndsOf(sum),
                                rest = PlainEndsOf(loop::Simplify(e - sum, bounds_));
      if (!part || !rest) continue;
      return Ends(rest->first + part->first, rest->second + loop::Min(part->second, guard.most));
    }
    return std::nullopt;
  }

  void Visit(const Expr& expr) {
    if (accesses_ == Accesses::kStores) return;
    loop::VisitExpr(expr, [&](const Expr& e) {
      if (const auto* address = e.As<loop::AddressNode>();
          address != nullptr && address->buffer == buffer_) {
        VisitBox(*address);
        return;
      }
      const auto* load = e.As<loop::LoadNode>();
      if (load != nullptr && load->buffer == buffer_) CoverElement(load->indices);
    });
  }

  void CoverElement(const std::vector<Expr>& indices) {
    found_ = true;
    for (std::size_t d = 0; d < dims_.size(); ++d) {
      if (whole_[d]) continue;
      Cover(d, EndsOfIndex(indices[d]));
    }
  }

  void VisitBox(const loop::AddressNode& address) {
    found_ = true;
    for (std::size_t d = 0; d < dims_.size(); ++d) {
      if (whole_[d]) continue;
      std::optional<Ends> ends = EndsOfIndex(address.indices[d]);
      const std::optional<Ends> extent = EndsOfIndex(address.extents[d]);
      if (ends && extent) ends->second = ends->second + extent->second - 1;
      Cover(d, extent ? ends : std::nullopt);
    }
  }

  void Cover(std::size_t d, const std::optional<Ends>& ends) {
    if (!ends) {
      whole_[d] = true;
    } else if (!dims_[d]) {
      dims_[d] = ends;
    } else {
      dims_[d] =
          Ends(loop::Min(dims_[d]->first, ends->first), loop::Max(dims_[d]->second, ends->second));
    }
  }

  std::optional<Ends> EndsOfIndex(const Expr& index) {
    if (!index.dtype().is_vector()) return EndsOf(loop::Simplify(index, bounds_));
    const loop::Var lane("lane");
    const Expr scalar = loop::AtLane(index, lane);
    if (!scalar.defined()) return std::nullopt;
    inner_[lane] = {0, index.dtype().lanes() - 1};
    bounds_.Bind(lane, {0, index.dtype().lanes() - 1});
    return EndsOf(loop::Simplify(scalar, bounds_));
  }

  bool IsOuter(const Expr& e) const {
    bool outer = true;
    loop::VisitExpr(e, [&](const Expr& x) {
      if (x.kind() == loop::ExprKind::kVar && (inner_.contains(x) || unknown_.contains(x)))
        outer = false;
      if (x.kind() == loop::ExprKind::kLoad || x.kind() == loop::ExprKind::kExternCall)
        outer = false;
    });
    return outer;
  }

  std::optional<Ends> EndsOf(const Expr& e) const {
    const auto* n = e.As<loop::BinaryNode>();
    if (!guards_.empty() && n != nullptr && (n->op == BinaryOp::kAdd || n->op == BinaryOp::kSub)) {
      if (const std::optional<Ends> ends = EndsOfGuarded(e)) return ends;
    }
    return PlainEndsOf(e);
  }

  std::optional<Ends> PlainEndsOf(const Expr& e) const {
    if (IsOuter(e)) return Ends(e, e);
    if (e.kind() == loop::ExprKind::kVar) {
      const auto found = inner_.find(e);
      if (found == inner_.end()) return std::nullopt;
      return found->second;
    }
    const auto* n = e.As<loop::BinaryNode>();
    if (n == nullptr) return std::nullopt;
    const std::optional<Ends> a = EndsOf(n->a), b = EndsOf(n->b);
    const auto* constant = n->b.As<loop::IntImmNode>();
    switch (n->op) {
      case BinaryOp::kAdd:
        if (a && b) return Ends(a->first + b->first, a->second + b->second);
        return std::nullopt;
      case BinaryOp::kSub:
        if (a && b) return Ends(a->first - b->second, a->second - b->first);
        return std::nullopt;
      case BinaryOp::kMul:
        if (!a || constant == nullptr) return std::nullopt;
        if (constant->value >= 0) return Ends(a->first * n->b, a->second * n->b);
        return Ends(a->second * n->b, a->first * n->b);
      case BinaryOp::kFloorDiv:
        if (!a || constant == nullptr || constant->value <= 0) return std::nullopt;
        return Ends(loop::FloorDiv(a->first, n->b), loop::FloorDiv(a->second, n->b));
      case BinaryOp::kFloorMod:
        if (constant == nullptr || constant->value <= 0) return std::nullopt;
        return Ends(Expr(0), Expr(constant->value - 1));
      case BinaryOp::kMin:
        if (a && b) return Ends(loop::Min(a->first, b->first), loop::Min(a->second, b->second));
        return std::nullopt;
      case BinaryOp::kMax:
        if (a && b) return Ends(loop::Max(a->first, b->first), loop::Max(a->second, b->second));
        return std::nullopt;
      default:
        return std::nullopt;
    }
  }

  const loop::Buffer& buffer_;
  const Accesses accesses_;
  loop::Bounds bounds_;
  std::unordered_map<Expr, Ends, loop::ExprHash, loop::ExprSame> inner_;
  std::unordered_map<Expr, bool, loop::ExprHash, loop::ExprSame> unknown_;
  std::vector<Guard> guards_;
  std::vector<std::optional<Ends>> dims_;
  std::vector<bool> whole_;
  bool found_ = false;
};

std::optional<std::vector<Range>> RegionOf(const loop::Stmt& stmt, const loop::Buffer& buffer,
                                           const loop::Bounds& outer, Accesses accesses) {
  RegionFinder finder(buffer, outer, accesses);
  finder.Visit(stmt);
  return finder.Result();
}

}  // namespace

std::optional<std::vector<Range>> RegionRead(const loop::Stmt& stmt, const loop::Buffer& buffer,
                                             const loop::Bounds& outer) {
  return RegionOf(stmt, buffer, outer, Accesses::kLoads);
}

std::optional<std::vector<Range>> RegionWritten(const loop::Stmt& stmt, const loop::Buffer& buffer,
                                                const loop::Bounds& outer) {
  return RegionOf(stmt, buffer, outer, Accesses::kStores);
}

std::optional<std::vector<Range>> RegionTouched(const loop::Stmt& stmt, const loop::Buffer& buffer,
                                                const loop::Bounds& outer) {
  return RegionOf(stmt, buffer, outer, Accesses::kAll);
}

}  // namespace tenon::schedule
