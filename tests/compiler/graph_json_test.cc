// The JSON form of the plan of a chain of five self-additions and exp, with and without fusion.
#include <set>

#include <nlohmann/json.hpp>

#include "tenon/compiler/plan/function_labels.h"
#include "tenon/passes/fusion/fuse_ops.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::compiler {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;
using testing_graphs::Parsed;

ir::Module Chain() {
  return Parsed(
      "def @main(%x: Tensor[(10, 20), float32]) {\n"
      "  %0 = add(%x, %x);\n  %1 = add(%0, %0);\n  %2 = add(%1, %1);\n"
      "  %3 = add(%2, %2);\n  %4 = add(%3, %3);\n  exp(%4)\n}");
}

json GraphOf(const ir::Module& module, int opt_level) {
  const Lowered lowered = ValueOrThrow(Lower(module, {.opt_level = opt_level}));
  return json::parse(runtime::ToGraphJson(lowered.plan));
}
const json& Unfused() {
  static const json graph = GraphOf(Chain(), 0);
  return graph;
}
const json& Fused() {
  static const json graph = GraphOf(Chain(), 3);
  return graph;
}

json FunctionNames(const json& graph) {
  json names = json::array();
  for (const json& node : graph["nodes"])
    if (node["op"] != "null") names.push_back(node["attrs"]["func_name"]);
  return names;
}

TEST(GraphJsonTest, S001_23_WithoutFusionEveryCallIsANode) {
  const json& nodes = Unfused()["nodes"];
  ASSERT_EQ(nodes.size(), 7U);
  EXPECT_EQ(nodes[0]["op"], "null");
  EXPECT_EQ(nodes[0]["name"], "x");
  EXPECT_EQ(nodes[0]["inputs"], json::array());
  for (std::size_t i = 1; i < 7; ++i) EXPECT_EQ(nodes[i]["op"], "tvm_op");
}

TEST(GraphJsonTest, S001_24_RepeatedNodeNamesAreNumbered) {
  json names = json::array();
  for (const json& node : Unfused()["nodes"]) names.push_back(node["name"]);
  EXPECT_EQ(names, (json{"x", "tvmgen_default_fused_add", "tvmgen_default_fused_add1",
                         "tvmgen_default_fused_add2", "tvmgen_default_fused_add3",
                         "tvmgen_default_fused_add4", "tvmgen_default_fused_exp"}));
}

TEST(GraphJsonTest, S001_25_NodesOfEqualFunctionsShareTheFunctionName) {
  const std::string add = "tvmgen_default_fused_add";
  EXPECT_EQ(FunctionNames(Unfused()), (json{add, add, add, add, add, "tvmgen_default_fused_exp"}));
  EXPECT_EQ(ValueOrThrow(Lower(Chain(), {.opt_level = 0})).kernels.size(), 2U);
}

TEST(GraphJsonTest, S001_26_AttributesOfANodeAreStrings) {
  for (std::size_t i = 1; i < 7; ++i) {
    const json& attrs = Unfused()["nodes"][i]["attrs"];
    EXPECT_EQ(attrs["num_outputs"], "1");
    EXPECT_EQ(attrs["num_inputs"], "1");  // a self-addition has one distinct input
    EXPECT_EQ(attrs["flatten_data"], "0");
    ASSERT_TRUE(attrs["hash"].is_string());
    EXPECT_THAT(attrs["hash"].get<std::string>(), MatchesRegex("[0-9a-f]{16}"));
    EXPECT_EQ(attrs.size(), 5U) << attrs;
  }
}

TEST(GraphJsonTest, S001_27_HashesAreEqualForEqualFunctionsOnly) {
  std::vector<std::string> hashes;
  for (std::size_t i = 1; i < 7; ++i)
    hashes.push_back(Unfused()["nodes"][i]["attrs"]["hash"].get<std::string>());
  for (std::size_t i = 1; i < 5; ++i) EXPECT_EQ(hashes[i], hashes[0]);
  const std::string fused = Fused()["nodes"][1]["attrs"]["hash"].get<std::string>();
  EXPECT_EQ((std::set<std::string>{hashes[0], hashes[5], fused}.size()), 3U);
  EXPECT_EQ(GraphOf(Chain(), 0), Unfused());  // and the same in every run
}

TEST(GraphJsonTest, S001_28_InputsAreTriplesOfNodeOutputAndVersion) {
  for (int i = 1; i < 7; ++i)
    EXPECT_EQ(Unfused()["nodes"][static_cast<std::size_t>(i)]["inputs"],
              (json::array({json::array({i - 1, 0, 0})})));
}

TEST(GraphJsonTest, S001_29_ListsArgumentsHeadsAndRows) {
  EXPECT_EQ(Unfused()["arg_nodes"], json::parse("[0]"));
  EXPECT_EQ(Unfused()["heads"], json::parse("[[6, 0, 0]]"));
  EXPECT_EQ(Unfused()["node_row_ptr"], json::parse("[0, 1, 2, 3, 4, 5, 6, 7]"));
}

TEST(GraphJsonTest, S001_30_AttributesOfEntriesArePairsOfTagAndList) {
  const json& attrs = Unfused()["attrs"];
  EXPECT_EQ(attrs["dltype"], (json::array({"list_str", std::vector<std::string>(7, "float32")})));
  EXPECT_EQ(attrs["device_index"], (json::array({"list_int", std::vector<int>(7, 1)})));
  EXPECT_EQ(attrs["storage_id"], json::parse(R"(["list_int", [0, 1, 2, 1, 2, 1, 2]])"));
  EXPECT_EQ(attrs["shape"],
            (json::array({"list_shape", std::vector<std::vector<int>>(7, {10, 20})})));
}

TEST(GraphJsonTest, S001_31_TwoBuffersServeTheChainAndTheInputIsNeverReused) {
  const Lowered lowered = ValueOrThrow(Lower(Chain(), {.opt_level = 0}));
  EXPECT_EQ(lowered.plan.storage_bytes, (std::vector<std::size_t>{800, 800, 800}));
  for (std::size_t n = 1; n < lowered.plan.nodes.size(); ++n) {
    const runtime::Node& node = lowered.plan.nodes[n];
    EXPECT_NE(node.outputs[0].storage_id, 0);
    EXPECT_NE(node.outputs[0].storage_id, lowered.plan.entry(node.inputs[0]).storage_id);
  }
}

TEST(GraphJsonTest, S001_32_FusionPrintsOneFunctionLiteral) {
  const std::string text =
      ir::PrintModule(passes::FuseOps(passes::InferType(Chain())), {.metadata = false});
  // Numbering continues: 0 to 4 inside, 5 outside.
  EXPECT_THAT(text, AllOf(HasSubstr("  %5 = fn (%p0: Tensor[(10, 20), float32], Primitive=1)"),
                          HasSubstr("    %0 = add(%p0, %p0)"), HasSubstr("    %4 = add(%3, %3)"),
                          HasSubstr("    exp(%4)"), HasSubstr("\n  %5(%x)")));
}

TEST(GraphJsonTest, S001_33_S001_34_WithFusionTheChainIsOneKernel) {
  const json& graph = Fused();
  ASSERT_EQ(graph["nodes"].size(), 2U);
  EXPECT_EQ(FunctionNames(graph), (json::array({"tvmgen_default_fused_add_add_add_add_add_exp"})));
  EXPECT_EQ(graph["nodes"][1]["name"], "tvmgen_default_fused_add_add_add_add_add_exp");
  EXPECT_EQ(graph["nodes"][1]["attrs"]["num_inputs"], "1");
  EXPECT_EQ(graph["heads"], json::parse("[[1, 0, 0]]"));
  EXPECT_EQ(graph["attrs"]["storage_id"], json::parse(R"(["list_int", [0, 1]])"));
  EXPECT_EQ(graph["node_row_ptr"], json::parse("[0, 1, 2]"));
}

TEST(GraphJsonTest, S001_35_FusionByHandSurvivesLevelZero) {
  const json graph = GraphOf(passes::FuseOps(passes::InferType(Chain())), 0);
  ASSERT_EQ(graph["nodes"].size(), 2U);
  EXPECT_EQ(FunctionNames(graph), (json::array({"tvmgen_default_fused_add_add_add_add_add_exp"})));
}

// What fusion is for: fewer kernels, and no intermediate result in memory. The result is counted.
TEST(GraphJsonTest, S001_45_FusionSavesKernelsAndTheBytesBetweenThem) {
  const auto costs = [](const ir::Module& module, int opt_level) {
    const Executable exe =
        ValueOrThrow(Compile(module, {.opt_level = opt_level, .fusion = FusionMode::kRelay}));
    return std::pair(exe.num_kernel_calls(), exe.working_bytes());
  };
  constexpr std::size_t kChain = 10 * 20 * sizeof(float);
  EXPECT_EQ(costs(Chain(), 0), std::pair(6, 2 * kChain));
  EXPECT_EQ(costs(Chain(), 1), std::pair(1, kChain));
  const ir::Module boundary = Parsed(
      "def @main(%x: Tensor[(20, 20), float32]) {\n"
      "  %0 = add(%x, %x);\n  %1 = add(%0, %0);\n  %2 = sum(%1, axis=[-1]);\n  add(%2, %2)\n}");
  const auto before = costs(boundary, 0), after = costs(boundary, 1);
  EXPECT_EQ(before.first, 4);
  EXPECT_EQ(after.first, 2);
  EXPECT_GE(before.second, 2 * 20 * 20 * sizeof(float));
  EXPECT_LT(after.second, 20 * 20 * sizeof(float));
}

TEST(GraphJsonTest, S001_45_AChainIsOneLoopNestWithoutAnIntermediateArray) {
  const std::string loops = testing_graphs::LoopsOf(
      Chain(), {.opt_level = 1, .library = LibraryChoice::kTe, .fusion = FusionMode::kRelay});
  EXPECT_THAT(loops, ::testing::Not(HasSubstr("allocate")));
  int stores = 0;
  for (const std::string& line : StrSplit(loops, '\n')) {
    if (line.find("] = ") == std::string::npos) continue;
    ++stores;
    EXPECT_THAT(line, HasSubstr("exp["));
  }
  EXPECT_GE(stores, 1);
}

TEST(GraphJsonTest, TupleResultsHaveAHeadEach) {
  const json graph = GraphOf(Parsed("def @main(%x: Tensor[(3, 6), float32]) { "
                                    "split(%x, indices_or_sections=3, axis=1) }"),
                             3);
  EXPECT_EQ(graph["heads"], json::parse("[[1, 0, 0], [1, 1, 0], [1, 2, 0]]"));
  EXPECT_EQ(graph["node_row_ptr"], json::parse("[0, 1, 4]"));
  EXPECT_EQ(graph["nodes"][1]["attrs"]["num_outputs"], "3");
}

// --- names

// So many additions, then so many tanh: "fused" and four or five characters each.
std::string NameOf(int additions, int tanhs, const char* last = "") {
  std::string text = "%x";
  for (int i = 0; i < additions; ++i) text = StrCat("add(", text, ", ", i, "f)");
  for (int i = 0; i < tanhs; ++i) text = StrCat("tanh(", text, ")");
  if (*last != 0) text = StrCat(last, "(", text, ")");
  const ir::Module module = Parsed(StrCat("def @main(%x: Tensor[(3), float32]) { ", text, " }"));
  return NameOfFunction(module.Main());
}

TEST(KernelNameTest, S001_34_JoinsTheOperatorsInOrderOfExecution) {
  EXPECT_EQ(NameOf(2, 1), "fused_add_add_tanh");
  EXPECT_EQ(NameOf(0, 1, "nn.relu"), "fused_tanh_nn_relu");
}

TEST(KernelNameTest, S001_34_OfEightyCharactersIsWhole) {
  const std::string name = NameOf(15, 3);
  EXPECT_EQ(name.size(), 80U);
  EXPECT_THAT(name, ::testing::EndsWith("_add_tanh_tanh_tanh"));
}

TEST(KernelNameTest, S001_34_OfMoreIsCutAndEndsInAHash) {
  const std::string name = NameOf(19, 0), other = NameOf(30, 0), third = NameOf(30, 0, "exp");
  for (const std::string& n : {name, other, third}) {
    EXPECT_LE(n.size(), 80U);
    EXPECT_THAT(n, AllOf(StartsWith("fused_add_add_add_add_add_add_add_add_add"),
                         MatchesRegex(".*_[0-9a-f]{16}")));
  }
  EXPECT_EQ((std::set<std::string>{name, other, third}.size()), 3U);
  EXPECT_EQ(NameOf(30, 0), other);
}

}  // namespace
}  // namespace tenon::compiler
