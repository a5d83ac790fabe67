// An expression is checked once on a way of control: `scopes_` has those that were.
#include "tenon/jit/bounds/check_collector.h"

#include <algorithm>
#include <utility>

#include "tenon/loop/simplify/lanes.h"
#include "tenon/loop/visit.h"

namespace tenon::jit {

using loop::Buffer;
using loop::Expr;
using loop::Stmt;
using loop::StmtKind;
using loop::Var;

namespace {

// Whether the checks read nothing that the statement makes.
bool AreApart(const Stmt& checks, const Stmt& stmt) {
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

}  // namespace

CheckCollector::CheckCollector(const Stmt& body, const Var& report,
                               std::vector<CheckedAccess>* accesses)
    : report_(report), accesses_(*accesses) {
  loop::VisitExprs(
      body, [&](const Expr& e) { lanes_ = std::max<std::int64_t>(lanes_, e.dtype().lanes()); });
}

std::optional<Stmt> CheckCollector::Before(const Stmt& stmt) {
  const std::size_t accesses = accesses_.size();
  CheckList list = NewList();
  scopes_ = {{}};
  const bool is_known = VisitStmt(stmt, &list);
  const Stmt checks = WithScratch(list.ToStmt());
  const bool is_leaf = stmt.kind() == StmtKind::kStore || stmt.kind() == StmtKind::kEvaluate;
  if (is_known && (!checks || is_leaf || AreApart(checks, stmt))) return checks;
  accesses_.resize(accesses);
  return std::nullopt;
}

Stmt CheckCollector::Before(const std::vector<Expr>& exprs) {
  CheckList list = NewList();
  scopes_ = {{}};
  for (const Expr& e : exprs) Visit(e, &list);
  return WithScratch(list.ToStmt());
}

// Returns false if the checks cannot be known before the statement runs.
bool CheckCollector::VisitStmt(const Stmt& stmt, CheckList* checks) {
  switch (stmt.kind()) {
    case StmtKind::kFor:
      return VisitFor(*stmt.As<loop::ForNode>(), checks);
    case StmtKind::kStore: {
      const auto& node = *stmt.As<loop::StoreNode>();
      Visit(node.value, checks);
      VisitAccess(node.buffer, node.indices[0], node.predicate, true, checks);
      return true;
    }
    case StmtKind::kSeq: {
      const auto& parts = stmt.As<loop::SeqNode>()->stmts;
      return std::all_of(parts.begin(), parts.end(),
                         [&](const Stmt& part) { return VisitStmt(part, checks); });
    }
    case StmtKind::kIf:
      return VisitIf(*stmt.As<loop::IfNode>(), checks);
    case StmtKind::kAllocate: {
      const auto& node = *stmt.As<loop::AllocateNode>();
      for (const Expr& extent : node.buffer->shape) Visit(extent, checks);
      return VisitStmt(node.body, checks);
    }
    case StmtKind::kLet:
      return VisitLet(*stmt.As<loop::LetStmtNode>(), checks);
    case StmtKind::kEvaluate:
      Visit(stmt.As<loop::EvaluateNode>()->value, checks);
      return true;
  }
  return false;
}

bool CheckCollector::VisitIf(const loop::IfNode& node, CheckList* checks) {
  if (!traits_.MayRepeat(node.condition)) return false;
  Visit(node.condition, checks);
  const auto visit_case = [&](const Stmt& stmt, const Expr& condition) {
    CheckList inner = NewList();
    scopes_.emplace_back();
    const bool is_known = VisitStmt(stmt, &inner);
    scopes_.pop_back();
    checks->AddUnder(condition, std::move(inner));
    return is_known;
  };
  return visit_case(node.then_case, node.condition) &&
         (!node.else_case || visit_case(node.else_case, !node.condition));
}

bool CheckCollector::VisitLet(const loop::LetStmtNode& node, CheckList* checks) {
  if (!traits_.MayRepeat(node.value)) return false;
  Visit(node.value, checks);
  CheckList inner = NewList();
  scopes_.emplace_back();
  const bool is_known = VisitStmt(node.body, &inner);
  scopes_.pop_back();
  checks->AddWithLet(node.var, node.value, std::move(inner));
  return is_known;
}

bool CheckCollector::VisitFor(const loop::ForNode& node, CheckList* checks) {
  if (!traits_.MayRepeat(node.min) || !traits_.MayRepeat(node.extent)) return false;
  Visit(node.min, checks);
  Visit(node.extent, checks);
  const bool is_parallel = node.for_kind == loop::ForKind::kParallel;
  const std::optional<Scratch> outer = scratch_;
  if (is_parallel) scratch_.reset();
  CheckList inner = NewList();
  loops_.push_back(node.var);
  scopes_.emplace_back();
  const bool is_known = VisitStmt(node.body, &inner);
  scopes_.pop_back();
  loops_.pop_back();
  checks->AddInLoop(node, std::move(inner), [&](const Stmt& body) {
    if (!is_parallel) return body;
    const Stmt with_scratch = WithScratch(body);
    scratch_ = outer;
    return with_scratch;
  });
  return is_known;
}

void CheckCollector::Visit(const Expr& e, CheckList* checks) {
  if (!traits_.Reads(e)) return;
  for (const auto& scope : scopes_) {
    if (scope.contains(e)) return;
  }
  scopes_.back().insert(e);
  if (const auto* load = e.As<loop::LoadNode>()) {
    VisitAccess(load->buffer, load->indices[0], load->predicate, false, checks);
  } else if (const auto* select = e.As<loop::SelectNode>(); select != nullptr && select->lazy) {
    Visit(select->condition, checks);
    VisitBranch(select->on_true, select->condition, checks);
    VisitBranch(select->on_false, !select->condition, checks);
  } else if (const auto* let = e.As<loop::LetNode>()) {
    Visit(let->value, checks);
    CheckList inner = NewList();
    scopes_.emplace_back();
    Visit(let->body, &inner);
    scopes_.pop_back();
    if (traits_.MayRepeat(let->value)) checks->AddWithLet(let->var, let->value, std::move(inner));
  } else if (const auto* call = e.As<loop::CallNode>();
             call != nullptr && loop::IsPrefetch(call->intrinsic)) {
    Visit(call->args[0].As<loop::LoadNode>()->indices[0], checks);
  } else {
    for (const Expr& child : loop::Children(e)) Visit(child, checks);
  }
}

void CheckCollector::VisitBranch(const Expr& value, const Expr& condition, CheckList* checks) {
  CheckList inner = NewList();
  scopes_.emplace_back();
  Visit(value, &inner);
  scopes_.pop_back();
  if (traits_.MayRepeat(condition)) checks->AddUnder(condition, std::move(inner));
}

void CheckCollector::VisitAccess(const Buffer& buffer, const Expr& index, const Expr& predicate,
                                 bool writes, CheckList* checks) {
  Visit(index, checks);
  if (predicate.defined()) Visit(predicate, checks);
  const bool is_masked = !loop::IsAllTrue(predicate);
  if (!traits_.MayRepeat(index) || (is_masked && !traits_.MayRepeat(predicate))) return;
  const std::size_t told = std::min(loops_.size(), kMaxReportedLoops);
  std::vector<Var> loops(loops_.end() - static_cast<std::ptrdiff_t>(told), loops_.end());
  Point point = {.access = static_cast<std::int64_t>(accesses_.size()),
                 .index = index,
                 .elements = ElementsOf(buffer),
                 .iteration = {loops.begin(), loops.end()}};
  accesses_.push_back(
      {.buffer = buffer, .writes = writes, .index = index, .loops = std::move(loops)});
  if (!index.dtype().is_vector()) return checks->Add(point);
  const std::optional<loop::LaneOffsets> lanes = is_masked ? std::nullopt : loop::OffsetsOf(index);
  if (!lanes) return checks->AddReading(CompareLanes(point, is_masked ? predicate : Expr()));
  const auto [low, high] = std::minmax_element(lanes->offsets.begin(), lanes->offsets.end());
  point.index = lanes->base + *low;
  point.end = *low == *high ? End::kOnly : End::kLowest;
  checks->Add(point);
  if (*low == *high) return;
  point.index = lanes->base + *high;
  point.end = End::kHighest;
  checks->Add(point);
}

// Compares the lanes of the predicate, or all lanes if there is none.
Stmt CheckCollector::CompareLanes(Point point, const Expr& predicate) {
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
Stmt CheckCollector::WithScratch(const Stmt& stmt) {
  const std::optional<Scratch> scratch = std::exchange(scratch_, std::nullopt);
  if (!scratch || !stmt) return stmt;
  return loop::Allocate(scratch->indices, loop::Allocate(scratch->active, stmt));
}

}  // namespace tenon::jit
