// Each operation is checked for overflow as it is computed, so that later ones may be compared.
#include "tenon/compiler/export/c_extents.h"

#include <algorithm>
#include <map>
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

CExtents::CExtents(const runtime::Plan& plan, std::string function)
    : plan_(plan), function_(std::move(function)), program_(plan.symbols) {
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

std::string CExtents::Definition() const {
  std::string text = StrCat("\nstatic int32_t ", function_,
                            "(const int64_t* const* shapes, int64_t* v) {\n"
                            "  int32_t status = 0;\n");
  const std::vector<DimProgram::Operation>& operations = program_.operations();
  // A variable has the value of the first extent that is the variable alone.
  std::map<int, std::string> alone;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    for (std::size_t d = 0; d < inputs_[i].size(); ++d)
      alone.emplace(inputs_[i][d], StrCat("shapes[", i, "][", d, "]"));
  }
  // Or of one that is a multiple of it and a number. All extents are compared below.
  std::size_t input = 0;
  for (const Node& node : plan_.nodes) {
    if (node.kind != NodeKind::kInput) continue;
    const std::vector<Dim> extents = node.outputs[0].dims();
    for (std::size_t d = 0; d < extents.size(); ++d) {
      const auto linear = AsLinear(extents[d]);
      if (!linear) continue;
      const auto at = std::ranges::find(plan_.symbols, linear->symbol) - plan_.symbols.begin();
      alone.emplace(static_cast<int>(at), StrCat("(shapes[", input, "][", d, "] - ", linear->offset,
                                                 ") / ", linear->factor));
    }
    ++input;
  }
  for (std::size_t k = 0; k < operations.size(); ++k) {
    const DimProgram::Operation& operation = operations[k];
    const auto binary = [&](const char* name, const char* more) {
      StrAppend(&text, "  v[", k, "] = ", name, "(", Text(operation.a), ", ", Text(operation.b),
                more, ");\n");
    };
    switch (operation.kind) {
      case Kind::kSymbol:
        StrAppend(&text, "  v[", k, "] = ", alone.at(static_cast<int>(k)), ";\n  if (v[", k, "] < ",
                  Dim::Symbol(plan_.symbols[k]).LowerBound().value_or(1), ") status = 2;\n");
        break;
      case Kind::kNumber:
        break;
      case Kind::kAdd:
        binary("tenon_extent_plus", ", &status");
        break;
      case Kind::kMultiply:
        binary("tenon_extent_times", ", &status");
        break;
      case Kind::kFloorDiv:
        binary("tenon_extent_floordiv", "");
        break;
      case Kind::kMax:
        binary("tenon_extent_max", "");
        break;
      case Kind::kMin:
        binary("tenon_extent_min", "");
        break;
    }
  }
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    for (std::size_t d = 0; d < inputs_[i].size(); ++d)
      StrAppend(&text, "  if (shapes[", i, "][", d, "] != ", Text(inputs_[i][d]),
                ") status = 2;\n");
  }
  for (const int extent : extents_) StrAppend(&text, "  if (", Text(extent), " < 0) status = 2;\n");
  for (std::size_t c = 0; c < conditions_.size(); ++c)
    StrAppend(&text, "  if (!(", Text(conditions_[c].first),
              plan_.conditions[c].kind == ExtentCondition::Kind::kEqual ? " == " : " <= ",
              Text(conditions_[c].second), ")) status = 2;\n");
  std::string helpers;
  for (const auto& [name, helper] : kHelpers) {
    if (text.find(StrCat(name, "(")) != std::string::npos) helpers += helper;
  }
  return helpers + text + "  return status;\n}\n\n";
}

std::vector<std::string> CExtents::Call(const std::string& refusal) const {
  return {StrCat("int64_t v[", program_.operations().size(), "];"),
          StrCat("if (", function_, "(shapes, v) != 0) return ", refusal, ";")};
}

}  // namespace tenon::compiler
