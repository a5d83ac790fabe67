// Primitives about where a stage is computed, and where its result is stored.
#include <unordered_set>

#include "tenon/schedule/stage.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {

void Stage::RequireMovable(const char* primitive) const {
  if (op_->kind == te::OperationKind::kExtern)
    Refuse(primitive, nullptr, "an external operation computes whole buffers, at the root");
  if (is_update_)
    Refuse(primitive, nullptr, "the update of a scan is computed at the scan's time loop");
}

bool Stage::Needs(const Stage& producer) const {
  std::unordered_set<const Stage*> seen = {this};
  std::vector<const Stage*> next = {this};
  while (!next.empty()) {
    const Stage& stage = *next.back();
    next.pop_back();
    if (&stage == &producer) return true;
    for (const Tensor& input : te::InputsOf(*stage.op())) {
      const Stage* read = stage_of_->at(input.op().get());
      if (seen.insert(read).second) next.push_back(read);
    }
  }
  return false;
}

void Stage::RequireSameSchedule(const char* primitive, const Stage& other) const {
  if (other.stage_of_ != stage_of_)
    Refuse(primitive, nullptr,
           StrCat("the other stage, ", other.name(), ", belongs to another schedule"));
}

void Stage::CheckComputeAt(const Stage& parent, const IterVar& axis) const {
  if (op_->is_placeholder()) Refuse("compute_at", nullptr, "a placeholder is given, not computed");
  RequireMovable("compute_at");
  if (op_->kind == te::OperationKind::kScan && is_output_)
    Refuse("compute_at", nullptr,
           "a scan whose result the caller gets runs through all of its steps at the root");
  if (&parent == this) Refuse("compute_at", &axis, "a stage cannot be computed inside itself");
  RequireSameSchedule("compute_at", parent);
  const bool is_needed = parent.Needs(*this);
  if (is_output_ && !is_needed) {
    Refuse("compute_at", nullptr,
           StrCat("an output must be computed at the root, or in a loop of a stage that reads it, "
                  "which ",
                  parent.name(), " does not"));
  }
  parent.RequireUpdates("compute_at", axis);
  // The parent's own place may not lie inside this stage.
  for (const Stage* at = &parent; at->placement_ == Placement::kAt; at = at->attach_stage_) {
    if (at->attach_stage_ == this)
      Refuse(
          "compute_at", &axis,
          StrCat("stage ", parent.name(),
                 " is itself computed inside this stage; two stages cannot be inside each other"));
  }
  if (!is_needed)
    Refuse("compute_at", &axis,
           StrCat("stage ", parent.name(), " reads nothing of it; choose a loop of a reader"));
}

Stage& Stage::ComputeAt(const Stage& parent, const IterVar& axis) {
  CheckComputeAt(parent, axis);
  PlaceAnew(Placement::kAt);
  attach_stage_ = &parent;
  attach_axis_ = std::make_unique<IterVar>(axis);
  record_->emplace_back(ComputeAtStep{number_, parent.RefTo(axis)});
  return *this;
}

Stage& Stage::ComputeInline() {
  if (op_->is_placeholder())
    Refuse("compute_inline", nullptr, "a placeholder is given, not computed");
  if (is_output_)
    Refuse("compute_inline", nullptr,
           "an output has to be stored; only intermediate stages may be inlined");
  if (op_->is_reduction())
    Refuse("compute_inline", nullptr,
           "a reduction has loops of its own and cannot stand inside an expression");
  if (op_->kind == te::OperationKind::kScan)
    Refuse("compute_inline", nullptr,
           "a scan has steps of its own and cannot stand inside an expression");
  RequireMovable("compute_inline");
  PlaceAnew(Placement::kInline);
  record_->emplace_back(ComputeInlineStep{number_});
  return *this;
}

Stage& Stage::ComputeRoot() {
  PlaceAnew(Placement::kRoot);
  record_->emplace_back(ComputeRootStep{number_});
  return *this;
}

void Stage::PlaceAnew(Placement placement) {
  placement_ = placement;
  with_.reset();
  storage_ = Storage::kWithComputation;
  store_.reset();
}

Stage& Stage::ComputeWith(const Stage& other, const IterVar& axis) {
  constexpr const char* kName = "compute_with";
  const Stage* self = this;
  for (const Stage* stage : {self, &other}) {
    const auto refuse = [&](std::string_view reason) {
      Refuse(kName, nullptr, StrCat("stage ", stage->name(), " ", reason));
    };
    if (!stage->op()->is_compute()) refuse("is no compute, whose loops could be shared");
    if (stage->is_update() || stage->time().defined())
      refuse("is a step of a scan, whose place is in the scan's loop");
    if (stage->placement() != Placement::kRoot)
      refuse("is not computed at the root; only stages there share loops");
  }
  if (&other == this) Refuse(kName, &axis, "a stage cannot be computed with itself");
  RequireSameSchedule(kName, other);
  if (other.with_)
    Refuse(kName, &axis,
           StrCat("stage ", other.name(), " is itself computed with ", other.with_->stage->name(),
                  "; name a loop of that one"));
  const std::size_t last = other.Position(kName, axis);
  for (std::size_t i = 0; i <= last; ++i) {
    const IterVar& loop = other.leaves()[i];
    if (loop.is_reduce || loop.starts_only)
      Refuse(kName, &loop,
             StrCat("of the loops of ", other.name(), " down to ", axis.var.name(), ", ",
                    loop.var.name(), " is none over elements; only those can be shared"));
  }
  for (const auto& [reader, read] : {std::pair(self, &other), std::pair(&other, self)}) {
    if (reader->Needs(*read))
      Refuse(kName, &axis,
             StrCat("stage ", reader->name(), " needs the results of ", read->name(),
                    ", which are there only after the loop; use compute_at"));
  }
  with_ = LoopOf{&other, axis};
  record_->emplace_back(ComputeWithStep{number_, other.RefTo(axis)});
  return *this;
}

void Stage::RequireStorable(const char* primitive) const {
  RequireOwnMemory(primitive);
  if (placement_ != Placement::kAt)
    Refuse(primitive, nullptr,
           "it is computed at no loop, and stored where it is computed; call compute_at before");
  if (marks_.rolling || marks_.double_buffered)
    Refuse(primitive, nullptr,
           "its memory is a circular buffer or double, which stands around the loop that it is "
           "computed at");
}

Stage& Stage::StoreAt(const Stage& parent, const IterVar& axis) {
  constexpr const char* kName = "store_at";
  RequireStorable(kName);
  parent.RequireUpdates(kName, axis);
  if (!IsAround(parent, axis))
    Refuse(kName, &axis,
           StrCat("this loop of ", parent.name(), " is not around loop ", attach_axis_->var.name(),
                  " of ", attach_stage_->name(), ", at which it is computed; choose one that is"));
  storage_ = Storage::kAt;
  store_ = LoopOf{&parent, axis};
  record_->emplace_back(StoreAtStep{number_, parent.RefTo(axis)});
  return *this;
}

Stage& Stage::StoreRoot() {
  RequireStorable("store_root");
  storage_ = Storage::kRoot;
  store_.reset();
  record_->emplace_back(StoreRootStep{number_});
  return *this;
}

bool Stage::IsAround(const Stage& parent, const IterVar& axis) const {
  bool is_own = true;  // whether the loop at which it is computed itself counts no more
  for (const Stage* at = this; at->placement_ == Placement::kAt; at = at->attach_stage_) {
    const Stage& host = *at->attach_stage_;
    const IterVar inner = schedule::LeafOf(host.relations_, *at->attach_axis_);
    for (const IterVar& leaf : host.leaves_) {
      const bool is_last = leaf.var.same_as(inner.var);
      if (&host == &parent && leaf.var.same_as(axis.var) && !(is_last && is_own)) return true;
      if (is_last) break;
    }
    is_own = false;
  }
  return false;
}

}  // namespace tenon::schedule
