// What the stages of a schedule read from memory once inlined stages are replaced by what they
// compute, and the figures that automatic schedules decide by.
//
//   Accesses accesses(schedule, target);
//   for (const Access& access : accesses.Of(stage)) StepOf(access, stage.op()->axes.back().var);
#ifndef TENON_STRATEGIES_SCHEDULE_ACCESSES_H_
#define TENON_STRATEGIES_SCHEDULE_ACCESSES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "tenon/loop/simplify/simplify.h"
#include "tenon/schedule/schedule.h"
#include "tenon/support/target.h"

namespace tenon::strategies {

struct Access {
  const te::OperationNode* producer;
  std::vector<loop::Expr> indices;
  loop::Buffer buffer;
  std::shared_ptr<const loop::Bounds> bounds;  // of the axes that the indices are of
};

// Schedule and target must outlive it. Answers are kept, since inlining is costly: what is inlined
// must be decided before the first question.
class Accesses {
 public:
  Accesses(const schedule::Schedule& schedule, const Target& target)
      : schedule_(schedule), target_(target) {}

  const Target& target() const { return target_; }
  // Elements of the widest result in a vector.
  std::int64_t LanesOf(const te::OperationNode& op) const;

  const std::vector<Access>& Of(const schedule::Stage& stage) { return InlinedOf(stage).accesses; }
  // Whether neighbours along `var` may differ in what they must not load, so that they cannot be
  // computed together.
  bool DifferByLane(const schedule::Stage& stage, const loop::Var& var);
  // Whether the conditions under which they differ compare `var` with constants alone, so that they
  // are known for each vector that is written out. False where the element is one of several values
  // as it is, rather than computed from one.
  bool BoundAlong(const schedule::Stage& stage, const loop::Var& var);
  // Whether the one condition under which they differ is that `var` is below a bound.
  bool EndsAlong(const schedule::Stage& stage, const loop::Var& var);
  // Whether some are made under conditions.
  bool AreConditional(const schedule::Stage& stage) {
    return !InlinedOf(stage).lazy_conditions.empty();
  }
  // Whether a stage other than `except` reads it from memory.
  bool IsRead(const te::OperationNode& producer, const schedule::Stage* except = nullptr);
  // Nodes of an element's expression, and the calls of the vector math library among them.
  std::int64_t NodesOf(const schedule::Stage& stage) { return InlinedOf(stage).nodes; }
  std::int64_t MathCallsOf(const schedule::Stage& stage) { return InlinedOf(stage).math_calls; }

 private:
  struct Inlined {
    std::int64_t nodes = 0;
    std::int64_t math_calls = 0;
    std::vector<Access> accesses;
    std::vector<loop::Expr> lazy_conditions;  // under which some of them are made
    bool is_choice = false;                   // an element is one of several, as it is
  };
  const Inlined& InlinedOf(const schedule::Stage& stage);
  // The conjuncts of its lazy conditions.
  std::vector<loop::Expr> LazyBoundsOf(const schedule::Stage& stage);

  const schedule::Schedule& schedule_;
  const Target& target_;
  std::unordered_map<const te::OperationNode*, Inlined> inlined_;
};

// Scalar operations below which starting threads costs more than it saves.
inline constexpr std::int64_t kParallelWork = 1 << 17;

// The coefficient of `var` in the element offset of an access; nothing when it is not linear.
std::optional<std::int64_t> StepOf(const Access& access, const loop::Var& var);
// The extent. If it is an expression, the value that schedules are made for (planned_extent.h).
std::int64_t Extent(const te::IterVar& axis);
std::int64_t ProductOfExtents(std::span<const te::IterVar> axes);
// Scalar operations of a stage, addresses counted in.
std::int64_t WorkOf(const schedule::Stage& stage);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_SCHEDULE_ACCESSES_H_
