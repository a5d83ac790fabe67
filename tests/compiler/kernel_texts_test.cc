// What a kernel says of itself is what it is: its expressions, its schedule and its loops make the
// code that runs.
#include <algorithm>
#include <filesystem>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/compiler/compile.h"
#include "tenon/jit/kernel.h"
#include "tenon/models/registry.h"
#include "tenon/schedule/source.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"
#include "tenon/tests/testing/scratch_folder.h"

namespace tenon {
namespace {

using jit::KernelText;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing_graphs::Parsed;

constexpr const char* kConv =
    "def @main(%x: Tensor[(1, 32, 28, 28), float32], %w: Tensor[(48, 32, 3, 3), float32]) {\n"
    "  nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=48, kernel_size=[3, 3]))\n}";
constexpr const char* kSoftmax =
    "def @main(%x: Tensor[(64, 100), float32]) { nn.softmax(exp(%x)) }";

struct Parts {
  std::vector<loop::Function> kernels, preparations;
};
Parts PartsOf(const Lowered& lowered) {
  Parts parts;
  for (const LoweredKernel& kernel : lowered.kernels) {
    for (loop::Function& part : strategies::GeneratedFunctions(kernel.choice.built))
      parts.kernels.push_back(std::move(part));
    for (const strategies::PreparedConstant& prepared : kernel.choice.built.prepared)
      parts.preparations.push_back(prepared.function);
  }
  return parts;
}

std::vector<loop::Function> LoweredAgain(const std::vector<loop::Function>& parts) {
  std::vector<loop::Function> again;
  for (const loop::Function& part : parts) {
    const schedule::LoweringSource* source = schedule::SourceOf(part);
    EXPECT_NE(source, nullptr) << part.name;
    if (source != nullptr) again.push_back(source->Lower(part.name));
  }
  return again;
}

struct Case {
  const char* name;
  ir::Module (*module)();
  LibraryChoice library = LibraryChoice::kTe;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class KeptScheduleTest : public ::testing::TestWithParam<Case> {};

// No object is added to those that the model's kernels have left in the cache.
TEST_P(KeptScheduleTest, ReplayedOnTheKeptExpressionsGivesTheKeyOfTheObject) {
  const jit::ScratchFolder folder;
  CompileOptions options = {.library = GetParam().library};
  options.cache_dir = folder.path();
  const Lowered lowered = ValueOrThrow(Lower(GetParam().module(), options));
  ValueOrThrow(Link(lowered, options));
  const std::size_t objects = folder.files().size();
  ASSERT_GT(objects, 0U);
  const Parts parts = PartsOf(lowered);
  ASSERT_THAT(parts.kernels, Not(IsEmpty()));
  const std::string& cache = options.cache_dir;
  ValueOrThrow(jit::CompileAll(LoweredAgain(parts.kernels), {.cache_dir = cache}));
  ValueOrThrow(
      jit::CompileAll(LoweredAgain(parts.preparations), {.runs_once = true, .cache_dir = cache}));
  EXPECT_EQ(folder.files().size(), objects);
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, KeptScheduleTest,
    ::testing::Values(Case{"convolution", [] { return Parsed(kConv); }},
                      Case{"softmax", [] { return Parsed(kSoftmax); }},
                      Case{"lenet", [] { return models::Build("lenet"); }},
                      Case{"lstm", [] { return models::Build("lstm"); }},
                      Case{"transformer", [] { return models::Build("transformer"); }},
                      Case{"mobilenet", [] { return models::Build("mobilenet_v3_large"); }},
                      Case{"mobilenet with a library", [] { return models::Build("mobilenet_v2"); },
                           LibraryChoice::kAuto}));

TEST(KernelTextsTest, AnExecutableShowsItsKernelsAtEveryState) {
  const Executable exe = ValueOrThrow(Compile(Parsed(kSoftmax), {.library = LibraryChoice::kTe}));
  ASSERT_EQ(exe.kernels().size(), 1U);
  const jit::Callable& kernel = *exe.kernels()[0];
  EXPECT_THAT(kernel.Text(KernelText::kTensorExpressions),
              AllOf(HasSubstr("p0 = placeholder float32[64, 100]"), HasSubstr("exp(p0[")));
  EXPECT_THAT(kernel.Text(KernelText::kSchedule), HasSubstr("s[softmax].Parallel("));
  EXPECT_THAT(kernel.Text(KernelText::kLoops), HasSubstr("function tvmgen_default_fused_"));
  EXPECT_THAT(kernel.Text(KernelText::kLlvmIr), HasSubstr("define "));
  EXPECT_THAT(kernel.Text(KernelText::kAssembly), HasSubstr("ret"));
  EXPECT_THAT(kernel.Text(KernelText::kC), HasSubstr("int32_t tvmgen_default_fused_"));
}

TEST(KernelTextsTest, AKernelOfALibraryHasNone) {
  const Executable exe = ValueOrThrow(Compile(Parsed(kConv), {.library = LibraryChoice::kLibrary}));
  ASSERT_EQ(exe.kernels().size(), 1U);
  ASSERT_THAT(exe.kernels()[0]->implementation(), HasSubstr("onednn"));
  for (const KernelText kind :
       {KernelText::kTensorExpressions, KernelText::kSchedule, KernelText::kLoops,
        KernelText::kLlvmIr, KernelText::kAssembly, KernelText::kC})
    EXPECT_THAT(exe.kernels()[0]->Text(kind), IsEmpty());
}

// It reads the weights as they are packed for it.
TEST(KernelTextsTest, ExpressionsAreThoseOfTheFormThatIsChosen) {
  const Lowered lowered =
      ValueOrThrow(Lower(models::Build("lenet"), {.library = LibraryChoice::kTe}));
  std::string text;
  for (const loop::Function& part : PartsOf(lowered).kernels)
    text += ValueOrThrow(jit::TextOf(part, KernelText::kTensorExpressions));
  EXPECT_THAT(text, HasSubstr("packed = placeholder"));
  EXPECT_THAT(text, HasSubstr("packed["));
}

TEST(KernelTextsTest, KernelsFromTheCacheSayTheSame) {
  const jit::ScratchFolder folder;
  CompileOptions options = {.library = LibraryChoice::kTe};
  options.cache_dir = folder.path();
  const auto texts = [&] {
    const Executable exe = ValueOrThrow(Compile(Parsed(kConv), options));
    std::vector<std::string> all;
    for (const KernelText kind :
         {KernelText::kTensorExpressions, KernelText::kSchedule, KernelText::kLoops,
          KernelText::kLlvmIr, KernelText::kAssembly, KernelText::kC})
      all.push_back(exe.kernels()[0]->Text(kind));
    return all;
  };
  const std::vector<std::string> cold = texts();
  EXPECT_THAT(cold, Each(Not(IsEmpty())));
  EXPECT_EQ(texts(), cold);
}

TEST(KernelTextsTest, LoopsByHandHaveNoExpressions) {
  const loop::Buffer a = loop::Buffer::Make("A", Float32, {8});
  const loop::Var i("i");
  const loop::Function zeros{
      .name = "zeros",
      .buffers = {a},
      .scalars = {},
      .body = loop::For(i, 0, 8, loop::ForKind::kSerial, loop::Store(a, 0.0F, {i}))};
  const jit::Kernel kernel = ValueOrThrow(jit::Compile(zeros));
  EXPECT_THAT(kernel.Text(KernelText::kTensorExpressions), IsEmpty());
  EXPECT_THAT(kernel.Text(KernelText::kSchedule), IsEmpty());
  EXPECT_EQ(schedule::SourceOf(zeros), nullptr);
}

}  // namespace
}  // namespace tenon
