// The texts of saved executables: what is written is read, and what cannot be run is refused with
// its place.
#include "tenon/runtime/saved_plan.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/support/error.h"
#include "tenon/tests/runtime/saved_damage.h"
#include "tenon/tests/runtime/symbolic_example.h"

namespace tenon::runtime {
namespace {

using ::testing::HasSubstr;

// x -> a kernel with two results -> a view of the first and a join of both; a constant.
SavedPlan Example() {
  const auto entry = [](Shape shape) { return Entry{.shape = std::move(shape), .dtype = Float32}; };
  Plan plan;
  plan.nodes = {
      {.kind = NodeKind::kInput, .name = "x", .inputs = {}, .outputs = {entry({2, 3})}},
      {.kind = NodeKind::kConstant,
       .name = "p0",
       .constant = 0,
       .inputs = {},
       .outputs = {entry({3})}},
      {.kind = NodeKind::kKernel,
       .name = "both",
       .function_name = "both",
       .hash = 0x0123456789abcdefULL,
       .kernel = 0,
       .inputs = {{0, 0}, {1, 0}},
       .outputs = {entry({2, 3}), entry({1, 3})},
       .origins = {"model.relay:3:7"}},
      {.kind = NodeKind::kView,
       .name = "row",
       .inputs = {{2, 0}},
       .outputs = {entry({3})},
       .offsets = {12}},
      {.kind = NodeKind::kJoin,
       .name = "all",
       .inputs = {{2, 0}, {2, 1}},
       .outputs = {entry({3, 3})}},
      {.kind = NodeKind::kCopy, .name = "copy", .inputs = {{4, 0}}, .outputs = {entry({3, 3})}}};
  plan.heads = {{3, 0}, {5, 0}};
  AssignStorage(&plan);
  return {.plan = std::move(plan),
          .kernels = {"both"},
          .constants_at = {64},
          .result_names = {"row", "all"},
          .threads = 2,
          .params = {.bytes = 76, .hash = 5},
          .kernels_file = {.bytes = 7, .hash = 6}};
}

TEST(SavedPlanTest, WhatIsWrittenIsRead) {
  const SavedPlan saved = Example();
  const SavedPlan read = ParseSavedPlan(ToTexts(saved));
  EXPECT_EQ(ToTexts(read).graph, ToTexts(saved).graph);
  EXPECT_EQ(ToTexts(read).manifest, ToTexts(saved).manifest);
  ASSERT_EQ(read.plan.nodes.size(), saved.plan.nodes.size());
  for (std::size_t n = 0; n < read.plan.nodes.size(); ++n) {
    const Node &a = read.plan.nodes[n], &b = saved.plan.nodes[n];
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.hash, b.hash);
    EXPECT_EQ(a.inputs, b.inputs);
    EXPECT_EQ(a.offsets, b.offsets);
    EXPECT_EQ(a.origins, b.origins);
    EXPECT_EQ(a.outputs[0].shape, b.outputs[0].shape);
    EXPECT_EQ(a.outputs[0].storage_id, b.outputs[0].storage_id);
    EXPECT_EQ(a.outputs[0].offset, b.outputs[0].offset);
  }
  EXPECT_EQ(read.plan.storage_bytes, saved.plan.storage_bytes);
}

TEST(SavedPlanTest, AGraphThatWasNotSavedWithTheManifestIsRefused) {
  SavedTexts texts = ToTexts(Example());
  texts.graph += " ";
  try {
    ParseSavedPlan(texts);
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(error.message(), HasSubstr("graph.json is not the file that was saved"));
  }
}

class DamagedPlanTest : public ::testing::TestWithParam<Damage> {};

TEST_P(DamagedPlanTest, IsRefusedWithItsPlace) {
  EXPECT_THAT(RefusalOf(ToTexts(Example()), GetParam()), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Texts, DamagedPlanTest,
    ::testing::Values(
        Damage{kGraphFile, "/nodes", nullptr, "graph.json has no \"nodes\""},
        Damage{kGraphFile, "/nodes", 5, "graph.json.nodes must be a list"},
        Damage{kGraphFile, "/nodes/0/name", 5, "graph.json.nodes[0].name must be a string"},
        Damage{kGraphFile, "/nodes/1/name", "x", "node 1 (x): another node has its name"},
        Damage{kGraphFile, "/nodes/2/inputs/0/0", 2,
               "node 2 (both): reads node 2; 2 nodes come before it"},
        Damage{kGraphFile, "/nodes/2/inputs/0/0", -1,
               "graph.json.nodes[2].inputs[0][0] must be a whole number from 0 to 2147483647"},
        Damage{kGraphFile, "/nodes/2/inputs/0/0", 4294967296, "must be a whole number from 0 to"},
        Damage{kGraphFile, "/nodes/2/inputs/0/0", 0.5, "must be a whole number from 0 to"},
        Damage{kGraphFile, "/nodes/2/inputs/0/1", 1, "reads output 1 of node 0, which has 1"},
        Damage{kGraphFile, "/nodes/2/attrs/hash", "12", "must be 16 hexadecimal digits"},
        Damage{kGraphFile, "/nodes/0/inputs", Json::parse("[[0,0,0]]"), "reads node 0; 0 nodes"},
        Damage{kGraphFile, "/heads/0/0", 6, "the results: reads node 6; 6 nodes"},
        Damage{kGraphFile, "/node_row_ptr/1", 0, "node 0 (x): has 0 outputs; it must have 1"},
        Damage{kGraphFile, "/node_row_ptr/2", 0,
               "graph.json.node_row_ptr[2] must be a whole number from 1"},
        Damage{kGraphFile, "/node_row_ptr/6", 900, "has 7 items; item 7 is missing"},
        Damage{kGraphFile, "/attrs/dltype/1/0", "float7",
               "graph.json.attrs.dltype[1][0] is no type of elements"},
        Damage{kGraphFile, "/attrs/dltype/1/0", "float32x4", "node 0 (x): "},
        Damage{kGraphFile, "/attrs/shape/1/0/0", 4611686018427387904, "node 0 (x): "},
        Damage{kGraphFile, "/attrs/shape/1/0/0", -2, "must be a whole number from 0"},
        Damage{kGraphFile, "/attrs/shape/1/4/0", 4, "row): a view ends after what it views"},
        Damage{kGraphFile, "/attrs/shape/1/5/0", 4,
               "all): the parts of a join have fewer bytes than it"},
        Damage{kGraphFile, "/attrs/shape/1/5/0", 2,
               "all): the parts of a join have more bytes than it"},
        Damage{kGraphFile, "/nodes/4/inputs/0/0", 3, "all): a part of a value is joined"},
        Damage{kGraphFile, "/nodes/4/inputs/0/0", 0, "all): a given value is joined"},
        Damage{kGraphFile, "/nodes/4/inputs/1/1", 0, "all): a value that lies in a join is joined"},
        Damage{kGraphFile, "/nodes/5/inputs/0/0", 0, "a copy has as many bytes as its input"},
        Damage{kManifestFile, "/format", nullptr, "tenon.json has no \"format\""},
        Damage{kManifestFile, "/nodes/0/kind", "sink", "is sink, which is no kind of node"},
        Damage{kManifestFile, "/nodes/0/kind", "constant", "has no \"constant\""},
        Damage{kManifestFile, "/nodes/5", nullptr, "tenon.json has 5 nodes and graph.json has 6"},
        Damage{kManifestFile, "/nodes/2/kernel", 1, "node 2 (both): is kernel 1; there are 1"},
        Damage{kManifestFile, "/nodes/1/constant", 1, "node 1 (p0): is constant 1; there are 1"},
        Damage{kManifestFile, "/nodes/3/offsets/0", 16, "a view ends after what it views"},
        Damage{kManifestFile, "/nodes/3/offsets/0", 10, "a view begins inside an element"},
        Damage{kManifestFile, "/nodes/3/offsets", Json::array(), "an offset for each output"},
        Damage{kManifestFile, "/nodes/0/device", "cuda:0", "is on cuda:0, which is not there"},
        Damage{kManifestFile, "/nodes/0/device", "moon", "nodes[0].device is no device"},
        Damage{kManifestFile, "/constants_at/0", 68,
               "the constant p0 ends after params.bin, which has 76 bytes"},
        Damage{kManifestFile, "/constants_at/0", 62, "begins inside an element of params.bin"},
        Damage{kManifestFile, "/extents", Json::parse(R"([{"result": 0, "axis": 0, "count": 1}])"),
               "the count of an extent is not one int64"},
        Damage{kManifestFile, "/extents", Json::parse(R"([{"result": 0, "axis": 1, "count": 1}])"),
               "an extent belongs to no axis"},
        Damage{kManifestFile, "/extents", Json::parse(R"([{"result": 0, "axis": 0, "count": 2}])"),
               "an extent belongs to no result"},
        Damage{kManifestFile, "/threads", "two", "tenon.json.threads must be a whole number"}));

SavedPlan ExampleWithVariables() {
  return {.plan = SymbolicExample(),
          .kernels = {"both"},
          .constants_at = {},
          .result_names = {},
          .threads = 1,
          .params = {},
          .kernels_file = {}};
}

TEST(SavedPlanTest, VariablesAreReadAsTheyAreWritten) {
  const SavedPlan saved = ExampleWithVariables();
  const SavedPlan read = ParseSavedPlan(ToTexts(saved));
  EXPECT_EQ(ToTexts(read).graph, ToTexts(saved).graph);
  EXPECT_EQ(ToTexts(read).manifest, ToTexts(saved).manifest);
  EXPECT_EQ(read.plan.symbols, saved.plan.symbols);
  EXPECT_EQ(read.plan.conditions, saved.plan.conditions);
  for (std::size_t n = 0; n < read.plan.nodes.size(); ++n) {
    const Node &a = read.plan.nodes[n], &b = saved.plan.nodes[n];
    EXPECT_EQ(a.begins, b.begins);
    EXPECT_EQ(a.arguments, b.arguments);
    EXPECT_EQ(a.outputs[0].extents, b.outputs[0].extents);
    EXPECT_EQ(a.outputs[0].shape, b.outputs[0].shape);
  }
}

TEST(SavedPlanTest, DamagedVariablesAreRefusedWithTheirPlace) {
  const std::vector<Damage> all = {
      {kManifestFile, "/variables", nullptr, "tenon.json has no \"variables\""},
      {kManifestFile, "/variables/example", Json::array(), "variables.example must be an object"},
      {kManifestFile, "/variables/example/n", 0, "example.n must be a whole number from 1"},
      {kManifestFile, "/variables/operations/0/0", "power", "is power, which is no operation"},
      {kManifestFile, "/variables/operations/0/1", 1, "must be a whole number from 0 to 0"},
      {kManifestFile, "/variables/operations/3", Json::array({"add", 3, 0}),
       "must be a whole number from 0 to 2"},
      {kManifestFile, "/variables/operations/3", Json::array({"floordiv", 0, 0}),
       "divides by what is no positive number"},
      {kManifestFile, "/variables/texts", Json::object(), "is no expression of the manifest"},
      {kManifestFile, "/variables/texts/n", 900, "texts.n must be a whole number"},
      {kManifestFile, "/variables/texts/n", 1, "no input has the extent n alone"},
      {kManifestFile, "/variables/conditions/0/is", "near", "conditions[0].is is near"},
      {kManifestFile, "/nodes/1/arguments/0", "m", "arguments[0] is no expression"}};
  for (const Damage& damage : all) {
    SCOPED_TRACE(damage.place);
    EXPECT_THAT(RefusalOf(ToTexts(ExampleWithVariables()), damage), HasSubstr(damage.message));
  }
}

TEST(SavedPlanTest, TextsThatAreNoJsonAreRefused) {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("\xff\xfe"), std::string(100000, '[')}) {
    SavedTexts texts = ToTexts(Example());
    texts.manifest = text;
    EXPECT_THROW(ParseSavedPlan(texts), Error);
  }
}

}  // namespace
}  // namespace tenon::runtime
