// The checks of a statement are made as a list. A comparison stands in it as a point, for as long
// as it may move out of the loops around it; all else is statements. What reads memory runs only
// where the accesses before it fit.
#include "tenon/jit/bounds/bounds_checks.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "tenon/jit/bounds/bounds_points.h"
#include "tenon/loop/print.h"
#include "tenon/loop/simplify/lanes.h"
#include "tenon/loop/visit.h"
#include "tenon/support/strings.h"

namespace tenon::jit {
namespace {

using loop::Buffer;
using loop::Expr;
using loop::Stmt;
using loop::StmtKind;
using loop::Var;

struct Item {
  std::optional<Point> point;
  Stmt stmt;  // where there is no point
};
using Items = std::vector<Item>;

// Lanes are kept there to be compared one by one. Threads have their own.
struct Scratch {
  Buffer indices, active;
};

class Maker {
 public:
  explicit Maker(CheckedFunction* made) : made_(*made), report_("report") {
    const Stmt body = made_.function.body;
    loop::VisitExprs(
        body, [&](const Expr& e) { lanes_ = std::max<std::int64_t>(lanes_, e.dtype().lanes()); });
    made_.function.scalars.push_back(report_);
    made_.function.body = Guarded(body);
  }

 private:
  // ---- Statements and the checks before them.

  // The statement, each part of it after the checks of its accesses.
  Stmt Guarded(const Stmt& stmt) {
    if (const std::optional<Stmt> checks = ChecksOf(stmt)) return After(*checks, stmt, stmt);
    switch (stmt.kind()) {
      case StmtKind::kFor: {
        const auto& node = *stmt.As<loop::ForNode>();
        const Stmt head = ChecksOfParts({node.min, node.extent});
        loops_.push_back(node.var);
        const Stmt made = loop::Around(node, Guarded(node.body));
        loops_.pop_back();
        return After(head, stmt, made);
      }
      case StmtKind::kSeq: {
        std::vector<Stmt> parts;
        for (const Stmt& part : stmt.As<loop::SeqNode>()->stmts) parts.push_back(Guarded(part));
        return loop::Seq(std::move(parts));
      }
      case StmtKind::kIf: {
        const auto& node = *stmt.As<loop::IfNode>();
        const Stmt other = node.else_case ? Guarded(node.else_case) : Stmt();
        return After(ChecksOfParts({node.condition}), stmt,
                     loop::If(node.condition, Guarded(node.then_case), other));
      }
      case StmtKind::kAllocate: {
        const auto& node = *stmt.As<loop::AllocateNode>();
        return After(ChecksOfParts(node.buffer->shape), stmt,
                     loop::Allocate(node.buffer, Guarded(node.body)));
      }
      case StmtKind::kLet: {
        const auto& node = *stmt.As<loop::LetStmtNode>();
        return After(ChecksOfParts({node.value}), stmt,
                     loop::LetStmt(node.var, node.value, Guarded(node.body)));
      }
      case StmtKind::kStore:
      case StmtKind::kEvaluate:
        return stmt;  // its checks are known
    }
    return stmt;
  }

  // `made` of `stmt`. C functions with effects are not called after an access that does not fit:
  // what they are given may be anything.
  Stmt After(const Stmt& checks, const Stmt& stmt, const Stmt& made) {
    if (checks) return loop::Seq({checks, IfAllFit(made)});
    bool may_repeat = true;
    loop::VisitExprs(stmt, [&](const Expr& e) { may_repeat = may_repeat && MayRepeat(e); });
    return may_repeat ? made : IfAllFit(made);
  }
  Stmt IfAllFit(const Stmt& stmt) {
    return loop::If(loop::ExternCall(AllFitFunction(), {report_}), stmt);
  }

  // What can run before all of the statement, null where there is nothing to check; nothing where
  // checks depend on what the statement does.
  std::optional<Stmt> ChecksOf(const Stmt& stmt) {
    const std::size_t accesses = made_.accesses.size();
    Items items;
    scopes_ = {{}};
    const bool is_known = VisitStmt(stmt, &items);
    const Stmt checks = WithScratch(ToStmt(items));
    const bool is_leaf = stmt.kind() == StmtKind::kStore || stmt.kind() == StmtKind::kEvaluate;
    if (is_known && (!checks || is_leaf || AreApart(checks, stmt))) return checks;
    made_.accesses.resize(accesses);
    return std::nullopt;
  }
  Stmt ChecksOfParts(const std::vector<Expr>& exprs) {
    Items items;
    scopes_ = {{}};
    for (const Expr& e : exprs) Visit(e, &items);
    return WithScratch(ToStmt(items));
  }

  // Whether the checks read nothing that the statement makes.
  static bool AreApart(const Stmt& checks, const Stmt& stmt) {
    std::unordered_set<Buffer, loop::BufferHash> made;
    loop::VisitStmts(stmt, [&](const Stmt& s) {
      if (const Buffer* stored = loop::BufferOf(s)) made.insert(*stored);
      if (const auto* node = s.As<loop::AllocateNode>()) made.insert(node->buffer);
    });
    loop::VisitExprs(stmt, [&](const Expr& e) {
      if (const auto* address = e.As<loop::AddressNode>()) made.insert(address->buffer);
    });
    bool apart = true;
    loop::VisitExprs(checks, [&](const Expr& e) {
      const Buffer* read = loop::BufferOf(e);
      apart = apart && (read == nullptr || !made.contains(*read));
    });
    return apart;
  }

  // False where the checks cannot be known before the statement runs.
  bool VisitStmt(const Stmt& stmt, Items* items) {
    switch (stmt.kind()) {
      case StmtKind::kFor:
        return VisitFor(*stmt.As<loop::ForNode>(), items);
      case StmtKind::kStore: {
        const auto& node = *stmt.As<loop::StoreNode>();
        Visit(node.value, items);
        VisitAccess(node.buffer, node.indices[0], node.predicate, true, items);
        return true;
      }
      case StmtKind::kSeq: {
        const auto& parts = stmt.As<loop::SeqNode>()->stmts;
        return std::all_of(parts.begin(), parts.end(),
                           [&](const Stmt& part) { return VisitStmt(part, items); });
      }
      case StmtKind::kIf: {
        const auto& node = *stmt.As<loop::IfNode>();
        if (!MayRepeat(node.condition)) return false;
        Visit(node.condition, items);
        return VisitInner(node.then_case, node.condition, items) &&
               (!node.else_case || VisitInner(node.else_case, !node.condition, items));
      }
      case StmtKind::kAllocate: {
        const auto& node = *stmt.As<loop::AllocateNode>();
        for (const Expr& extent : node.buffer->shape) Visit(extent, items);
        return VisitStmt(node.body, items);
      }
      case StmtKind::kLet: {
        const auto& node = *stmt.As<loop::LetStmtNode>();
        if (!MayRepeat(node.value)) return false;
        Visit(node.value, items);
        Items inner;
        const bool is_known = InScope([&] { return VisitStmt(node.body, &inner); });
        AddWithLet(node.var, node.value, std::move(inner), items);
        return is_known;
      }
      case StmtKind::kEvaluate:
        Visit(stmt.As<loop::EvaluateNode>()->value, items);
        return true;
    }
    return false;
  }

  bool VisitInner(const Stmt& stmt, const Expr& condition, Items* items) {
    Items inner;
    const bool is_known = InScope([&] { return VisitStmt(stmt, &inner); });
    AddUnder(condition, std::move(inner), items);
    return is_known;
  }

  bool VisitFor(const loop::ForNode& node, Items* items) {
    if (!MayRepeat(node.min) || !MayRepeat(node.extent)) return false;
    Visit(node.min, items);
    Visit(node.extent, items);
    const bool is_parallel = node.for_kind == loop::ForKind::kParallel;
    const std::optional<Scratch> outer = scratch_;
    if (is_parallel) scratch_.reset();
    Items inner;
    loops_.push_back(node.var);
    const bool is_known = InScope([&] { return VisitStmt(node.body, &inner); });
    loops_.pop_back();
    const bool reads = Reads(node.min) || Reads(node.extent);
    Items rest;
    for (Item& item : inner) {
      const std::vector<Point> points =
          item.point && !reads ? AtEnds(node, *item.point) : std::vector<Point>();
      if (points.empty()) rest.push_back(std::move(item));
      for (const Point& point : points) items->push_back({.point = point, .stmt = Stmt()});
    }
    Stmt body = ToStmt(rest);
    if (is_parallel) {
      body = WithScratch(body);
      scratch_ = outer;
    }
    if (body) {
      const auto kind = is_parallel ? loop::ForKind::kParallel : loop::ForKind::kSerial;
      Add(loop::For(node.var, node.min, node.extent, kind, body), reads, items);
    }
    return is_known;
  }

  // ---- Expressions.

  void Visit(const Expr& e, Items* items) {
    if (!Reads(e)) return;
    for (const auto& scope : scopes_) {
      if (scope.contains(e)) return;
    }
    scopes_.back().insert(e);
    if (const auto* load = e.As<loop::LoadNode>()) {
      VisitAccess(load->buffer, load->indices[0], load->predicate, false, items);
    } else if (const auto* select = e.As<loop::SelectNode>(); select != nullptr && select->lazy) {
      Visit(select->condition, items);
      VisitBranch(select->on_true, select->condition, items);
      VisitBranch(select->on_false, !select->condition, items);
    } else if (const auto* let = e.As<loop::LetNode>()) {
      Visit(let->value, items);
      Items inner;
      InScope([&] {
        Visit(let->body, &inner);
        return true;
      });
      if (MayRepeat(let->value)) AddWithLet(let->var, let->value, std::move(inner), items);
    } else if (const auto* call = e.As<loop::CallNode>();
               call != nullptr && loop::IsPrefetch(call->intrinsic)) {
      Visit(call->args[0].As<loop::LoadNode>()->indices[0], items);
    } else {
      for (const Expr& child : loop::Children(e)) Visit(child, items);
    }
  }

  void VisitBranch(const Expr& value, const Expr& condition, Items* items) {
    Items inner;
    InScope([&] {
      Visit(value, &inner);
      return true;
    });
    if (MayRepeat(condition)) AddUnder(condition, std::move(inner), items);
  }

  void VisitAccess(const Buffer& buffer, const Expr& index, const Expr& predicate, bool writes,
                   Items* items) {
    Visit(index, items);
    if (predicate.defined()) Visit(predicate, items);
    const bool is_masked = !loop::IsAllTrue(predicate);
    if (!MayRepeat(index) || (is_masked && !MayRepeat(predicate))) return;
    const std::size_t told = std::min(loops_.size(), kMaxReportedLoops);
    std::vector<Var> loops(loops_.end() - static_cast<std::ptrdiff_t>(told), loops_.end());
    Point point = {.access = static_cast<std::int64_t>(made_.accesses.size()),
                   .index = index,
                   .elements = ElementsOf(buffer),
                   .iteration = {loops.begin(), loops.end()}};
    made_.accesses.push_back(
        {.buffer = buffer, .writes = writes, .index = index, .loops = std::move(loops)});
    if (!index.dtype().is_vector()) return AddPoint(point, items);
    const std::optional<loop::LaneOffsets> lanes =
        is_masked ? std::nullopt : loop::OffsetsOf(index);
    if (!lanes) return Add(CompareLanes(point, is_masked ? predicate : Expr()), true, items);
    const auto [low, high] = std::minmax_element(lanes->offsets.begin(), lanes->offsets.end());
    point.index = lanes->base + *low;
    point.end = *low == *high ? End::kOnly : End::kLowest;
    AddPoint(point, items);
    if (*low == *high) return;
    point.index = lanes->base + *high;
    point.end = End::kHighest;
    AddPoint(point, items);
  }

  void AddPoint(const Point& point, Items* items) {
    if (Reads(point.index) || Reads(point.elements)) {
      if (const Stmt compared = Compare(point, report_)) Add(compared, true, items);
    } else {
      items->push_back({.point = point, .stmt = Stmt()});
    }
  }

  // All lanes where there is no predicate.
  Stmt CompareLanes(Point point, const Expr& predicate) {
    const int lanes = point.index.dtype().lanes();
    if (!scratch_) {
      scratch_ = {Buffer::Make("indices", Int64, {lanes_}, loop::Memory::kStack),
                  Buffer::Make("active", Bool, {lanes_}, loop::Memory::kStack)};
    }
    const Expr places = loop::Ramp(0, 1, lanes);
    std::vector<Stmt> stmts = {loop::Store(scratch_->indices, point.index, {places})};
    const Var lane("lane");
    point.index = loop::Load(scratch_->indices, {lane});
    Stmt compared = Compare(point, report_);
    if (predicate.defined()) {
      stmts.push_back(loop::Store(scratch_->active, predicate, {places}));
      compared = loop::If(loop::Load(scratch_->active, {lane}), compared);
    }
    stmts.push_back(loop::For(lane, 0, lanes, loop::ForKind::kSerial, compared));
    return loop::Seq(std::move(stmts));
  }
  Stmt WithScratch(const Stmt& stmt) {
    const std::optional<Scratch> scratch = std::exchange(scratch_, std::nullopt);
    if (!scratch || !stmt) return stmt;
    return loop::Allocate(scratch->indices, loop::Allocate(scratch->active, stmt));
  }

  // ---- Lists.

  Stmt ToStmt(const Items& items) const {
    std::vector<Stmt> stmts;
    for (const Item& item : items) {
      if (const Stmt stmt = item.point ? Compare(*item.point, report_) : item.stmt)
        stmts.push_back(stmt);
    }
    return stmts.empty() ? Stmt() : loop::Seq(std::move(stmts));
  }

  void Add(const Stmt& stmt, bool reads, Items* items) {
    items->push_back({.point = std::nullopt, .stmt = reads ? IfAllFit(stmt) : stmt});
  }

  void AddUnder(const Expr& condition, Items inner, Items* items) {
    const bool reads = Reads(condition);
    Items rest;
    for (Item& item : inner) {
      if (item.point && !reads) {
        item.point->when.insert(item.point->when.begin(), condition);
        items->push_back(std::move(item));
      } else {
        rest.push_back(std::move(item));
      }
    }
    if (const Stmt body = ToStmt(rest)) Add(loop::If(condition, body), reads, items);
  }

  void AddWithLet(const Var& var, const Expr& value, Items inner, Items* items) {
    const bool reads = Reads(value);
    const loop::ExprMap values = {{var, value}};
    const auto replace = [&](Expr& e) { e = loop::Substitute(e, values); };
    const auto uses = [&](const Expr& e) { return loop::UsesVar(e, var); };
    Items rest;
    for (Item& item : inner) {
      const auto any_uses = [&](const std::vector<Expr>& exprs) {
        return std::any_of(exprs.begin(), exprs.end(), uses);
      };
      const bool depends = !item.point || uses(item.point->index) || uses(item.point->elements) ||
                           any_uses(item.point->when) || any_uses(item.point->iteration);
      if (depends && (!item.point || reads)) {
        rest.push_back(std::move(item));
        continue;
      }
      if (depends) {
        replace(item.point->index);
        replace(item.point->elements);
        std::for_each(item.point->when.begin(), item.point->when.end(), replace);
        std::for_each(item.point->iteration.begin(), item.point->iteration.end(), replace);
      }
      items->push_back(std::move(item));
    }
    if (const Stmt body = ToStmt(rest)) Add(loop::LetStmt(var, value, body), reads, items);
  }

  template <typename F>
  bool InScope(const F& visit) {
    scopes_.emplace_back();
    const bool result = visit();
    scopes_.pop_back();
    return result;
  }

  // ---- What expressions are made of.

  struct Traits {
    bool reads = false;      // from a buffer, or hands one on
    bool may_repeat = true;  // has no effects
  };
  Traits TraitsOf(const Expr& e) {
    if (const auto known = traits_.find(e); known != traits_.end()) return known->second;
    Traits traits;
    traits.reads = loop::BufferOf(e) != nullptr;
    if (const auto* call = e.As<loop::ExternCallNode>())
      traits.may_repeat = call->callee->effect == loop::Effect::kPure;
    for (const Expr& child : loop::Children(e)) {
      const Traits other = TraitsOf(child);
      traits.reads = traits.reads || other.reads;
      traits.may_repeat = traits.may_repeat && other.may_repeat;
    }
    traits_.emplace(e, traits);
    return traits;
  }
  bool Reads(const Expr& e) { return TraitsOf(e).reads; }
  bool MayRepeat(const Expr& e) { return TraitsOf(e).may_repeat; }

  CheckedFunction& made_;
  const Var report_;
  std::int64_t lanes_ = 1;  // of the widest vector
  std::vector<Var> loops_;
  std::optional<Scratch> scratch_;
  // What is checked where control is, innermost last.
  std::vector<std::unordered_set<Expr, loop::ExprHash, loop::ExprSame>> scopes_;
  std::unordered_map<Expr, Traits, loop::ExprHash, loop::ExprSame> traits_;
};

}  // namespace

CheckedFunction WithBoundsChecks(const loop::Function& function) {
  CheckedFunction made = {.function = function, .accesses = {}};
  const Maker maker(&made);
  return made;
}

std::string Describe(const CheckedAccess& access, const BoundsReport& report) {
  constexpr std::size_t kMaxIndex = 200;
  std::string index = loop::Print(access.index);
  if (index.size() > kMaxIndex) index = StrCat(index.substr(0, kMaxIndex), "...");
  std::string shape;
  for (const Expr& extent : access.buffer->shape)
    StrAppend(&shape, shape.empty() ? "" : " x ", loop::Print(extent));
  std::string text =
      StrCat(access.buffer->name, " is ", access.writes ? "written" : "read", " at element ",
             report.index, " of ", report.elements, " (shape ", shape, "): index ", index);
  for (std::size_t i = 0; i < access.loops.size(); ++i) {
    StrAppend(&text, i == 0 ? ", in the loops " : ", ", access.loops[i].name(), " = ",
              report.iteration[i]);
  }
  return text;
}

}  // namespace tenon::jit
