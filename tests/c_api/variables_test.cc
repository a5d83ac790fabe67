// Modules of variable extents through the C interface: one compile takes all their values.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/c_api/tenon_c.h"
#include "tenon/tests/c_api/c_api_testing.h"

namespace {

using tenon::c_api_testing::Compiled;
using tenon::c_api_testing::Floats;
using tenon::c_api_testing::MessageOf;
using tenon::c_api_testing::Taken;
using ::testing::AllOf;
using ::testing::HasSubstr;

// The first result of a run on float32 inputs, or the refusal.
std::vector<float> ResultOf(const TenonExecutable* executable,
                            std::vector<std::pair<const char*, Floats>> inputs,
                            std::string* refusal) {
  std::vector<const char*> names;
  std::vector<const DLTensor*> tensors;
  for (auto& [name, floats] : inputs) {
    floats.tensor.data = floats.data.data();
    floats.tensor.shape = floats.shape.data();
    names.push_back(name);
    tensors.push_back(&floats.tensor);
  }
  DLManagedTensor* result = nullptr;
  *refusal =
      MessageOf(tenon_run(executable, names.data(), tensors.data(), names.size(), &result, 1));
  if (result == nullptr) return {};
  const DLTensor& tensor = result->dl_tensor;
  std::int64_t count = 1;
  for (int d = 0; d < tensor.ndim; ++d) count *= tensor.shape[d];
  const auto* first = static_cast<const float*>(tensor.data);
  std::vector<float> values(first, first + count);
  result->deleter(result);
  return values;
}

// Kernels for all values take both extents as equal.
TEST(CApiTest, ValuesForWhichThePlanForAllDoesNotHoldAreRun) {
  TenonExecutable* executable =
      Compiled("def @main(%x: Tensor[(n), float32], %y: Tensor[(m), float32]) { add(%x, %y) }");
  std::string refusal;
  using ::testing::ElementsAre;
  EXPECT_THAT(ResultOf(executable, {{"x", {{2}, {1, 2}}}, {"y", {{2}, {3, 4}}}}, &refusal),
              ElementsAre(4, 6));
  EXPECT_THAT(ResultOf(executable, {{"x", {{3}, {1, 2, 3}}}, {"y", {{1}, {10}}}}, &refusal),
              ElementsAre(11, 12, 13));
  EXPECT_EQ(refusal, "");
  EXPECT_THAT(ResultOf(executable, {{"x", {{1}, {5}}}, {"y", {{2}, {1, 2}}}}, &refusal),
              ElementsAre(6, 7));
  EXPECT_EQ(refusal, "");
  ResultOf(executable, {{"x", {{2}, {1, 2}}}, {"y", {{3}, {1, 2, 3}}}}, &refusal);
  EXPECT_THAT(refusal, HasSubstr("broadcast"));
  TenonText* text = nullptr;
  EXPECT_EQ(MessageOf(tenon_describe(executable, &text)), "");
  EXPECT_THAT(Taken(text), HasSubstr(R"("name":"tvmgen_default_fused_add")"));
  EXPECT_EQ(MessageOf(tenon_kernel_text(executable, 0, "explain", &text)), "");
  EXPECT_THAT(Taken(text), HasSubstr("te"));
  EXPECT_EQ(MessageOf(tenon_kernel_text(executable, 0, "loops", &text)), "");
  EXPECT_THAT(Taken(text), HasSubstr("function tvmgen_default_fused_add"));
  tenon_executable_free(executable);
}

TEST(CApiTest, KernelsThatNeedNumbersAreMadeForEachShape) {
  TenonExecutable* executable = Compiled(
      "def @main(%x: Tensor[(n), float32]) {\n"
      "  nn.mirror_pad(exp(%x), pad_width=[[1, 1]]) }");
  std::string refusal;
  using ::testing::ElementsAre;
  EXPECT_THAT(ResultOf(executable, {{"x", {{2}, {0, 0}}}}, &refusal), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(ResultOf(executable, {{"x", {{3}, {0, 0, 0}}}}, &refusal),
              ElementsAre(1, 1, 1, 1, 1));
  EXPECT_EQ(refusal, "");
  TenonText* text = nullptr;
  EXPECT_EQ(MessageOf(tenon_describe(executable, &text)), "");
  EXPECT_THAT(Taken(text), AllOf(HasSubstr(R"("shape":["n"])"), HasSubstr(R"(["n + 2"])")));
  EXPECT_THAT(MessageOf(tenon_graph_json(executable, &text)), HasSubstr("no plan for all shapes"));
  tenon_executable_free(executable);
}

TEST(CApiTest, AModelOfVariablesTakesAllTheirValues) {
  TenonExecutable* executable = Compiled(
      "def @main(%x: Tensor[(n, 3), float32]) { nn.relu(concatenate((%x, %x), axis=0)) }\n");
  TenonText* text = nullptr;
  EXPECT_EQ(MessageOf(tenon_describe(executable, &text)), "");
  EXPECT_THAT(Taken(text), AllOf(HasSubstr(R"("shape":["n",3])"), HasSubstr(R"(["2*n",3])")));
  EXPECT_EQ(MessageOf(tenon_graph_json(executable, &text)), "");
  EXPECT_THAT(Taken(text), HasSubstr("\"2*n\""));
  const char* names[] = {"x"};
  for (const std::int64_t rows : {1, 5}) {
    Floats x({rows, 3}, std::vector<float>(static_cast<std::size_t>(rows * 3), 2.0F));
    const DLTensor* inputs[] = {&x.tensor};
    DLManagedTensor* result = nullptr;
    EXPECT_EQ(MessageOf(tenon_run(executable, names, inputs, 1, &result, 1)), "");
    ASSERT_NE(result, nullptr);
    EXPECT_EQ(result->dl_tensor.shape[0], 2 * rows);
    EXPECT_EQ(static_cast<const float*>(result->dl_tensor.data)[rows * 6 - 1], 2.0F);
    result->deleter(result);
  }
  Floats wide({2, 4}, std::vector<float>(8));
  const DLTensor* inputs[] = {&wide.tensor};
  DLManagedTensor* result = nullptr;
  EXPECT_THAT(MessageOf(tenon_run(executable, names, inputs, 1, &result, 1)),
              HasSubstr("input 'x' has 4 elements on axis 1; it must have 3"));
  tenon_executable_free(executable);
}

}  // namespace
