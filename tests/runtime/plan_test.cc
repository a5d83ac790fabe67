#include "tenon/runtime/plan.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tenon/support/strings.h"

namespace tenon::runtime {
namespace {

Node Input(const std::string& name, Shape shape) {
  return {.kind = NodeKind::kInput, .name = name, .outputs = {{.shape = shape, .dtype = Float32}}};
}

Node Kernel(const std::string& name, std::vector<EntryRef> inputs, Shape shape) {
  return {.kind = NodeKind::kKernel,
          .name = name,
          .function_name = name,
          .hash = 0x1234,
          .kernel = 0,
          .inputs = std::move(inputs),
          .outputs = {{.shape = std::move(shape), .dtype = Float32}}};
}

std::vector<int> StorageIds(const Plan& plan) {
  std::vector<int> ids;
  for (const Node& node : plan.nodes) {
    for (const Entry& entry : node.outputs) ids.push_back(entry.storage_id);
  }
  return ids;
}

// x, then five additions and an exp, each a kernel of its own: the graph without fusion.
Plan ChainOfSix() {
  Plan plan;
  plan.nodes.push_back(Input("x", {10, 20}));
  for (int i = 0; i < 6; ++i) plan.nodes.push_back(Kernel(StrCat("k", i), {{i, 0}}, {10, 20}));
  plan.heads = {{6, 0}};
  return plan;
}

TEST(AssignStorageTest, TwoBuffersPingPongAndTheInputIsNeverReused) {
  Plan plan = ChainOfSix();
  AssignStorage(&plan);
  EXPECT_EQ(StorageIds(plan), (std::vector<int>{0, 1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(plan.storage_bytes, (std::vector<std::size_t>{800, 800, 800}));
}

TEST(AssignStorageTest, AValueLivesUntilItsLastReader) {
  Plan plan;
  plan.nodes = {Input("x", {4}), Kernel("a", {{0, 0}}, {4}), Kernel("b", {{1, 0}}, {4}),
                Kernel("c", {{2, 0}}, {4}), Kernel("d", {{1, 0}, {3, 0}}, {4})};
  plan.heads = {{4, 0}};
  AssignStorage(&plan);
  EXPECT_EQ(StorageIds(plan), (std::vector<int>{0, 1, 2, 3, 2}));
}

TEST(AssignStorageTest, TheSmallestFreeStorageThatFitsIsTakenElseTheLargestGrows) {
  Plan plan;
  plan.nodes = {Input("x", {4}),
                Kernel("small", {{0, 0}}, {4}),
                Kernel("large", {{1, 0}}, {100}),
                Kernel("next", {{2, 0}}, {3}),
                Kernel("most", {{3, 0}}, {50}),
                Kernel("grown", {{4, 0}}, {10})};
  plan.heads = {{5, 0}};
  AssignStorage(&plan);
  EXPECT_EQ(StorageIds(plan), (std::vector<int>{0, 1, 2, 1, 2, 1}));
  EXPECT_EQ(plan.storage_bytes, (std::vector<std::size_t>{16, 40, 400}));
}

TEST(AssignStorageTest, AViewSharesAndKeepsItsStorage) {
  Plan plan;
  Node view = Kernel("v", {{1, 0}}, {2, 2});
  view.kind = NodeKind::kView;
  plan.nodes = {Input("x", {4}), Kernel("a", {{0, 0}}, {4}), view, Kernel("b", {{0, 0}}, {4}),
                Kernel("c", {{2, 0}, {3, 0}}, {4})};
  plan.heads = {{4, 0}};
  AssignStorage(&plan);
  EXPECT_EQ(StorageIds(plan), (std::vector<int>{0, 1, 1, 2, 3}));
}

TEST(AssignStorageTest, ResultsAreNeverOverwritten) {
  Plan plan;
  plan.nodes = {Input("x", {4}), Kernel("a", {{0, 0}}, {4}), Kernel("b", {{1, 0}}, {4}),
                Kernel("c", {{2, 0}}, {4})};
  plan.heads = {{1, 0}, {3, 0}};
  AssignStorage(&plan);
  EXPECT_EQ(StorageIds(plan), (std::vector<int>{0, 1, 2, 3}));
}

Node Join(std::vector<EntryRef> inputs, Shape shape) {
  Node join = Kernel("join", std::move(inputs), std::move(shape));
  join.kind = NodeKind::kJoin;
  return join;
}
Node Cut(EntryRef input, std::size_t offset, Shape shape) {
  Node cut = Kernel("cut", {input}, std::move(shape));
  cut.kind = NodeKind::kView;
  cut.offsets = {offset};
  return cut;
}
std::vector<std::size_t> Offsets(const Plan& plan) {
  std::vector<std::size_t> offsets;
  for (const Node& node : plan.nodes) {
    for (const Entry& entry : node.outputs) offsets.push_back(entry.offset);
  }
  return offsets;
}

TEST(AssignStorageTest, TheInputsOfAJoinLieInItsStorage) {
  Plan plan;
  plan.nodes = {Input("x", {4}),
                Kernel("a", {{0, 0}}, {4}),
                Kernel("b", {{0, 0}}, {4}),
                Kernel("c", {{2, 0}}, {4}),
                Join({{1, 0}, {3, 0}}, {8}),
                Kernel("d", {{4, 0}}, {4})};
  plan.heads = {{5, 0}};
  AssignStorage(&plan);
  EXPECT_EQ(StorageIds(plan), (std::vector<int>{0, 1, 2, 1, 1, 2}));
  EXPECT_EQ(Offsets(plan), (std::vector<std::size_t>{0, 0, 0, 16, 0, 0}));
  EXPECT_EQ(plan.storage_bytes, (std::vector<std::size_t>{16, 32, 16}));
}

TEST(AssignStorageTest, AJoinIsKeptForReadersOfItsParts) {
  Plan plan;
  plan.nodes = {Input("x", {4}),
                Kernel("a", {{0, 0}}, {4}),
                Kernel("b", {{0, 0}}, {4}),
                Join({{1, 0}, {2, 0}}, {8}),
                Kernel("c", {{3, 0}}, {4}),
                Kernel("d", {{4, 0}}, {4}),
                Kernel("e", {{1, 0}, {5, 0}}, {4}),
                Kernel("f", {{6, 0}}, {8})};
  plan.heads = {{7, 0}};
  AssignStorage(&plan);
  EXPECT_EQ(StorageIds(plan), (std::vector<int>{0, 1, 1, 1, 2, 3, 2, 1}));
}

TEST(AssignStorageTest, AJoinThatNobodyReadsIsFreeOnceItsPartsAreWritten) {
  Plan plan;
  plan.nodes = {Input("x", {4}),
                Kernel("a", {{0, 0}}, {4}),
                Kernel("b", {{0, 0}}, {4}),
                Join({{1, 0}, {2, 0}}, {8}),
                Kernel("c", {{0, 0}}, {4}),
                Kernel("d", {{0, 0}}, {4})};
  plan.heads = {{4, 0}, {5, 0}};
  AssignStorage(&plan);
  EXPECT_EQ(StorageIds(plan), (std::vector<int>{0, 1, 1, 1, 1, 2}));
}

TEST(AssignStorageTest, JoinsAndViewsNest) {
  Plan plan;
  plan.nodes = {Input("x", {2}),
                Kernel("a", {{0, 0}}, {2}),
                Kernel("b", {{0, 0}}, {3}),
                Join({{1, 0}, {2, 0}}, {5}),
                Kernel("c", {{0, 0}}, {7}),
                Join({{4, 0}, {3, 0}}, {12}),
                Cut({5, 0}, 36, {3}),
                Cut({6, 0}, 4, {1}),
                Cut({2, 0}, 8, {1}),
                Cut({0, 0}, 4, {1})};
  plan.heads = {{7, 0}, {8, 0}, {9, 0}};
  AssignStorage(&plan);
  EXPECT_EQ(StorageIds(plan), (std::vector<int>{0, 1, 1, 1, 1, 1, 1, 1, 1, 0}));
  EXPECT_EQ(Offsets(plan), (std::vector<std::size_t>{0, 28, 36, 28, 0, 0, 36, 40, 44, 4}));
}

TEST(GraphJsonTest, SaysWhereAnEntryBeginsInItsStorage) {
  Plan plan;
  plan.nodes = {Input("x", {4}), Cut({0, 0}, 8, {2}), Kernel("a", {{1, 0}}, {2})};
  plan.heads = {{2, 0}};
  AssignStorage(&plan);
  const auto json = nlohmann::json::parse(ToGraphJson(plan));
  EXPECT_EQ(json["attrs"]["storage_offset"], nlohmann::json::parse(R"(["list_int", [0, 8, 0]])"));
  EXPECT_EQ(json["nodes"][1]["attrs"]["func_name"], "__nop");
  Plan chain = ChainOfSix();
  AssignStorage(&chain);
  EXPECT_FALSE(nlohmann::json::parse(ToGraphJson(chain))["attrs"].contains("storage_offset"));
}

TEST(GraphJsonTest, HasTheGraphExecutorsForm) {
  Plan plan = ChainOfSix();
  AssignStorage(&plan);
  const auto json = nlohmann::json::parse(ToGraphJson(plan));
  ASSERT_EQ(json["nodes"].size(), 7U);
  EXPECT_EQ(json["nodes"][0]["op"], "null");
  EXPECT_EQ(json["nodes"][0]["inputs"], nlohmann::json::array());
  const auto& attrs = json["nodes"][3]["attrs"];
  EXPECT_EQ(json["nodes"][3]["op"], "tvm_op");
  EXPECT_EQ(attrs["num_outputs"], "1");
  EXPECT_EQ(attrs["num_inputs"], "1");
  EXPECT_EQ(attrs["flatten_data"], "0");
  EXPECT_EQ(attrs["hash"], "0000000000001234");
  EXPECT_EQ(json["nodes"][3]["inputs"], nlohmann::json::parse("[[2, 0, 0]]"));
  EXPECT_EQ(json["arg_nodes"], nlohmann::json::parse("[0]"));
  EXPECT_EQ(json["heads"], nlohmann::json::parse("[[6, 0, 0]]"));
  EXPECT_EQ(json["node_row_ptr"], nlohmann::json::parse("[0, 1, 2, 3, 4, 5, 6, 7]"));
  EXPECT_EQ(json["attrs"]["storage_id"],
            nlohmann::json::parse(R"(["list_int", [0, 1, 2, 1, 2, 1, 2]])"));
  EXPECT_EQ(json["attrs"]["device_index"][1][0], 1);
  EXPECT_EQ(json["attrs"]["dltype"][0], "list_str");
  EXPECT_EQ(json["attrs"]["shape"][1][6], nlohmann::json::parse("[10, 20]"));
}

}  // namespace
}  // namespace tenon::runtime
