// The frames of calls are a list, so the depth of calls is never depth of the stack.
#include "tenon/runtime/program.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>

#include "tenon/runtime/check_inputs.h"
#include "tenon/runtime/count_up.h"
#include "tenon/runtime/run_time_extents.h"
#include "tenon/support/error.h"
#include "tenon/support/part_along.h"
#include "tenon/support/strings.h"

namespace tenon::runtime {
namespace {

using Arrays = std::vector<NDArray>;

struct Value {
  NDArray array;
  // Whether no other register, input or constant shares the elements, so that they may be written.
  bool is_own = false;
};
using Values = std::vector<Value>;

// Throws if the extents of a function that is entered do not fit.
void Require(const ExtentCondition& need, const Dim::Values& extents, const std::string& function) {
  const auto a = need.a.Evaluate(extents), b = need.b.Evaluate(extents);
  if (!a || !b || need.Holds(extents)) return;
  throw InvalidArgument(StrCat("in @", function, ", the extents do not fit: ", need.ToString(),
                               ", where one is ", *a, " and the other ", *b));
}

bool IsElementOf(const Shape& element, const Shape& whole) {
  return std::equal(whole.begin() + 1, whole.end(), element.begin(), element.end());
}

class Machine {
 public:
  Machine(const Program& program, bool profiled)
      : program_(program), profiled_(profiled), times_(profiled ? program.parts.size() : 0) {}

  Values Run(Values arguments, Dim::Values extents) {
    Enter(0, std::move(arguments), std::move(extents));
    while (true) {
      Frame& frame = frames_.back();
      if (frame.next < frame.function->steps.size()) {
        Take(frame, frame.function->steps[frame.next++]);
        continue;
      }
      Values results = Moved(frame, frame.function->results, frame.function->results);
      frames_.pop_back();
      if (frames_.empty()) return results;
      Frame& caller = frames_.back();
      const Step& step = caller.function->steps[caller.next - 1];
      SetExtents(caller.extents, step.output_extents, results, "what a call in @",
                 caller.function->name, " gives");
      for (std::size_t i = 0; i < step.outputs.size(); ++i)
        caller.registers[step.outputs[i]] = std::move(results[i]);
    }
  }

  void AddTimesTo(std::vector<NodeTime>* times) {
    for (std::vector<NodeTime>& part : times_)
      times->insert(times->end(), std::make_move_iterator(part.begin()),
                    std::make_move_iterator(part.end()));
  }

 private:
  struct Frame {
    const ProgramFunction* function;
    Values registers;
    Dim::Values extents;
    std::size_t next = 0;  // step
  };

  // The values of `wanted`. Those that nobody reads afterwards keep who owns them.
  static Values Moved(Frame& frame, const std::vector<Register>& wanted,
                      const std::vector<Register>& last_reads) {
    Values values;
    values.reserve(wanted.size());
    for (auto r = wanted.begin(); r != wanted.end(); ++r) {
      Value& value = frame.registers[*r];
      const bool is_last = std::ranges::find(last_reads, *r) != last_reads.end() &&
                           std::find(r + 1, wanted.end(), *r) == wanted.end();
      const bool is_only = is_last && std::find(wanted.begin(), r, *r) == r;
      if (!is_only) value.is_own = false;
      if (is_last) {
        values.push_back(std::move(value));
      } else {
        values.push_back(value);
      }
    }
    return values;
  }

  void Enter(std::size_t function, Values arguments, Dim::Values extents) {
    const ProgramFunction& entered = program_.functions[function];
    if (!entered.endless.empty())
      throw OutOfRange(
          StrCat("@", entered.endless, " calls itself without a condition, and so without end"));
    if (frames_.size() >= kMaxCallDepth)
      throw OutOfRange(StrCat("@", entered.name, " is called more than ", kMaxCallDepth,
                              " calls deep; recursion may go on without end only where a call is "
                              "the last thing that its function does"));
    arguments.resize(entered.registers);
    for (const auto& [r, constant] : entered.constants)
      arguments[r].array = program_.constants[constant];
    for (const std::string& own : entered.own_extents) extents.erase(own);
    SetExtents(extents, entered.extents, arguments, "what @", entered.name, " is given");
    for (const ExtentCondition& need : entered.needs) Require(need, extents, entered.name);
    frames_.push_back({&entered, std::move(arguments), std::move(extents)});
  }

  void Take(Frame& frame, const Step& step) {
    switch (step.kind) {
      case StepKind::kPart:
        RunPart(frame, step);
        LetGo(frame, step);
        return;
      case StepKind::kWrite:
        Write(frame, step);
        LetGo(frame, step);
        return;
      case StepKind::kCut:
        Cut(frame, step);
        LetGo(frame, step);
        return;
      case StepKind::kCall:
        return Call(frame, step, step.target, step.inputs);
      case StepKind::kBranch: {
        const bool holds = *frame.registers[step.condition].array.data<bool>();
        return holds ? Call(frame, step, step.target, step.inputs)
                     : Call(frame, step, step.otherwise, step.other_inputs);
      }
    }
  }

  void Call(Frame& frame, const Step& step, std::size_t function,
            const std::vector<Register>& inputs) {
    Values arguments = Moved(frame, inputs, step.last_reads);
    const bool replaces =
        frame.function->ends_in_call && frame.next == frame.function->steps.size();
    Dim::Values extents = frame.extents;
    if (replaces) {
      frames_.pop_back();
    } else {
      LetGo(frame, step);
    }
    Enter(function, std::move(arguments), std::move(extents));
  }

  void RunPart(Frame& frame, const Step& step) {
    arguments_.clear();
    for (const Register r : step.inputs) arguments_.push_back(&frame.registers[r].array);
    const Executable part = Bound(program_.parts[step.target], frame.extents);
    if (!profiled_) return Store(frame, step, part.RunPart(arguments_, nullptr));
    std::vector<NodeTime> times;
    Arrays results = part.RunPart(arguments_, &times);
    AddTimes(std::move(times), &times_[step.target]);
    Store(frame, step, std::move(results));
  }

  static Executable Bound(const ProgramPart& part, const Dim::Values& extents) {
    if (part.bind == nullptr) return part.executable;
    Dim::Values values;
    for (const std::string& symbol : part.symbols) values.emplace(symbol, extents.at(symbol));
    return part.bind(values);
  }

  // A part of other extents may have other nodes.
  static void AddTimes(std::vector<NodeTime> times, std::vector<NodeTime>* all) {
    for (NodeTime& time : times) {
      const auto same = std::ranges::find(*all, time.node, &NodeTime::node);
      if (same == all->end()) {
        all->push_back(std::move(time));
      } else {
        same->nanoseconds += time.nanoseconds;
      }
    }
  }

  // Variables whose names do not begin with # are at least 1 in all code.
  template <typename... What>
  static void SetExtents(Dim::Values& extents, const std::vector<ExtentPlace>& places,
                         const Values& arrays, const What&... what) {
    for (const ExtentPlace& place : places) {
      const std::int64_t extent = arrays[place.array].array.shape()[place.axis];
      if (place.extent.empty()) {
        if (extent == place.number) continue;
        throw InvalidArgument(StrCat("the extent ", extent, " of axis ", place.axis, " in ",
                                     what..., "; it must be ", place.number));
      }
      const auto [known, is_new] = extents.try_emplace(place.extent, extent);
      if (known->second != extent)
        throw InvalidArgument(StrCat("the extent ", place.extent, " is ", known->second, " and ",
                                     extent, " in ", what...));
      if (extent == 0 && !place.extent.starts_with('#'))
        throw InvalidArgument(StrCat("the extent ", place.extent, " is 0 in ", what...,
                                     "; a variable that may be 0 has a name that begins with #"));
    }
  }

  static void SetExtent(Frame& frame, const Step& step, std::int64_t extent) {
    const auto [known, is_new] = frame.extents.try_emplace(step.extent, extent);
    if (known->second != extent)
      throw InvalidArgument(StrCat("take_first: the extent ", step.extent, " is ", known->second,
                                   " and ", extent, "; cuts of one variable must give one extent"));
    for (const ExtentPlace& place : step.output_extents) {
      if (extent != place.number)
        throw InvalidArgument(StrCat(step.inputs.size() == 1 ? "count_up" : "take_first",
                                     ": values of the run give an extent of ", extent,
                                     "; the type of the result says ", place.number));
    }
  }

  static void Count(Frame& frame, const Step& step) {
    NDArray numbers = CountUp(*frame.registers[step.inputs[0]].array.data<std::int64_t>(),
                              step.is_clamped, step.needed_by);
    SetExtent(frame, step, numbers.size());
    frame.registers[step.outputs[0]] = {std::move(numbers), true};
  }

  static void Cut(Frame& frame, const Step& step) {
    if (step.inputs.size() == 1) return Count(frame, step);
    Value& whole = frame.registers[step.inputs[0]];
    const bool stays_own =
        whole.is_own && std::ranges::find(step.last_reads, step.inputs[0]) != step.last_reads.end();
    const std::int64_t count = *frame.registers[step.inputs[1]].array.data<std::int64_t>();
    const std::int64_t extent = std::clamp<std::int64_t>(count, 0, whole.array.shape()[step.axis]);
    SetExtent(frame, step, extent);
    Shape shape = whole.array.shape();
    // The elements are the first ones in memory, too.
    const bool is_view =
        extent == shape[step.axis] || std::all_of(shape.begin(), shape.begin() + step.axis,
                                                  [](std::int64_t outer) { return outer == 1; });
    if (!is_view) {
      frame.registers[step.outputs[0]] = {PartAlong(whole.array, step.axis, 0, extent), true};
      return;
    }
    shape[step.axis] = extent;
    NDArray part = NDArray::View(shape, whole.array.dtype(), whole.array.raw(),
                                 std::make_shared<NDArray>(whole.array));
    // Where both stay, neither may be written in place: the other has its elements.
    whole.is_own = stays_own;
    frame.registers[step.outputs[0]] = {std::move(part), stays_own};
  }

  // In place where nobody else holds the array.
  static void Write(Frame& frame, const Step& step) {
    Value& source = frame.registers[step.inputs[0]];
    // Before the source is moved, which may be the same register.
    const std::int64_t at = *frame.registers[step.inputs[1]].array.data<std::int64_t>();
    const NDArray& element = frame.registers[step.inputs[2]].array;
    const bool is_last_read =
        std::ranges::find(step.last_reads, step.inputs[0]) != step.last_reads.end() &&
        step.inputs[2] != step.inputs[0];
    NDArray written =
        is_last_read && source.is_own ? std::move(source.array) : source.array.Clone();
    const std::int64_t extent = written.shape()[0];
    if (!IsElementOf(element.shape(), written.shape()))
      throw InvalidArgument(StrCat("scatter_nd: an array of shape ", ShapeToString(written.shape()),
                                   " has no elements of shape ", ShapeToString(element.shape())));
    // As scatter_nd does: a negative place counts from the end.
    const std::int64_t index = at < 0 ? at + extent : at;
    if (index >= 0 && index < extent && element.bytes() != 0)
      std::memcpy(
          static_cast<char*>(written.raw()) + static_cast<std::size_t>(index) * element.bytes(),
          element.raw(), element.bytes());
    frame.registers[step.outputs[0]] = {std::move(written), true};
  }

  static void Store(Frame& frame, const Step& step, Arrays results) {
    for (std::size_t i = 0; i < step.outputs.size(); ++i)
      frame.registers[step.outputs[i]] = {std::move(results[i]), true};
  }

  static void LetGo(Frame& frame, const Step& step) {
    for (const Register r : step.last_reads) frame.registers[r] = Value();
  }

  const Program& program_;
  const bool profiled_;
  std::vector<Frame> frames_;
  std::vector<const NDArray*> arguments_;
  std::vector<std::vector<NodeTime>> times_;  // of each part, over all its runs
};

}  // namespace

std::vector<NDArray> RunProgram(const Program& program, const std::vector<InputInfo>& wanted,
                                const Inputs& inputs, std::vector<NodeTime>* times) {
  Values arguments;
  Dim::Values extents;
  if (program.solve != nullptr) extents = program.solve(inputs);
  for (const NDArray* input : InOrder(wanted, inputs)) arguments.push_back({*input, false});
  Machine machine(program, times != nullptr);
  Values made = machine.Run(std::move(arguments), std::move(extents));
  if (times != nullptr) machine.AddTimesTo(times);
  // A result may be an input, a constant or another result. Writing to one changes nothing else.
  Arrays results;
  for (Value& value : made)
    results.push_back(value.is_own ? std::move(value.array) : value.array.Clone());
  return CutToExtents(std::move(results), program.extents);
}

}  // namespace tenon::runtime
