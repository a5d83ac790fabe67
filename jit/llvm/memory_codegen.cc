// Loads and stores of ExprCodegen.
#include <algorithm>
#include <bit>
#include <numeric>

#include "tenon/jit/llvm/expr_codegen.h"
#include "tenon/jit/llvm/streaming_stores.h"
#include "tenon/jit/llvm/vector_pieces.h"
#include "tenon/support/alignment.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/error.h"

namespace tenon::jit {

using llvm::Value;
using loop::Expr;

Value* ExprCodegen::ElementAddress(const loop::Buffer& buffer, Value* index) {
  const auto found = buffers_.find(buffer);
  CheckInvariant(found != buffers_.end(),
                 "every buffer of lowered loops is a parameter or allocated");
  Value* const base = found->second;
  return reused_.Get({.kind = ReusedValues::Kind::kAddress, .a = base, .b = index}, [&] {
    return builder_.CreateInBoundsGEP(MemoryType(buffer->dtype.element()), base, index);
  });
}

Value* ExprCodegen::LoadAt(const loop::Buffer& buffer, Value* address, int lanes) {
  const DataType element = buffer->dtype.element();
  return reused_.Get({.kind = ReusedValues::Kind::kLoad,
                      .detail = lanes,
                      .a = address,
                      .time = reused_.TimeOf(buffer.get())},
                     [&] {
                       const DataType type = element.WithLanes(lanes);
                       auto* load = builder_.CreateAlignedLoad(MemoryType(type), address,
                                                               llvm::Align(element.bytes()));
                       Annotate(load, buffer);
                       return ToRegister(load, type);
                     });
}

// Distinct buffers never overlap; the alias scopes say so even where the addresses come out of a
// closure. Those of very many buffers are left out: LLVM compares each pair of accesses, and looks
// through all scopes each time.
void ExprCodegen::Annotate(llvm::Instruction* access, const loop::Buffer& buffer) {
  constexpr std::size_t kMaxScopes = 128;
  if (buffers_.size() > kMaxScopes) return;
  llvm::LLVMContext& context = module_.getContext();
  const auto scope_of = [&](const loop::Buffer& of) {
    llvm::MDNode*& scope = alias_scopes_[of];
    if (scope == nullptr)
      scope = llvm::MDBuilder(context).createAnonymousAliasScope(alias_domain_, of->name);
    return scope;
  };
  std::vector<llvm::Metadata*> others;
  for (const auto& [other, address] : buffers_) {
    if (other != buffer) others.push_back(scope_of(other));
  }
  access->setMetadata(llvm::LLVMContext::MD_alias_scope,
                      llvm::MDNode::get(context, {scope_of(buffer)}));
  if (!others.empty())
    access->setMetadata(llvm::LLVMContext::MD_noalias, llvm::MDNode::get(context, others));
}

// A mask for the vector that holds `lanes`, true for these.
Value* ExprCodegen::FirstLanes(int lanes) {
  const unsigned wide = std::bit_ceil(static_cast<unsigned>(lanes));
  llvm::SmallVector<llvm::Constant*> mask;
  for (unsigned i = 0; i < wide; ++i)
    mask.push_back(builder_.getInt1(i < static_cast<unsigned>(lanes)));
  return llvm::ConstantVector::get(mask);
}

Value* ExprCodegen::EmitLoad(const loop::LoadNode& node) {
  const DataType element = node.buffer->dtype.element();
  const llvm::Align align(element.bytes());
  const Expr& index = node.indices[0];
  const int lanes = index.dtype().lanes();
  if (lanes == 1) return LoadAt(node.buffer, ElementAddress(node.buffer, EmitShared(index)), 1);
  if (const auto* splat = index.As<loop::BroadcastNode>();
      splat != nullptr && !node.predicate.defined()) {
    Value* address = ElementAddress(node.buffer, EmitShared(splat->value));
    return Splat(LoadAt(node.buffer, address, 1), lanes);
  }
  const DataType type = element.WithLanes(lanes);
  const auto* ramp = index.As<loop::RampNode>();
  if (node.predicate.defined()) return EmitMaskedLoad(node, type);
  if (ramp != nullptr && loop::IsConstInt(ramp->stride, 1)) {
    Value* address = ElementAddress(node.buffer, EmitShared(ramp->base));
    if (!std::has_single_bit(static_cast<unsigned>(lanes))) {
      const DataType wide =
          type.WithLanes(static_cast<int>(std::bit_ceil(static_cast<unsigned>(lanes))));
      llvm::CallInst* load =
          builder_.CreateMaskedLoad(MemoryType(wide), address, align, FirstLanes(lanes));
      Annotate(load, node.buffer);
      return ToRegister(Resized(builder_, load, static_cast<unsigned>(lanes)), type);
    }
    return LoadAt(node.buffer, address, lanes);
  }
  if (Value* near = EmitNear(node, nullptr, type)) return near;
  return EmitGather(node, EmitShared(index), nullptr, type);
}

// LLVM would make a gather of 17 lanes one of 32. Its last register has undefined indices, and
// these may get the register of the result, which makes the instruction illegal. So the last lane
// takes the place of those that are missing if they fill a register of four or more.
Value* ExprCodegen::EmitGather(const loop::LoadNode& node, Value* index, Value* mask,
                               DataType type) {
  constexpr int kMinOfRegister = 4;
  const auto gather = [&](Value* at, Value* where, DataType of) {
    llvm::CallInst* result = builder_.CreateMaskedGather(
        MemoryType(of), ElementAddress(node.buffer, at), llvm::Align(of.element().bytes()), where,
        where == nullptr ? nullptr : llvm::Constant::getNullValue(MemoryType(of)));
    Annotate(result, node.buffer);
    return result;
  };
  const int lanes = type.lanes();
  const auto wide = static_cast<int>(std::bit_ceil(static_cast<unsigned>(lanes)));
  if (wide - lanes < kMinOfRegister) return ToRegister(gather(index, mask, type), type);
  llvm::SmallVector<int> filled(static_cast<std::size_t>(wide), lanes - 1);
  std::iota(filled.begin(), filled.begin() + lanes, 0);
  Value* result = gather(builder_.CreateShuffleVector(index, filled),
                         mask == nullptr ? nullptr : builder_.CreateShuffleVector(mask, filled),
                         type.WithLanes(wide));
  return ToRegister(Resized(builder_, result, static_cast<unsigned>(lanes)), type);
}

// Lanes without a true predicate read 0 and touch no memory. LLVM writes these as loads under a
// mask register if the CPU has them, else as a branch for each lane.
Value* ExprCodegen::EmitMaskedLoad(const loop::LoadNode& node, DataType type) {
  const Expr& index = node.indices[0];
  const auto* ramp = index.As<loop::RampNode>();
  Value* mask = EmitShared(node.predicate);
  if (ramp == nullptr || !loop::IsConstInt(ramp->stride, 1)) {
    if (Value* near = EmitNear(node, mask, type)) return near;
    return EmitGather(node, EmitShared(index), mask, type);
  }
  return ToRegister(EmitUnderMask(node.buffer, EmitShared(ramp->base), type, mask), type);
}

// Loads elements base, base + 1, ..., each under its bit of `mask`. A vector longer than a register
// is loaded in pieces: if a half of its mask is false whatever the rest is, LLVM 19 loads that half
// without a mask on AVX2.
Value* ExprCodegen::EmitUnderMask(const loop::Buffer& buffer, Value* base, DataType type,
                                  Value* mask) {
  const DataType element = type.element();
  const auto lanes = static_cast<unsigned>(type.lanes());
  const std::size_t register_bytes = static_cast<std::size_t>(options_.vector_bits) / 8;
  unsigned chunk = lanes;
  while (chunk > 1 && chunk * element.bytes() > register_bytes) chunk = CeilDiv(chunk, 2);
  const unsigned whole = RoundUp(lanes, chunk);
  llvm::SmallVector<int> all(whole, static_cast<int>(lanes));
  std::iota(all.begin(), all.begin() + lanes, 0);
  llvm::Type* part = MemoryType(element.WithLanes(static_cast<int>(chunk)));
  const auto load = [&](unsigned first) -> Value* {
    Value* index = first == 0 ? base : builder_.CreateAdd(base, builder_.getInt64(first));
    llvm::CallInst* call =
        builder_.CreateMaskedLoad(part, ElementAddress(buffer, index), llvm::Align(element.bytes()),
                                  PickBits(builder_, mask, llvm::ArrayRef(all).slice(first, chunk)),
                                  llvm::Constant::getNullValue(part));
    Annotate(call, buffer);
    return call;
  };
  return Resized(builder_, ByPieces(builder_, whole, chunk, load), lanes);
}

void ExprCodegen::EmitStore(const loop::StoreNode& node, bool reassociate) {
  const loop::Buffer& buffer = node.buffer;
  const Expr& index = node.indices[0];
  const DataType element = buffer->dtype.element();
  const llvm::Align align(element.bytes());
  joining_ = reassociate ? node.value.get() : nullptr;
  Value* stored = ToMemory(Emit(node.value), node.value.dtype());
  joining_ = nullptr;
  const auto* ramp = index.As<loop::RampNode>();
  const bool contiguous = ramp != nullptr && loop::IsConstInt(ramp->stride, 1);
  Value* address = ElementAddress(buffer, Emit(contiguous ? ramp->base : index));
  Value* mask = node.predicate.defined() ? Emit(node.predicate) : nullptr;
  llvm::Instruction* store = nullptr;
  if (index.dtype().lanes() > 1 && !contiguous) {
    store = builder_.CreateMaskedScatter(stored, address, align, mask);
  } else if (mask != nullptr) {
    store = builder_.CreateMaskedStore(stored, address, align, mask);
  } else if (const int lanes = index.dtype().lanes();
             !std::has_single_bit(static_cast<unsigned>(lanes))) {
    const unsigned wide = std::bit_ceil(static_cast<unsigned>(lanes));
    store = builder_.CreateMaskedStore(Resized(builder_, stored, wide), address, align,
                                       FirstLanes(lanes));
  } else if (StoresWholeLines(node) &&
             std::find(streamed_.begin(), streamed_.end(), buffer) != streamed_.end()) {
    store = builder_.CreateAlignedStore(stored, address, llvm::Align(kCacheLineBytes));
    store->setMetadata(llvm::LLVMContext::MD_nontemporal,
                       llvm::MDNode::get(module_.getContext(),
                                         llvm::ConstantAsMetadata::get(builder_.getInt32(1))));
  } else {
    store = builder_.CreateAlignedStore(stored, address, align);
  }
  Annotate(store, buffer);
  reused_.Store(buffer.get());
}

}  // namespace tenon::jit
