// Primitives about the memory of a stage's result and about what its loops tell the code generator.
#include <algorithm>

#include "tenon/loop/check_given.h"
#include "tenon/loop/print.h"
#include "tenon/loop/visit.h"
#include "tenon/schedule/stage.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {

loop::Memory Stage::ParseScope(const char* primitive, std::string_view scope) const {
  if (scope == "global") return loop::Memory::kAutomatic;
  if (scope == "local") return loop::Memory::kStack;
  Refuse(primitive, nullptr,
         StrCat("there is no memory scope \"", scope, "\" on a CPU; it has global and local"));
}

void Stage::RequireOwnMemory(const char* primitive) const {
  if (!op_->is_placeholder() && (!op_->is_compute() || is_update_)) {
    Refuse(
        primitive, nullptr,
        "it is an external operation, a scan or the update of one, whose memory is row-major and "
        "global");
  }
  if (op_->is_placeholder() || is_output_) {
    Refuse(primitive, nullptr,
           "the caller gives its memory; cache_read or cache_write makes a stage whose memory is "
           "free");
  }
}

Stage& Stage::SetScope(std::string_view scope) {
  const loop::Memory memory = ParseScope("set_scope", scope);
  RequireOwnMemory("set_scope");
  marks_.memory = memory;
  record_->emplace_back(SetScopeStep{number_, std::string(scope)});
  return *this;
}

Stage& Stage::DoubleBuffer() {
  RequireOwnMemory("double_buffer");
  if (storage_ != Storage::kWithComputation)
    Refuse("double_buffer", nullptr, "it is stored at another loop (store_at)");
  if (marks_.rolling) Refuse("double_buffer", nullptr, "its memory is a circular buffer already");
  marks_.double_buffered = true;
  record_->emplace_back(DoubleBufferStep{number_});
  return *this;
}

Stage& Stage::RollingBuffer() {
  RequireOwnMemory("rolling_buffer");
  if (storage_ != Storage::kWithComputation)
    Refuse("rolling_buffer", nullptr, "it is stored at another loop (store_at)");
  if (marks_.double_buffered) Refuse("rolling_buffer", nullptr, "it is double-buffered already");
  marks_.rolling = true;
  record_->emplace_back(RollingBufferStep{number_});
  return *this;
}

Stage& Stage::SetStorePredicate(
    const std::function<loop::Expr(const std::vector<loop::Var>&)>& holds) {
  constexpr const char* kName = "set_store_predicate";
  if (!op_->is_compute()) Refuse(kName, nullptr, "only a compute stores element by element");
  if (holds == nullptr) Refuse(kName, nullptr, "the predicate is null");
  IndexMap map;
  for (const IterVar& axis : op_->axes) map.from.emplace_back(axis.var.name());
  map.to = {holds(map.from)};
  if (!map.to[0].defined() || map.to[0].dtype() != Bool)
    Refuse(kName, nullptr, "the predicate gives no bool");
  loop::VisitExpr(map.to[0], [&](const loop::Expr& e) {
    const bool is_axis = std::any_of(map.from.begin(), map.from.end(),
                                     [&](const loop::Var& axis) { return axis.same_as(e); });
    if ((e.kind() == loop::ExprKind::kVar && !is_axis) || e.kind() == loop::ExprKind::kLoad ||
        e.kind() == loop::ExprKind::kExternCall) {
      Refuse(
          kName, nullptr,
          StrCat("the predicate uses ", loop::Print(e), "; it may use the operation's axes alone"));
    }
  });
  record_->emplace_back(StorePredicateStep{number_, map});
  marks_.store_predicate = std::move(map);
  return *this;
}

Stage& Stage::StreamStores() {
  constexpr const char* kName = "stream_stores";
  if (!op_->is_compute() || !is_output_)
    Refuse(kName, nullptr, "it is no compute whose result goes to the caller's memory");
  if (!op_->reduce_axes.empty())
    Refuse(kName, nullptr, "a reduction reads what it has stored; call cache_write before");
  marks_.streaming = true;
  record_->emplace_back(StreamStoresStep{number_});
  return *this;
}

Stage& Stage::StorageAlign(const IterVar& axis, std::int64_t factor, std::int64_t offset) {
  RequireOwnMemory("storage_align");
  const auto found = std::find_if(op_->axes.begin(), op_->axes.end(), [&](const IterVar& other) {
    return other.var.same_as(axis.var);
  });
  if (found == op_->axes.end()) {
    Refuse("storage_align", &axis,
           StrCat("this is no data axis of the operation, which has ", op_->axes.size()));
  }
  if (const auto why = loop::WhyNoFactor(factor); why || offset < 0 || offset >= factor) {
    Refuse("storage_align", &axis,
           StrCat("the factor is ", factor, " and the offset ", offset,
                  "; the factor must be one of 1 to 2^40 and the offset one of 0 to factor - 1"));
  }
  const auto dimension = static_cast<std::size_t>(found - op_->axes.begin());
  if (dimension + 1 == op_->axes.size()) {
    Refuse(
        "storage_align", &axis,
        "elements of the last axis lie side by side; only axes before it have a stride to align");
  }
  std::erase_if(marks_.alignments,
                [&](const Alignment& other) { return other.dimension == dimension; });
  marks_.alignments.push_back({dimension, factor, offset});
  record_->emplace_back(StorageAlignStep{RefTo(axis), factor, offset});
  return *this;
}

Stage& Stage::Pragma(const IterVar& axis, std::string_view key, std::int64_t value) {
  if (key == "unroll") return Unroll(axis);
  if (key == "vectorize") return Vectorize(axis);
  RequireUpdates("pragma", axis);
  const bool is_max_step = key == "auto_unroll_max_step", is_explicit = key == "unroll_explicit";
  if (!is_max_step && !is_explicit) {
    Refuse("pragma", &axis,
           StrCat("the key \"", key,
                  "\" is unknown; known are auto_unroll_max_step, unroll_explicit, unroll and "
                  "vectorize"));
  }
  if (value < 0 || (is_explicit && value > 1)) {
    Refuse("pragma", &axis,
           StrCat("the value of ", key, " is ", value, "; it must be ",
                  is_explicit ? "0 or 1" : "at least 0"));
  }
  auto mark =
      std::find_if(marks_.unrolls.begin(), marks_.unrolls.end(),
                   [&](const UnrollMark& other) { return other.axis.var.same_as(axis.var); });
  if (mark == marks_.unrolls.end()) mark = marks_.unrolls.insert(mark, UnrollMark{axis});
  if (is_max_step) {
    mark->limit.max_step = value;
  } else {
    mark->limit.is_explicit = value == 1;
  }
  record_->emplace_back(PragmaStep{RefTo(axis), std::string(key), value});
  return *this;
}

Stage& Stage::Bind(const IterVar& axis, std::string_view thread) {
  Position("bind", axis);
  Refuse("bind", &axis,
         StrCat("a CPU has no thread index ", thread,
                "; use parallel for threads and vectorize for lanes"));
}

}  // namespace tenon::schedule
