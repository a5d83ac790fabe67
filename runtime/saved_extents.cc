// Expressions are saved as the operations that compute them, so that reading them takes no parser
// of texts. A text is the name of one of the operations.
#include "tenon/runtime/saved_extents.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "tenon/support/error.h"
#include "tenon/support/linear_extent.h"
#include "tenon/support/strings.h"

namespace tenon::runtime {
namespace {

using OperationKind = DimProgram::Kind;

struct KindName {
  OperationKind kind;
  const char* name;
};
constexpr KindName kKindNames[] = {{OperationKind::kSymbol, "symbol"},
                                   {OperationKind::kNumber, "number"},
                                   {OperationKind::kAdd, "add"},
                                   {OperationKind::kMultiply, "multiply"},
                                   {OperationKind::kFloorDiv, "floordiv"},
                                   {OperationKind::kMax, "max"},
                                   {OperationKind::kMin, "min"}};

constexpr const char* kEqual = "equal to";
constexpr const char* kAtMost = "at most";

Json OperationJson(const DimProgram::Operation& operation) {
  for (const KindName& known : kKindNames) {
    if (known.kind != operation.kind) continue;
    if (operation.a < 0) return {known.name, operation.number};
    return {known.name, operation.a, operation.b};
  }
  return nullptr;
}

// The value of a variable in the plan's example: of the first input that shows it.
std::int64_t ExampleOf(const Plan& plan, const std::string& symbol) {
  for (const Node& node : plan.nodes) {
    if (node.kind != NodeKind::kInput) continue;
    const Entry& entry = node.outputs[0];
    for (std::size_t d = 0; d < entry.extents.size(); ++d) {
      const auto linear = AsLinear(entry.extents[d]);
      if (!linear || linear->symbol != symbol) continue;
      if (const auto value = linear->ValueAt(entry.shape[d])) return *value;
    }
  }
  return kExampleOfUnshown;
}

}  // namespace

ExtentTexts::ExtentTexts(const Plan& plan) : plan_(plan), program_(plan.symbols) {
  for (const Node& node : plan.nodes) {
    for (const Entry& output : node.outputs) Of(output.extents);
  }
  for (const ExtentCondition& condition : plan.conditions) {
    const bool is_equal = condition.kind == ExtentCondition::Kind::kEqual;
    conditions_.push_back({{"a", Of(condition.a)},
                           {"is", is_equal ? kEqual : kAtMost},
                           {"b", Of(condition.b)},
                           {"for", condition.needed_by}});
  }
}

std::string ExtentTexts::Of(const Dim& dim) {
  std::string text = dim.ToString();
  texts_.emplace(text, program_.Add(dim));
  return text;
}

std::vector<std::string> ExtentTexts::Of(const std::vector<Dim>& dims) {
  std::vector<std::string> texts;
  for (const Dim& dim : dims) texts.push_back(Of(dim));
  return texts;
}

Json ExtentTexts::ToJson() const {
  Json example = Json::object(), operations = Json::array();
  for (const std::string& symbol : plan_.symbols) example[symbol] = ExampleOf(plan_, symbol);
  for (const DimProgram::Operation& operation : program_.operations())
    operations.push_back(OperationJson(operation));
  return {{"example", std::move(example)},
          {"operations", std::move(operations)},
          {"texts", texts_},
          {"conditions", conditions_}};
}

namespace {

OperationKind ReadKind(const JsonReader& json) {
  const std::string text = json.String();
  for (const KindName& known : kKindNames) {
    if (text == known.name) return known.kind;
  }
  json.Refuse(StrCat("is ", text, ", which is no operation"));
}

// `known` has the results of earlier operations.
Dim ReadOperation(const JsonReader& json, const std::vector<std::string>& symbols,
                  const std::vector<Dim>& known) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  const auto earlier = [&](std::size_t place) {
    return known[static_cast<std::size_t>(
        json[place].Integer(0, static_cast<std::int64_t>(known.size()) - 1))];
  };
  switch (ReadKind(json[std::size_t{0}])) {
    case OperationKind::kSymbol:
      return Dim::Symbol(symbols[static_cast<std::size_t>(
          json[1].Integer(0, static_cast<std::int64_t>(symbols.size()) - 1))]);
    case OperationKind::kNumber:
      return json[1].Integer(kMin);
    case OperationKind::kAdd:
      return earlier(1) + earlier(2);
    case OperationKind::kMultiply:
      return earlier(1) * earlier(2);
    case OperationKind::kFloorDiv: {
      const Dim divisor = earlier(2);
      if (!divisor.is_static() || divisor.value() < 1)
        json.Refuse("divides by what is no positive number");
      return FloorDiv(earlier(1), divisor.value());
    }
    case OperationKind::kMax:
      return Max(earlier(1), earlier(2));
    case OperationKind::kMin:
      return Min(earlier(1), earlier(2));
  }
  json.Refuse("is no operation");
}

}  // namespace

ExtentReader::ExtentReader(const JsonReader& variables) {
  variables["example"].Each([&](const std::string& name, const JsonReader& value) {
    if (name == "?" || name.empty()) value.Refuse("is no variable");
    example_.emplace(name, value.Integer(1));
  });
  std::vector<Dim> known;
  const JsonReader operations = variables["operations"];
  try {
    for (std::size_t i = 0; i < operations.size(); ++i)
      known.push_back(ReadOperation(operations[i], symbols(), known));
  } catch (const Error& error) {
    if (error.code() != absl::StatusCode::kInvalidArgument) throw;
    operations.Refuse("has an expression that is too large");
  }
  variables["texts"].Each([&](const std::string& text, const JsonReader& place) {
    texts_.emplace(text, known[static_cast<std::size_t>(
                             place.Integer(0, static_cast<std::int64_t>(known.size()) - 1))]);
  });
  conditions_ = variables["conditions"].List([&](const JsonReader& json) {
    const std::string kind = json["is"].String();
    if (kind != kEqual && kind != kAtMost) json["is"].Refuse(StrCat("is ", kind));
    return ExtentCondition{
        .a = Of(json["a"]),
        .kind = kind == kEqual ? ExtentCondition::Kind::kEqual : ExtentCondition::Kind::kAtMost,
        .b = Of(json["b"]),
        .needed_by = json["for"].String()};
  });
}

Dim ExtentReader::Of(const JsonReader& json) const {
  if (!json.IsString()) return json.Integer();
  const auto found = texts_.find(json.String());
  if (found == texts_.end()) json.Refuse("is no expression of the manifest");
  return found->second;
}

std::int64_t ExtentReader::InExample(const Dim& dim) const {
  return std::max<std::int64_t>(dim.Evaluate(example_).value_or(1), 0);
}

std::vector<std::string> ExtentReader::symbols() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : example_) names.push_back(name);
  return names;
}

}  // namespace tenon::runtime
