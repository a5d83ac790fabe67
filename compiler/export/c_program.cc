#include "tenon/compiler/export/c_program.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "tenon/compiler/export/c_constants.h"
#include "tenon/compiler/export/c_description.h"
#include "tenon/compiler/export/c_extents.h"
#include "tenon/compiler/export/c_machine.h"
#include "tenon/compiler/export/c_places.h"
#include "tenon/compiler/export/c_run.h"
#include "tenon/compiler/export/c_switch.h"
#include "tenon/ir/result_names.h"
#include "tenon/jit/c/c_text.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

using runtime::ArrayType;
using runtime::Plan;
using runtime::PlannedProgram;
using runtime::ProgramFunction;
using runtime::Step;
using runtime::StepKind;

bool IsOfNumbers(const std::vector<ArrayType>& types) {
  return std::ranges::all_of(types, [](const ArrayType& type) {
    return std::ranges::all_of(type.extents, [](const Dim& extent) { return extent.is_static(); });
  });
}

class ProgramWriter {
 public:
  ProgramWriter(const LoweredProgram& lowered, const CModelOptions& options)
      : lowered_(lowered), program_(lowered.program), options_(options), file_(options.name) {}

  CModel Write() {
    const std::string run = file_.Unique(options_.name + "_run");
    GuardCpu(&file_, options_.cpu_features);
    CConstants constants = AddConstants(lowered_.whole.constants, options_, &file_);
    addresses_ = std::move(constants.addresses);
    for (const loop::Function& function : FunctionsOf(lowered_.whole, options_.name))
      direct_.push_back(file_.AddKernel(
          function, options_.native ? NativeSymbol(options_.name, function.name) : ""));
    file_.UseDenormalControl();
    const std::set<std::size_t> called = CalledParts();
    for (std::size_t p = 0; p < program_.parts.size(); ++p) {
      if (called.contains(p))
        AddPart(program_.parts[p].cases[0].plan);
      else
        parts_.emplace_back();
    }
    const CInterface described = Interface();
    AddMacros(described, &file_);
    const std::string body = CSwitch(program_, addresses_, parts_).Body(workspace_);
    file_.AddDefinitions(MachineFor(body));
    file_.AddFunction(StrCat("int32_t ", run, "(const void* const* inputs, void* const* outputs, ",
                             "void* workspace)"),
                      body, DescribeRun(described), /*comes_first=*/true);
    return {.source = file_.Source(),
            .header = file_.Header(),
            .constants = std::move(constants.bytes)};
  }

 private:
  // Those of functions that are written: nothing is run of one that calls itself without end.
  std::set<std::size_t> CalledParts() const {
    std::set<std::size_t> called;
    for (const ProgramFunction& function : program_.functions) {
      if (!function.endless.empty()) continue;
      for (const Step& step : function.steps)
        if (step.kind == StepKind::kPart) called.insert(step.target);
    }
    return called;
  }

  void AddPart(const Plan& plan) {
    CExtents extents(plan, "");
    CPlaces places(plan, addresses_, &extents);
    const std::string name = file_.Unique(StrCat(options_.name, "_part", parts_.size()));
    jit::CBlock part;
    part.Open(StrCat("static int32_t ", name, "(const void* const* inputs, void* const* outputs, ",
                     "void* workspace) {"));
    part.Append(CRun(plan, direct_, &places, &extents).Body());
    part.Close();
    file_.AddDefinitions("\n" + part.Text() + "\n");
    parts_.push_back(name);
    if (places.has_workspace())
      workspace_ = std::max(
          workspace_,
          ParseNumber<std::int64_t>(extents.Text(places.workspace())).value_or(workspace_));
  }

  CInterface Interface() const {
    CInterface described{.name = options_.name,
                         .inputs = {},
                         .outputs = {},
                         .workspace_bytes = StrCat(workspace_),
                         .cpu_features = options_.cpu_features,
                         .calls_functions = true};
    for (const runtime::Node& node : lowered_.whole.plan.nodes)
      described.inputs.push_back({node.name, node.outputs[0].dtype, node.outputs[0].dims()});
    const std::vector<std::string> names = ir::ResultNamesOf(lowered_.whole.module);
    const std::vector<ArrayType>& types = program_.functions[0].result_types;
    for (std::size_t k = 0; k < types.size(); ++k)
      described.outputs.push_back(
          {k < names.size() ? names[k] : "", types[k].dtype, types[k].extents});
    return described;
  }

  const LoweredProgram& lowered_;
  const PlannedProgram& program_;
  const CModelOptions& options_;
  jit::CFile file_;
  std::vector<std::string> addresses_;  // of constants
  std::vector<std::string> direct_;     // by kernel
  std::vector<std::string> parts_;      // names of functions
  std::int64_t workspace_ = 0;
};

[[noreturn]] void Refuse(const std::string& what) {
  throw Unimplemented(
      StrCat(what,
             ", so the arrays of the program have other sizes in each run, for which exported "
             "code has no memory plan; it can be saved (--emit=executable). Exported programs "
             "have numbers in place of variables (--shape)"));
}

}  // namespace

void RequireNumbers(const LoweredProgram& lowered) {
  const PlannedProgram& program = lowered.program;
  for (const runtime::PlannedPart& part : program.parts) {
    if (!part.symbols.empty()) Refuse(StrCat("an extent is the variable ", part.symbols[0]));
  }
  if (!program.extents.empty()) Refuse("values decide an extent of a result");
  for (const ProgramFunction& function : program.functions) {
    if (!IsOfNumbers(function.parameters) || !IsOfNumbers(function.result_types) ||
        !function.extents.empty())
      Refuse(StrCat("@", function.name, " takes or gives arrays of extents that are variables"));
    for (const Step& step : function.steps) {
      if (step.kind == StepKind::kCut)
        Refuse(StrCat("values decide the extent ", step.extent, " in @", function.name));
      if (!step.output_extents.empty())
        Refuse(StrCat("a call in @", function.name, " gives arrays of extents that are variables"));
    }
  }
}

CModel WriteProgram(const LoweredProgram& program, const CModelOptions& options) {
  RequireNumbers(program);
  return ProgramWriter(program, options).Write();
}

}  // namespace tenon::compiler
