// Schedules as data: the calls that made one, in order.
//
// Stages are numbered in the order in which they came to be (those of the computation first,
// producers before readers), axes in the order in which their stage got them, so a record fits
// every schedule of the same computation. Calls that were refused leave no step.
//
//   Schedule copy(C);
//   Replay(s.record(), copy);                // the same loops as s
//   std::puts(PrintRecord(s).c_str());       // the same calls as C++
#ifndef TENON_SCHEDULE_RECORD_H_
#define TENON_SCHEDULE_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tenon/loop/stmt.h"
#include "tenon/schedule/block_fetch.h"
#include "tenon/schedule/index_map.h"
#include "tenon/schedule/relation.h"
#include "tenon/te/tensor_intrinsic.h"

namespace tenon::schedule {

struct AxisRef {
  std::size_t stage, axis;
};
struct TensorRef {
  std::size_t stage;
  int output;
};

struct SplitStep {
  AxisRef axis;
  loop::Expr factor, parts;  // one is undefined
  Tail tail = Tail::kGuard;
};
struct FuseStep {
  AxisRef outer, inner;
};
struct SingletonStep {
  std::size_t stage;
};
struct ReorderStep {
  std::size_t stage;
  std::vector<AxisRef> order;
};
struct KindStep {  // vectorize, unroll, parallel
  AxisRef axis;
  loop::ForKind kind;
};
struct ComputeAtStep {
  std::size_t stage;
  AxisRef axis;
};
struct ComputeWithStep {
  std::size_t stage;
  AxisRef axis;
};
struct StoreAtStep {
  std::size_t stage;
  AxisRef axis;
};
struct StoreRootStep {
  std::size_t stage;
};
struct ComputeInlineStep {
  std::size_t stage;
};
struct ComputeRootStep {
  std::size_t stage;
};
struct SetScopeStep {
  std::size_t stage;
  std::string scope;
};
struct DoubleBufferStep {
  std::size_t stage;
};
struct RollingBufferStep {
  std::size_t stage;
};
struct StorePredicateStep {
  std::size_t stage;
  IndexMap predicate;
};
struct StreamStoresStep {
  std::size_t stage;
};
struct StorageAlignStep {
  AxisRef axis;
  std::int64_t factor, offset;
};
struct PragmaStep {
  AxisRef axis;
  std::string key;
  std::int64_t value;
};
struct PrefetchStep {
  TensorRef tensor, reader;
  AxisRef axis;
  loop::Expr offset;
};
struct PrefetchNextBlockStep {
  TensorRef tensor, reader;
  AxisRef axis;
  std::int64_t turns;
  BlockFetch fetch;
};
struct TensorizeStep {
  AxisRef axis;
  te::TensorIntrinsic intrinsic;
};
struct CacheReadStep {
  TensorRef tensor;
  std::string scope;
  std::vector<TensorRef> readers;
};
struct CacheWriteStep {
  std::vector<TensorRef> outputs;
  std::string scope;
};
struct RFactorStep {
  TensorRef tensor;
  AxisRef axis;
  int factor_axis;
};
struct TransformLayoutStep {
  TensorRef tensor;
  IndexMap map;
  std::optional<double> pad;
};

using Step = std::variant<SplitStep, FuseStep, SingletonStep, ReorderStep, KindStep, ComputeAtStep,
                          ComputeWithStep, StoreAtStep, StoreRootStep, ComputeInlineStep,
                          ComputeRootStep, SetScopeStep, DoubleBufferStep, RollingBufferStep,
                          StorePredicateStep, StreamStoresStep, StorageAlignStep, PragmaStep,
                          PrefetchStep, PrefetchNextBlockStep, TensorizeStep, CacheReadStep,
                          CacheWriteStep, RFactorStep, TransformLayoutStep>;
using Record = std::vector<Step>;

class Schedule;

void ReplayStep(const Step& step, Schedule& schedule);
// Makes the calls of `record` on `schedule`, which must be new. Throws InvalidArgument for a
// schedule that is not new, and for a step that does not fit, after the steps before it.
void Replay(const Record& record, Schedule& schedule);

// The record as C++ statements, one per line, on a variable `s`. Tensors of the computation go by
// their names; other variables are declared where they are made.
std::string PrintRecord(const Schedule& schedule);
std::string PrintRecord(const Record& record, const std::vector<te::Tensor>& outputs);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_RECORD_H_
