// What follows from the rest, such as last reads, is not written: it is found again.
#include "tenon/runtime/saved_program.h"

#include <set>
#include <utility>

#include "tenon/runtime/plan_json.h"
#include "tenon/runtime/saved_extents.h"
#include "tenon/support/strings.h"

namespace tenon::runtime {
namespace {

using Reader = JsonReader;

struct KindName {
  StepKind kind;
  const char* name;
};
constexpr KindName kKindNames[] = {{StepKind::kPart, "part"},
                                   {StepKind::kCall, "call"},
                                   {StepKind::kBranch, "branch"},
                                   {StepKind::kWrite, "write"},
                                   {StepKind::kCut, "cut"}};

bool Calls(StepKind kind) { return kind == StepKind::kCall || kind == StepKind::kBranch; }
bool HasTarget(StepKind kind) { return kind == StepKind::kPart || Calls(kind); }

bool CountsUp(const Step& step) { return step.kind == StepKind::kCut && step.inputs.size() == 1; }

Json TypeJson(const DataType& dtype, const std::vector<Dim>& extents) {
  Json shape = Json::array();
  for (const Dim& dim : extents) shape.push_back(dim.is_static() ? Json(dim.value()) : Json("?"));
  return {{"dtype", dtype.ToString()}, {"shape", std::move(shape)}};
}

Json TypesJson(const std::vector<ArrayType>& types) {
  Json json = Json::array();
  for (const ArrayType& type : types) json.push_back(TypeJson(type.dtype, type.extents));
  return json;
}

Json PlacesJson(const std::vector<ExtentPlace>& places) {
  Json json = Json::array();
  for (const ExtentPlace& place : places)
    json.push_back({{"extent", place.extent.empty() ? Json(place.number) : Json(place.extent)},
                    {"array", place.array},
                    {"axis", place.axis}});
  return json;
}

Json StepJson(const Step& step) {
  Json json;
  for (const KindName& known : kKindNames) {
    if (known.kind == step.kind) json["kind"] = known.name;
  }
  if (HasTarget(step.kind)) json["target"] = step.target;
  json["inputs"] = step.inputs;
  if (step.kind == StepKind::kBranch) {
    json["condition"] = step.condition;
    json["otherwise"] = step.otherwise;
    json["other_inputs"] = step.other_inputs;
  }
  if (step.kind == StepKind::kCut) {
    json["axis"] = step.axis;
    json["extent"] = step.extent;
    if (CountsUp(step))
      json["count_up"] = {{"clamped", step.is_clamped ? 1 : 0}, {"for", step.needed_by}};
  }
  json["outputs"] = step.outputs;
  if (Calls(step.kind) || !step.output_extents.empty())
    json["extents"] = PlacesJson(step.output_extents);
  return json;
}

// As the conditions of a plan that has nothing else.
Json NeedsJson(const std::vector<ExtentCondition>& needs) {
  std::set<std::string> symbols;
  for (const ExtentCondition& need : needs) {
    need.a.AddSymbols(&symbols);
    need.b.AddSymbols(&symbols);
  }
  Plan plan;
  plan.symbols.assign(symbols.begin(), symbols.end());
  plan.conditions = needs;
  return ExtentTexts(plan).ToJson();
}

Json FunctionJson(const ProgramFunction& function) {
  Json constants = Json::array(), steps = Json::array();
  for (const auto& [r, constant] : function.constants)
    constants.push_back({{"register", r}, {"constant", constant}});
  for (const Step& step : function.steps) steps.push_back(StepJson(step));
  Json json = {{"name", function.name},
               {"parameters", TypesJson(function.parameters)},
               {"extents", PlacesJson(function.extents)},
               {"constants", std::move(constants)},
               {"steps", std::move(steps)},
               {"results", function.results},
               {"types", TypesJson(function.result_types)}};
  if (!function.needs.empty()) json["needs"] = NeedsJson(function.needs);
  return json;
}

Json PartJson(const PlannedPart& part) {
  Json cases = Json::array();
  for (const PartCase& of_part : part.cases) {
    Json json;
    json["known"] = of_part.known.empty() ? Json::object() : Json(of_part.known);
    json["graph"] = Json::parse(ToGraphJson(of_part.plan));
    AddPlanJson(of_part.plan, &json);
    cases.push_back(std::move(json));
  }
  return {{"symbols", part.symbols}, {"cases", std::move(cases)}};
}

std::size_t ReadCount(const Reader& json) { return static_cast<std::size_t>(json.Integer()); }

// An extent that is not a number is "?".
Dim ReadExtent(const Reader& json) {
  if (!json.IsString()) return json.Integer();
  if (json.String() != "?") json.Refuse("must be a whole number or \"?\"");
  return {};
}

ArrayType ReadType(const Reader& json) {
  return {.dtype = ReadDataType(json["dtype"]), .extents = json["shape"].List(ReadExtent)};
}

ExtentPlace ReadPlace(const Reader& json) {
  const Reader extent = json["extent"];
  ExtentPlace place{.extent = extent.IsString() ? extent.String() : "",
                    .array = ReadCount(json["array"]),
                    .axis = ReadCount(json["axis"])};
  if (!extent.IsString()) place.number = extent.Integer();
  return place;
}

StepKind ReadKind(const Reader& json) {
  const std::string text = json.String();
  for (const KindName& known : kKindNames) {
    if (text == known.name) return known.kind;
  }
  json.Refuse(StrCat("is ", text, ", which is no kind of step"));
}

Step ReadStep(const Reader& json) {
  Step step{.kind = ReadKind(json["kind"])};
  if (HasTarget(step.kind)) step.target = ReadCount(json["target"]);
  step.inputs = json["inputs"].List(ReadCount);
  if (step.kind == StepKind::kBranch) {
    step.condition = ReadCount(json["condition"]);
    step.otherwise = ReadCount(json["otherwise"]);
    step.other_inputs = json["other_inputs"].List(ReadCount);
  }
  if (step.kind == StepKind::kCut) {
    step.axis = ReadCount(json["axis"]);
    step.extent = json["extent"].String();
    if (CountsUp(step)) {
      step.is_clamped = json["count_up"]["clamped"].Integer(0, 1) != 0;
      step.needed_by = json["count_up"]["for"].String();
    }
  }
  step.outputs = json["outputs"].List(ReadCount);
  if (Calls(step.kind) || json.Has("extents"))
    step.output_extents = json["extents"].List(ReadPlace);
  return step;
}

ProgramFunction ReadFunction(const Reader& json) {
  ProgramFunction function{.name = json["name"].String(),
                           .parameters = json["parameters"].List(ReadType),
                           .extents = json["extents"].List(ReadPlace),
                           .constants = json["constants"].List([](const Reader& constant) {
                             return std::pair(ReadCount(constant["register"]),
                                              ReadCount(constant["constant"]));
                           }),
                           .steps = json["steps"].List(ReadStep),
                           .results = json["results"].List(ReadCount),
                           .result_types = json["types"].List(ReadType)};
  if (json.Has("needs")) function.needs = ExtentReader(json["needs"]).conditions();
  function.registers = function.parameters.size() + function.constants.size();
  for (const Step& step : function.steps) function.registers += step.outputs.size();
  return function;
}

PlannedPart ReadPart(const Reader& json) {
  const auto read_case = [](const Reader& of_part) {
    PartCase read;
    of_part["known"].Each([&](const std::string& name, const Reader& value) {
      read.known.emplace(name, value.Integer());
    });
    read.plan = ReadPlan(of_part["graph"], of_part);
    return read;
  };
  return {.symbols = json["symbols"].List([](const Reader& name) { return name.String(); }),
          .cases = json["cases"].List(read_case)};
}

PlannedConstant ReadConstant(const Reader& json) {
  Entry type{.dtype = ReadDataType(json["dtype"])};
  type.shape = json["shape"].List([](const Reader& extent) { return extent.Integer(); });
  return {.type = std::move(type), .constant = ReadCount(json["constant"])};
}

}  // namespace

Json ProgramJson(const PlannedProgram& program) {
  Json functions = Json::array(), parts = Json::array(), constants = Json::array();
  for (const ProgramFunction& function : program.functions)
    functions.push_back(FunctionJson(function));
  for (const PlannedPart& part : program.parts) parts.push_back(PartJson(part));
  for (const PlannedConstant& constant : program.constants) {
    const Shape& shape = constant.type.shape;
    Json json = TypeJson(constant.type.dtype, {shape.begin(), shape.end()});
    json["constant"] = constant.constant;
    constants.push_back(std::move(json));
  }
  return {{"functions", std::move(functions)},
          {"parts", std::move(parts)},
          {"constants", std::move(constants)},
          {"extents", ExtentsJson(program.extents)}};
}

PlannedProgram ReadProgram(const Reader& json) {
  return {.functions = json["functions"].List(ReadFunction),
          .parts = json["parts"].List(ReadPart),
          .constants = json["constants"].List(ReadConstant),
          .extents = ReadExtents(json["extents"])};
}

}  // namespace tenon::runtime
