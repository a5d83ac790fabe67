#include "tenon/compiler/export/c_switch.h"

#include <algorithm>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

using runtime::ArrayType;
using runtime::Plan;
using runtime::ProgramFunction;
using runtime::Register;
using runtime::Step;
using runtime::StepKind;

Shape ShapeOf(const ArrayType& type) {
  Shape shape;
  for (const Dim& extent : type.extents) shape.push_back(extent.value());
  return shape;
}

bool IsIn(const std::vector<Register>& list, Register r) {
  return std::ranges::find(list, r) != list.end();
}

std::string At(Register r) { return StrCat("r[", r, "]"); }

}  // namespace

void CSwitch::Require(const std::string& status) {
  out_.Line(StrCat("if ((status = ", status, ") != 0) goto end;"));
}

// The most that a call is given or gives.
std::size_t CSwitch::MostGiven() const {
  std::size_t most = 1;
  for (const ProgramFunction& function : program_.functions) {
    most = std::max({most, function.parameters.size(), function.results.size()});
    for (const Step& step : function.steps)
      if (step.kind == StepKind::kCall || step.kind == StepKind::kBranch)
        most = std::max({most, step.inputs.size(), step.other_inputs.size()});
  }
  return most;
}

// Values that nobody reads afterwards are moved (runtime/program.cc).
void CSwitch::Give(const std::vector<Register>& wanted, const std::vector<Register>& last_reads) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const bool is_last = IsIn(last_reads, wanted[i]) &&
                         std::find(wanted.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                   wanted.end(), wanted[i]) == wanted.end();
    out_.Line(StrCat("given[", i, "] = ", is_last ? "tenon_move(&" : "tenon_share(&", At(wanted[i]),
                     ");"));
  }
}
void CSwitch::LetGo(const Step& step) {
  for (const Register r : step.last_reads) out_.Line(StrCat("tenon_let_go(&", At(r), ");"));
}
// The case of a function, or of what follows a call.
void CSwitch::Case(std::size_t number, const std::string& comment) {
  out_.Line(StrCat("case ", number, ":", comment));
}

void CSwitch::Enter(std::size_t index) {
  const ProgramFunction& function = program_.functions[index];
  std::string name = function.name;
  std::erase(name, '*');  // which might end the comment
  Case(index, StrCat(" /* @", name, " */"));
  if (!function.endless.empty()) {
    out_.Line("status = 4; /* it calls itself without end */");
    out_.Line("goto end;");
    return;
  }
  Require(StrCat("tenon_enter(&machine, ", function.registers, ")"));
  out_.Line("r = machine.registers + machine.base;");
  for (std::size_t i = 0; i < function.parameters.size(); ++i)
    out_.Line(StrCat(At(i), " = tenon_move(&given[", i, "]);"));
  for (const auto& [r, constant] : function.constants)
    out_.Line(
        StrCat(At(r), " = tenon_borrow(", addresses_[program_.constants[constant].constant], ");"));
  types_.assign(function.registers, ArrayType());
  for (std::size_t i = 0; i < function.parameters.size(); ++i) types_[i] = function.parameters[i];
  for (const auto& [r, constant] : function.constants) {
    const runtime::Entry& type = program_.constants[constant].type;
    types_[r] = {type.dtype, type.dims()};
  }
}

void CSwitch::AddFunction(std::size_t index) {
  const ProgramFunction& function = program_.functions[index];
  Enter(index);
  if (!function.endless.empty()) return;
  for (std::size_t s = 0; s < function.steps.size(); ++s) {
    const Step& step = function.steps[s];
    const bool ends = function.ends_in_call && s + 1 == function.steps.size();
    switch (step.kind) {
      case StepKind::kPart:
        AddPartStep(step);
        LetGo(step);
        break;
      case StepKind::kWrite:
        AddWrite(step);
        LetGo(step);
        break;
      case StepKind::kCall:
      case StepKind::kBranch:
        AddCall(step, ends);
        if (ends) return;
        break;
      case StepKind::kCut:
        Unreachable("programs with cuts are refused");
    }
  }
  Give(function.results, function.results);
  out_.Line("tenon_leave(&machine);");
  out_.Line("if (machine.depth == 0) goto done;");
  may_end_ = true;
  out_.Line("machine.base = machine.waiting[--machine.depth].base;");
  out_.Line("next = machine.waiting[machine.depth].next;");
  out_.Line("break;");
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

// Where it ends its function, what it calls takes that one's place.
void CSwitch::AddCall(const Step& step, bool ends) {
  const std::size_t back = next_case_;
  if (!ends) ++next_case_;
  const auto call = [&](std::size_t target, const std::vector<Register>& inputs) {
    Give(inputs, step.last_reads);
    if (ends) {
      out_.Line("tenon_leave(&machine);");
    } else {
      LetGo(step);
      Require(StrCat("tenon_wait(&machine, ", back, ")"));
    }
    out_.Line(StrCat("next = ", target, ";"));
  };
  if (step.kind == StepKind::kCall) {
    call(step.target, step.inputs);
  } else {
    out_.Open(StrCat("if (*", At(step.condition), ".data != 0) {"));
    call(step.target, step.inputs);
    out_.Else("} else {");
    call(step.otherwise, step.other_inputs);
    out_.Close();
  }
  out_.Line("break;");
  if (ends) return;
  Case(back, "");
  out_.Line("r = machine.registers + machine.base;");
  const ProgramFunction& called = program_.functions[step.target];
  for (std::size_t o = 0; o < step.outputs.size(); ++o) {
    out_.Line(StrCat(At(step.outputs[o]), " = tenon_move(&given[", o, "]);"));
    types_[step.outputs[o]] = called.result_types[o];
  }
}

std::string CSwitch::Body(std::int64_t workspace) {
  const std::size_t given = MostGiven();
  next_case_ = program_.functions.size();
  out_.Open("{");
  out_.Line("tenon_machine machine = {NULL, 0, 0, 0, NULL, 0, 0};");
  out_.Line("/* What a call is given, and what it gives. */");
  out_.Line(StrCat("tenon_value given[", given, "];"));
  out_.Line("tenon_value* r = NULL;");
  out_.Line("void* taken = NULL;");
  out_.Line("int32_t status = 0, next = 0;");
  out_.Line("size_t i;");
  out_.Line(StrCat("for (i = 0; i < ", given, "; ++i) given[i] = tenon_borrow(NULL);"));
  for (std::size_t i = 0; i < program_.functions[0].parameters.size(); ++i)
    out_.Line(StrCat("given[", i, "] = tenon_borrow(inputs[", i, "]);"));
  out_.Line("(void)inputs;");
  out_.Line("(void)outputs;");
  out_.Line("(void)workspace;");
  if (workspace > 0)
    out_.Line(StrCat("if (workspace == NULL && (workspace = taken = malloc(", workspace,
                     ")) == NULL) return 1;"));
  out_.Open("for (;;) {");
  out_.Open("switch (next) {");
  for (std::size_t f = 0; f < program_.functions.size(); ++f) AddFunction(f);
  out_.Close();
  out_.Close();
  if (may_end_) out_.Line("done:");
  const std::vector<ArrayType>& types = program_.functions[0].result_types;
  for (std::size_t k = 0; k < types.size(); ++k)
    out_.Line(StrCat("memcpy(outputs[", k, "], given[", k, "].data, ",
                     NumBytes(ShapeOf(types[k]), types[k].dtype), ");"));
  out_.Line("end:");
  out_.Line("machine.base = 0;");
  out_.Line("tenon_leave(&machine);");
  out_.Line(StrCat("for (i = 0; i < ", given, "; ++i) tenon_let_go(&given[i]);"));
  out_.Line("free(machine.registers);");
  out_.Line("free(machine.waiting);");
  out_.Line("free(taken);");
  out_.Line("(void)r;");
  out_.Line("return status;");
  out_.Close();
  return out_.Text();
}

}  // namespace tenon::compiler
