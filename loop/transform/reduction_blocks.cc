#include "tenon/loop/transform/reduction_blocks.h"

#include <algorithm>

#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/visit.h"
#include "tenon/support/alignment.h"

namespace tenon::loop {
namespace {

// Whether it is a fetch of what lies an element further in the next iteration.
bool IsFetchAlongMemory(const Stmt& stmt, const Var& var) {
  const auto* evaluated = stmt.As<EvaluateNode>();
  const auto* call = evaluated == nullptr ? nullptr : evaluated->value.As<CallNode>();
  if (call == nullptr || !IsPrefetch(call->intrinsic)) return false;
  const std::vector<Expr>& at = call->args[0].As<LoadNode>()->indices;
  if (at.empty()) return false;
  const bool others_stay =
      std::none_of(at.begin(), at.end() - 1, [&](const Expr& i) { return UsesVar(i, var); });
  const Expr next = Substitute(at.back(), {{var, var + 1}});
  return others_stay && IsConstInt(Simplify(next - at.back()), 1);
}

// One fetch for each line that a block of iterations reads along memory.
std::vector<Stmt> FetchesOfBlock(const std::vector<Stmt>& fetches, const ForNode& loop,
                                 const Expr& block, std::int64_t lanes) {
  std::vector<Stmt> all;
  for (const Stmt& fetch : fetches) {
    const auto& call = *fetch.As<EvaluateNode>()->value.As<CallNode>();
    const auto bytes =
        static_cast<std::int64_t>(call.args[0].As<LoadNode>()->buffer->dtype.bytes());
    for (std::int64_t lane = 0; lane < lanes; lane += kCacheLineBytes / bytes)
      all.push_back(Substitute(fetch, {{loop.var, loop.min + block + lane}}));
  }
  return all;
}

}  // namespace

std::pair<std::vector<Stmt>, Stmt> SplitFetches(const Stmt& loop) {
  const auto& n = *loop.As<ForNode>();
  const auto* seq = n.body.As<SeqNode>();
  std::vector<Stmt> fetches, rest;
  for (const Stmt& stmt : seq == nullptr ? std::vector<Stmt>{} : seq->stmts)
    (rest.empty() && IsFetchAlongMemory(stmt, n.var) ? fetches : rest).push_back(stmt);
  if (fetches.empty()) return {{}, loop};
  return {fetches, Around(n, Seq(std::move(rest)))};
}

Stmt InBlocks(const ForNode& loop, std::int64_t lanes, const BlockBody& body, std::int64_t from) {
  const Var block(loop.var.name() + ".block");
  const Expr blocks = FloorDiv(loop.extent + (lanes - 1), lanes);
  return For(block, from, blocks - from, ForKind::kSerial, body(block * lanes));
}

Stmt InOverlappingBlocks(const ForNode& loop, std::int64_t lanes, const std::vector<Stmt>& fetches,
                         const BlockBody& body, std::int64_t from) {
  const auto* constant = loop.extent.As<IntImmNode>();
  const bool are_whole = constant != nullptr && constant->value % lanes == 0;
  const auto whole = [&](const Expr& block) {
    const Expr first = are_whole ? block : Min(block, loop.extent - lanes);
    std::vector<Stmt> steps = FetchesOfBlock(fetches, loop, first, lanes);
    steps.push_back(body(first));
    return Seq(std::move(steps));
  };
  std::vector<Stmt> all;
  for (std::int64_t block = 0; block < from; ++block) {
    for (const Stmt& fetch : FetchesOfBlock(fetches, loop, block * lanes, lanes))
      all.push_back(fetch);
  }
  all.push_back(InBlocks(loop, lanes, whole, from));
  return Seq(std::move(all));
}

void CombineHalves(const Var& k, std::int64_t lanes, std::vector<Stmt>& steps,
                   const std::function<Stmt(const Var& lane, std::int64_t half)>& combine) {
  for (std::int64_t half = lanes / 2; half >= 1; half /= 2) {
    const Var lane(k.name() + ".lane");
    steps.push_back(For(lane, 0, half, ForKind::kVectorized, combine(lane, half)));
  }
}

}  // namespace tenon::loop
