// The C interface: what it gives, what it refuses, and that older programs still link.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/c_api/tenon_c.h"
#include "tenon/tests/c_api/c_api_testing.h"
#include "tenon_test_paths.h"

namespace {

using tenon::c_api_testing::Compiled;
using tenon::c_api_testing::Floats;
using tenon::c_api_testing::MessageOf;
using tenon::c_api_testing::Parsed;
using tenon::c_api_testing::Taken;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kText[] = "def @main(%x: Tensor[(3), float32]) { (exp(%x), negative(%x)) }";

TEST(CApiTest, S004_30_AnOperatorIsCalledByItsNameAndRun) {
  const std::int64_t shape[] = {2, 2};
  TenonExpr *x = nullptr, *w = nullptr, *call = nullptr;
  ASSERT_EQ(MessageOf(tenon_variable("x", "float32", shape, 2, &x)), "");
  Floats weight({2, 2}, {1, 2, 3, 4});
  ASSERT_EQ(MessageOf(tenon_constant(&weight.tensor, &w)), "");
  weight.data = {0, 0, 0, 0};  // a copy was taken
  const TenonExpr* args[] = {x, w};
  ASSERT_EQ(MessageOf(tenon_call_op("nn.dense", args, 2, "{\"units\": 2}", &call)), "");
  TenonModule* module = nullptr;
  ASSERT_EQ(MessageOf(tenon_module_from_expr(call, &module)), "");
  TenonExecutable* executable = nullptr;
  ASSERT_EQ(MessageOf(tenon_compile(module, nullptr, &executable)), "");
  Floats input({2, 2}, {1, 0, 0, 1});
  const char* names[] = {"x"};
  const DLTensor* inputs[] = {&input.tensor};
  DLManagedTensor* result = nullptr;
  ASSERT_EQ(MessageOf(tenon_run(executable, names, inputs, 1, &result, 1)), "");
  const auto* y = static_cast<const float*>(result->dl_tensor.data);
  EXPECT_THAT(std::vector<float>(y, y + 4), ::testing::ElementsAre(1, 3, 2, 4));
  result->deleter(result);
  tenon_executable_free(executable);
  tenon_module_free(module);
  for (TenonExpr* expr : {x, w, call}) tenon_expr_free(expr);
}

TEST(CApiTest, S004_30_WrongCallsAreRefusedInWords) {
  const std::int64_t image[] = {1, 4, 9, 9}, kernel[] = {6, 4, 3, 3};
  TenonExpr *x = nullptr, *w = nullptr, *call = nullptr;
  ASSERT_EQ(MessageOf(tenon_variable("x", "float32", image, 4, &x)), "");
  ASSERT_EQ(MessageOf(tenon_variable("w", "float32", kernel, 4, &w)), "");
  const TenonExpr* args[] = {x, w};
  EXPECT_THAT(MessageOf(tenon_call_op("nn.conv2d", args, 1, nullptr, &call)),
              ::testing::HasSubstr("nn.conv2d takes 2 arguments, not 1"));
  EXPECT_THAT(MessageOf(tenon_call_op("nn.conv2d", args, 2, "{\"strides\": \"two\"}", &call)),
              ::testing::HasSubstr("field strides is \"two\", a string"));
  EXPECT_EQ(call, nullptr);
  for (TenonExpr* expr : {x, w}) tenon_expr_free(expr);
}

TEST(CApiTest, TuplesHaveFieldsAndExecutablesSeveralResults) {
  TenonExpr *x = nullptr, *tuple = nullptr, *field = nullptr;
  const std::int64_t shape[] = {-1};
  ASSERT_EQ(MessageOf(tenon_variable("x", "float32", shape, 1, &x)), "");
  const TenonExpr* fields[] = {x, x};
  ASSERT_EQ(MessageOf(tenon_tuple(fields, 2, &tuple)), "");
  ASSERT_EQ(MessageOf(tenon_tuple_field(tuple, 1, &field)), "");
  for (TenonExpr* expr : {x, tuple, field}) tenon_expr_free(expr);
  TenonExecutable* executable = Compiled(kText);
  std::size_t count = 0;
  EXPECT_EQ(MessageOf(tenon_num_results(executable, &count)), "");
  EXPECT_EQ(count, 2U);
  Floats input({3}, {0, 1, 2});
  const char* names[] = {"x"};
  const DLTensor* inputs[] = {&input.tensor};
  DLManagedTensor* results[2] = {};
  EXPECT_EQ(MessageOf(tenon_run(executable, names, inputs, 1, results, 2)), "");
  EXPECT_EQ(static_cast<float*>(results[1]->dl_tensor.data)[2], -2);
  for (DLManagedTensor* result : results) result->deleter(result);
  tenon_executable_free(executable);
}

TEST(CApiTest, TextsOfOperatorsModulesAndKernelsCanBeRead) {
  TenonText* text = nullptr;
  EXPECT_EQ(MessageOf(tenon_op_names(&text)), "");
  EXPECT_THAT(Taken(text), HasSubstr("\nnn.conv2d\n"));
  EXPECT_EQ(MessageOf(tenon_op_signature("nn.relu", &text)), "");
  EXPECT_EQ(Taken(text), "nn.relu(data: Tensor)");
  EXPECT_EQ(MessageOf(tenon_make_attrs("relay.attrs.Conv2DAttrs", "{\"groups\": 4}", &text)), "");
  EXPECT_THAT(Taken(text), AllOf(HasSubstr("\"groups\":4"), HasSubstr("\"data_layout\":\"NCHW\"")));
  TenonModule* module = Parsed(kText);
  TenonModule* fused = nullptr;
  EXPECT_EQ(MessageOf(tenon_run_passes(module, "InferType,FuseOps", &fused)), "");
  EXPECT_EQ(MessageOf(tenon_print(fused, 1, &text)), "");
  EXPECT_THAT(Taken(text), HasSubstr("Primitive=1"));
  TenonModule* partitioned = nullptr;
  EXPECT_EQ(MessageOf(tenon_partition(module, "dnnl", &partitioned)), "");
  for (TenonModule* m : {module, fused, partitioned}) tenon_module_free(m);
  TenonExecutable* executable = Compiled(kText, R"({"library": "te", "opt_level": 3})");
  EXPECT_EQ(MessageOf(tenon_describe(executable, &text)), "");
  EXPECT_THAT(Taken(text), HasSubstr(R"("inputs":[{"name":"x","dtype":"float32","shape":[3]}])"));
  EXPECT_EQ(MessageOf(tenon_graph_json(executable, &text)), "");
  EXPECT_THAT(Taken(text), HasSubstr("arg_nodes"));
  for (const char* kind : {"te", "loops", "llvm", "asm", "c", "explain"}) {
    EXPECT_EQ(MessageOf(tenon_kernel_text(executable, 0, kind, &text)), "");
    EXPECT_THAT(Taken(text), Not(IsEmpty())) << kind;
  }
  tenon_executable_free(executable);
}

// Fields of protocol buffers: a message or a text, and a number.
std::string Varint(std::size_t value) {
  std::string bytes;
  for (; value > 127; value >>= 7) bytes += static_cast<char>((value & 127) | 128);
  return bytes + static_cast<char>(value);
}
std::string Field(std::size_t number, const std::string& bytes) {
  return Varint(number << 3 | 2) + Varint(bytes.size()) + bytes;
}
std::string Field(std::size_t number, int value) {
  return Varint(number << 3) + Varint(static_cast<std::size_t>(value));
}

// y = Relu(x) of float32 elements, (n, 3).
std::string ReluModel() {
  const std::string shape = Field(1, Field(2, std::string("n"))) + Field(1, Field(1, 3));
  const std::string type = Field(2, Field(1, Field(1, 1) + Field(2, shape)));
  const std::string node =
      Field(1, std::string("x")) + Field(2, std::string("y")) + Field(4, std::string("Relu"));
  const std::string graph = Field(1, node) + Field(2, std::string("graph")) +
                            Field(11, Field(1, std::string("x")) + type) +
                            Field(12, Field(1, std::string("y")) + type);
  return Field(1, 8) + Field(7, graph) + Field(8, Field(2, 17));
}

TEST(CApiTest, AnOnnxModelIsReadCompiledAndRun) {
  const std::string path = testing::TempDir() + "c_api_relu.onnx";
  std::ofstream(path, std::ios::binary) << ReluModel();
  // With an extent for n, and for any n.
  for (const char* shapes : {"{\"x\": [2, 3]}", static_cast<const char*>(nullptr)}) {
    TenonModule* module = nullptr;
    ASSERT_EQ(MessageOf(tenon_read_onnx(path.c_str(), shapes, &module)), "");
    TenonText* text = nullptr;
    EXPECT_EQ(MessageOf(tenon_print(module, 0, &text)), "");
    EXPECT_THAT(Taken(text), AllOf(HasSubstr("nn.relu(%x)"),
                                   HasSubstr(shapes == nullptr ? "(n, 3)" : "(2, 3)")));
    TenonExecutable* executable = nullptr;
    ASSERT_EQ(MessageOf(tenon_compile(module, "{\"opt_level\": 3}", &executable)), "");
    EXPECT_EQ(MessageOf(tenon_describe(executable, &text)), "");
    EXPECT_THAT(Taken(text), HasSubstr(R"("results":[{"name":"y","dtype":"float32","shape":[)"));
    Floats input({2, 3}, {-1, 2, -3, 4, -5, 6});
    const char* names[] = {"x"};
    const DLTensor* inputs[] = {&input.tensor};
    DLManagedTensor* result = nullptr;
    ASSERT_EQ(MessageOf(tenon_run(executable, names, inputs, 1, &result, 1)), "");
    EXPECT_EQ(result->dl_tensor.shape[0], 2);
    const auto* y = static_cast<const float*>(result->dl_tensor.data);
    EXPECT_THAT(std::vector<float>(y, y + 6), ::testing::ElementsAre(0, 2, 0, 4, 0, 6));
    result->deleter(result);
    tenon_executable_free(executable);
    tenon_module_free(module);
  }
  std::remove(path.c_str());
}

// y = If(c): Identity(x) or else Transpose(x), of float32 elements, (2, 3).
std::string IfModel() {
  const auto named = [](const char* name, int type, const std::string& shape) {
    return Field(1, std::string(name)) + Field(2, Field(1, Field(1, type) + Field(2, shape)));
  };
  const auto branch = [](const char* attribute, const char* op) {
    const std::string node =
        Field(1, std::string("x")) + Field(2, std::string("b")) + Field(4, std::string(op));
    const std::string graph =
        Field(1, node) + Field(2, std::string("branch")) + Field(12, Field(1, std::string("b")));
    return Field(5, Field(1, std::string(attribute)) + Field(6, graph) + Field(20, 5));
  };
  const std::string node = Field(1, std::string("c")) + Field(2, std::string("y")) +
                           Field(4, std::string("If")) + branch("then_branch", "Identity") +
                           branch("else_branch", "Transpose");
  const std::string shape = Field(1, Field(1, 2)) + Field(1, Field(1, 3));
  const std::string graph = Field(1, node) + Field(2, std::string("graph")) +
                            Field(11, named("c", 9, "")) + Field(11, named("x", 1, shape)) +
                            Field(12, Field(1, std::string("y")));
  return Field(1, 8) + Field(7, graph) + Field(8, Field(2, 17));
}

TEST(CApiTest, AnOnnxModelThatNeedsControlFlowIsAProgram) {
  const std::string path = testing::TempDir() + "c_api_if.onnx";
  std::ofstream(path, std::ios::binary) << IfModel();
  TenonModule* module = nullptr;
  ASSERT_EQ(MessageOf(tenon_read_onnx(path.c_str(), nullptr, &module)), "");
  TenonExecutable* executable = nullptr;
  ASSERT_EQ(MessageOf(tenon_compile(module, nullptr, &executable)), "");
  tenon_module_free(module);
  Floats x({2, 3}, {1, 2, 3, 4, 5, 6});
  bool condition = true;
  DLTensor c{};
  c.data = &condition;
  c.device = {kDLCPU, 0};
  c.dtype = {6, 8, 1};  // kDLBool, which headers before DLPack 0.8 lack
  const char* names[] = {"c", "x"};
  const DLTensor* inputs[] = {&c, &x.tensor};
  for (const bool yes : {true, false}) {
    condition = yes;
    DLManagedTensor* result = nullptr;
    ASSERT_EQ(MessageOf(tenon_run(executable, names, inputs, 2, &result, 1)), "");
    EXPECT_EQ(result->dl_tensor.shape[0], yes ? 2 : 3);
    EXPECT_EQ(static_cast<const float*>(result->dl_tensor.data)[1], yes ? 2 : 4);
    result->deleter(result);
  }
  tenon_executable_free(executable);
  std::remove(path.c_str());
}

TEST(CApiTest, AProgramIsDescribedAndRunWithoutAPlan) {
  TenonExecutable* executable = Compiled(
      "def @main(%x: Tensor[(4), float32]) {\n"
      "  %0 = argwhere(%x);\n"
      "  (multiply(cast(%0, dtype=\"float32\"), 2f), exp(%x))\n}");
  TenonText* text = nullptr;
  EXPECT_EQ(MessageOf(tenon_describe(executable, &text)), "");
  const std::string described = Taken(text);
  EXPECT_THAT(described, HasSubstr(R"("inputs":[{"name":"x","dtype":"float32","shape":[4]}])"));
  EXPECT_THAT(described, HasSubstr(R"({"dtype":"float32","shape":[4]}])"));
  EXPECT_THAT(described, HasSubstr(R"("kernels":[{"implementation":"tenon"})"));
  std::size_t count = 0;
  EXPECT_EQ(MessageOf(tenon_num_results(executable, &count)), "");
  ASSERT_EQ(count, 2U);
  const char* names[] = {"x"};
  DLManagedTensor* results[2] = {};
  for (const auto& [values, found] : {std::pair{std::vector<float>{0, 1, 0, 2}, 2},
                                      std::pair{std::vector<float>{0, 0, 0, 0}, 0}}) {
    Floats x({4}, values);
    const DLTensor* inputs[] = {&x.tensor};
    ASSERT_EQ(MessageOf(tenon_run(executable, names, inputs, 1, results, 2)), "");
    EXPECT_EQ(results[0]->dl_tensor.shape[0], found);
    if (found == 2) {
      EXPECT_EQ(static_cast<const float*>(results[0]->dl_tensor.data)[1], 6);
    }
    for (DLManagedTensor* result : results) result->deleter(result);
  }
  EXPECT_EQ(MessageOf(tenon_kernel_text(executable, 0, "llvm", &text)), "");
  EXPECT_THAT(Taken(text), HasSubstr("define"));
  EXPECT_THAT(MessageOf(tenon_kernel_text(executable, 0, "explain", &text)),
              HasSubstr("does not explain its kernels"));
  EXPECT_THAT(MessageOf(tenon_graph_json(executable, &text)), HasSubstr("has no single plan"));
  tenon_executable_free(executable);
}

TEST(CApiTest, AnOnnxModelThatIsNotThereAndWrongShapesAreRefused) {
  TenonModule* module = nullptr;
  TenonError* error = tenon_read_onnx("/no/such/model.onnx", nullptr, &module);
  EXPECT_EQ(tenon_error_code(error), TENON_NOT_FOUND);
  EXPECT_THAT(MessageOf(error), HasSubstr("/no/such/model.onnx"));
  EXPECT_THAT(MessageOf(tenon_read_onnx("m.onnx", "{\"x\": 3}", &module)),
              HasSubstr("must be a JSON object of lists of integers; x is none"));
}

TEST(CApiTest, WhatIsWrongIsAnErrorThatNamesIt) {
  TenonModule* module = nullptr;
  TenonText* text = nullptr;
  TenonError* error = tenon_parse("def @main(%x) { nn.rel(%x) }", "my.relay", &module);
  EXPECT_EQ(tenon_error_code(error), TENON_INVALID_ARGUMENT);
  EXPECT_THAT(MessageOf(error), AllOf(HasSubstr("my.relay:1:"), HasSubstr("nn.relu")));
  EXPECT_EQ(module, nullptr);
  EXPECT_THAT(MessageOf(tenon_op_signature("nn.rel", &text)),
              AllOf(HasSubstr("did you mean nn.relu?"), HasSubstr("in tenon_op_signature")));
  EXPECT_THAT(MessageOf(tenon_load_plugin("/no/such.so")), HasSubstr("cannot be loaded"));
  TenonExpr* expr = nullptr;
  const std::int64_t shape[] = {-2};
  EXPECT_THAT(MessageOf(tenon_variable("x", "float32", shape, 1, &expr)),
              HasSubstr("extent 0 is -2"));
  EXPECT_THAT(MessageOf(tenon_variable("x", "float31", shape, 1, &expr)), HasSubstr("float31"));
  TenonModule* parsed = Parsed(kText);
  EXPECT_THAT(MessageOf(tenon_run_passes(parsed, "FuseOp", &module)), HasSubstr("FuseOps"));
  EXPECT_THAT(MessageOf(tenon_partition(parsed, "dnn", &module)), HasSubstr("did you mean dnnl?"));
  TenonExecutable* executable = nullptr;
  EXPECT_THAT(MessageOf(tenon_compile(parsed, "{\"opt_levl\": 3}", &executable)),
              HasSubstr("did you mean opt_level?"));
  EXPECT_THAT(MessageOf(tenon_compile(parsed, "{\"opt_level\": 9}", &executable)),
              HasSubstr("the option opt_level is 9; it must be 0 to 4"));
  EXPECT_THAT(MessageOf(tenon_compile(parsed, "3", &executable)), HasSubstr("a JSON object"));
  tenon_module_free(parsed);
  executable = Compiled(kText);
  EXPECT_THAT(MessageOf(tenon_kernel_text(executable, 99, "te", &text)), HasSubstr("kernel 99"));
  EXPECT_THAT(MessageOf(tenon_kernel_text(executable, 0, "cc", &text)),
              HasSubstr("llvm, asm, c and explain"));
  DLManagedTensor* results[2] = {};
  EXPECT_THAT(MessageOf(tenon_run(executable, nullptr, nullptr, 0, results, 1)),
              HasSubstr("1 results are asked for; the executable has 2"));
  EXPECT_THAT(MessageOf(tenon_run(executable, nullptr, nullptr, 0, results, 2)), HasSubstr("x"));
  Floats wrong({4}, {1, 2, 3, 4});
  wrong.tensor.device.device_type = kDLCUDA;
  const char* names[] = {"x"};
  const DLTensor* inputs[] = {&wrong.tensor};
  EXPECT_THAT(MessageOf(tenon_run(executable, names, inputs, 1, results, 2)),
              HasSubstr("only CPU memory"));
  EXPECT_EQ(results[0], nullptr);
  tenon_executable_free(executable);
}

TEST(CApiTest, JsonThatNestsWithoutEndIsRefused) {
  constexpr std::size_t kLevels = 300'000;
  const std::string deep = std::string(kLevels, '[') + std::string(kLevels, ']');
  TenonModule* module = Parsed(kText);
  TenonExecutable* executable = nullptr;
  EXPECT_THAT(
      MessageOf(tenon_compile(module, ("{\"threads\": " + deep + "}").c_str(), &executable)),
      HasSubstr("options nest more than 8 levels"));
  tenon_module_free(module);
  EXPECT_THAT(MessageOf(tenon_read_onnx("m.onnx", ("{\"x\": [" + deep + "]}").c_str(), &module)),
              HasSubstr("shapes nest more than 8 levels"));
}

TEST(CApiTest, NullPointersAreErrorsAndMayBeFreed) {
  TenonModule* module = nullptr;
  TenonText* text = nullptr;
  TenonExpr* expr = nullptr;
  TenonExecutable* executable = nullptr;
  EXPECT_THAT(MessageOf(tenon_parse(nullptr, nullptr, &module)), HasSubstr("text is null"));
  EXPECT_THAT(MessageOf(tenon_parse(kText, nullptr, nullptr)), HasSubstr("is null"));
  EXPECT_THAT(MessageOf(tenon_print(nullptr, 0, &text)), HasSubstr("module is null"));
  EXPECT_THAT(MessageOf(tenon_compile(nullptr, nullptr, &executable)), HasSubstr("module is null"));
  EXPECT_THAT(MessageOf(tenon_call_op("nn.relu", nullptr, 1, nullptr, &expr)),
              HasSubstr("is null"));
  EXPECT_THAT(MessageOf(tenon_describe(nullptr, &text)), HasSubstr("executable is null"));
  EXPECT_THAT(MessageOf(tenon_constant(nullptr, &expr)), HasSubstr("data is null"));
  tenon_error_free(nullptr);
  tenon_text_free(nullptr);
  tenon_expr_free(nullptr);
  tenon_module_free(nullptr);
  tenon_executable_free(nullptr);
  EXPECT_EQ(tenon_error_code(nullptr), 0);
  EXPECT_STREQ(tenon_error_message(nullptr), "");
}

// Bytes of texts that callers make are changed, lost and doubled; nothing ends the process.
TEST(CApiTest, DamagedTextsAreErrorsOrMeanSomething) {
  std::uint64_t state = 1;
  const auto below = [&state](std::size_t bound) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>(state >> 33) % bound;
  };
  const std::string texts[] = {
      R"({"opt_level": 3, "threads": 1, "library": "auto", "disabled_passes": ["FuseOps"]})",
      R"({"strides": [2, 2], "padding": [1, 1, 1, 1], "data_layout": "NCHW", "groups": 1})", kText,
      "InferType,FuseOps,FoldConstant", R"({"x": [1, 3, 48, 192]})"};
  TenonModule* module = Parsed(kText);
  int errors = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = texts[below(std::size(texts))];
    for (std::size_t change = 1 + below(4); change > 0; --change) {
      const std::size_t at = below(text.size());
      const char other = static_cast<char>(1 + below(255));
      if (below(3) == 0) text.insert(at, text.substr(below(text.size())));
      if (below(2) == 0) text.erase(at, below(5));
      if (text.empty()) text = "{";
      text[below(text.size())] = other;
    }
    TenonText* json = nullptr;
    TenonModule* changed = nullptr;
    TenonExecutable* executable = nullptr;
    TenonExpr* expr = nullptr;
    for (TenonError* error :
         {tenon_make_attrs("relay.attrs.Conv2DAttrs", text.c_str(), &json),
          tenon_make_attrs(text.c_str(), "{}", &json), tenon_parse(text.c_str(), "t", &changed),
          tenon_compile(nullptr, text.c_str(), &executable),
          tenon_read_onnx("/no/such.onnx", text.c_str(), &changed),
          tenon_call_op(text.c_str(), nullptr, 0, text.c_str(), &expr),
          tenon_partition(module, text.c_str(), &changed)}) {
      EXPECT_NE(tenon_error_code(error), TENON_INTERNAL) << text << "\n"
                                                         << tenon_error_message(error);
      errors += error != nullptr ? 1 : 0;
      tenon_error_free(error);
    }
    tenon_text_free(json);
    tenon_module_free(changed);
    tenon_expr_free(expr);
  }
  tenon_module_free(module);
  EXPECT_GT(errors, 10000);
}

TEST(CApiTest, APlugInThatIsLoadedAddsItsOperators) {
  TenonText* text = nullptr;
  ASSERT_EQ(MessageOf(tenon_load_plugin(TENON_SWISH_PLUGIN)), "");
  EXPECT_EQ(MessageOf(tenon_op_signature("my.swish", &text)), "");
  EXPECT_THAT(Taken(text), HasSubstr("beta: a number"));
  tenon_executable_free(Compiled("def @main(%x: Tensor[(3), float32]) { my.swish(%x) }"));
}

TEST(CApiTest, APlugInStaysLoadedWhoeverClosesIt) {
  EXPECT_EQ(MessageOf(tenon_load_plugin(TENON_SWISH_PLUGIN)), "");
  void* const plugin = dlopen(TENON_SWISH_PLUGIN, RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(plugin, nullptr);
  for (int i = 0; i < 8; ++i) dlclose(plugin);
  tenon_executable_free(Compiled("def @main(%x: Tensor[(5), float32]) { my.swish(%x) }"));
}

constexpr char kRelax[] = R"py(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        with R.dataflow():
            y = R.nn.relu(R.negative(x))
            R.output(y)
        return y
)py";

TEST(CApiTest, RelaxTextIsReadAndPrinted) {
  TenonModule* module = nullptr;
  ASSERT_EQ(MessageOf(tenon_parse(kRelax, "m.py", &module)), "");
  TenonText* text = nullptr;
  ASSERT_EQ(MessageOf(tenon_print(module, 1, &text)), "");
  EXPECT_THAT(Taken(text), HasSubstr("nn.relu(%0)"));
  ASSERT_EQ(MessageOf(tenon_print_relax(module, 1, &text)), "");
  const std::string printed = Taken(text);
  EXPECT_THAT(printed, HasSubstr("R.nn.relu(lv)"));
  tenon_module_free(module);
  ASSERT_EQ(MessageOf(tenon_parse(printed.c_str(), nullptr, &module)), "");
  ASSERT_EQ(MessageOf(tenon_print_relax(module, 1, &text)), "");
  EXPECT_EQ(Taken(text), printed);
  tenon_module_free(module);
  // Of Relay text, whose types are not known yet.
  ASSERT_EQ(MessageOf(tenon_parse("def @main(%x: Tensor[(3), float32]) { exp(%x) }", "m", &module)),
            "");
  ASSERT_EQ(MessageOf(tenon_print_relax(module, 0, &text)), "");
  EXPECT_THAT(Taken(text), HasSubstr("R.exp(x)"));
  tenon_module_free(module);
}

TEST(CApiTest, WrongRelaxTextIsRefusedWithItsPlace) {
  TenonModule* module = nullptr;
  const std::string wrong = std::string(kRelax).replace(std::string(kRelax).find("relu"), 4, "rel");
  EXPECT_THAT(MessageOf(tenon_parse(wrong.c_str(), "m.py", &module)),
              ::testing::AllOf(HasSubstr("m.py:7:"), HasSubstr("did you mean R.nn.relu?")));
  EXPECT_EQ(module, nullptr);
  TenonText* text = nullptr;
  EXPECT_THAT(MessageOf(tenon_print_relax(nullptr, 1, &text)), HasSubstr("module is null"));
  ASSERT_EQ(MessageOf(tenon_parse("def @main(%x: Tensor[(?, 3), float32]) { %x }", "m", &module)),
            "");
  EXPECT_THAT(MessageOf(tenon_print_relax(module, 1, &text)), HasSubstr("give the others names"));
  tenon_module_free(module);
}

// --- versions

std::set<std::string> Lines(const std::string& path) {
  std::ifstream file(path);
  std::set<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.insert(line);
  return lines;
}

// The last word of each line of what a shell command prints.
std::set<std::string> LastWordsOf(const char* command) {
  std::set<std::string> words;
  FILE* output = popen(command, "r");
  if (output == nullptr) return words;
  std::array<char, 1 << 14> line{};
  while (std::fgets(line.data(), line.size(), output) != nullptr) {
    const char* space = std::strrchr(line.data(), ' ');
    if (space != nullptr) words.emplace(space + 1, std::strcspn(space + 1, "\n"));
  }
  pclose(output);
  return words;
}

TEST(CApiTest, TheLibraryHasAllFunctionsOfItsVersions) {
  std::set<std::string> exported;
  for (const std::string& name : LastWordsOf("nm -D --defined-only " TENON_C_LIBRARY)) {
    // Generated code calls functions of tenon_lib_.
    if (name.starts_with("tenon_") && !name.starts_with("tenon_lib_")) exported.insert(name);
  }
  const std::set<std::string> listed = Lines(TENON_SOURCE_DIR "/c_api/exports.txt");
  EXPECT_GT(listed.size(), 20U);
  EXPECT_EQ(exported, listed) << "functions may be added to c_api/exports.txt, and none removed";
  EXPECT_EQ(tenon_c_api_version(), TENON_C_API_VERSION);
}

// Plug-ins need what is in namespace tenon, and templates of the standard library come with it.
TEST(CApiTest, TheLibraryShowsNothingOfOtherLibraries) {
  std::vector<std::string> foreign;
  for (const std::string& name : LastWordsOf("nm -D --defined-only " TENON_C_LIBRARY)) {
    const bool is_ours = name.starts_with("tenon_") || name.find("5tenon") != std::string::npos;
    const bool is_standard = name.starts_with("_Z") && name.find("St") < 6;
    if (!is_ours && !is_standard) foreign.push_back(name);
  }
  EXPECT_THAT(foreign, ::testing::IsEmpty());
  EXPECT_THAT(LastWordsOf("readelf -d " TENON_C_LIBRARY " | grep SONAME"),
              ::testing::ElementsAre("[libtenon_c.so.1]"));
}

// The header declares what version 1 declared, word for word, and more at most.
TEST(CApiTest, TheHeaderKeepsEveryDeclarationOfVersion1) {
  const auto declarations = [](const std::string& path) {
    std::ifstream file(path);
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    std::set<std::string> found;
    std::string one;
    bool in_comment = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text.compare(i, 2, "/*") == 0) in_comment = true;
      if (text.compare(i, 2, "*/") == 0) {
        in_comment = false;
        ++i;
      } else if (!in_comment && text[i] == '#') {
        i = text.find('\n', i);
      } else if (!in_comment && text[i] == ';') {
        found.insert(one);
        one.clear();
      } else if (!in_comment && !std::isspace(static_cast<unsigned char>(text[i]))) {
        one += text[i];
      }
    }
    return found;
  };
  const auto now = declarations(TENON_SOURCE_DIR "/c_api/tenon_c.h");
  for (const std::string& declaration : declarations(TENON_SOURCE_DIR "/tests/c_api/v1/tenon_c.h"))
    EXPECT_TRUE(now.contains(declaration)) << declaration;
}

}  // namespace
