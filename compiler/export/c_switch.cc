#include "tenon/compiler/export/c_switch.h"

#include <algorithm>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {

using runtime::ArrayType;
using runtime::ProgramFunction;
using runtime::Register;
using runtime::Step;
using runtime::StepKind;

Shape CSwitch::ShapeOf(const ArrayType& type) {
  Shape shape;
  for (const Dim& extent : type.extents) shape.push_back(extent.value());
  return shape;
}

bool CSwitch::IsIn(const std::vector<Register>& list, Register r) {
  return std::ranges::find(list, r) != list.end();
}

std::string CSwitch::At(Register r) { return StrCat("r[", r, "]"); }

void CSwitch::Require(const std::string& status) {
  out_.Line(StrCat("if ((status = ", status, ") != 0) goto end;"));
}

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
  if (extents_ != nullptr) EnterExtents(function);
}

void CSwitch::EnterExtents(const ProgramFunction& function) {
  out_.Line(StrCat("e = machine.extents + machine.depth * ", extents_->count(), ";"));
  for (const auto& [r, constant] : function.constants) {
    for (std::size_t d = 0; d < types_[r].extents.size(); ++d)
      out_.Line(StrCat(At(r), ".shape[", d, "] = ", types_[r].extents[d].value(), ";"));
  }
  for (const std::string& name : function.own_extents)
    out_.Line(StrCat(extents_->At(name), " = -1;"));
  for (const std::string& status : extents_->GivenBy(function.extents, At)) Require(status);
  for (const ExtentCondition& need : function.needs) Require(extents_->Need(need));
}

void CSwitch::AddFunction(std::size_t index) {
  const ProgramFunction& function = program_.functions[index];
  Enter(index);
  if (!function.endless.empty()) return;
  for (std::size_t s = 0; s < function.steps.size(); ++s) {
    const Step& step = function.steps[s];
    const bool ends = function.ends_in_call && s + 1 == function.steps.size();
    if (step.kind == StepKind::kCall || step.kind == StepKind::kBranch) {
      AddCall(step, ends);
      if (ends) return;
    } else {
      AddStep(step);
      LetGo(step);
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
      if (extents_ != nullptr)
        Require(StrCat("tenon_keep_extents(&machine, ", extents_->count(), ")"));
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
  ComeBack(step);
}

void CSwitch::ComeBack(const Step& step) {
  out_.Line("r = machine.registers + machine.base;");
  if (extents_ != nullptr) {
    out_.Line(StrCat("e = machine.extents + machine.depth * ", extents_->count(), ";"));
    const auto given = [](std::size_t i) { return StrCat("given[", i, "]"); };
    for (const std::string& status : extents_->GivenBy(step.output_extents, given)) Require(status);
  }
  const ProgramFunction& called = program_.functions[step.target];
  for (std::size_t o = 0; o < step.outputs.size(); ++o) {
    out_.Line(StrCat(At(step.outputs[o]), " = tenon_move(&given[", o, "]);"));
    types_[step.outputs[o]] = called.result_types[o];
  }
}

std::size_t CSwitch::NumResults() const {
  return program_.functions[0].result_types.size() - program_.extents.size();
}

void CSwitch::Begin(std::int64_t workspace) {
  const std::size_t given = MostGiven();
  out_.Line(StrCat("tenon_machine machine = {NULL, 0, 0, 0, NULL, 0, 0",
                   extents_ == nullptr ? "" : ", NULL, 0", "};"));
  out_.Line("/* What a call is given, and what it gives. */");
  out_.Line(StrCat("tenon_value given[", given, "];"));
  out_.Line("tenon_value* r = NULL;");
  if (extents_ == nullptr) out_.Line("void* taken = NULL;");
  out_.Line("int32_t status = 0, next = 0;");
  out_.Line("size_t i;");
  out_.Line(StrCat("for (i = 0; i < ", given, "; ++i) given[i] = tenon_borrow(NULL);"));
  for (std::size_t i = 0; i < program_.functions[0].parameters.size(); ++i)
    out_.Line(StrCat("given[", i, "] = tenon_borrow(inputs[", i, "]);"));
  out_.Line("(void)inputs;");
  out_.Line("(void)outputs;");
  if (extents_ != nullptr) return;
  out_.Line("(void)workspace;");
  if (workspace > 0)
    out_.Line(StrCat("if (workspace == NULL && (workspace = taken = malloc(", workspace,
                     ")) == NULL) return 1;"));
}

void CSwitch::BeginVariables(const std::vector<std::string>& solve) {
  out_.Line("int64_t* e = NULL;");
  out_.Line("(void)shapes;");
  out_.Line("(void)output_shapes;");
  out_.Line(StrCat("for (i = 0; i < ", NumResults(), "; ++i) outputs[i] = NULL;"));
  for (const std::string& line : solve) out_.Line(line);
  const std::vector<ArrayType>& types = program_.functions[0].parameters;
  for (std::size_t i = 0; i < types.size(); ++i) {
    for (std::size_t d = 0; d < types[i].extents.size(); ++d) {
      const Dim& extent = types[i].extents[d];
      // Nothing else compares them where inputs have no variables.
      if (solve.empty() && extent.is_static())
        out_.Line(StrCat("if (shapes[", i, "][", d, "] != ", extent.value(), ") return 2;"));
      out_.Line(StrCat(
          "given[", i, "].shape[", d, "] = ",
          extent.is_static() ? StrCat(extent.value()) : StrCat("shapes[", i, "][", d, "]"), ";"));
    }
  }
  out_.Line(StrCat("if (tenon_keep_extents(&machine, ", extents_->count(), ") != 0) return 1;"));
  out_.Line("e = machine.extents;");
  if (extents_->count_of_inputs() > 0)
    out_.Line(StrCat("for (i = 0; i < ", extents_->count_of_inputs(), "; ++i) e[i] = v[i];"));
}

void CSwitch::GiveResults() {
  const std::vector<ArrayType>& types = program_.functions[0].result_types;
  for (std::size_t k = 0; k < types.size(); ++k)
    out_.Line(StrCat("memcpy(outputs[", k, "], given[", k, "].data, ",
                     NumBytes(ShapeOf(types[k]), types[k].dtype), ");"));
}

void CSwitch::End() {
  out_.Line("end:");
  out_.Line("machine.base = 0;");
  out_.Line("tenon_leave(&machine);");
  out_.Line(StrCat("for (i = 0; i < ", MostGiven(), "; ++i) tenon_let_go(&given[i]);"));
  out_.Line("free(machine.registers);");
  out_.Line("free(machine.waiting);");
  if (extents_ == nullptr) {
    out_.Line("free(taken);");
  } else {
    out_.Line("free(machine.extents);");
    out_.Open(StrCat("for (i = 0; status != 0 && i < ", NumResults(), "; ++i) {"));
    out_.Line("free(outputs[i]);");
    out_.Line("outputs[i] = NULL;");
    out_.Close();
    out_.Line("(void)e;");
  }
  out_.Line("(void)r;");
  out_.Line("return status;");
}

std::string CSwitch::Body(const std::vector<std::string>& solve, std::int64_t workspace) {
  next_case_ = program_.functions.size();
  out_.Open("{");
  Begin(workspace);
  if (extents_ != nullptr) BeginVariables(solve);
  out_.Open("for (;;) {");
  out_.Open("switch (next) {");
  for (std::size_t f = 0; f < program_.functions.size(); ++f) AddFunction(f);
  out_.Close();
  out_.Close();
  if (may_end_) out_.Line("done:");
  if (extents_ == nullptr) {
    GiveResults();
  } else {
    GiveResultsOfVariables();
  }
  End();
  out_.Close();
  return out_.Text();
}

}  // namespace tenon::compiler
