// Consumers first. The statement grows from the last stage's nest outwards: a root stage is
// computed before all of it; a stage that is computed at a loop of another is put in front of that
// loop's body, for the region that the body reads (schedule/region.h), into a buffer of that
// region's size. Inlined stages are substituted into their readers before. The loop pipeline
// transforms what comes of it.
#include "tenon/schedule/lower.h"

#include <algorithm>
#include <bit>
#include <unordered_set>
#include <utility>

#include "tenon/loop/pipeline.h"
#include "tenon/loop/print.h"
#include "tenon/loop/visit.h"
#include "tenon/schedule/attached_output.h"
#include "tenon/schedule/check_stages.h"
#include "tenon/schedule/fetches.h"
#include "tenon/schedule/inline.h"
#include "tenon/schedule/nest.h"
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
    const auto& stages = schedule_.stages();
    for (auto it = stages.rbegin(); it != stages.rend(); ++it) {
      const Stage& stage = **it;
      if (stage.op()->is_placeholder() || steps_.IsStep(stage) || !IsAtRoot(stage)) continue;
      const Stmt readers = body;
      body = loop::Seq({Root(stage), body});
      for (std::size_t i = 0; i < stage.op()->outputs.size(); ++i) {
        if (!IsParameter(stage.op()->outputs[i])) body = AllocateRoot(stage, i, readers, body);
      }
    }
    CheckOutputs();
    body = loop::Simplify(body, bounds_);
    CheckParallel(body, nullptr);
    CheckPlacements(body);
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
    for (const auto& stage : schedule_.stages()) {
      if (stage->op()->is_placeholder() && !steps_.IsState(*stage) &&
          !IsParameter(stage->op()->outputs[0])) {
        throw InvalidArgument(StrCat("lower ", function_.name, ": placeholder ", stage->name(),
                                     " is read but is not among the arguments"));
      }
    }
    for (const Tensor& output : schedule_.outputs()) {
      if (!IsParameter(output.buffer())) {
        throw InvalidArgument(StrCat("lower ", function_.name, ": output ", output.name(),
                                     " is not among the arguments"));
      }
    }
    for (const Tensor& arg : args_) {
      const Stage* stage = schedule_.Find(arg.op().get());
      if (stage != nullptr && !stage->op()->is_placeholder() && !stage->is_output()) {
        throw InvalidArgument(
            StrCat("lower ", function_.name, ": argument ", arg.name(),
                   " is an intermediate stage; only placeholders and outputs are allowed"));
      }
    }
  }

  bool IsParameter(const loop::Buffer& buffer) const {
    return std::find(function_.buffers.begin(), function_.buffers.end(), buffer) !=
           function_.buffers.end();
  }

  static std::vector<Range> WholeRegion(const Stage& stage) {
    return WholeRegion(stage.op()->outputs[0]);
  }
  static std::vector<Range> WholeRegion(const loop::Buffer& buffer) {
    std::vector<Range> region;
    for (const Expr& extent : buffer->shape) region.push_back({0, extent});
    return region;
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
        return loop::Seq({CopyInits(*stage.op(), inliner_), TimeNest(stage)});
      case te::OperationKind::kCompute:
      case te::OperationKind::kPlaceholder:
        break;
    }
    const std::vector<Expr> body = BodyOf(stage);
    CheckReads(stage, body, {}, function_.name);
    return MakeNest(stage, body, WholeRegion(stage), Hooks(stage));
  }

  std::vector<Expr> BodyOf(const Stage& stage) {
    std::vector<Expr> body;
    for (const Expr& value : stage.op()->body) body.push_back(inliner_(value));
    return body;
  }

  // The steps of a scan: what is not placed elsewhere is computed at its time loop, for the part
  // that the step needs.
  Stmt TimeNest(const Stage& scan) {
    const te::OperationNode& op = *scan.op();
    const std::vector<const Stage*>& steps = steps_.Of(scan);
    Stmt body = loop::Seq({});
    for (auto it = steps.rbegin(); it != steps.rend(); ++it) {
      const Stage& step = **it;
      const std::vector<loop::Buffer>& outputs = step.op()->outputs;
      const auto is_update = [&](const loop::Buffer& b) { return IsUpdateOf(op, b); };
      if (std::any_of(outputs.begin(), outputs.end(), is_update)) {
        const std::vector<Range> region = StepRegion(op, *step.op());
        body = loop::Seq({Nest(step, region), body});
        for (const loop::Buffer& buffer : outputs) {
          if (!is_update(buffer)) body = AllocateBox(step, buffer, region, body);
        }
      } else if (step.placement() == Stage::Placement::kRoot ||
                 (step.placement() == Stage::Placement::kAt && &step.attach_stage() == &scan)) {
        body = Place(step, body);
      }
    }
    body = UseScanBuffers(op, body);
    scan_steps_.emplace(&scan, body);
    return MakeTimeNest(scan, body, Hooks(scan));
  }

  LoopHooks Hooks(const Stage& stage) {
    return {.ranges = &ranges_,
            .inside =
                [&](const IterVar& axis, const Expr& extent, const Stmt& inside) {
                  return AddPrefetches(schedule_, bounds_, stage, axis, extent,
                                       PlaceProducers(stage, axis, extent, inside));
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
    std::vector<Range> region = WholeRegion(buffer);
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
      if (producer.placement() != Stage::Placement::kAt || &producer.attach_stage() != &stage ||
          (steps_.IsStep(producer) && stage.op()->kind == te::OperationKind::kScan))
        continue;
      if (!LeafOf(stage.relations(), producer.attach_axis()).var.same_as(axis.var)) continue;
      if (producer.marks().double_buffered) {
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
    std::vector<Range> region = RegionNeeded(producer, inside);
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
    const std::vector<Range> region =
        RegionOfOutput(producer, stage, axis, RegionNeeded(producer, inside), inside, bounds_);
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

  [[noreturn]] static void RefuseAt(const char* primitive, const Stage& producer,
                                    const Stage& stage, const IterVar& axis,
                                    const std::string& reason) {
    throw InvalidArgument(StrCat(primitive, ": stage ", producer.name(), ", computed at axis ",
                                 axis.var.name(), " of ", stage.name(), ": ", reason));
  }
  // What one iteration leaves for the next needs them one after the other.
  static void RequireSerial(const char* primitive, const Stage& producer, const Stage& stage,
                            const IterVar& axis) {
    const loop::ForKind kind = stage.KindOf(axis);
    if (kind == loop::ForKind::kSerial) return;
    RefuseAt(primitive, producer, stage, axis,
             StrCat("the loop is ", loop::ToString(kind), "; it must be serial"));
  }

  // Iteration v computes into copy (v + 1) mod 2 what the next one reads, and reads copy v mod 2;
  // what iteration 0 reads is computed before the loop.
  Stmt PlaceTwice(const Stage& producer, const Stage& stage, const IterVar& axis,
                  const Expr& extent, const Stmt& inside) {
    RequireSerial("double_buffer", producer, stage, axis);
    const std::vector<Range> region = RegionNeeded(producer, inside);
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
    const std::vector<Range> region = RegionNeeded(producer, inside);
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

  std::vector<Range> RegionNeeded(const Stage& producer, const Stmt& inside) {
    std::optional<std::vector<Range>> region;
    for (const loop::Buffer& buffer : producer.op()->outputs) {
      const std::optional<std::vector<Range>> read = RegionRead(inside, buffer, bounds_);
      if (!read) continue;
      // Outputs of one operation are computed together; any box but equal ones is covered whole.
      region = !region || SameRegion(*region, *read) ? *read : WholeRegion(producer);
    }
    if (!region && producer.placement() != Stage::Placement::kAt) {
      throw InvalidArgument(StrCat("compute_at: stage ", producer.name(),
                                   " is a step of a scan, but is not read in the scan's loop; "
                                   "compute its readers there"));
    }
    if (!region) {
      throw InvalidArgument(StrCat("compute_at: stage ", producer.name(),
                                   " is not read inside axis ", producer.attach_axis().var.name(),
                                   "; choose a loop around its readers"));
    }
    return *region;
  }

  // An axis that is a tensor intrinsic's is computed whole, and so is a vectorised one of which
  // more than half is needed where that makes it a whole vector: 14 lanes cost as much as 16, and
  // LLVM keeps whole vectors alone in registers.
  static void WidenLanes(const Stage& producer, std::vector<Range>& region) {
    for (std::size_t d = 0; d < region.size(); ++d) {
      const IterVar& axis = producer.op()->axes[d];
      const auto* needed = region[d].extent.As<loop::IntImmNode>();
      const auto* whole = axis.extent.As<loop::IntImmNode>();
      if (needed == nullptr || whole == nullptr || needed->value < 1) continue;
      const bool makes_vector = std::has_single_bit(static_cast<std::uint64_t>(whole->value)) &&
                                2 * needed->value > whole->value &&
                                producer.KindOf(axis) == loop::ForKind::kVectorized;
      if (makes_vector || IsOfIntrinsic(producer, d, whole->value)) region[d] = {0, axis.extent};
    }
  }

  static bool IsOfIntrinsic(const Stage& stage, std::size_t axis, std::int64_t extent) {
    if (!stage.marks().tensorize) return false;
    const auto& pattern = stage.marks().tensorize->intrinsic->op->axes;
    const std::size_t outer = stage.op()->axes.size() - pattern.size();
    return axis >= outer && loop::IsConstInt(pattern[axis - outer].extent, extent);
  }

  static bool SameRegion(const std::vector<Range>& a, const std::vector<Range>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Range& x, const Range& y) {
      return loop::StructuralEqual(x.min, y.min) && loop::StructuralEqual(x.extent, y.extent);
    });
  }

  static void CheckParallel(const Stmt& stmt, const loop::ForNode* outer) {
    loop::VisitStmts(stmt, [&](const Stmt& s) {
      const auto* n = s.As<loop::ForNode>();
      if (n == nullptr || n->for_kind != loop::ForKind::kParallel || n == outer) return;
      if (outer != nullptr) {
        throw InvalidArgument(StrCat("parallel: loop ", n->var.name(),
                                     " runs inside the parallel loop ", outer->var.name(),
                                     "; parallel loops may not nest"));
      }
      CheckParallel(n->body, n);
    });
  }

  // A loop that an intrinsic stands for computes nothing.
  void CheckOutputs() {
    for (const auto& stage : schedule_.stages()) {
      if (!stage->is_output() || stage->placement() != Stage::Placement::kAt) continue;
      const std::vector<loop::Buffer>& outputs = stage->op()->outputs;
      if (std::none_of(outputs.begin(), outputs.end(),
                       [&](const loop::Buffer& buffer) { return IsParameter(buffer); }))
        continue;
      throw InvalidArgument(StrCat("compute_at: stage ", stage->name(), ", computed at axis ",
                                   stage->attach_axis().var.name(), " of ",
                                   stage->attach_stage().name(),
                                   ": there is no such loop any more; choose another"));
    }
  }

  // A stage that some reader outside its place needs is read from a buffer that does not exist
  // there.
  void CheckPlacements(const Stmt& body) const {
    std::unordered_set<const loop::BufferNode*> known;
    for (const loop::Buffer& buffer : function_.buffers) known.insert(buffer.get());
    loop::VisitStmts(body, [&](const Stmt& s) {
      if (const auto* n = s.As<loop::AllocateNode>()) known.insert(n->buffer.get());
    });
    loop::VisitExprs(body, [&](const Expr& e) {
      const auto* load = e.As<loop::LoadNode>();
      const auto* address = e.As<loop::AddressNode>();
      if (load == nullptr && address == nullptr) return;
      const loop::Buffer& buffer = load != nullptr ? load->buffer : address->buffer;
      if (known.contains(buffer.get())) return;
      throw InvalidArgument(StrCat("compute_at: stage ", buffer->name,
                                   " has a reader outside the loop that it is computed in; ",
                                   "choose a loop around all of its readers, or compute_root"));
    });
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
