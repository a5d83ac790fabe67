#include "tenon/compiler/export/c_program.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "tenon/compiler/export/c_constants.h"
#include "tenon/compiler/export/c_description.h"
#include "tenon/compiler/export/c_extents.h"
#include "tenon/compiler/export/c_frame_extents.h"
#include "tenon/compiler/export/c_machine.h"
#include "tenon/compiler/export/c_parts.h"
#include "tenon/compiler/export/c_places.h"
#include "tenon/compiler/export/c_run.h"
#include "tenon/compiler/export/c_switch.h"
#include "tenon/ir/result_names.h"
#include "tenon/jit/c/c_text.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

using runtime::ArrayType;
using runtime::Plan;
using runtime::PlannedProgram;
using runtime::ProgramFunction;
using runtime::Step;
using runtime::StepKind;

class ProgramWriter {
 public:
  ProgramWriter(const LoweredProgram& lowered, const CModelOptions& options)
      : lowered_(lowered),
        program_(lowered.program),
        options_(options),
        file_(options.name),
        has_variables_(HasVariables(lowered.program)) {}

  CModel Write() {
    const std::string run = file_.Unique(options_.name + "_run");
    GuardCpu(&file_, options_.cpu_features);
    CConstants constants = AddConstants(lowered_.whole.constants, options_, &file_);
    addresses_ = std::move(constants.addresses);
    for (const loop::Function& function : FunctionsOf(lowered_.whole, options_.name))
      direct_.push_back(file_.AddKernel(
          function, options_.native ? NativeSymbol(options_.name, function.name) : ""));
    file_.UseDenormalControl();
    if (has_variables_) {
      AddRunOfVariables(run);
    } else {
      AddRun(run);
    }
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

  void AddRun(const std::string& name) {
    const std::set<std::size_t> called = CalledParts();
    for (std::size_t p = 0; p < program_.parts.size(); ++p)
      parts_.push_back(called.contains(p) ? AddPart(p, program_.parts[p].cases[0].plan) : "");
    const CInterface described = Interface();
    AddMacros(described, &file_);
    const std::string body = CSwitch(program_, addresses_, parts_, nullptr).Body({}, workspace_);
    file_.AddDefinitions(MachineFor(body));
    file_.AddFunction(StrCat("int32_t ", name, "(const void* const* inputs, void* const* outputs, ",
                             "void* workspace)"),
                      body, DescribeRun(described), /*comes_first=*/true);
  }

  void AddRunOfVariables(const std::string& name) {
    const CInterface described = Interface();
    AddMacros(described, &file_);
    const Plan& inputs = lowered_.whole.plan;
    CFrameExtents frame(program_, inputs, options_.name);
    const CExtents solved(inputs, options_.name + "_extents");
    std::string functions = solved.has_variables() ? solved.Definition() : "";
    const std::set<std::size_t> called = CalledParts();
    for (std::size_t p = 0; p < program_.parts.size(); ++p) {
      parts_.push_back(StrCat(options_.name, "_part", p));
      if (called.contains(p))
        functions += WritePart(program_.parts[p], parts_[p], addresses_, direct_);
    }
    const std::string body =
        CSwitch(program_, addresses_, parts_, &frame)
            .Body(solved.has_variables() ? solved.Call("2") : std::vector<std::string>(), 0);
    functions += frame.definitions();
    file_.AddDefinitions(StrCat(MachineFor(functions + body, MostAxes(program_)),
                                ExtentHelpersFor(functions), functions));
    file_.AddFunction(
        StrCat("int32_t ", name, "(const void* const* inputs, ",
               "const int64_t* const* shapes, void** outputs, ", "int64_t* const* output_shapes)"),
        body, DescribeRun(described), /*comes_first=*/true);
  }

  // Gives the name of its function.
  std::string AddPart(std::size_t part_number, const Plan& plan) {
    CExtents extents(plan, "");
    CPlaces places(plan, addresses_, &extents);
    const std::string name = file_.Unique(StrCat(options_.name, "_part", part_number));
    jit::CBlock part;
    part.Open(StrCat("static int32_t ", name, "(const void* const* inputs, void* const* outputs, ",
                     "void* workspace) {"));
    part.Append(CRun(plan, direct_, &places, &extents).Body());
    part.Close();
    file_.AddDefinitions("\n" + part.Text() + "\n");
    if (places.has_workspace())
      workspace_ = std::max(
          workspace_,
          ParseNumber<std::int64_t>(extents.Text(places.workspace())).value_or(workspace_));
    return name;
  }

  CInterface Interface() const {
    CInterface described{.name = options_.name,
                         .inputs = {},
                         .outputs = {},
                         .workspace_bytes = std::nullopt,
                         .cpu_features = options_.cpu_features,
                         .calls_functions = true};
    if (!has_variables_) described.workspace_bytes = StrCat(workspace_);
    for (const runtime::Node& node : lowered_.whole.plan.nodes)
      described.inputs.push_back({node.name, node.outputs[0].dtype, node.outputs[0].dims()});
    const std::vector<std::string> names = ir::ResultNamesOf(lowered_.whole.module);
    const std::vector<ArrayType>& types = program_.functions[0].result_types;
    for (std::size_t k = 0; k < types.size() - program_.extents.size(); ++k)
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
  const bool has_variables_;
};

}  // namespace

CModel WriteProgram(const LoweredProgram& program, const CModelOptions& options) {
  return ProgramWriter(program, options).Write();
}

}  // namespace tenon::compiler
