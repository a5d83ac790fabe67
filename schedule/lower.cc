// Consumers first. The statement grows from the last stage's nest outwards. A root stage is
// computed before all of it. A stage that is computed at a loop of another is put before that
// loop's body, for the region that the body reads (schedule/region.h), into a buffer of that
// region's size. Inlined stages are substituted into their readers before that. The loop pipeline
// transforms the result.
#include "tenon/schedule/lower.h"

#include <algorithm>
#include <utility>

#include "tenon/loop/pipeline.h"
#include "tenon/loop/visit.h"
#include "tenon/schedule/attachments.h"
#include "tenon/schedule/check_stages.h"
#include "tenon/schedule/fetches.h"
#include "tenon/schedule/lowered_checks.h"
#include "tenon/schedule/lowering.h"
#include "tenon/schedule/needed_region.h"
#include "tenon/schedule/places.h"
#include "tenon/schedule/scan_nests.h"
#include "tenon/schedule/source.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {
namespace {

using loop::Expr;
using loop::Stmt;

// A step runs once for each iteration of its scan's loop, or never. What shares its loops would do
// so, too.
void CheckSharersOfSteps(const Schedule& schedule, const ScanSteps& steps) {
  for (const auto& stage : schedule.stages()) {
    if (!stage->with()) continue;
    const Stage *self = stage.get(), *other = stage->with()->stage;
    for (const Stage* sharer : {self, other}) {
      if (steps.IsStep(*sharer))
        throw InvalidArgument(StrCat("compute_with: stage ", self->name(), " with ", other->name(),
                                     ": ", sharer->name(),
                                     " is a step of a scan, whose place is in the scan's loop"));
    }
  }
}

class Lowerer {
 public:
  Lowerer(const Schedule& schedule, const std::vector<Tensor>& args, const std::string& name,
          const LowerOptions& options)
      : name_(name),
        options_(options),
        lowering_{.schedule = schedule,
                  .inliner = Inliner(schedule),
                  .steps = ScanSteps(schedule),
                  .parameters = Parameters(args, name)} {
    lowering_.hooks = [this](const Stage& stage) { return Hooks(stage); };
    CheckArguments(schedule, args, lowering_.steps, name);
    CheckStages(schedule, lowering_.parameters.scalars(), name);
    CheckSharersOfSteps(schedule, lowering_.steps);
    for (const loop::Var& scalar : lowering_.parameters.scalars())
      lowering_.bounds.Bind(scalar, RangeOfExtent(scalar, options.positive));
    lowering_.ranges = lowering_.bounds;
  }

  loop::Function Run() {
    Stmt body = AllStages();
    const Parameters& parameters = lowering_.parameters;
    CheckOutputs(lowering_.schedule, parameters.buffers());
    body = loop::Simplify(body, lowering_.bounds);
    CheckParallel(body);
    CheckPlacements(body, parameters.buffers());
    loop::Function function = {.name = name_,
                               .buffers = parameters.buffers(),
                               .scalars = parameters.scalars(),
                               .body = {},
                               .origin = {}};
    const loop::TransformContext context{.function = &function,
                                         .bounds = lowering_.bounds,
                                         .unrolls = std::move(unrolls_),
                                         .row_loads = options_.row_loads,
                                         .stream_results = options_.stream_results};
    body = loop::RunPipeline(loop::Phase::kLowering, body, context, options_.pipeline);
    function.body = parameters.UseArguments(body);
    function.buffers = parameters.arguments();
    return function;
  }

 private:
  Stmt AllStages() {
    Stmt body = loop::Seq({});
    std::vector<const Stage*> memory;
    Stmt readers = body;  // what runs after a stage and those that share its loops
    const std::vector<const Stage*> stages = OrderOfStages(lowering_.schedule);
    for (auto it = stages.rbegin(); it != stages.rend(); ++it) {
      const Stage& stage = **it;
      if (stage.storage() == Stage::Storage::kRoot) body = attachments_.AllocateStored(stage, body);
      if (stage.op()->is_placeholder() || lowering_.steps.IsStep(stage) || !IsAtRoot(stage))
        continue;
      const bool has_loops = !stage.with().has_value();
      if (has_loops) {
        readers = body;
        body = loop::Seq({Root(stage), body});
      }
      // Among stages that share loops, the one that has them comes last here, with all memory
      // around it.
      memory.push_back(&stage);
      if (!has_loops) continue;
      for (const Stage* stored : std::exchange(memory, {})) {
        for (std::size_t i = 0; i < stored->op()->outputs.size(); ++i) {
          if (!lowering_.parameters.Has(stored->op()->outputs[i]))
            body = AllocateRoot(*stored, i, readers, body);
        }
      }
    }
    return body;
  }

  // External operations read memory, so what they read is stored even if it is inlined elsewhere.
  bool IsAtRoot(const Stage& stage) const {
    if (stage.placement() != Stage::Placement::kInline)
      return stage.placement() == Stage::Placement::kRoot;
    const auto& stages = lowering_.schedule.stages();
    return std::any_of(stages.begin(), stages.end(), [&](const auto& reader) {
      const std::vector<Tensor>& inputs = reader->op()->inputs;
      return std::any_of(inputs.begin(), inputs.end(), [&](const Tensor& input) {
        return lowering_.schedule.Find(input.op().get()) == &stage;
      });
    });
  }

  // The whole of a stage.
  Stmt Root(const Stage& stage) {
    if (stage.op()->kind == te::OperationKind::kExtern) return loop::Evaluate(stage.op()->body[0]);
    if (stage.op()->kind == te::OperationKind::kScan) return scans_.Root(stage);
    const NestBody body = BodyOf(lowering_, stage);
    CheckReads(stage, body, {}, name_);
    const std::vector<Range> region = RegionComputed(stage);
    if (!SameRegion(region, WholeRegion(stage.op()->outputs[0])))
      CheckRoundedReads(stage, body, region, lowering_.bounds, name_);
    return MakeNest(stage, body, region, Hooks(stage), SharedLoops(stage));
  }

  // An output of a stage at the root, which `readers` read.
  Stmt AllocateRoot(const Stage& stage, std::size_t output, const Stmt& readers, const Stmt& stmt) {
    if (stage.op()->kind == te::OperationKind::kScan)
      return scans_.AllocateRoot(stage, output, readers, stmt);
    const loop::Buffer& buffer = stage.op()->outputs[output];
    const std::vector<Range> whole = WholeRegion(buffer);
    const std::vector<Range> region = stage.op()->is_compute() ? RegionComputed(stage) : whole;
    // All of it is stored where it is. So no access moves, and everything that follows stays as it
    // is.
    if (SameRegion(region, whole) && stage.marks().alignments.empty() &&
        stage.marks().memory == buffer->memory)
      return loop::Allocate(buffer, stmt);
    return AllocateBox(stage, buffer, region, stmt);
  }

  LoopHooks Hooks(const Stage& stage) {
    return {.ranges = &lowering_.ranges,
            .inside =
                [&](const IterVar& axis, const Expr& extent, const Stmt& inside) {
                  Stmt all = AddSharers(stage, axis, inside);
                  all = PlaceProducers(stage, axis, extent, all);
                  all = attachments_.AllocateAt(stage, axis, all);
                  return AddPrefetches(lowering_.schedule, lowering_.bounds, stage, axis, extent,
                                       all);
                },
            .around =
                [&](const IterVar& axis, const Expr&, const Stmt& loop) {
                  MarkUnrolls(stage, axis, loop);
                  return attachments_.AddFirstCopies(axis, loop);
                }};
  }

  // Adds, inside that loop of `stage`, what others compute that share it as their last one.
  Stmt AddSharers(const Stage& stage, const IterVar& axis, Stmt inside) {
    for (const auto& other : lowering_.schedule.stages()) {
      if (!other->with() || other->with()->stage != &stage) continue;
      const std::size_t shared = SharedLoops(*other);
      if (!stage.leaves()[shared - 1].var.same_as(axis.var)) continue;
      ByVar loops;
      for (std::size_t i = 0; i < shared; ++i)
        loops[other->leaves()[i].var] = stage.leaves()[i].var;
      inside = loop::Seq({inside, loop::Substitute(Root(*other), loops)});
    }
    return inside;
  }

  // Puts what is computed at this loop of `stage` before `inside`. Readers are placed before what
  // they read.
  Stmt PlaceProducers(const Stage& stage, const IterVar& axis, const Expr& extent, Stmt inside) {
    const auto& stages = lowering_.schedule.stages();
    for (auto it = stages.rbegin(); it != stages.rend(); ++it) {
      const Stage& producer = **it;
      if (!IsPlacedAt(producer, stage, axis) ||
          (lowering_.steps.IsStep(producer) && stage.op()->kind == te::OperationKind::kScan))
        continue;
      inside = producer.op()->kind == te::OperationKind::kScan
                   ? scans_.Place(producer, inside)
                   : attachments_.Place(producer, stage, axis, extent, inside);
    }
    return inside;
  }

  void MarkUnrolls(const Stage& stage, const IterVar& axis, const Stmt& stmt) {
    for (const UnrollMark& mark : stage.marks().unrolls) {
      if (!LeafOf(stage.relations(), mark.axis).var.same_as(axis.var)) continue;
      loop::VisitStmts(stmt, [&](const Stmt& s) {
        // Loops further in may have marks of their own.
        if (const auto* n = s.As<loop::ForNode>()) unrolls_.emplace(n->var, mark.limit);
      });
    }
  }

  const std::string& name_;
  const LowerOptions& options_;
  Lowering lowering_;
  Attachments attachments_{lowering_};
  ScanNests scans_{lowering_, attachments_};
  loop::UnrollLimits unrolls_;
};

}  // namespace

loop::Interval RangeOfExtent(const loop::Var& extent, const std::vector<loop::Var>& positive) {
  const bool is_positive =
      std::ranges::any_of(positive, [&](const loop::Var& var) { return var.same_as(extent); });
  return {is_positive ? 1 : 0, loop::kExtents.high};
}

loop::Function SignatureOf(const std::vector<Tensor>& args, const std::string& name) {
  const Parameters parameters(args, name);
  return {.name = name,
          .buffers = parameters.arguments(),
          .scalars = parameters.scalars(),
          .body = {},
          .origin = {}};
}

loop::Function Lower(const Schedule& schedule, const std::vector<Tensor>& args,
                     const std::string& name, const LowerOptions& options) {
  if (schedule.outputs().empty())
    throw InvalidArgument(StrCat("lower ", name, ": the schedule has been moved from"));
  for (const Tensor& arg : args) arg.buffer();  // throws where it is null
  loop::Function function = Lowerer(schedule, args, name, options).Run();
  function.body =
      loop::Body(function.body.stmt(), std::make_shared<LoweringSource>(schedule, args, options));
  return function;
}

}  // namespace tenon::schedule
