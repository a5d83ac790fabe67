// Consumers first. The statement grows from the last stage's nest outwards: a root stage is
// computed before all of it; a stage that is computed at a loop of another is put in front of that
// loop's body, for the region that the body reads (schedule/region.h), into a buffer of that
// region's size. Inlined stages are substituted into their readers before. The loop pipeline
// transforms what comes of it.
#include "tenon/schedule/lower.h"

#include <algorithm>
#include <utility>

#include "tenon/loop/pipeline.h"
#include "tenon/loop/print.h"
#include "tenon/loop/visit.h"
#include "tenon/schedule/attached_output.h"
#include "tenon/schedule/check_stages.h"
#include "tenon/schedule/fetches.h"
#include "tenon/schedule/inline.h"
#include "tenon/schedule/lowered_checks.h"
#include "tenon/schedule/needed_region.h"
#include "tenon/schedule/nest.h"
#include "tenon/schedule/places.h"
#include "tenon/schedule/rolling.h"
#include "tenon/schedule/scan.h"
#include "tenon/schedule/source.h"
#include "tenon/schedule/storage.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {
namespace {

using loop::Expr;
using loop::Stmt;

// Symbolic extents are sizes: at least 0 and far from overflow.
constexpr std::int64_t kMaxExtent = std::int64_t{1} << 40;

class Lowerer {
 public:
  Lowerer(const Schedule& schedule, const std::vector<Tensor>& args, const std::string& name,
          const LowerOptions& options)
      : schedule_(schedule), args_(args), options_(options), inliner_(schedule), steps_(schedule) {
    function_.name = name;
  }

  loop::Function Run() {
    CollectParameters();
    CheckStages(schedule_, function_.scalars, function_.name);
    ranges_ = bounds_;
    Stmt body = loop::Seq({});
    std::vector<const Stage*> memory;
    Stmt readers = body;  // what runs after a stage and those that share its loops
    const std::vector<const Stage*> stages = OrderOfStages(schedule_);
    for (auto it = stages.rbegin(); it != stages.rend(); ++it) {
      const Stage& stage = **it;
      if (stage.storage() == Stage::Storage::kRoot) body = AllocateStored(stage, body);
      if (stage.op()->is_placeholder() || steps_.IsStep(stage) || !IsAtRoot(stage)) continue;
      const bool has_loops = !stage.with().has_value();
      if (has_loops) {
        readers = body;
        body = loop::Seq({Root(stage), body});
      }
      // Of stages that share loops the one that has them comes last here, and around it all memory.
      memory.push_back(&stage);
      if (!has_loops) continue;
      for (const Stage* stored : std::exchange(memory, {})) {
        for (std::size_t i = 0; i < stored->op()->outputs.size(); ++i) {
          if (!IsParameter(stored->op()->outputs[i]))
            body = AllocateRoot(*stored, i, readers, body);
        }
      }
    }
    CheckOutputs(schedule_, function_.buffers);
    body = loop::Simplify(body, bounds_);
    CheckParallel(body);
    CheckPlacements(body, function_.buffers);
    const loop::TransformContext context{.function = &function_,
                                         .bounds = bounds_,
                                         .unrolls = std::move(unrolls_),
                                         .row_loads = options_.row_loads,
                                         .stream_results = options_.stream_results};
    function_.body = loop::RunPipeline(loop::Phase::kLowering, body, context, options_.pipeline);
    RestoreParameters();
    return std::move(function_);
  }

 private:
  void CollectParameters() {
    for (const Tensor& arg : args_) {
      if (IsParameter(arg.buffer()))
        throw InvalidArgument(
            StrCat("lower ", function_.name, ": argument ", arg.name(), " is given twice"));
      function_.buffers.push_back(arg.buffer());
      for (const Expr& extent : arg.shape()) {
        loop::VisitExpr(extent, [&](const Expr& e) {
          if (e.kind() != loop::ExprKind::kVar) return;
          const auto same = [&](const loop::Var& v) { return v.same_as(e); };
          if (std::none_of(function_.scalars.begin(), function_.scalars.end(), same)) {
            function_.scalars.emplace_back(loop::Var(e));
            bounds_.Bind(loop::Var(e), {options_.min_extent, kMaxExtent});
          }
        });
      }
    }
    CheckArguments(schedule_, args_, steps_, function_.name);
  }

  bool IsParameter(const loop::Buffer& buffer) const {
    return std::find(function_.buffers.begin(), function_.buffers.end(), buffer) !=
           function_.buffers.end();
  }

  // External operations read memory, so what they read is stored even where it is inlined
  // elsewhere.
  bool IsAtRoot(const Stage& stage) const {
    if (stage.placement() != Stage::Placement::kInline)
      return stage.placement() == Stage::Placement::kRoot;
    const auto& stages = schedule_.stages();
    return std::any_of(stages.begin(), stages.end(), [&](const auto& reader) {
      const std::vector<Tensor>& inputs = reader->op()->inputs;
      return std::any_of(inputs.begin(), inputs.end(), [&](const Tensor& input) {
        return schedule_.Find(input.op().get()) == &stage;
      });
    });
  }

  // The whole of a stage.
  Stmt Root(const Stage& stage) {
    switch (stage.op()->kind) {
      case te::OperationKind::kExtern:
        return loop::Evaluate(stage.op()->body[0]);
      case te::OperationKind::kScan:
        return loop::Seq(
            {CopyInits(*stage.op(), WholeParts(*stage.op()), inliner_), TimeNest(stage)});
      case te::OperationKind::kCompute:
      case te::OperationKind::kPlaceholder:
        break;
    }
    const NestBody body = BodyOf(stage);
    CheckReads(stage, body, {}, function_.name);
    const std::vector<Range> region = RegionComputed(stage);
    if (!SameRegion(region, WholeRegion(stage.op()->outputs[0])))
      CheckRoundedReads(stage, body, region, bounds_, function_.name);
    return MakeNest(stage, body, region, Hooks(stage), SharedLoops(stage));
  }

  // Inside that loop of `stage`, what others compute that share it as their last one.
  Stmt AddSharers(const Stage& stage, const IterVar& axis, Stmt inside) {
    for (const auto& other : schedule_.stages()) {
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

  NestBody BodyOf(const Stage& stage) {
    const te::OperationNode& op = *stage.op();
    const auto inlined = [&](const std::vector<Expr>& values) {
      std::vector<Expr> result;
      for (const Expr& value : values) result.push_back(inliner_(value));
      return result;
    };
    return {.values = inlined(op.body),
            .initial = inlined(op.initial),
            .condition = op.condition.defined() ? inliner_(op.condition) : Expr(),
            .target = inlined(op.target)};
  }

  // The steps of a scan at the root, which compute all of its results.
  Stmt TimeNest(const Stage& scan) {
    ScanParts parts = WholeParts(*scan.op());
    const Stmt step = UseScanBuffers(*scan.op(), Step(scan, &parts));
    scan_steps_.emplace(&scan, step);
    return MakeTimeNest(scan, step, Hooks(scan));
  }

  // A step of a scan: what is not placed elsewhere is computed at its time loop, for the part that
  // is needed.
  Stmt Step(const Stage& scan, ScanParts* parts) {
    const te::OperationNode& op = *scan.op();
    const std::vector<const Stage*>& steps = steps_.Of(scan);
    Stmt body = loop::Seq({});
    for (auto it = steps.rbegin(); it != steps.rend(); ++it) {
      const Stage& step = **it;
      const std::vector<loop::Buffer>& outputs = step.op()->outputs;
      const auto is_update = [&](const loop::Buffer& b) { return IsUpdateOf(op, b); };
      if (std::any_of(outputs.begin(), outputs.end(), is_update)) {
        const auto region = PartOfStep(op, *step.op(), body, bounds_, parts);
        if (!region) continue;
        body = loop::Seq({Nest(step, *region), body});
        for (const loop::Buffer& buffer : outputs) {
          if (!is_update(buffer)) body = AllocateBox(step, buffer, *region, body);
        }
      } else if (step.placement() == Stage::Placement::kRoot ||
                 (step.placement() == Stage::Placement::kAt && &step.attach_stage() == &scan)) {
        // Of a part of the results, a state may be nobody's, and then what it alone is made of.
        const bool is_part = std::any_of(parts->begin(), parts->end(),
                                         [](const auto& part) { return !part.has_value(); });
        const auto is_read = [&](const loop::Buffer& b) {
          return RegionRead(body, b, bounds_).has_value();
        };
        if (!is_part || std::any_of(outputs.begin(), outputs.end(), is_read))
          body = Place(step, body);
      }
    }
    return body;
  }

  // All steps of a scan for what `inside` reads. A step needs what it reads of the states before,
  // so that the part of these grows until it is closed.
  Stmt PlaceScan(const Stage& scan, const Stmt& inside) {
    const te::OperationNode& op = *scan.op();
    ScanParts parts = PartsRead(op, inside, bounds_);
    if (std::none_of(parts.begin(), parts.end(), [](const auto& part) { return part.has_value(); }))
      RegionNeeded(scan, inside, bounds_);  // says that it is not read
    Stmt step = Step(scan, &parts);
    while (GrowByStates(op, step, bounds_, &parts)) step = Step(scan, &parts);
    step = UseScanBuffers(op, step);
    Stmt all =
        loop::Seq({CopyInits(op, parts, inliner_), MakeTimeNest(scan, step, Hooks(scan)), inside});
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      if (!parts[i]) continue;
      const auto kept = StepsKept(op, i, step, inside, bounds_);
      if (kept) parts[i]->front().extent = *kept;
      const Box box(scan, op.outputs[i], *parts[i], 1,
                    kept ? std::optional<std::size_t>(0) : std::nullopt);
      all = loop::Allocate(box.memory(), box.Move(all, MinsOf(*parts[i])));
    }
    return all;
  }

  LoopHooks Hooks(const Stage& stage) {
    return {.ranges = &ranges_,
            .inside =
                [&](const IterVar& axis, const Expr& extent, const Stmt& inside) {
                  const Stmt all = AddSharers(stage, axis, inside);
                  return AddPrefetches(
                      schedule_, bounds_, stage, axis, extent,
                      AllocateAt(stage, axis, PlaceProducers(stage, axis, extent, all)));
                },
            .around =
                [&](const IterVar& axis, const Expr&, const Stmt& loop) {
                  MarkUnrolls(stage, axis, loop);
                  return AddFirstCopies(axis, loop);
                }};
  }

  Stmt Nest(const Stage& stage, const std::vector<Range>& region) {
    steps_.RequireOneStep(stage, region, ranges_);
    return MakeNest(stage, BodyOf(stage), region, Hooks(stage));
  }

  static Stmt AllocateBox(const Stage& stage, const loop::Buffer& buffer,
                          const std::vector<Range>& region, const Stmt& stmt) {
    const Box box(stage, buffer, region);
    return loop::Allocate(box.memory(), box.Move(stmt, MinsOf(region)));
  }

  // An output of a stage at the root, which `readers` read: the whole, or of a scan the steps that
  // are read again.
  Stmt AllocateRoot(const Stage& stage, std::size_t output, const Stmt& readers, const Stmt& stmt) {
    const loop::Buffer& buffer = stage.op()->outputs[output];
    std::vector<Range> region =
        stage.op()->is_compute() ? RegionComputed(stage) : WholeRegion(buffer);
    std::optional<std::int64_t> kept;
    if (const auto step = scan_steps_.find(&stage); step != scan_steps_.end())
      kept = StepsKept(*stage.op(), output, step->second, readers, bounds_);
    if (!kept) return AllocateBox(stage, buffer, region, stmt);
    region[0].extent = *kept;
    const Box box(stage, buffer, region, 1, 0);
    return loop::Allocate(box.memory(), box.Move(stmt, MinsOf(region)));
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

  // In front of `inside`, what is computed at this loop of `stage`; readers before what they read.
  Stmt PlaceProducers(const Stage& stage, const IterVar& axis, const Expr& extent, Stmt inside) {
    const auto& stages = schedule_.stages();
    for (auto it = stages.rbegin(); it != stages.rend(); ++it) {
      const Stage& producer = **it;
      if (!IsPlacedAt(producer, stage, axis) ||
          (steps_.IsStep(producer) && stage.op()->kind == te::OperationKind::kScan))
        continue;
      if (producer.op()->kind == te::OperationKind::kScan) {
        inside = PlaceScan(producer, inside);
      } else if (producer.storage() != Stage::Storage::kWithComputation) {
        inside = PlaceStored(producer, stage, axis, extent, inside);
      } else if (producer.marks().double_buffered) {
        inside = PlaceTwice(producer, stage, axis, extent, inside);
      } else if (producer.marks().rolling && !loop::IsConstInt(extent, 1)) {
        inside = PlaceRolling(producer, stage, axis, inside);
      } else if (producer.is_output()) {
        inside = PlaceOutput(producer, stage, axis, inside);
      } else {
        inside = Place(producer, inside);
      }
    }
    return inside;
  }

  Stmt Place(const Stage& producer, const Stmt& inside) {
    std::vector<Range> region = RegionNeeded(producer, inside, bounds_);
    WidenLanes(producer, region);
    Stmt result = loop::Seq({Nest(producer, region), inside});
    for (const loop::Buffer& buffer : producer.op()->outputs)
      result = AllocateBox(producer, buffer, region, result);
    return result;
  }

  // Into the caller's memory. The parameter becomes another buffer, which only `inside` knows:
  // whoever reads the output elsewhere may do so before it is computed, and CheckPlacements finds
  // the former buffer there.
  Stmt PlaceOutput(const Stage& producer, const Stage& stage, const IterVar& axis,
                   const Stmt& inside) {
    if (stage.placement() != Stage::Placement::kRoot || !stage.op()->is_compute() ||
        steps_.IsStep(stage))
      RefuseAt("compute_at", producer, stage, axis,
               "an output needs a loop of a stage that is computed at the root, as a whole");
    const std::vector<Range> region = RegionOfOutput(
        producer, stage, axis, RegionNeeded(producer, inside, bounds_), inside, bounds_);
    Stmt result = loop::Seq({Nest(producer, region), inside});
    for (const loop::Buffer& buffer : producer.op()->outputs) {
      const auto parameter = std::find(function_.buffers.begin(), function_.buffers.end(), buffer);
      if (parameter == function_.buffers.end()) {
        result = AllocateBox(producer, buffer, region, result);
        continue;
      }
      const Box box(producer, buffer, WholeRegion(buffer));
      result = box.Move(result, MinsOf(WholeRegion(buffer)));
      *parameter = box.memory();
    }
    return result;
  }

  // Iteration v computes into copy (v + 1) mod 2 what the next one reads, and reads copy v mod 2;
  // what iteration 0 reads is computed before the loop.
  Stmt PlaceTwice(const Stage& producer, const Stage& stage, const IterVar& axis,
                  const Expr& extent, const Stmt& inside) {
    RequireSerial("double_buffer", producer, stage, axis);
    const std::vector<Range> region = RegionNeeded(producer, inside, bounds_);
    const std::vector<Expr> mins = MinsOf(region);
    for (const Range& range : region) {
      if (loop::UsesVar(range.extent, axis.var))
        RefuseAt("double_buffer", producer, stage, axis,
                 "iterations read parts of different size; they must be alike");
    }
    const Stmt nest = Nest(producer, region);
    // For the iteration that `v` is, into the copy for it.
    const auto compute = [&](const std::vector<Box>& boxes, const Expr& v) {
      Stmt stmt = loop::Substitute(nest, {{axis.var, v}});
      std::vector<Expr> begin;
      for (const Expr& min : mins) begin.push_back(loop::Substitute(min, {{axis.var, v}}));
      for (const Box& box : boxes) stmt = box.Move(stmt, begin, loop::FloorMod(v, 2));
      return stmt;
    };
    std::vector<Box> boxes;
    for (const loop::Buffer& buffer : producer.op()->outputs)
      boxes.emplace_back(producer, buffer, region, 2);
    Stmt use = inside;
    for (const Box& box : boxes) use = box.Move(use, mins, loop::FloorMod(axis.var, 2));
    FirstCopy first{loop::If(extent > 0, compute(boxes, 0)), {}};
    for (const Box& box : boxes) first.memory.push_back(box.memory());
    first_copies_[axis.var].push_back(std::move(first));
    return loop::Seq({loop::If(axis.var + 1 < extent, compute(boxes, Expr(axis.var) + 1)), use});
  }

  // Every iteration computes what the one before has not, into memory around the loop. What it
  // computes itself reads as a whole window would, so that the window of a stage that it reads
  // moves along with it.
  Stmt PlaceRolling(const Stage& producer, const Stage& stage, const IterVar& axis,
                    const Stmt& inside) {
    RequireSerial("rolling_buffer", producer, stage, axis);
    const std::vector<Range> region = RegionNeeded(producer, inside, bounds_);
    const RollingRegion rolling = FindRolling(producer, region, axis);
    Stmt all = loop::Seq({loop::If(Expr(axis.var) < 1, Nest(producer, rolling.first)),
                          Nest(producer, rolling.next), inside});
    FirstCopy around{loop::Seq({}), {}};
    for (const loop::Buffer& buffer : producer.op()->outputs) {
      const Box box(producer, buffer, region, 1, rolling.dimension);
      all = box.Move(all, MinsOf(region));
      around.memory.push_back(box.memory());
    }
    first_copies_[axis.var].push_back(std::move(around));
    return all;
  }

  // Into memory that stands around an outer loop. The buffers become others, which only this loop
  // knows: CheckPlacements finds the former ones where somebody else reads them. A window that
  // slides along the loop computes only what is new.
  Stmt PlaceStored(const Stage& producer, const Stage& stage, const IterVar& axis,
                   const Expr& extent, const Stmt& inside) {
    std::vector<Range> region = RegionNeeded(producer, inside, bounds_);
    std::optional<RollingRegion> window;
    if (stage.KindOf(axis) == loop::ForKind::kSerial && !loop::IsConstInt(extent, 1))
      window = WindowOf(region, axis);
    if (!window) WidenLanes(producer, region);
    const Stmt nest = window
                          ? loop::Seq({loop::If(Expr(axis.var) < 1, Nest(producer, window->first)),
                                       Nest(producer, window->next)})
                          : Nest(producer, region);
    std::vector<loop::Buffer>& kept = stored_[&producer];
    loop::BufferMap buffers;
    for (const loop::Buffer& buffer : producer.op()->outputs) {
      kept.push_back(loop::Buffer::Make(buffer->name, buffer->dtype, buffer->shape));
      buffers[buffer] = kept.back();
    }
    return loop::ReplaceBuffers(loop::Seq({nest, inside}), buffers);
  }

  Stmt AllocateStored(const Stage& producer, Stmt stmt) {
    for (const loop::Buffer& buffer : std::exchange(stored_[&producer], {})) {
      // It may be that of an attempt at a scan's step, which is no more.
      const auto region = RegionTouched(stmt, buffer, bounds_);
      if (region) stmt = AllocateBox(producer, buffer, *region, stmt);
    }
    return stmt;
  }

  // The memory of what is computed further inside and stored at this loop.
  Stmt AllocateAt(const Stage& stage, const IterVar& axis, Stmt inside) {
    for (const auto& producer : schedule_.stages()) {
      if (producer->storage() == Stage::Storage::kAt && stored_.contains(producer.get()) &&
          IsStoredAt(*producer, stage, axis))
        inside = AllocateStored(*producer, inside);
    }
    return inside;
  }

  Stmt AddFirstCopies(const IterVar& axis, Stmt loop) {
    const auto found = first_copies_.find(axis.var);
    if (found == first_copies_.end()) return loop;
    for (const FirstCopy& first : found->second) {
      loop = loop::Seq({first.compute, loop});
      for (const loop::Buffer& memory : first.memory) loop = loop::Allocate(memory, loop);
    }
    first_copies_.erase(found);
    return loop;
  }

  // The function's parameters are the buffers of the arguments, as callers expect who name a kernel
  // before its body is made; PlaceOutput has put others in their places.
  void RestoreParameters() {
    loop::BufferMap arguments;
    for (std::size_t i = 0; i < args_.size(); ++i) {
      const loop::Buffer placed = std::exchange(function_.buffers[i], args_[i].buffer());
      if (!(placed == args_[i].buffer())) arguments.emplace(placed, args_[i].buffer());
    }
    if (!arguments.empty()) function_.body = loop::ReplaceBuffers(function_.body, arguments);
  }

  const Schedule& schedule_;
  const std::vector<Tensor>& args_;
  const LowerOptions& options_;
  Inliner inliner_;
  ScanSteps steps_;
  loop::Function function_;
  loop::Bounds bounds_;
  loop::Bounds ranges_;  // also of loops that are made
  loop::UnrollLimits unrolls_;
  std::unordered_map<const Stage*, Stmt> scan_steps_;  // what a step of the scan runs
  // What is to stand before the loop of that variable once it is made.
  struct FirstCopy {
    Stmt compute;
    std::vector<loop::Buffer> memory;
  };
  std::unordered_map<Expr, std::vector<FirstCopy>, loop::ExprHash, loop::ExprSame> first_copies_;
  // Of stages that are stored further outside, the buffers that stand for their outputs until then.
  std::unordered_map<const Stage*, std::vector<loop::Buffer>> stored_;
};

}  // namespace

loop::Function Lower(const Schedule& schedule, const std::vector<Tensor>& args,
                     const std::string& name, const LowerOptions& options) {
  loop::Function function = Lowerer(schedule, args, name, options).Run();
  function.body =
      loop::Body(function.body.stmt(), std::make_shared<LoweringSource>(schedule, args, options));
  return function;
}

}  // namespace tenon::schedule
