// Each operation is checked for overflow as it is computed, so that later ones may be compared.
#include "tenon/compiler/export/c_extents.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tenon/support/error.h"
#include "tenon/support/linear_extent.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

using runtime::Entry;
using runtime::Node;
using runtime::NodeKind;

// The functions that compute with extents, by name.
constexpr std::pair<const char*, const char*> kHelpers[] = {
    {"tenon_extent_plus", R"(
static int64_t tenon_extent_plus(int64_t a, int64_t b, int32_t* status) {
  if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) {
    *status = 2;
    return 0;
  }
  return a + b;
}
)"},
    {"tenon_extent_times", R"(
static int64_t tenon_extent_times(int64_t a, int64_t b, int32_t* status) {
  const double product = (double)a * (double)b; /* rounded, so less than all of 64 bits is taken */
  if (product > 9.2e18 || product < -9.2e18) {
    *status = 2;
    return 0;
  }
  return a * b;
}
)"},
    {"tenon_extent_floordiv",
     "\nstatic int64_t tenon_extent_floordiv(int64_t a, int64_t b) { return a / b - (a % b < 0); "
     "}\n"},
    {"tenon_extent_max",
     "\nstatic int64_t tenon_extent_max(int64_t a, int64_t b) { return a > b ? a : b; }\n"},
    {"tenon_extent_min",
     "\nstatic int64_t tenon_extent_min(int64_t a, int64_t b) { return a < b ? a : b; }\n"}};

}  // namespace

CExtents::CExtents(const runtime::Plan& plan, std::string function, CVariables variables)
    : plan_(plan), function_(std::move(function)), variables_(variables), program_(plan.symbols) {
  for (const Node& node : plan_.nodes) {
    for (const Entry& output : node.outputs) {
      for (const Dim& extent : output.extents) {
        const std::optional<std::int64_t> least = extent.LowerBound();
        if (!least || *least < 0) extents_.push_back(Of(extent));
      }
    }
    if (node.kind != NodeKind::kInput) continue;
    std::vector<int>& input = inputs_.emplace_back();
    for (const Dim& extent : node.outputs[0].dims()) input.push_back(Of(extent));
  }
  for (const ExtentCondition& condition : plan_.conditions)
    conditions_.emplace_back(Of(condition.a), Of(condition.b));
}

int CExtents::Operation(Kind kind, int a, int b) {
  return program_.Add(DimProgram::Operation{.kind = kind, .a = a, .b = b});
}

int CExtents::Sum(int a, int b) { return Operation(Kind::kAdd, a, b); }
int CExtents::Greater(int a, int b) { return Operation(Kind::kMax, a, b); }
int CExtents::RoundedUp(int a, std::int64_t multiple) {
  const int blocks = Operation(Kind::kFloorDiv, Sum(a, Of(multiple - 1)), Of(multiple));
  return Operation(Kind::kMultiply, blocks, Of(multiple));
}

std::string CExtents::Text(int number) const {
  const DimProgram::Operation& operation = program_.operations()[static_cast<std::size_t>(number)];
  return operation.kind == Kind::kNumber ? StrCat(operation.number) : StrCat("v[", number, "]");
}

// A variable has the value of the first extent that is the variable alone, or else of one that is a
// multiple of it and a number.
std::map<int, std::string> CExtents::VariablesOfShapes() const {
  std::map<int, std::string> found;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    for (std::size_t d = 0; d < inputs_[i].size(); ++d)
      found.emplace(inputs_[i][d], StrCat("shapes[", i, "][", d, "]"));
  }
  std::size_t input = 0;
  for (const Node& node : plan_.nodes) {
    if (node.kind != NodeKind::kInput) continue;
    const std::vector<Dim> extents = node.outputs[0].dims();
    for (std::size_t d = 0; d < extents.size(); ++d) {
      const auto linear = AsLinear(extents[d]);
      if (!linear) continue;
      const auto at = std::ranges::find(plan_.symbols, linear->symbol) - plan_.symbols.begin();
      found.emplace(static_cast<int>(at), StrCat("(shapes[", input, "][", d, "] - ", linear->offset,
                                                 ") / ", linear->factor));
    }
    ++input;
  }
  return found;
}

// Nothing for a variable and for a number.
std::string CExtents::OperationLine(std::size_t k) const {
  const DimProgram::Operation& operation = program_.operations()[k];
  const auto binary = [&](const char* name, const char* more = "") {
    return StrCat("  v[", k, "] = ", name, "(", Text(operation.a), ", ", Text(operation.b), more,
                  ");\n");
  };
  switch (operation.kind) {
    case Kind::kSymbol:
    case Kind::kNumber:
      return "";
    case Kind::kAdd:
      return binary("tenon_extent_plus", ", &status");
    case Kind::kMultiply:
      return binary("tenon_extent_times", ", &status");
    case Kind::kFloorDiv:
      return binary("tenon_extent_floordiv");
    case Kind::kMax:
      return binary("tenon_extent_max");
    case Kind::kMin:
      return binary("tenon_extent_min");
  }
  return "";
}

std::string CExtents::Definition() const {
  const bool of_shapes = variables_ == CVariables::kOfShapes;
  std::string text = StrCat("\nstatic int32_t ", function_, "(const int64_t* ",
                            of_shapes ? "const* shapes" : "given",
                            ", int64_t* v) {\n"
                            "  int32_t status = 0;\n");
  std::map<int, std::string> values;
  if (of_shapes) values = VariablesOfShapes();
  for (std::size_t k = 0; k < program_.operations().size(); ++k) {
    if (k < plan_.symbols.size())
      StrAppend(&text, "  v[", k,
                "] = ", of_shapes ? values.at(static_cast<int>(k)) : StrCat("given[", k, "]"),
                ";\n  if (v[", k, "] < ", Dim::Symbol(plan_.symbols[k]).LowerBound().value_or(1),
                ") status = 2;\n");
    text += OperationLine(k);
  }
  for (std::size_t i = 0; of_shapes && i < inputs_.size(); ++i) {
    for (std::size_t d = 0; d < inputs_[i].size(); ++d)
      StrAppend(&text, "  if (shapes[", i, "][", d, "] != ", Text(inputs_[i][d]),
                ") status = 2;\n");
  }
  for (const int extent : extents_) StrAppend(&text, "  if (", Text(extent), " < 0) status = 2;\n");
  for (std::size_t c = 0; c < conditions_.size(); ++c)
    StrAppend(&text, "  if (!(", Text(conditions_[c].first),
              plan_.conditions[c].kind == ExtentCondition::Kind::kEqual ? " == " : " <= ",
              Text(conditions_[c].second), ")) status = 2;\n");
  return text + "  return status;\n}\n\n";
}

std::vector<std::string> CExtents::Call(const std::string& refusal) const {
  return {
      StrCat("int64_t v[", program_.operations().size(), "];"),
      StrCat("if (", function_, variables_ == CVariables::kOfShapes ? "(shapes, v)" : "(given, v)",
             " != 0) return ", refusal, ";")};
}

std::string ExtentHelpersFor(const std::string& code) {
  std::string helpers;
  for (const auto& [name, helper] : kHelpers) {
    if (code.find(StrCat(name, "(")) != std::string::npos) helpers += helper;
  }
  return helpers;
}

}  // namespace tenon::compiler
