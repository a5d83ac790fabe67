#include "tenon/jit/llvm/streaming_stores.h"

#include <algorithm>

#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/visit.h"
#include "tenon/support/alignment.h"

namespace tenon::jit {

bool StoresWholeLines(const loop::StoreNode& store) {
  if (store.store_kind != loop::StoreKind::kStreaming || store.predicate.defined()) return false;
  const auto* ramp = store.indices[0].As<loop::RampNode>();
  if (ramp == nullptr || !loop::IsConstInt(ramp->stride, 1)) return false;
  const auto bytes = static_cast<std::int64_t>(store.buffer->dtype.bytes());
  const auto whole = [&](std::int64_t elements) { return elements * bytes % kCacheLineBytes == 0; };
  const loop::Linear first = loop::ToLinear(ramp->base, {});
  return whole(ramp->lanes) && whole(first.constant) &&
         std::all_of(first.terms.begin(), first.terms.end(),
                     [&](const auto& term) { return whole(term.second); });
}

std::vector<loop::Buffer> StreamedResults(const loop::Function& function) {
  std::vector<loop::Buffer> streamed;
  loop::VisitStmts(function.body, [&](const loop::Stmt& stmt) {
    const auto* store = stmt.As<loop::StoreNode>();
    if (store == nullptr || !StoresWholeLines(*store)) return;
    const auto is_it = [&](const loop::Buffer& buffer) { return buffer == store->buffer; };
    if (std::any_of(function.buffers.begin(), function.buffers.end(), is_it) &&
        std::none_of(streamed.begin(), streamed.end(), is_it))
      streamed.push_back(store->buffer);
  });
  return streamed;
}

}  // namespace tenon::jit
