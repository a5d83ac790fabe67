// What straight-line steps do, of a program of numbers and of one whose arrays have other sizes in
// each run (runtime/program.cc).
#include <algorithm>

#include "tenon/compiler/export/c_switch.h"
#include "tenon/runtime/count_up.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
using runtime::ArrayType;
using runtime::Plan;
using runtime::Register;
using runtime::Step;
using runtime::StepKind;

void CSwitch::AddStep(const Step& step) {
  switch (step.kind) {
    case StepKind::kPart:
      return extents_ == nullptr ? AddPartStep(step) : AddPartOfVariables(step);
    case StepKind::kWrite:
      return extents_ == nullptr ? AddWrite(step) : AddWriteOfVariables(step);
    case StepKind::kCut:
      return step.inputs.size() == 1 ? AddCountUp(step) : AddCut(step);
    case StepKind::kCall:
    case StepKind::kBranch:
      break;
  }
  Unreachable("a call is no straight-line step");
}

void CSwitch::AddPartStep(const Step& step) {
  const Plan& plan = program_.parts[step.target].cases[0].plan;
  out_.Open("{");
  out_.Line(StrCat("const void* in[", std::max<std::size_t>(step.inputs.size(), 1), "];"));
  out_.Line(StrCat("void* out[", std::max<std::size_t>(step.outputs.size(), 1), "];"));
  if (step.inputs.empty()) out_.Line("in[0] = NULL;");
  if (step.outputs.empty()) out_.Line("out[0] = NULL;");
  for (std::size_t i = 0; i < step.inputs.size(); ++i)
    out_.Line(StrCat("in[", i, "] = ", At(step.inputs[i]), ".data;"));
  for (std::size_t o = 0; o < step.outputs.size(); ++o) {
    const runtime::Entry& made = plan.entry(plan.heads[o]);
    types_[step.outputs[o]] = {made.dtype, made.dims()};
    const std::string place = At(step.outputs[o]);
    out_.Line(StrCat(place, " = tenon_take(", made.bytes(), ");"));
    Require(StrCat(place, ".data == NULL"));
    out_.Line(StrCat("out[", o, "] = ", place, ".data;"));
  }
  Require(StrCat(parts_[step.target], "(in, out, workspace)"));
  out_.Close();
}

void CSwitch::AddWrite(const Step& step) {
  const Shape shape = ShapeOf(types_[step.inputs[0]]);
  const std::size_t whole = NumBytes(shape, types_[step.inputs[0]].dtype);
  const std::size_t element =
      NumBytes(ShapeOf(types_[step.inputs[2]]), types_[step.inputs[2]].dtype);
  if (shape.empty() || static_cast<std::size_t>(shape[0]) * element != whole)
    throw InvalidArgument(StrCat("scatter_nd: an array of shape ", ShapeToString(shape),
                                 " has no elements of shape ",
                                 ShapeToString(ShapeOf(types_[step.inputs[2]]))));
  const bool is_last = IsIn(step.last_reads, step.inputs[0]) && step.inputs[2] != step.inputs[0];
  const std::string place = At(step.outputs[0]);
  out_.Line(StrCat(place, " = tenon_write(&", At(step.inputs[0]), ", ", is_last ? 1 : 0, ", ",
                   At(step.inputs[2]), ".data, *(const int64_t*)", At(step.inputs[1]), ".data, ",
                   shape[0], ", ", element, ");"));
  Require(StrCat(place, ".data == NULL"));
  types_[step.outputs[0]] = types_[step.inputs[0]];
}

void CSwitch::AddPartOfVariables(const Step& step) {
  const runtime::PlannedPart& part = program_.parts[step.target];
  const Plan& plan = part.cases[0].plan;
  out_.Open("{");
  out_.Line(StrCat("tenon_value in[", std::max<std::size_t>(step.inputs.size(), 1), "];"));
  out_.Line(StrCat("tenon_value made[", std::max<std::size_t>(step.outputs.size(), 1), "];"));
  out_.Line(StrCat("const int64_t given_extents[] = ", extents_->Values(part.symbols), ";"));
  if (step.inputs.empty()) out_.Line("in[0] = tenon_borrow(NULL);");
  if (step.outputs.empty()) out_.Line("made[0] = tenon_borrow(NULL);");
  for (std::size_t i = 0; i < step.inputs.size(); ++i)
    out_.Line(StrCat("in[", i, "] = ", At(step.inputs[i]), ";"));
  for (std::size_t o = 0; o < step.outputs.size(); ++o)
    out_.Line(StrCat("made[", o, "] = tenon_borrow(NULL);"));
  out_.Line(StrCat("status = ", parts_[step.target], "(in, given_extents, made);"));
  for (std::size_t o = 0; o < step.outputs.size(); ++o) {
    const runtime::Entry& made = plan.entry(plan.heads[o]);
    types_[step.outputs[o]] = {made.dtype, made.dims()};
    out_.Line(StrCat(At(step.outputs[o]), " = tenon_move(&made[", o, "]);"));
  }
  out_.Line("if (status != 0) goto end;");
  out_.Close();
}

std::string CSwitch::BytesOf(const std::string& value, const ArrayType& type) {
  return StrCat("tenon_bytes(&", value, ", ", type.extents.size(), ", ", type.dtype.bytes(), ")");
}

void CSwitch::AddWriteOfVariables(const Step& step) {
  const Register whole = step.inputs[0], element = step.inputs[2];
  const std::string bytes = BytesOf(At(element), types_[element]);
  for (std::size_t d = 0; d < types_[element].extents.size(); ++d)
    Require(StrCat(At(element), ".shape[", d, "] == ", At(whole), ".shape[", d + 1, "] ? 0 : 2"));
  const bool is_last = IsIn(step.last_reads, step.inputs[0]) && element != whole;
  const std::string place = At(step.outputs[0]);
  out_.Line(StrCat(place, " = tenon_write(&", At(whole), ", ", is_last ? 1 : 0, ", ", At(element),
                   ".data, *(const int64_t*)", At(step.inputs[1]), ".data, ", At(whole),
                   ".shape[0], ", bytes, ");"));
  Require(StrCat(place, ".data == NULL"));
  out_.Line(StrCat("memcpy(", place, ".shape, ", At(whole), ".shape, sizeof(", place, ".shape));"));
  types_[step.outputs[0]] = types_[whole];
}

// Its variable is what the local `count` says.
void CSwitch::SetCutExtent(const Step& step) {
  Require(extents_->GivenBy(step.extent, "count", 0));
  for (const runtime::ExtentPlace& place : step.output_extents)
    Require(StrCat("count == ", place.number, " ? 0 : 2"));
}

void CSwitch::AddCountUp(const Step& step) {
  out_.Open("{");
  out_.Line(StrCat("int64_t count = *(const int64_t*)", At(step.inputs[0]), ".data;"));
  if (step.is_clamped) out_.Line("if (count < 0) count = 0;");
  Require(StrCat("count < 0 || count > ", runtime::kMaxCountUp, " ? 2 : 0"));
  SetCutExtent(step);
  const std::string place = At(step.outputs[0]);
  out_.Line(StrCat(place, " = tenon_count_up(count);"));
  Require(StrCat(place, ".data == NULL"));
  out_.Close();
  types_[step.outputs[0]] = {Int64, {Dim::Symbol(step.extent)}};
}

void CSwitch::CountWithin(const std::string& value, const std::string& extent) {
  out_.Line(StrCat("int64_t count = *(const int64_t*)", value, ".data;"));
  out_.Line("if (count < 0) count = 0;");
  out_.Line(StrCat("if (count > ", extent, ") count = ", extent, ";"));
}

void CSwitch::AddCut(const Step& step) {
  const std::string whole = At(step.inputs[0]);
  ArrayType type = types_[step.inputs[0]];
  out_.Open("{");
  CountWithin(At(step.inputs[1]), StrCat(whole, ".shape[", step.axis, "]"));
  SetCutExtent(step);
  Require(StrCat("tenon_cut(&", At(step.outputs[0]), ", &", whole, ", ",
                 IsIn(step.last_reads, step.inputs[0]) ? 1 : 0, ", ", step.axis, ", ",
                 type.extents.size(), ", count, ", type.dtype.bytes(), ")"));
  out_.Close();
  type.extents[step.axis] = Dim::Symbol(step.extent);
  types_[step.outputs[0]] = std::move(type);
}

// Results whose extents values decide are made whole, and followed by their counts.
void CSwitch::GiveResultsOfVariables() {
  const std::vector<ArrayType>& types = program_.functions[0].result_types;
  for (const runtime::RunTimeExtent& extent : program_.extents) {
    const std::string whole = StrCat("given[", extent.result, "]");
    out_.Open("{");
    out_.Line("tenon_value cut = tenon_borrow(NULL);");
    CountWithin(StrCat("given[", extent.count, "]"), StrCat(whole, ".shape[", extent.axis, "]"));
    Require(StrCat("tenon_cut(&cut, &", whole, ", 1, ", extent.axis, ", ",
                   types[extent.result].extents.size(), ", count, ",
                   types[extent.result].dtype.bytes(), ")"));
    out_.Line(StrCat("tenon_let_go(&", whole, ");"));
    out_.Line(StrCat(whole, " = cut;"));
    out_.Close();
  }
  for (std::size_t k = 0; k < NumResults(); ++k) {
    const std::string value = StrCat("given[", k, "]");
    out_.Line(
        StrCat("outputs[", k, "] = tenon_give(&", value, ", ", BytesOf(value, types[k]), ");"));
    Require(StrCat("outputs[", k, "] == NULL"));
    for (std::size_t d = 0; d < types[k].extents.size(); ++d)
      out_.Line(StrCat("output_shapes[", k, "][", d, "] = ", value, ".shape[", d, "];"));
  }
}

}  // namespace tenon::compiler
