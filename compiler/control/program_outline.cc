// Functions are numbered as they are reached. A function that is an if over two calls has no code
// of its own; its callers branch.
#include "tenon/compiler/control/program_outline.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "tenon/compiler/control/straight_parts.h"
#include "tenon/ir/flatten.h"
#include "tenon/ir/structural.h"
#include "tenon/ir/visit.h"
#include "tenon/passes/control/outline_branches.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

using ir::CallNode;
using ir::Expr;
using ir::FunctionNode;
using ir::IfNode;
using runtime::ProgramFunction;
using runtime::Register;
using runtime::Step;
using runtime::StepKind;

const std::string& CalleeOf(const CallNode& call) {
  return call.callee.As<ir::GlobalVarNode>()->name;
}

// Collects parts and constants and numbers functions for all of a program.
class Maker {
 public:
  explicit Maker(const ir::Module& module) : module_(module) {}

  const FunctionNode& FunctionOf(const std::string& name) const {
    return *module_.Get(name).As<FunctionNode>();
  }
  Expr Get(const std::string& name) const { return module_.Get(name); }
  // The number of a function, which is made later if it was not.
  std::size_t Number(const std::string& name) {
    const auto [found, added] = numbers_.try_emplace(name, names_.size());
    if (added) names_.push_back(name);
    return found->second;
  }
  // Null past the last number that is known.
  const std::string* Name(std::size_t number) const {
    return number < names_.size() ? &names_[number] : nullptr;
  }
  // Equal parts are one.
  std::size_t AddPart(const Expr& function) {
    std::vector<std::size_t>& alike = by_hash_[ir::StructuralHash(function)];
    for (const std::size_t part : alike) {
      if (ir::StructuralEqual(functions_[part], function)) return part;
    }
    alike.push_back(functions_.size());
    functions_.push_back(function);
    return alike.back();
  }
  std::size_t AddConstant(const NDArray& constant) {
    constants_.push_back(constant);
    return constants_.size() - 1;
  }
  std::vector<Expr> TakeParts() { return std::move(functions_); }
  std::vector<NDArray> TakeConstants() { return std::move(constants_); }

 private:
  const ir::Module& module_;
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<std::string> names_;
  std::vector<Expr> functions_;  // of parts
  std::vector<NDArray> constants_;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> by_hash_;
};

void RequireTensors(const std::string& name, const FunctionNode& function) {
  const auto check = [&](const ir::Type& type, const std::string& what, const Span& place) {
    for (const ir::Type& part : ir::Flatten(type)) {
      if (part.As<ir::TensorTypeNode>() == nullptr)
        throw Unimplemented(StrCat(what, " of @", name, " is ", ir::ToString(part),
                                   "; what a function takes and gives must be tensors and tuples "
                                   "of them"))
            .At(place);
    }
  };
  for (const Expr& param : function.params)
    check(param.checked_type(), StrCat("the parameter %", ir::Var(param).name()), param.span());
  check(function.body.checked_type(), "the result", function.span);
}

class FunctionMaker {
 public:
  FunctionMaker(const std::string& name, Maker& maker)
      : maker_(maker),
        function_(maker.FunctionOf(name)),
        parts_(maker.Get(name)),
        is_main_(name == "main") {
    RequireTensors(name, function_);
    made_.name = name;
    // The name of the user's function that this one was outlined from.
    const auto outlined = function_.attrs.find(passes::kOutlined);
    const auto* origin =
        outlined == function_.attrs.end() ? nullptr : outlined->second.As<std::string>();
    if (origin != nullptr) made_.name = *origin;
    made_.needs = passes::NeedsOf(function_);
  }

  ProgramFunction Make() {
    for (const Expr& param : function_.params) {
      for (const Leaf& leaf : parts_.LeavesOf(param)) registers_[leaf] = made_.registers++;
      AddTypes(param.checked_type(), &made_.parameters);
      known_.merge(ir::SymbolsOf(param.checked_type()));
    }
    // The inputs of a model give their variables values (Program::solve).
    if (!is_main_) made_.extents = PlacesIn(made_.parameters);
    for (std::size_t i = 0; i < parts_.parts().size(); ++i) {
      AddPart(parts_.parts()[i]);
      if (i < parts_.calls().size()) AddCall(parts_.calls()[i]);
    }
    made_.results = RegistersOf(parts_.results());
    AddTypes(function_.body.checked_type(), &made_.result_types);
    RequireOwnExtentsInside();
    return std::move(made_);
  }

 private:
  static void AddTypes(const ir::Type& type, std::vector<runtime::ArrayType>* types) {
    for (const ir::Type& part : ir::Flatten(type)) {
      const auto& tensor = *part.As<ir::TensorTypeNode>();
      types->push_back({tensor.dtype, tensor.shape});
    }
  }

  static std::vector<runtime::ExtentPlace> PlacesIn(const std::vector<runtime::ArrayType>& arrays) {
    std::vector<runtime::ExtentPlace> places;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      for (std::size_t axis = 0; axis < arrays[i].extents.size(); ++axis) {
        if (const auto symbol = arrays[i].extents[axis].symbol())
          places.push_back({.extent = *symbol, .array = i, .axis = axis});
      }
    }
    return places;
  }

  // What the caller knows of the results of a call: variables that its parameters do not have, and
  // numbers that a callee does not know.
  std::vector<runtime::ExtentPlace> OutputExtents(const ir::Type& results,
                                                  const std::vector<std::string>& callees) const {
    std::vector<runtime::ArrayType> arrays;
    AddTypes(results, &arrays);
    std::vector<runtime::ExtentPlace> places = PlacesIn(arrays);
    std::erase_if(places, [&](const auto& place) { return known_.contains(place.extent); });
    for (const std::string& callee : callees) {
      std::vector<runtime::ArrayType> own;
      AddTypes(maker_.FunctionOf(callee).body.checked_type(), &own);
      for (std::size_t i = 0; i < arrays.size(); ++i) {
        for (std::size_t axis = 0; axis < arrays[i].extents.size(); ++axis) {
          const Dim& extent = arrays[i].extents[axis];
          if (extent.is_static() && !own[i].extents[axis].is_static())
            places.push_back({.array = i, .axis = axis, .number = extent.value()});
        }
      }
    }
    return places;
  }

  Register RegisterOf(const Leaf& leaf) {
    const auto [found, added] = registers_.try_emplace(leaf, made_.registers);
    if (added) {
      const auto* constant = leaf.maker.As<ir::ConstantNode>();
      CheckInvariant(constant != nullptr, "a value is made before it is read");
      made_.constants.emplace_back(made_.registers++, maker_.AddConstant(constant->data));
    }
    return found->second;
  }
  std::vector<Register> RegistersOf(const Leaves& leaves) {
    std::vector<Register> registers;
    for (const Leaf& leaf : leaves) registers.push_back(RegisterOf(leaf));
    return registers;
  }
  std::vector<Register> RegistersOf(const std::vector<Expr>& values) {
    std::vector<Register> registers;
    for (const Expr& value : values) {
      const std::vector<Register> own = RegistersOf(parts_.LeavesOf(value));
      registers.insert(registers.end(), own.begin(), own.end());
    }
    return registers;
  }

  void Add(Step step, const Leaves& outputs) {
    for (const Leaf& leaf : outputs) {
      step.outputs.push_back(made_.registers);
      registers_[leaf] = made_.registers++;
    }
    made_.steps.push_back(std::move(step));
  }

  void AddPart(const Part& part) {
    if (!part.function) return;
    Step step{.kind = StepKind::kPart};
    step.target = maker_.AddPart(part.function);
    step.inputs = RegistersOf(part.inputs);
    Add(std::move(step), part.outputs);
  }

  void AddCall(const Expr& e) {
    if (const auto* branches = e.As<IfNode>())
      return AddBranch(e, *branches, [](const Expr& param) { return param; });
    const auto& call = *e.As<CallNode>();
    if (const std::optional<RunTimeCut> cut = AsCut(e)) {
      Step step{.kind = StepKind::kCut};
      step.inputs = RegistersOf(cut->whole ? std::vector<Expr>{cut->whole, cut->count}
                                           : std::vector<Expr>{cut->count});
      step.axis = cut->axis;
      step.is_clamped = cut->is_clamped;
      step.needed_by = cut->needed_by;
      step.extent = cut->extent;
      // A binding's type may say a number, which values need not give.
      const Dim& typed = e.checked_type().As<ir::TensorTypeNode>()->shape[cut->axis];
      if (typed.is_static())
        step.output_extents = {{.array = 0, .axis = cut->axis, .number = typed.value()}};
      return Add(std::move(step), parts_.LeavesOf(e));
    }
    if (call.callee.kind() != ir::ExprKind::kGlobalVar) {
      Step step{.kind = StepKind::kWrite};
      step.inputs = RegistersOf(WriteArguments(e));
      return Add(std::move(step), parts_.LeavesOf(e));
    }
    const FunctionNode& callee = maker_.FunctionOf(CalleeOf(call));
    if (const auto* branches = callee.body.As<IfNode>()) {
      return AddBranch(e, *branches, [&](const Expr& param) {
        const auto at = std::find(callee.params.begin(), callee.params.end(), param);
        return call.args[static_cast<std::size_t>(at - callee.params.begin())];
      });
    }
    Step step{.kind = StepKind::kCall};
    step.target = maker_.Number(CalleeOf(call));
    step.inputs = RegistersOf(call.args);
    step.output_extents = OutputExtents(e.checked_type(), {CalleeOf(call)});
    Add(std::move(step), parts_.LeavesOf(e));
  }

  // `given` is the value of a parameter of the if's function.
  template <typename Given>
  void AddBranch(const Expr& e, const IfNode& branches, const Given& given) {
    const auto branch = [&](const Expr& of, std::vector<Register>* inputs) {
      const auto& taken = *of.As<CallNode>();
      std::vector<Expr> args;
      for (const Expr& arg : taken.args) args.push_back(given(arg));
      *inputs = RegistersOf(args);
      return maker_.Number(CalleeOf(taken));
    };
    Step step{.kind = StepKind::kBranch};
    step.condition = RegistersOf(std::vector<Expr>{given(branches.condition)})[0];
    step.target = branch(branches.then_branch, &step.inputs);
    step.otherwise = branch(branches.else_branch, &step.other_inputs);
    step.output_extents =
        OutputExtents(e.checked_type(), {CalleeOf(*branches.then_branch.As<CallNode>()),
                                         CalleeOf(*branches.else_branch.As<CallNode>())});
    Add(std::move(step), parts_.LeavesOf(e));
  }

  // Each call has its own value of a variable that it finds, which its caller sees where it is the
  // extent of a result.
  void RequireOwnExtentsInside() const {
    if (is_main_) return;
    std::set<std::string> own, seen;
    for (const Step& step : made_.steps) {
      if (step.kind == StepKind::kCut) own.insert(step.extent);
      for (const runtime::ExtentPlace& place : step.output_extents) {
        if (!place.extent.empty()) own.insert(place.extent);
      }
    }
    const auto check = [&](const Expr& value, const std::string& what) {
      for (const std::string& symbol : ir::SymbolsOf(value.checked_type())) {
        if (!own.contains(symbol) || seen.contains(symbol)) continue;
        throw Unimplemented(
            StrCat("values inside of @", made_.name, " decide the extent ", symbol, ", and ", what,
                   " has it: the type ", ir::ToString(value.checked_type()),
                   "; a branch or a function that calls itself may give an array with the extent ",
                   symbol, " alone, which take_first names"))
            .At(value.span());
      }
    };
    for (const Expr& param : function_.params) check(param, StrCat("%", ir::Var(param).name()));
    for (const runtime::ExtentPlace& place : PlacesIn(made_.result_types))
      seen.insert(place.extent);
    check(function_.body, "the result");
  }

  Maker& maker_;
  const FunctionNode& function_;
  const StraightParts parts_;
  const bool is_main_;
  ProgramFunction made_;
  std::set<std::string> known_;  // variables of the parameters
  std::unordered_map<Leaf, Register, LeafHash> registers_;
};

}  // namespace

std::set<std::string> SymbolsOfPart(const Expr& part) {
  std::set<std::string> symbols;
  for (const Expr& param : part.As<FunctionNode>()->params)
    symbols.merge(ir::SymbolsOf(param.checked_type()));
  return symbols;
}

ProgramOutline OutlineProgram(const ir::Module& fused) {
  for (const char* devices : {"param_devices", "result_device"}) {
    if (fused.Main().HasAttr(devices))
      throw Unimplemented("a module with control flow runs on one device").At(fused.Main().span);
  }
  Maker maker(fused);
  ProgramOutline outline;
  maker.Number("main");
  while (const std::string* name = maker.Name(outline.functions.size()))
    outline.functions.push_back(FunctionMaker(std::string(*name), maker).Make());
  FindFacts(&outline.functions);
  outline.parts = maker.TakeParts();
  outline.constants = maker.TakeConstants();
  return outline;
}

}  // namespace tenon::compiler
