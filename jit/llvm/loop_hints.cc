// Schedules say which nests are copied. LLVM would also copy those of few iterations, and then take
// its time over each of the loops in the copies.
#include "tenon/jit/llvm/loop_hints.h"

#include <cstdint>

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Metadata.h"
#include "tenon/loop/visit.h"

namespace tenon::jit {
namespace {

// From so many terms on a sum has several vectors of accumulators, and so many of them.
constexpr std::int64_t kMinLongSum = 256;
constexpr unsigned kSumsAtOnce = 4;
// LLVM copies no loop of so many instructions. It need not count them and their cost.
constexpr unsigned kMaxCopied = 1000;

bool IsFreeSum(const loop::StoreNode& store) {
  return loop::MayReassociate(store) && !store.value.dtype().is_vector();
}

// Whether the body holds a loop that is not short. Short ones do not stay loops.
bool HoldsLongLoop(const loop::Stmt& body) {
  constexpr std::int64_t kShort = 16;
  bool holds = false;
  loop::VisitStmts(body, [&](const loop::Stmt& s) {
    const auto* inner = s.As<loop::ForNode>();
    if (inner == nullptr) return;
    const auto* extent = inner->extent.As<loop::IntImmNode>();
    holds |= extent == nullptr || extent->value > kShort;
  });
  return holds;
}

// Whether it is a sum into several vectors, whose additions fill the processor as they are. Copies
// of the loop would only be more code to read.
bool IsSumOfBlocks(const loop::ForNode& node) {
  constexpr std::int64_t kMinExtent = 8, kBits = 2048;
  const auto* extent = node.extent.As<loop::IntImmNode>();
  const auto* store = node.body.As<loop::StoreNode>();
  return extent != nullptr && extent->value >= kMinExtent && store != nullptr &&
         loop::MayReassociate(*store) &&
         std::int64_t{store->value.dtype().bits()} * store->value.dtype().lanes() >= kBits;
}

// Whether it is a sum over a constant number of terms that LLVM would unroll as a whole. The terms
// of all its accumulators would then become one chain, in which each addition waits for the one
// before.
bool IsLongSum(const loop::ForNode& node) {
  const auto* extent = node.extent.As<loop::IntImmNode>();
  const auto* store = node.body.As<loop::StoreNode>();
  return extent != nullptr && extent->value >= kMinLongSum && store != nullptr && IsFreeSum(*store);
}

// Whether the body holds sums of few terms, which LLVM unrolls. It would then compute several
// iterations of the loop around them in vectors, and add up their terms in an order that differs
// from that of the iterations left over. Which these are depends on the share of a thread.
bool HoldsFreeSum(const loop::Stmt& body) {
  bool holds = false;
  loop::VisitStmts(body, [&](const loop::Stmt& s) {
    const auto* store = s.As<loop::StoreNode>();
    holds |= store != nullptr && IsFreeSum(*store);
  });
  return holds;
}

class Hints {
 public:
  explicit Hints(llvm::LLVMContext& context) : context_(context) {}

  void Add(const char* name) {
    operands_.push_back(llvm::MDNode::get(context_, llvm::MDString::get(context_, name)));
  }
  void Add(const char* name, unsigned value) {
    auto* number = llvm::ConstantInt::get(llvm::Type::getInt32Ty(context_), value);
    operands_.push_back(llvm::MDNode::get(
        context_, {llvm::MDString::get(context_, name), llvm::ConstantAsMetadata::get(number)}));
  }
  void Attach(llvm::BranchInst* back_edge) const {
    if (operands_.size() == 1) return;
    llvm::MDNode* id = llvm::MDNode::getDistinct(context_, operands_);
    id->replaceOperandWith(0, id);
    back_edge->setMetadata(llvm::LLVMContext::MD_loop, id);
  }

 private:
  llvm::LLVMContext& context_;
  // A loop's metadata names itself first, which keeps it distinct.
  llvm::SmallVector<llvm::Metadata*, 4> operands_ = {nullptr};
};

}  // namespace

void TellOf(const loop::ForNode& node, unsigned instructions, bool reassociates,
            llvm::BranchInst* back_edge) {
  Hints hints(back_edge->getContext());
  if (node.for_kind == loop::ForKind::kParallel && reassociates && HoldsFreeSum(node.body))
    hints.Add("llvm.loop.vectorize.enable", 0);
  if (node.for_kind == loop::ForKind::kUnrolled) {
    hints.Add("llvm.loop.unroll.full");
  } else if (instructions > kMaxCopied || HoldsLongLoop(node.body) || IsSumOfBlocks(node)) {
    hints.Add("llvm.loop.unroll.disable");
  } else if (reassociates && IsLongSum(node)) {
    hints.Add("llvm.loop.unroll.disable");
    hints.Add("llvm.loop.interleave.count", kSumsAtOnce);
  }
  hints.Attach(back_edge);
}

}  // namespace tenon::jit
