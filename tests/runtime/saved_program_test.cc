// Programs in the texts of saved executables: what is written is read, and what could not be run
// safely is refused with its place.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/runtime/saved_plan.h"
#include "tenon/tests/runtime/saved_damage.h"

namespace tenon::runtime {
namespace {

using ::testing::HasSubstr;

Entry Floats(Shape shape) { return {.shape = std::move(shape), .dtype = Float32}; }

// A kernel over one input.
Plan OneKernel(int kernel, Entry input, std::vector<Entry> outputs) {
  Plan plan;
  plan.nodes = {{.kind = NodeKind::kInput, .name = "x0", .inputs = {}, .outputs = {input}},
                {.kind = NodeKind::kKernel,
                 .name = "k",
                 .function_name = "k",
                 .kernel = kernel,
                 .inputs = {{0, 0}},
                 .outputs = std::move(outputs)}};
  for (int i = 0; i < static_cast<int>(plan.nodes[1].outputs.size()); ++i)
    plan.heads.push_back({1, i});
  if (!plan.nodes[0].outputs[0].extents.empty()) {
    plan.symbols = {"#k"};
    plan.nodes[1].arguments = {Dim::Symbol("#k")};
    plan.conditions = {{1, ExtentCondition::Kind::kAtMost, Dim::Symbol("#k"), "k"}};
  }
  AssignStorage(&plan);
  return plan;
}

// main(x, n, c): the sum of the first n rows of x becomes its first row; then, if c, turns of a
// loop that a part ends.
SavedPlan Example() {
  const ArrayType x = {Float32, {6, 2}};
  PlannedProgram program;
  program.functions = {
      {.name = "main",
       .parameters = {x, {Int64, {1}}, {Bool, {}}},
       .registers = 8,
       .constants = {{3, 0}},
       .steps =
           {{.kind = StepKind::kCut, .inputs = {0, 1}, .outputs = {4}, .axis = 0, .extent = "#k"},
            {.kind = StepKind::kPart, .target = 0, .inputs = {4}, .outputs = {5}},
            {.kind = StepKind::kWrite, .inputs = {0, 3, 5}, .outputs = {6}},
            {.kind = StepKind::kBranch,
             .target = 1,
             .otherwise = 2,
             .condition = 2,
             .inputs = {6},
             .other_inputs = {6},
             .outputs = {7}}},
       .results = {7},
       .result_types = {x}},
      {.name = "loop",
       .parameters = {x},
       .registers = 4,
       .steps = {{.kind = StepKind::kPart, .target = 1, .inputs = {0}, .outputs = {1, 2}},
                 {.kind = StepKind::kBranch,
                  .target = 1,
                  .otherwise = 2,
                  .condition = 1,
                  .inputs = {2},
                  .other_inputs = {2},
                  .outputs = {3}}},
       .results = {3},
       .result_types = {x}},
      {.name = "end", .parameters = {x}, .registers = 1, .results = {0}, .result_types = {x}}};
  Entry rows = Floats({124, 2});
  rows.extents = {Dim::Symbol("#k"), 2};
  program.parts = {
      {.symbols = {"#k"},
       .cases = {{{}, OneKernel(0, rows, {Floats({2})})},
                 {{{"#k", 0}}, OneKernel(1, Floats({0, 2}), {Floats({2})})}}},
      {.symbols = {},
       .cases = {
           {{}, OneKernel(2, Floats({6, 2}), {{.shape = {}, .dtype = Bool}, Floats({6, 2})})}}}};
  program.constants = {{.type = {.shape = {1}, .dtype = Int64}, .constant = 0}};
  FindFacts(&program.functions);
  Plan inputs;
  inputs.nodes = {
      {.kind = NodeKind::kInput, .name = "x", .outputs = {Floats({6, 2})}},
      {.kind = NodeKind::kInput, .name = "n", .outputs = {{.shape = {1}, .dtype = Int64}}},
      {.kind = NodeKind::kInput, .name = "c", .outputs = {{.dtype = Bool}}}};
  AssignStorage(&inputs);
  return {.plan = std::move(inputs),
          .kernels = {"sum", "none", "turn"},
          .constants_at = {8},
          .result_names = {"y"},
          .threads = 1,
          .params = {.bytes = 16, .hash = 5},
          .kernels_file = {.bytes = 7, .hash = 6},
          .program = std::move(program)};
}

TEST(SavedProgramTest, WhatIsWrittenIsRead) {
  const SavedPlan saved = Example();
  const SavedPlan read = ParseSavedPlan(ToTexts(saved));
  EXPECT_EQ(ToTexts(read).graph, ToTexts(saved).graph);
  EXPECT_EQ(ToTexts(read).manifest, ToTexts(saved).manifest);
  ASSERT_TRUE(read.program.has_value());
  ASSERT_EQ(read.program->functions.size(), 3U);
  for (std::size_t f = 0; f < 3; ++f) {
    const ProgramFunction &a = read.program->functions[f], &b = saved.program->functions[f];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.registers, b.registers);
    EXPECT_EQ(a.constants, b.constants);
    EXPECT_EQ(a.results, b.results);
    EXPECT_EQ(a.ends_in_call, b.ends_in_call);
    EXPECT_EQ(a.own_extents, b.own_extents);
    ASSERT_EQ(a.steps.size(), b.steps.size());
    for (std::size_t s = 0; s < a.steps.size(); ++s)
      EXPECT_EQ(a.steps[s].last_reads, b.steps[s].last_reads);
  }
  EXPECT_TRUE(read.program->functions[1].ends_in_call);
}

TEST(SavedProgramTest, APlanIsWrittenInTheFormatBefore) {
  SavedPlan saved = Example();
  saved.program.reset();
  EXPECT_EQ(Json::parse(ToTexts(saved).manifest)["format"], 2);
  EXPECT_EQ(Json::parse(ToTexts(Example()).manifest)["format"], 4);
}

class DamagedProgramTest : public ::testing::TestWithParam<Damage> {};

TEST_P(DamagedProgramTest, IsRefusedWithItsPlace) {
  EXPECT_THAT(RefusalOf(ToTexts(Example()), GetParam()), HasSubstr(GetParam().message));
}

Damage In(const char* place, Json value, const char* message) {
  return {kManifestFile, place, std::move(value), message};
}

INSTANTIATE_TEST_SUITE_P(
    Functions, DamagedProgramTest,
    ::testing::Values(
        In("/program", nullptr, "tenon.json has no \"program\""),
        In("/program/functions", Json::array(), "the program's functions: there are none"),
        In("/program/functions/0/name", 5, "program.functions[0].name must be a string"),
        In("/program/functions/0/parameters/2", nullptr,
           "function 0 (main), step 3: reads register 2, which nothing before writes"),
        In("/program/functions/0/parameters/0/dtype", "float7", "is no type of elements"),
        In("/program/functions/0/parameters/0/shape/0", "six",
           "shape[0] must be a whole number or \"?\""),
        Damage{kGraphFile, "/attrs/shape/1/0/0", 7,
               "inputs: input 0 is float32 (7, 2); it must be float32 (6, 2)"},
        Damage{kGraphFile, "/attrs/dltype/1/2", "int8",
               "inputs: input 2 is int8 (); it must be bool ()"},
        In("/program/functions/0/parameters/0/dtype", "int32",
           "function 0 (main), step 1: array 0, in register 4, is int32 (?, 2); it must be"),
        In("/program/functions/0/constants/0/register", 2,
           "function 0 (main): writes register 2, which is written already"),
        In("/program/functions/0/constants/0/register", -1, "must be a whole number from 0"),
        In("/program/functions/0/constants/0/constant", 1, "names constant 1; there are 1"),
        In("/program/functions/0/results/0", 8, "its results: names register 8; there are 8"),
        In("/program/functions/0/results/0", 4,
           "its results: array 0, in register 4, is float32 (?, 2); it must be float32 (6, 2)"),
        In("/program/functions/0/types", Json::array(), "gives 1 arrays where 0 are taken"),
        In("/program/constants/0/dtype", "int32", "the place of a write is not one int64"),
        In("/program/constants/0/constant", 1, "constant 0 is constant 1; there are 1"),
        In("/program/constants/0/shape/0", 2, "ends after params.bin, which has 16 bytes"),
        In("/constants_at/0", 4, "begins inside an element of params.bin"),
        In("/program/extents", Json::parse(R"([{"result": 0, "axis": 0, "count": 0}])"),
           "extents of results: the count is not one int64"),
        In("/program/extents", Json::parse(R"([{"result": 1, "axis": 0, "count": 0}])"),
           "extents of results: names result 1; there are 1")));

INSTANTIATE_TEST_SUITE_P(
    Steps, DamagedProgramTest,
    ::testing::Values(
        In("/program/functions/0/steps/0/kind", "jump", "is jump, which is no kind of step"),
        In("/program/functions/0/steps/0/inputs/0", 5,
           "function 0 (main), step 0: reads register 5, which nothing before writes"),
        In("/program/functions/0/steps/0/inputs/1", 0, "the count of a cut is not one int64"),
        In("/program/functions/0/steps/0/inputs/1", nullptr, "steps[0] has no \"count_up\""),
        In("/program/functions/0/steps/0/inputs", Json::array({0, 1, 1}),
           "a cut takes a count, or an array and a count"),
        In("/program/functions/0/steps/0",
           Json::parse(R"({"kind": "cut", "inputs": [0], "axis": 0, "extent": "#k", "outputs": [4],
                           "count_up": {"clamped": 1, "for": "Range"}})"),
           "function 0 (main), step 0: the count of a cut is not one int64"),
        In("/program/functions/0/steps/0",
           Json::parse(R"({"kind": "cut", "inputs": [1], "axis": 0, "extent": "#k", "outputs": [4],
                           "count_up": {"clamped": 1, "for": "Range"}})"),
           "step 1: array 0, in register 4, is int64 (?); it must be float32 (?, 2)"),
        In("/program/functions/0/steps/0/axis", 2, "step 0: names axis 2; there are 2"),
        In("/program/functions/0/steps/0/extent", "", "a cut names no variable"),
        In("/program/functions/0/steps/0/extents",
           Json::parse(R"([{"extent": "#m", "array": 0, "axis": 0}])"),
           "step 0: says an extent that is not the number of its cut"),
        In("/program/functions/0/steps/0/extents",
           Json::parse(R"([{"extent": 2, "array": 0, "axis": 1}])"),
           "step 0: says an extent that is not the number of its cut"),
        In("/program/functions/0/steps/1/extents",
           Json::parse(R"([{"extent": 2, "array": 0, "axis": 0}])"),
           "step 1: says an extent that is not the number of its cut"),
        In("/program/functions/0/steps/0/extent", "#m",
           "step 1: runs a part that needs #k, to which nothing before gives a value"),
        In("/program/functions/0/steps/1/target", 2, "step 1: names part 2; there are 2"),
        In("/program/functions/0/steps/1/target", 1,
           "array 0, in register 4, is float32 (?, 2); it must be float32 (6, 2)"),
        In("/program/functions/0/steps/1/outputs/0", 4, "writes register 4, which is written"),
        In("/program/functions/0/steps/1/outputs/0", 700, "names register 700; there are 8"),
        In("/program/functions/0/steps/1/outputs", Json::array({5, 5}),
           "step 1: keeps 2 results of 1"),
        In("/program/functions/0/steps/1/inputs", Json::array(),
           "gives 0 arrays where 1 are taken"),
        In("/program/functions/0/steps/2/inputs/2", 0, "writes float32 (6, 2) into float32 (6, 2)"),
        In("/program/functions/0/steps/2/inputs/1", 0, "the place of a write is not one int64"),
        In("/program/functions/0/steps/2/inputs/1", nullptr,
           "a write takes an array, a place and an element"),
        In("/program/functions/0/steps/3/condition", 1, "its condition is not one bool"),
        In("/program/functions/0/steps/3/condition", nullptr, "has no \"condition\""),
        In("/program/functions/0/steps/3/otherwise", 3, "step 3: names function 3; there are 3"),
        In("/program/functions/0/steps/3/other_inputs/0", 4,
           "array 0, in register 4, is float32 (?, 2); it must be float32 (6, 2)"),
        In("/program/functions/1/steps/1/target", 0, "gives 1 arrays where 3 are taken")));

INSTANTIATE_TEST_SUITE_P(
    Parts, DamagedProgramTest,
    ::testing::Values(
        In("/program/parts/0/cases", Json::array(),
           "part 0: has no case for all values of its variables"),
        In("/program/parts/0/cases/0/known", Json::object({{"#k", 1}}),
           "part 0: has no case for all values of its variables"),
        In("/program/parts/0/cases/1/known", Json::object({{"#m", 0}}),
           "part 0: has a case for #m, no variable of it"),
        In("/program/parts/0/symbols", Json::array(),
           "part 0: has a plan with #k, no variable of its case"),
        In("/program/parts/0/cases/1/graph/attrs/dltype/1/0", "int64",
           "input 0 of a case is int64 (0, 2) and not float32 (?, 2)"),
        In("/program/parts/0/cases/1/graph/attrs/shape/1/1/0", 3,
           "result 0 of a case is float32 (3); it must be float32 (2)"),
        In("/program/parts/0/cases/1/graph/heads", Json::array(),
           "has cases of other numbers of inputs and results"),
        In("/program/parts/0/cases/0/graph/nodes/1/inputs/0/0", 1, "reads node 1; 1 nodes"),
        In("/program/parts/0/cases/0/nodes/1/kernel", 3, "is kernel 3; there are 3"),
        In("/program/parts/0/cases/0/nodes/1/kind", "input", "a given value has inputs"),
        In("/program/parts/0/cases/0/nodes/0", nullptr,
           "cases[0] has 1 nodes and tenon.json.program.parts[0].cases[0].graph has 2"),
        In("/program/parts/0/cases/0/variables/example/#k", 0, "must be a whole number from 1"),
        In("/program/parts/0/cases/0/variables/operations/0/1", 1,
           "must be a whole number from 0 to 0"),
        In("/program/parts/1/cases/0/variables/example", Json::object({{"m", 7}}),
           "has another example of m than 124, although no input has the extent m alone"),
        In("/program/parts/1/cases/0/variables/example", Json::object({{"m", 124}}),
           "part 1: has a plan with m, no variable of its case"),
        In("/program/parts/0/cases/0/extents",
           Json::parse(R"([{"result": 0, "axis": 0, "count": 0}])"),
           "the count of an extent is not one int64")));

// No call of them can end, which is for a run to refuse.
TEST(SavedProgramTest, FunctionsThatOnlyCallEachOtherAreNamed) {
  SavedTexts texts = ToTexts(Example());
  Json manifest = Json::parse(texts.manifest);
  manifest["program"]["functions"][1]["steps"][1]["otherwise"] = 1;
  texts.manifest = manifest.dump();
  const SavedPlan read = ParseSavedPlan(texts);
  EXPECT_EQ(read.program->functions[1].endless, "loop");
  EXPECT_EQ(read.program->functions[0].endless, "");
}

TEST(SavedProgramTest, ACallersCutGivesAVariableItsValue) {
  SavedTexts texts = ToTexts(Example());
  Json manifest = Json::parse(texts.manifest);
  manifest["program"]["parts"][1]["symbols"] = Json::array({"#k"});
  texts.manifest = manifest.dump();
  EXPECT_TRUE(ParseSavedPlan(texts).program.has_value());
  // The loop before the cut.
  Json& steps = manifest["program"]["functions"][0]["steps"];
  Json loop = steps[3];
  loop["inputs"] = loop["other_inputs"] = Json::array({0});
  steps.erase(3);
  steps.insert(steps.begin(), loop);
  texts.manifest = manifest.dump();
  try {
    ParseSavedPlan(texts);
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(),
              "the program's function 1 (loop), step 0: runs a part that needs #k, to which "
              "nothing before gives a value");
  }
}

}  // namespace
}  // namespace tenon::runtime
