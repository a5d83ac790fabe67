#include "tenon/schedule/tails.h"

#include <algorithm>
#include <variant>

#include "tenon/schedule/places.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {
namespace {

// Whether a tail may be what a split says that it is.
class TailCheck {
 public:
  explicit TailCheck(const Stage& stage) : stage_(stage) {}

  void Check(const SplitRelation& split) const {
    switch (split.tail) {
      case Tail::kGuard:
        return;
      case Tail::kShiftInwards:
        return CheckShift(split);
      case Tail::kRoundUp:
        return CheckRoundUp(split);
    }
  }

 private:
  [[noreturn]] void Refuse(const SplitRelation& split, const std::string& reason) const {
    throw InvalidArgument(StrCat("split: stage ", stage_.name(), ", axis ", split.parent.var.name(),
                                 ", ", ToString(split.tail), ": ", reason));
  }

  // Elements are computed twice. That must happen one after the other, and each time from the
  // beginning.
  void CheckShift(const SplitRelation& split) const {
    const std::vector<IterVar>& leaves = stage_.leaves();
    const std::size_t shared = SharedLoops(stage_);
    bool is_inside_update = false;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      const IterVar& leaf = leaves[i];
      is_inside_update = is_inside_update || leaf.is_reduce || leaf.starts_only;
      const bool is_outer = IsMadeOf(stage_.relations(), leaf, split.outer);
      if (!is_outer && !IsMadeOf(stage_.relations(), leaf, split.inner)) continue;
      if (is_inside_update)
        Refuse(split, StrCat("loop ", leaf.var.name(),
                             " is inside a reduce loop, so that an element that is computed twice "
                             "would get its terms twice; reorder the loops or use Tail::kGuard"));
      // A loop that it shares runs as the other stage says.
      const Stage& runs = i < shared ? *stage_.with()->stage : stage_;
      const loop::ForKind kind = runs.KindOf(runs.leaves()[i]);
      if (is_outer && (kind == loop::ForKind::kParallel || kind == loop::ForKind::kVectorized))
        Refuse(split, StrCat("loop ", leaf.var.name(), " is ", loop::ToString(kind),
                             ", so that two iterations would write an element at a time; use "
                             "Tail::kGuard"));
    }
  }

  void CheckRoundUp(const SplitRelation& split) const {
    const std::vector<IterVar>& axes = stage_.op()->axes;
    const bool is_root = std::any_of(axes.begin(), axes.end(), [&](const IterVar& axis) {
      return axis.var.same_as(split.parent.var);
    });
    if (!is_root)
      Refuse(split, "it is no axis of the operation, but a loop that was split or fused before");
    if (stage_.is_output() || stage_.is_update() || !stage_.op()->is_compute())
      Refuse(split,
             "its memory is given and has no room for more elements; use Tail::kShiftInwards or "
             "Tail::kGuard");
    if (stage_.placement() != Stage::Placement::kRoot || stage_.time().defined() || stage_.with())
      Refuse(split,
             "the stage is not computed at the root by itself; use Tail::kShiftInwards or "
             "Tail::kGuard");
  }

  const Stage& stage_;
};

}  // namespace

void CheckTails(const Stage& stage) {
  for (const Relation& relation : stage.relations()) {
    if (const auto* split = std::get_if<SplitRelation>(&relation)) TailCheck(stage).Check(*split);
  }
}

}  // namespace tenon::schedule
