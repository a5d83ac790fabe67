// Functions are numbered as they are reached. A function that is an if over two calls has no code
// of its own: where it is called, the caller branches.
#include "tenon/compiler/control/build_program.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "tenon/compiler/control/straight_parts.h"
#include "tenon/compiler/plan/build_plan.h"
#include "tenon/compiler/plan/link.h"
#include "tenon/compiler/plan/model_inputs.h"
#include "tenon/compiler/symbolic/symbolic_model.h"
#include "tenon/ir/flatten.h"
#include "tenon/ir/structural.h"
#include "tenon/passes/control/outline_branches.h"
#include "tenon/runtime/input_symbols.h"
#include "tenon/runtime/program.h"
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

// Makes parts and numbers functions for all of a program.
class Maker {
 public:
  Maker(const ir::Module& module, const strategies::StrategyOptions& strategy,
        const jit::CompileOptions& code, int threads)
      : module_(module), strategy_(strategy), code_(code), threads_(threads) {}

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
  // Null past the last that is known.
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
  std::vector<runtime::ProgramPart> MakeParts() const {
    std::vector<Lowered> lowered;
    std::vector<std::set<std::string>> symbols;  // by function
    for (const Expr& function : functions_) {
      symbols.push_back(SymbolsOfParams(function));
      if (symbols.back().empty())
        lowered.push_back(BuildPlan(ir::Module().With("main", function), strategy_, code_, false));
    }
    const std::vector<Executable> linked = AllLinked(lowered, code_, threads_);
    auto next = linked.begin();
    std::vector<runtime::ProgramPart> parts;
    for (std::size_t i = 0; i < functions_.size(); ++i)
      parts.push_back(symbols[i].empty() ? runtime::ProgramPart{*next++}
                                         : SymbolicPart(functions_[i], symbols[i]));
    return parts;
  }

 private:
  // The variables of what a part takes; those of what it makes are among them.
  static std::set<std::string> SymbolsOfParams(const Expr& function) {
    std::set<std::string> symbols;
    for (const Expr& param : function.As<FunctionNode>()->params)
      symbols.merge(ir::SymbolsOf(param.checked_type()));
    return symbols;
  }
  runtime::ProgramPart SymbolicPart(const Expr& function,
                                    const std::set<std::string>& symbols) const {
    const auto model = std::make_shared<SymbolicModel>(ir::Module().With("main", function),
                                                       strategy_, code_, threads_);
    return {.executable = Executable(
                {.plan = {}, .kernels = model->Callables(), .constants = {}, .threads = threads_}),
            .symbols = {symbols.begin(), symbols.end()},
            .bind = [model](const Dim::Values& values) { return model->Bind(values); }};
  }

  const ir::Module& module_;
  const strategies::StrategyOptions& strategy_;
  const jit::CompileOptions& code_;
  const int threads_;
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<std::string> names_;
  std::vector<Expr> functions_;  // of parts
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
    // Of what users wrote.
    const auto outlined = function_.attrs.find(passes::kOutlined);
    const auto* origin =
        outlined == function_.attrs.end() ? nullptr : outlined->second.As<std::string>();
    if (origin != nullptr) made_.name = *origin;
  }

  ProgramFunction Make() {
    for (const Expr& param : function_.params) {
      for (const Leaf& leaf : parts_.LeavesOf(param)) registers_[leaf] = made_.registers++;
    }
    made_.parameters = made_.registers;
    for (std::size_t i = 0; i < parts_.parts().size(); ++i) {
      AddPart(parts_.parts()[i]);
      if (i < parts_.calls().size()) AddCall(parts_.calls()[i]);
    }
    made_.results = RegistersOf(parts_.results());
    const bool ends = !made_.steps.empty() && made_.steps.back().outputs == made_.results;
    made_.ends_in_call = ends && (made_.steps.back().kind == StepKind::kCall ||
                                  made_.steps.back().kind == StepKind::kBranch);
    FindLastReads();
    RequireOwnExtentsInside();
    return std::move(made_);
  }

 private:
  Register RegisterOf(const Leaf& leaf) {
    const auto [found, added] = registers_.try_emplace(leaf, made_.registers);
    if (added) {
      const auto* constant = leaf.maker.As<ir::ConstantNode>();
      CheckInvariant(constant != nullptr, "a value is made before it is read");
      made_.constants.emplace_back(made_.registers++, constant->data);
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
      step.inputs = RegistersOf(std::vector<Expr>{cut->whole, cut->count});
      step.axis = cut->axis;
      step.extent = cut->extent;
      made_.own_extents.push_back(cut->extent);
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
    Add(std::move(step), parts_.LeavesOf(e));
  }

  // Each call has its own value of such an extent, which its caller does not know.
  void RequireOwnExtentsInside() const {
    if (is_main_) return;
    const auto check = [&](const Expr& value, const std::string& what) {
      const std::set<std::string> symbols = ir::SymbolsOf(value.checked_type());
      for (const std::string& own : made_.own_extents) {
        if (!symbols.contains(own)) continue;
        throw Unimplemented(
            StrCat(
                "take_first: values inside of @", made_.name, " decide the extent ", own, ", and ",
                what, " has it: the type ", ir::ToString(value.checked_type()),
                "; a branch or a function that calls itself must give arrays of extents that are "
                "known outside of it: give the whole array and the count, and cut them there"))
            .At(value.span());
      }
    };
    for (const Expr& param : function_.params) check(param, StrCat("%", ir::Var(param).name()));
    check(function_.body, "the result");
  }

  void FindLastReads() {
    std::vector<bool> is_read(made_.registers, false);
    // Constants stay for the whole call.
    for (const auto& [r, constant] : made_.constants) is_read[r] = true;
    for (const Register r : made_.results) is_read[r] = true;
    for (auto step = made_.steps.rbegin(); step != made_.steps.rend(); ++step) {
      const auto read = [&](Register r) {
        if (!is_read[r]) step->last_reads.push_back(r);
        is_read[r] = true;
      };
      for (const Register r : step->inputs) read(r);
      for (const Register r : step->other_inputs) read(r);
      if (step->kind == StepKind::kBranch) read(step->condition);
    }
  }

  Maker& maker_;
  const FunctionNode& function_;
  const StraightParts parts_;
  const bool is_main_;
  ProgramFunction made_;
  std::unordered_map<Leaf, Register, LeafHash> registers_;
};

// Names what has no end. A function can end if all that it calls can, and one side of each branch.
// Found from those that call nothing upwards, so functions that only wait for each other cannot.
void FindEndless(std::vector<ProgramFunction>* functions) {
  std::vector<ProgramFunction>& all = *functions;
  std::vector<bool> can_end(all.size(), false);
  const auto ends = [&](const Step& step) {
    if (step.kind == StepKind::kCall) return bool{can_end[step.target]};
    if (step.kind == StepKind::kBranch) return can_end[step.target] || can_end[step.otherwise];
    return true;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t f = 0; f < all.size(); ++f) {
      if (can_end[f] || !std::ranges::all_of(all[f].steps, ends)) continue;
      can_end[f] = changed = true;
    }
  }
  for (std::size_t f = 0; f < all.size(); ++f) {
    if (can_end[f]) continue;
    // From what does not end to what does not end, until a function comes again.
    std::vector<bool> seen(all.size(), false);
    std::size_t at = f;
    while (!seen[at]) {
      seen[at] = true;
      at = std::ranges::find_if_not(all[at].steps, ends)->target;
    }
    all[f].endless = all[at].name;
  }
}

}  // namespace

Executable BuildProgram(const ir::Module& fused, const strategies::StrategyOptions& strategy,
                        const jit::CompileOptions& code, int threads,
                        const std::vector<runtime::RunTimeExtent>& extents) {
  const FunctionNode& main = fused.Main();
  for (const char* devices : {"param_devices", "result_device"}) {
    if (main.HasAttr(devices))
      throw Unimplemented("a module with control flow runs on one device").At(main.span);
  }
  Maker maker(fused, strategy, code, threads);
  const auto program = std::make_shared<runtime::Program>();
  maker.Number("main");
  while (const std::string* name = maker.Name(program->functions.size()))
    program->functions.push_back(FunctionMaker(std::string(*name), maker).Make());
  FindEndless(&program->functions);
  program->parts = maker.MakeParts();
  program->extents = extents;
  std::vector<std::shared_ptr<const jit::Callable>> kernels;
  for (const runtime::ProgramPart& part : program->parts)
    kernels.insert(kernels.end(), part.executable.kernels().begin(),
                   part.executable.kernels().end());
  const auto symbols = std::make_shared<const runtime::InputSymbols>(InputsOf(main));
  if (!symbols->names().empty())
    program->solve = [symbols](const runtime::Inputs& given) { return symbols->Solve(given); };
  return Executable({.plan = {},
                     .kernels = std::move(kernels),
                     .constants = {},
                     .threads = threads,
                     .bind = nullptr,
                     .inputs = symbols->inputs(),
                     .program = program});
}

}  // namespace tenon::compiler
