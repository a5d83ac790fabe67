// The forms of nn.max_pool2d: which one a shape takes, why it does not take the other, and that a
// small image gives what the interpreter gives, also with NaN and infinities in it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "tenon/ops/registry.h"
#include "tenon/support/strings.h"
#include "tenon/tests/strategies/target_testing.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

using testing_graphs::Interpreted;
using testing_graphs::Outcome;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;
using testing_targets::Avx2;
using testing_targets::Avx512;

ir::Module Pooling(const std::string& type, const std::string& attrs) {
  return passes::InferType(
      Parsed(StrCat("def @main(%x: Tensor[", type, "]) { nn.max_pool2d(%x, ", attrs, ") }")));
}

Choice ChoiceOf(const std::string& type, const std::string& attrs, const Target& target) {
  RegisterStrategies(ops::OpRegistry::Global());
  const ir::Module module = Pooling(type, attrs);
  const Group group{.function = &module.Main(), .name = "call", .constants = {NDArray()}};
  return Choose(group, {.library = LibraryChoice::kTe, .lowering = {.target = target}});
}

TEST(PoolFormsTest, ImagesWhoseResultsStayInRegistersAreTiles) {
  const std::string same = "pool_size=[3, 3], padding=[1, 1, 1, 1]";
  const auto form_of = [&](const char* type, const Target& target) {
    return ChoiceOf(type, same, target).implementation;
  };
  EXPECT_EQ(form_of("(1, 8, 16, 16), float32", Avx512()), "te.max_pool2d.small_image");
  EXPECT_EQ(form_of("(1, 8, 16, 16), float32", Avx2()), "te.max_pool2d.by_axes");
  EXPECT_EQ(form_of("(1, 8, 8, 8), float32", Avx2()), "te.max_pool2d.small_image");
  EXPECT_EQ(form_of("(n, 8, 7, 7), int32", Avx512()), "te.max_pool2d.small_image");
}

TEST(PoolFormsTest, ARowSaysWhyItDoesNotSuitAShape) {
  const std::string window = "pool_size=[3, 3]";
  const auto refusal_of = [](const char* type, const std::string& attrs) {
    const Choice choice = ChoiceOf(type, attrs, Avx512());
    const auto row = std::ranges::find(choice.candidates, std::string("te.max_pool2d.small_image"),
                                       &Candidate::name);
    return row == choice.candidates.end() ? "there is no such row" : row->refusal.value_or("");
  };
  EXPECT_EQ(refusal_of("(1, 9, 9, 8), float32", window + ", layout=\"NHWC\""),
            "channels do not come first");
  EXPECT_EQ(refusal_of("(1, 2, 9, 9, 8), float32", window + ", layout=\"NCHW8c\""),
            "channels are in blocks");
  EXPECT_EQ(refusal_of("(1, 8, 9, 9), float64", window), "elements are not 32 bits wide");
  EXPECT_EQ(refusal_of("(1, 8, h, 9), float32", window), "rows and columns are no numbers");
  EXPECT_EQ(refusal_of("(0, 8, 9, 9), float32", window), "the result has no elements");
  EXPECT_EQ(refusal_of("(1, 8, 9, 9), float32", window + ", strides=[1, 3]"),
            "windows step by more than two columns");
  EXPECT_EQ(refusal_of("(1, 8, 20, 9), float32", window),
            "18 rows of the result are more than 16, which registers hold");
  EXPECT_EQ(refusal_of("(1, 8, 9, 20), float32", window),
            "rows of 18 pixels do not fit into a vector of 16");
  EXPECT_EQ(refusal_of("(1, 8, 9, 9), float32", "pool_size=[9, 9]"),
            "81 elements of a window are more than 32, which are written out");
}

TEST(PoolFormsTest, SmallImagesGiveWhatTheInterpreterGives) {
  const char* attrs[] = {"pool_size=[3, 3], padding=[1, 1, 1, 1]",
                         "pool_size=[2, 2], strides=[2, 2]",
                         "pool_size=[3, 3], strides=[2, 2], ceil_mode=True",
                         "pool_size=[3, 2], strides=[3, 1], padding=[2, 0, 0, 1]",
                         "pool_size=[3, 3], dilation=[2, 2], padding=[2, 2, 2, 2]",
                         "pool_size=[5, 5], padding=[2, 2, 2, 2]",
                         "pool_size=[1, 1]"};
  const char* shapes[] = {"(1, 3, 7, 7)", "(2, 5, 5, 13)", "(3, 1, 16, 16)", "(1, 17, 9, 5)"};
  int seed = 1;
  for (const char* shape : shapes) {
    for (const char* attr : attrs) {
      for (const char* type : {"float32", "int32"}) {
        SCOPED_TRACE(StrCat(shape, " ", type, " ", attr));
        const ir::Module module = Pooling(StrCat(shape, ", ", type), attr);
        runtime::Inputs inputs = RandomInputs(module, seed++);
        NDArray& x = inputs.at("x");
        if (x.dtype() == Float32) {
          x.data<float>()[x.size() / 2] = std::numeric_limits<float>::quiet_NaN();
          x.data<float>()[0] = -std::numeric_limits<float>::infinity();
          x.data<float>()[x.size() - 1] = std::numeric_limits<float>::infinity();
        } else {
          x.data<std::int32_t>()[0] = std::numeric_limits<std::int32_t>::min();
        }
        const NDArray expected = Interpreted(module, inputs)[0];
        const NDArray found = Outcome(module, inputs, {.library = LibraryChoice::kTe})[0];
        ASSERT_EQ(found.shape(), expected.shape());
        for (std::int64_t i = 0; i < found.size(); ++i) {
          if (x.dtype() != Float32) {
            ASSERT_EQ(found.data<std::int32_t>()[i], expected.data<std::int32_t>()[i]) << i;
          } else if (const float value = expected.data<float>()[i]; std::isnan(value)) {
            ASSERT_TRUE(std::isnan(found.data<float>()[i])) << i;
          } else {
            ASSERT_EQ(found.data<float>()[i], value) << i;
          }
        }
      }
    }
  }
}

TEST(PoolFormsTest, ASmallImageIsATileUnderAnyEpilogue) {
  const ir::Module module = passes::InferType(
      Parsed("def @main(%x: Tensor[(1, 6, 7, 7), float32], %y: Tensor[(1, 6, 7, 7), float32]) { "
             "multiply(add(nn.max_pool2d(%x, pool_size=[3, 3], padding=[1, 1, 1, 1]), %y), %y) }"));
  const runtime::Inputs inputs = RandomInputs(module, 3);
  testing_graphs::ExpectClose(Outcome(module, inputs, {}), Interpreted(module, inputs), 1e-6);
}

}  // namespace
}  // namespace tenon::strategies
