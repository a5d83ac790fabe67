#include "tenon/loop/check_given.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tenon/loop/print.h"
#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::loop {
namespace {

// The product of an extent and a factor stays far from the end of int64.
constexpr std::int64_t kMaxFactor = std::int64_t{1} << 40;
constexpr int kMaxDepth = 4096;

}  // namespace

void RequireDefined(const Expr& e, std::string_view what) {
  if (!e.defined()) throw InvalidArgument(StrCat(what, " is null; give it a value first"));
}

bool ReadsMemory(const Expr& e) {
  bool reads = false;
  VisitExpr(e, [&](const Expr& part) {
    reads = reads || part.kind() == ExprKind::kLoad || part.kind() == ExprKind::kExternCall;
  });
  return reads;
}

std::optional<std::string> WhyNoFactor(const Expr& e) {
  RequireDefined(e, "a factor, or a number of parts,");
  const auto* imm = e.As<IntImmNode>();
  if (e.dtype() != Int64 || (imm != nullptr && imm->value < 1))
    return "it must be an int64 of at least 1";
  if (imm != nullptr && imm->value > kMaxFactor) return StrCat("it must be at most ", kMaxFactor);
  if (ReadsMemory(e)) return "it reads memory; it must be made of constants and extents alone";
  return std::nullopt;
}

void RequireExtent(const Expr& e, const std::string& what) {
  RequireDefined(e, what);
  if (e.dtype() != Int64) {
    throw InvalidArgument(StrCat(what, ", ", Print(e), ", has the type ", e.dtype().ToString(),
                                 "; it must be int64"));
  }
  if (ReadsMemory(e)) {
    throw InvalidArgument(
        StrCat(what, ", ", Print(e),
               ", reads memory; it must be made of constants and of extents of arguments alone"));
  }
}

void RequireDepth(const Expr& e, const std::string& what) {
  // An explicit stack: the expression may be deeper than any other one.
  struct Frame {
    Expr e;
    std::vector<Expr> operands;
    std::size_t next = 0;
    int depth = 1;
  };
  std::unordered_map<const ExprNode*, int> depths;
  std::vector<Frame> stack;
  RequireDefined(e, what);
  stack.push_back({e, Children(e)});
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (top.next == top.operands.size()) {
      if (top.depth > kMaxDepth) {
        throw InvalidArgument(StrCat(what, " has more than ", kMaxDepth,
                                     " operands within each other; store a part of it in a tensor "
                                     "of its own"));
      }
      depths[top.e.get()] = top.depth;
      stack.pop_back();
      continue;
    }
    const Expr operand = top.operands[top.next];
    if (const auto found = depths.find(operand.get()); found != depths.end()) {
      top.depth = std::max(top.depth, found->second + 1);
      ++top.next;
    } else {
      stack.push_back({operand, Children(operand)});
    }
  }
}

}  // namespace tenon::loop
