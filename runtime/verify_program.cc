// Every register is written once and before it is read, so its type is known from what writes it: a
// number, or an extent that is known at run time. A value with such an extent does not go where a
// number is wanted. What a run compares is left: these extents at parts and at writes.
#include "tenon/runtime/verify_program.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::runtime {
namespace {

using Names = std::set<std::string>;
using Types = std::vector<ArrayType>;

std::string ToText(const ArrayType& type) {
  const auto add = [](std::string* out, const Dim& dim) { *out += dim.ToString(); };
  return StrCat(type.dtype.ToString(), " (", StrJoin(type.extents, ", ", add), ")");
}

ArrayType TypeOf(const Entry& entry) {
  ArrayType type{.dtype = entry.dtype, .extents = entry.dims()};
  for (Dim& dim : type.extents) {
    if (!dim.is_static()) dim = Dim();
  }
  return type;
}

// Whether a value of type `from` may stand where `to` is wanted.
bool Fits(const ArrayType& from, const ArrayType& to) {
  return from.dtype == to.dtype &&
         std::ranges::equal(from.extents, to.extents, [](const Dim& a, const Dim& b) {
           return !b.is_static() || (a.is_static() && a.value() == b.value());
         });
}

bool IsOne(const ArrayType& type, const DataType& dtype) {
  return type.dtype == dtype && std::ranges::all_of(type.extents, [](const Dim& dim) {
           return dim.is_static() && dim.value() == 1;
         });
}

class ProgramVerifier {
 public:
  ProgramVerifier(const PlannedProgram& program, const Plan& inputs)
      : program_(program), inputs_(inputs) {}

  void Run() {
    for (std::size_t p = 0; p < program_.parts.size(); ++p) {
      at_ = StrCat("part ", p);
      AddPart(program_.parts[p]);
    }
    at_ = "functions";
    Require(!program_.functions.empty(), "there are none");
    for (std::size_t f = 0; f < program_.functions.size(); ++f) VerifyFunction(f);
    VerifyMain();
    VerifyVariables(program_, inputs_);
  }

 private:
  // What a part takes and gives, for all of its cases.
  struct Interface {
    Types inputs, outputs;
  };

  void Require(bool holds, const std::string& rule) const {
    if (!holds) throw DataLoss(StrCat("the program's ", at_, ": ", rule));
  }
  void RequireFits(const ArrayType& from, const ArrayType& to, const std::string& what) const {
    if (!Fits(from, to))
      Require(false, StrCat(what, " is ", ToText(from), "; it must be ", ToText(to)));
  }
  void RequireIndex(const char* what, std::size_t index, std::size_t count) const {
    Require(index < count, StrCat("names ", what, " ", index, "; there are ", count));
  }

  static Interface InterfaceOf(const Plan& plan) {
    Interface made;
    for (const Node& node : plan.nodes) {
      if (node.kind == NodeKind::kInput) made.inputs.push_back(TypeOf(node.outputs[0]));
    }
    for (const EntryRef head : plan.heads) made.outputs.push_back(TypeOf(plan.entry(head)));
    return made;
  }

  // The shapes of the arrays that a case is given are compared in each run.
  void AddPart(const PlannedPart& part) {
    const Names symbols(part.symbols.begin(), part.symbols.end());
    Require(!part.cases.empty() && part.cases[0].known.empty(),
            "has no case for all values of its variables");
    const Interface& whole = parts_.emplace_back(InterfaceOf(part.cases[0].plan));
    for (const PartCase& of_part : part.cases) {
      Require(of_part.plan.extents.empty(), "cuts its results; that is a step's work");
      for (const auto& [name, value] : of_part.known)
        Require(symbols.contains(name), StrCat("has a case for ", name, ", no variable of it"));
      for (const std::string& name : of_part.plan.symbols)
        Require(symbols.contains(name) && !of_part.known.contains(name),
                StrCat("has a plan with ", name, ", no variable of its case"));
      const Interface own = InterfaceOf(of_part.plan);
      Require(
          own.inputs.size() == whole.inputs.size() && own.outputs.size() == whole.outputs.size(),
          "has cases of other numbers of inputs and results");
      for (std::size_t i = 0; i < own.inputs.size(); ++i)
        Require(own.inputs[i].dtype == whole.inputs[i].dtype &&
                    own.inputs[i].extents.size() == whole.inputs[i].extents.size(),
                StrCat("input ", i, " of a case is ", ToText(own.inputs[i]), " and not ",
                       ToText(whole.inputs[i])));
      for (std::size_t i = 0; i < own.outputs.size(); ++i)
        RequireFits(own.outputs[i], whole.outputs[i], StrCat("result ", i, " of a case"));
    }
  }

  // --- one function

  void Define(Register r, const ArrayType& type) {
    RequireIndex("register", r, types_.size());
    Require(!types_[r], StrCat("writes register ", r, ", which is written already"));
    types_[r] = type;
  }
  const ArrayType& Read(Register r) const {
    RequireIndex("register", r, types_.size());
    Require(types_[r].has_value(), StrCat("reads register ", r, ", which nothing before writes"));
    return *types_[r];
  }
  void Pass(const std::vector<Register>& given, const Types& wanted) const {
    Require(given.size() == wanted.size(),
            StrCat("gives ", given.size(), " arrays where ", wanted.size(), " are taken"));
    for (std::size_t i = 0; i < given.size(); ++i)
      RequireFits(Read(given[i]), wanted[i], StrCat("array ", i, ", in register ", given[i], ","));
  }

  void VerifyPlaces(const std::vector<ExtentPlace>& places, const Types& arrays) const {
    for (const ExtentPlace& place : places) {
      RequireIndex("array", place.array, arrays.size());
      RequireIndex("axis", place.axis, arrays[place.array].extents.size());
    }
  }

  // Of steps other than calls, only a cut compares what it makes, and that with a number.
  void VerifyNumbers(const Step& step) const {
    for (const ExtentPlace& place : step.output_extents)
      Require(step.kind == StepKind::kCut && place.extent.empty() && place.axis == step.axis,
              "says an extent that is not the number of its cut");
  }

  void VerifyFunction(std::size_t f) {
    const ProgramFunction& function = program_.functions[f];
    const std::string name = StrCat("function ", f, " (", function.name, ")");
    at_ = name;
    VerifyPlaces(function.extents, function.parameters);
    types_.assign(function.registers, std::nullopt);
    for (std::size_t i = 0; i < function.parameters.size(); ++i) Define(i, function.parameters[i]);
    for (const auto& [r, constant] : function.constants) {
      RequireIndex("constant", constant, program_.constants.size());
      Define(r, TypeOf(program_.constants[constant].type));
    }
    for (std::size_t s = 0; s < function.steps.size(); ++s) {
      at_ = StrCat(name, ", step ", s);
      const Step& step = function.steps[s];
      Types made = Made(step);
      Require(step.outputs.size() == made.size(),
              StrCat("keeps ", step.outputs.size(), " results of ", made.size()));
      VerifyPlaces(step.output_extents, made);
      if (step.kind != StepKind::kCall && step.kind != StepKind::kBranch) VerifyNumbers(step);
      for (const ExtentPlace& place : step.output_extents) {
        if (place.extent.empty()) made[place.array].extents[place.axis] = place.number;
      }
      for (std::size_t i = 0; i < made.size(); ++i) Define(step.outputs[i], made[i]);
    }
    at_ = StrCat(name, ", its results");
    Pass(function.results, function.result_types);
  }

  const Types& Called(std::size_t target, const std::vector<Register>& inputs) const {
    RequireIndex("function", target, program_.functions.size());
    const ProgramFunction& function = program_.functions[target];
    Pass(inputs, function.parameters);
    return function.result_types;
  }

  // The types of what a step makes.
  Types Made(const Step& step) const {
    switch (step.kind) {
      case StepKind::kPart:
        RequireIndex("part", step.target, parts_.size());
        Pass(step.inputs, parts_[step.target].inputs);
        return parts_[step.target].outputs;
      case StepKind::kCall:
        return Called(step.target, step.inputs);
      case StepKind::kBranch:
        return MadeByBranch(step);
      case StepKind::kWrite:
        return {MadeByWrite(step)};
      case StepKind::kCut:
        return {MadeByCut(step)};
    }
    Unreachable("every kind of step is verified");
  }

  Types MadeByBranch(const Step& step) const {
    Require(IsOne(Read(step.condition), Bool), "its condition is not one bool");
    Types made = Called(step.target, step.inputs);
    const Types& other = Called(step.otherwise, step.other_inputs);
    Require(made.size() == other.size(), "its branches give other numbers of results");
    for (std::size_t i = 0; i < made.size(); ++i) {
      Require(made[i].dtype == other[i].dtype && made[i].extents.size() == other[i].extents.size(),
              StrCat("its branches give ", ToText(made[i]), " and ", ToText(other[i])));
      for (std::size_t d = 0; d < made[i].extents.size(); ++d) {
        if (!Fits({made[i].dtype, {other[i].extents[d]}}, {made[i].dtype, {made[i].extents[d]}}))
          made[i].extents[d] = Dim();
      }
    }
    return made;
  }

  ArrayType MadeByWrite(const Step& step) const {
    Require(step.inputs.size() == 3, "a write takes an array, a place and an element");
    const ArrayType& whole = Read(step.inputs[0]);
    const ArrayType& element = Read(step.inputs[2]);
    Require(IsOne(Read(step.inputs[1]), Int64), "the place of a write is not one int64");
    Require(!whole.extents.empty() && element.dtype == whole.dtype &&
                element.extents.size() + 1 == whole.extents.size(),
            StrCat("writes ", ToText(element), " into ", ToText(whole)));
    for (std::size_t d = 0; d < element.extents.size(); ++d) {
      const Dim &a = element.extents[d], &b = whole.extents[d + 1];
      Require(!a.is_static() || !b.is_static() || a.value() == b.value(),
              StrCat("writes ", ToText(element), " into ", ToText(whole)));
    }
    return whole;
  }

  ArrayType MadeByCut(const Step& step) const {
    const bool counts_up = step.inputs.size() == 1;
    Require(counts_up || step.inputs.size() == 2, "a cut takes a count, or an array and a count");
    ArrayType made = counts_up ? ArrayType{Int64, {Dim()}} : Read(step.inputs[0]);
    Require(IsOne(Read(step.inputs.back()), Int64), "the count of a cut is not one int64");
    RequireIndex("axis", step.axis, made.extents.size());
    Require(!step.extent.empty(), "a cut names no variable");
    made.extents[step.axis] = Dim();
    return made;
  }

  // --- the program

  void VerifyMain() {
    const ProgramFunction& main = program_.functions[0];
    at_ = "inputs";
    Require(inputs_.nodes.size() == main.parameters.size(),
            StrCat("there are ", inputs_.nodes.size(), " and the first function takes ",
                   main.parameters.size()));
    for (std::size_t i = 0; i < inputs_.nodes.size(); ++i) {
      Require(inputs_.nodes[i].kind == NodeKind::kInput, StrCat("node ", i, " is none"));
      RequireFits(TypeOf(inputs_.nodes[i].outputs[0]), main.parameters[i], StrCat("input ", i));
    }
    at_ = "extents of results";
    const std::size_t results = main.results.size();
    Require(program_.extents.size() <= results, "there are more than results");
    for (const RunTimeExtent& extent : program_.extents) {
      RequireIndex("result", extent.result, results);
      RequireIndex("result", extent.count, results);
      RequireIndex("axis", extent.axis, main.result_types[extent.result].extents.size());
      Require(IsOne(main.result_types[extent.count], Int64), "the count is not one int64");
    }
  }

  const PlannedProgram& program_;
  const Plan& inputs_;
  std::string at_;
  std::vector<Interface> parts_;
  std::vector<std::optional<ArrayType>> types_;  // of the registers of one function
};

}  // namespace

void VerifyProgram(const PlannedProgram& program, const Plan& inputs) {
  ProgramVerifier(program, inputs).Run();
}

}  // namespace tenon::runtime
