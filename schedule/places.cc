// Stages that share loops are one node of the graph of stages. An order of these nodes in which
// producers come first exists unless two of them need each other's results (Kahn).
#include "tenon/schedule/places.h"

#include <algorithm>
#include <unordered_map>

#include "tenon/loop/print.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {
namespace {

using loop::Expr;

std::size_t PositionOf(const Stage& stage, const IterVar& axis) {
  const IterVar leaf = LeafOf(stage.relations(), axis);
  const auto is_leaf = [&](const IterVar& other) { return other.var.same_as(leaf.var); };
  return static_cast<std::size_t>(
      std::find_if(stage.leaves().begin(), stage.leaves().end(), is_leaf) - stage.leaves().begin());
}

// The extents of the stage's loops when it is computed as a whole.
ByVar ExtentsOf(const Stage& stage) {
  ByVar extents;
  for (const auto* axes : {&stage.op()->axes, &stage.op()->reduce_axes}) {
    for (const IterVar& axis : *axes) extents[axis.var] = axis.extent;
  }
  InferExtents(stage.relations(), &extents);
  return extents;
}

void CheckSharedLoops(const Stage& stage) {
  const Stage& other = *stage.with()->stage;
  const auto refuse = [&](const std::string& reason) {
    throw InvalidArgument(StrCat("compute_with: stage ", stage.name(), " with ", other.name(),
                                 " down to axis ", stage.with()->axis.var.name(), ": ", reason));
  };
  if (other.placement() != Stage::Placement::kRoot || other.with())
    refuse(StrCat(other.name(), " is not computed at the root by itself any more"));
  const std::size_t shared = SharedLoops(stage);
  if (shared > other.leaves().size() || shared > stage.leaves().size())
    refuse(StrCat("it has ", stage.leaves().size(), " loops; ", shared, " are to be shared"));
  const ByVar own = ExtentsOf(stage), others = ExtentsOf(other);
  bool is_vector = false;
  for (std::size_t i = 0; i < shared; ++i) {
    const IterVar &a = stage.leaves()[i], &b = other.leaves()[i];
    for (const IterVar* loop : {&a, &b}) {
      if (loop->is_reduce || loop->starts_only)
        refuse(StrCat("loop ", loop->var.name(), " is none over elements"));
    }
    const Expr difference = loop::Simplify(own.at(a.var) - others.at(b.var));
    if (!loop::IsConstInt(difference, 0))
      refuse(StrCat("loop ", a.var.name(), " has ", loop::Print(own.at(a.var)), " iterations and ",
                    b.var.name(), " ", loop::Print(others.at(b.var)), "; they must have as many"));
    const loop::ForKind kind = stage.KindOf(a);
    if (kind != loop::ForKind::kSerial && kind != other.KindOf(b))
      refuse(StrCat("loop ", a.var.name(), " is marked ", loop::ToString(kind), ", but it is loop ",
                    b.var.name(), " of ", other.name(), " that runs, which is not; mark that one"));
    is_vector = is_vector || other.KindOf(b) == loop::ForKind::kVectorized;
    const auto is_of = [&](const auto& mark) { return PositionOf(stage, mark.axis) == i; };
    const StageMarks& marks = stage.marks();
    if (std::any_of(marks.prefetches.begin(), marks.prefetches.end(), is_of) ||
        std::any_of(marks.next_blocks.begin(), marks.next_blocks.end(), is_of) ||
        std::any_of(marks.unrolls.begin(), marks.unrolls.end(), is_of) ||
        (marks.tensorize && is_of(*marks.tensorize)))
      refuse(StrCat("a prefetch, a pragma or an intrinsic stands at loop ", a.var.name(),
                    ", which is that of ", other.name(), "; give it to that one"));
  }
  for (std::size_t i = shared; i < stage.leaves().size(); ++i) {
    const loop::ForKind kind = stage.KindOf(stage.leaves()[i]);
    if (is_vector && (kind == loop::ForKind::kVectorized || kind == loop::ForKind::kParallel))
      refuse(StrCat("loop ", stage.leaves()[i].var.name(), " is ", loop::ToString(kind),
                    " inside a vectorised one"));
  }
}

// The loop of the stage as it runs. A loop that it shares is the other stage's.
std::pair<const Stage*, std::size_t> LoopAt(const Stage& stage, std::size_t position) {
  return {position < SharedLoops(stage) ? stage.with()->stage : &stage, position};
}

// Whether `at`, a loop of `host`, runs as the loop over `axis` of `stage`.
bool IsLoop(const Stage& host, const IterVar& at, const Stage& stage, const IterVar& axis) {
  const auto [runs, position] = LoopAt(host, PositionOf(host, at));
  return runs == &stage && position < stage.leaves().size() &&
         stage.leaves()[position].var.same_as(axis.var);
}

void CheckStorage(const Stage& stage) {
  const bool is_at_root = stage.storage() == Stage::Storage::kRoot;
  const auto refuse = [&](const std::string& reason) {
    throw InvalidArgument(
        StrCat(is_at_root ? "store_root" : "store_at", ": stage ", stage.name(), ": ", reason));
  };
  if (!is_at_root) {
    const auto& [parent, axis] = stage.store();
    if (!stage.IsAround(*parent, LeafOf(parent->relations(), axis)))
      refuse(StrCat("loop ", axis.var.name(), " of ", parent->name(),
                    " is not around the loop that it is computed at any more"));
  }
  for (const Stage* at = &stage; at->placement() == Stage::Placement::kAt;
       at = &at->attach_stage()) {
    const Stage& host = at->attach_stage();
    for (std::size_t i = PositionOf(host, at->attach_axis()) + 1; i-- > 0;) {
      const IterVar& loop = host.leaves()[i];
      if (!is_at_root && stage.store().stage == &host && PositionOf(host, stage.store().axis) == i)
        return;
      const loop::ForKind kind = LoopAt(host, i).first->KindOf(LoopAt(host, i).first->leaves()[i]);
      if (kind == loop::ForKind::kParallel || kind == loop::ForKind::kVectorized)
        refuse(StrCat("loop ", loop.var.name(), " of ", host.name(), " is ", loop::ToString(kind),
                      " and stands between its memory and its computation; iterations would "
                      "write over each other's elements"));
    }
  }
}

}  // namespace

void RefuseAt(const char* primitive, const Stage& producer, const Stage& stage, const IterVar& axis,
              const std::string& reason) {
  throw InvalidArgument(StrCat(primitive, ": stage ", producer.name(), ", computed at axis ",
                               axis.var.name(), " of ", stage.name(), ": ", reason));
}

void RequireSerial(const char* primitive, const Stage& producer, const Stage& stage,
                   const IterVar& axis) {
  const loop::ForKind kind = stage.KindOf(axis);
  if (kind == loop::ForKind::kSerial) return;
  RefuseAt(primitive, producer, stage, axis,
           StrCat("the loop is ", loop::ToString(kind), "; it must be serial"));
}

std::size_t SharedLoops(const Stage& stage) {
  if (!stage.with()) return 0;
  return PositionOf(*stage.with()->stage, stage.with()->axis) + 1;
}

bool IsPlacedAt(const Stage& producer, const Stage& stage, const IterVar& axis) {
  return producer.placement() == Stage::Placement::kAt &&
         IsLoop(producer.attach_stage(), producer.attach_axis(), stage, axis);
}

bool IsStoredAt(const Stage& producer, const Stage& stage, const IterVar& axis) {
  return producer.storage() == Stage::Storage::kAt &&
         IsLoop(*producer.store().stage, producer.store().axis, stage, axis);
}

std::vector<const Stage*> OrderOfStages(const Schedule& schedule) {
  const auto& stages = schedule.stages();
  std::vector<const Stage*> order;
  const auto shares = [](const auto& stage) { return stage->with().has_value(); };
  if (std::none_of(stages.begin(), stages.end(), shares)) {
    for (const auto& stage : stages) order.push_back(stage.get());
    return order;
  }
  const auto node = [](const Stage& stage) { return stage.with() ? stage.with()->stage : &stage; };
  std::unordered_map<const Stage*, std::vector<const Stage*>> members, readers;
  std::unordered_map<const Stage*, std::size_t> open;  // how many reads are not there yet
  for (const auto& stage : stages) {
    std::vector<const Stage*>& of_node = members[node(*stage)];
    of_node.insert(stage->with() ? of_node.end() : of_node.begin(), stage.get());
    for (const Tensor& input : te::InputsOf(*stage->op())) {
      const Stage* producer = schedule.Find(input.op().get());
      if (producer == nullptr || node(*producer) == node(*stage)) continue;
      readers[node(*producer)].push_back(node(*stage));
      ++open[node(*stage)];
    }
  }
  std::vector<const Stage*> ready;
  for (const auto& stage : stages) {
    if (!stage->with() && open[stage.get()] == 0) ready.push_back(stage.get());
  }
  for (std::size_t next = 0; next < ready.size(); ++next) {
    const std::vector<const Stage*>& of_node = members[ready[next]];
    order.insert(order.end(), of_node.begin(), of_node.end());
    for (const Stage* reader : readers[ready[next]]) {
      if (--open[reader] == 0) ready.push_back(reader);
    }
  }
  if (order.size() == stages.size()) return order;
  for (const auto& stage : stages) {
    if (!stage->with() || open[stage->with()->stage] == 0) continue;
    throw InvalidArgument(StrCat("compute_with: stage ", stage->name(), " with ",
                                 stage->with()->stage->name(),
                                 ": stages that share other loops need one of them and are needed "
                                 "by the other, so that neither loop can run first"));
  }
  Unreachable("only shared loops make a cycle of stages");
}

void CheckPlace(const Stage& stage) {
  if (stage.with()) CheckSharedLoops(stage);
  if (stage.storage() != Stage::Storage::kWithComputation) CheckStorage(stage);
}

}  // namespace tenon::schedule
