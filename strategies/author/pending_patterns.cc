#include "tenon/strategies/author/pending_patterns.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "tenon/strategies/author/infer_pattern.h"
#include "tenon/support/strings.h"

namespace tenon::strategies {
namespace {

struct Pending {
  ops::AuthorSite site;
  Ref<ops::OpDef> op;
  bool is_declared;
};

struct PendingPatterns {
  // The thread that finishes patterns runs computes, which may compile and so ask for them again.
  std::recursive_mutex mutex;
  std::vector<Pending> operators;

  static PendingPatterns& Global() {
    static auto& pending = *new PendingPatterns;
    return pending;
  }
};

void Finish(const Pending& pending) {
  const ops::OpPattern declared = *pending.op->pattern;
  pending.op->pattern = ops::OpPattern::kOpaque;  // the compute itself refuses contradictions
  const auto sampled = SamplePattern(*pending.op, declared);
  pending.op->pattern = sampled && !pending.is_declared ? sampled->pattern : declared;
  if (sampled && pending.is_declared && sampled->contradiction)
    ops::Refuse(pending.site, ContradictionText(declared, *sampled->contradiction));
}

}  // namespace

void AwaitPattern(const ops::AuthorSite& site, Ref<ops::OpDef> op) {
  PendingPatterns& pending = PendingPatterns::Global();
  const std::lock_guard lock(pending.mutex);
  const bool is_declared = op->pattern.has_value();
  if (!is_declared) op->pattern = ops::OpPattern::kOpaque;
  pending.operators.push_back({site, std::move(op), is_declared});
}

bool DeclarePattern(const ops::OpDef& op) {
  PendingPatterns& pending = PendingPatterns::Global();
  const std::lock_guard lock(pending.mutex);
  for (Pending& one : pending.operators) {
    if (one.op.get() == &op) return !std::exchange(one.is_declared, true);
  }
  return !op.pattern.has_value();
}

void FinishPatterns() {
  PendingPatterns& pending = PendingPatterns::Global();
  const std::lock_guard lock(pending.mutex);
  for (const Pending& one : std::exchange(pending.operators, {})) Finish(one);
}

std::string ContradictionText(ops::OpPattern pattern, const std::string& reason) {
  return StrCat("the pattern ", ops::ToString(pattern), " contradicts the compute: ", reason);
}

}  // namespace tenon::strategies
