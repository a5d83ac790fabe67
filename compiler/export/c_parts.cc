// Each case is a function that gives -1, having done nothing, for values that its plan does not
// take. The cases are tried in the order and by the rule of runtime/part_cases.cc.
#include "tenon/compiler/export/c_parts.h"

#include <algorithm>
#include <cstddef>

#include "tenon/compiler/export/c_extents.h"
#include "tenon/compiler/export/c_places.h"
#include "tenon/compiler/export/c_run.h"
#include "tenon/jit/c/c_text.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

using runtime::PartCase;
using runtime::Plan;
using runtime::PlannedPart;

constexpr const char* kParameters =
    "(const tenon_value* in, const int64_t* given, tenon_value* made) {";

// Room for the results, whose extents the values say.
jit::CBlock TakeResults(const Plan& plan, CExtents* extents) {
  jit::CBlock out;
  for (std::size_t o = 0; o < plan.heads.size(); ++o) {
    const runtime::Entry& head = plan.entry(plan.heads[o]);
    const int bytes = extents->Of(runtime::BytesForAll(head));
    out.Line(StrCat("made[", o, "] = tenon_take((size_t)", extents->Text(bytes), ");"));
    out.Line(StrCat("if (made[", o, "].data == NULL) return 1;"));
    const std::vector<Dim> dims = head.dims();
    for (std::size_t d = 0; d < dims.size(); ++d)
      out.Line(StrCat("made[", o, "].shape[", d, "] = ", extents->Text(extents->Of(dims[d])), ";"));
    out.Line(StrCat("outputs[", o, "] = made[", o, "].data;"));
  }
  return out;
}

// An array of so many elements, of which C wants one at least.
std::string ArrayOf(const char* type, const char* name, std::size_t count) {
  return StrCat(type, " ", name, "[", std::max<std::size_t>(count, 1), "];");
}

std::string WriteCase(const Plan& plan, const std::string& name,
                      const std::vector<std::string>& constants,
                      const std::vector<std::string>& kernels) {
  CExtents extents(plan, name + "_extents", CVariables::kGiven);
  CPlaces places(plan, constants, &extents);
  // All of these must be made before the numbers that they ask for are defined.
  const jit::CBlock run = CRun(plan, kernels, &places, &extents).Body();
  const jit::CBlock take = TakeResults(plan, &extents);
  jit::CBlock out;
  out.Open(StrCat("static int32_t ", name, kParameters));
  out.Line(ArrayOf("const void*", "inputs", places.inputs().size()));
  out.Line(ArrayOf("void*", "outputs", plan.heads.size()));
  out.Line("void* workspace = NULL;");
  if (extents.has_variables()) {
    for (const std::string& line : extents.Call("-1")) out.Line(line);
  }
  out.Line("(void)in;");
  out.Line("(void)given;");
  out.Line("(void)made;");
  out.Line("inputs[0] = NULL;");
  out.Line("outputs[0] = NULL;");
  for (std::size_t i = 0; i < places.inputs().size(); ++i)
    out.Line(StrCat("inputs[", i, "] = in[", i, "].data;"));
  out.Append(take);
  out.Open("{");
  out.Append(run);
  out.Close();
  out.Close();
  return StrCat(extents.has_variables() ? extents.Definition() : "", out.Text(), "\n");
}

// A C condition; empty if all values may be meant. A plan for some ones takes the other variables
// to be at least 1.
std::string Matches(const PlannedPart& part, const PartCase& of_part) {
  const bool has_one =
      std::ranges::any_of(of_part.known, [](const auto& known) { return known.second == 1; });
  std::vector<std::string> tests;
  for (std::size_t i = 0; i < part.symbols.size(); ++i) {
    const auto known = of_part.known.find(part.symbols[i]);
    if (known != of_part.known.end()) {
      tests.push_back(StrCat("given[", i, "] == ", known->second));
    } else if (has_one || Dim::Symbol(part.symbols[i]).LowerBound() != 0) {
      tests.push_back(StrCat("given[", i, "] != 0"));
    }
  }
  return StrJoin(tests, " && ");
}

// The values of the case's variables among those of the part.
std::string ValuesOfCase(const PlannedPart& part, const PartCase& of_part) {
  if (of_part.plan.symbols.empty()) return "{0}";
  return StrCat("{",
                StrJoin(of_part.plan.symbols, ", ",
                        [&](std::string* text, const std::string& name) {
                          StrAppend(text, "given[",
                                    std::ranges::find(part.symbols, name) - part.symbols.begin(),
                                    "]");
                        }),
                "}");
}

}  // namespace

std::string WritePart(const PlannedPart& part, const std::string& name,
                      const std::vector<std::string>& constants,
                      const std::vector<std::string>& kernels) {
  if (part.symbols.empty()) return WriteCase(part.cases[0].plan, name, constants, kernels);
  std::string text;
  jit::CBlock out;
  out.Open(StrCat("static int32_t ", name, kParameters));
  out.Line("int32_t status = -1;");
  for (std::size_t c = 0; c < part.cases.size(); ++c) {
    const PartCase& of_part = part.cases[c];
    const std::string function = StrCat(name, "_case", c);
    text += WriteCase(of_part.plan, function, constants, kernels);
    const std::string test = Matches(part, of_part);
    out.Open(test.empty() ? "{" : StrCat("if (", test, ") {"));
    out.Line(StrCat("const int64_t of_case[] = ", ValuesOfCase(part, of_part), ";"));
    out.Line(StrCat("status = ", function, "(in, of_case, made);"));
    out.Line("if (status != -1) return status;");
    out.Close();
  }
  out.Line("return 2;");
  out.Close();
  return StrCat(text, out.Text(), "\n");
}

}  // namespace tenon::compiler
