// Models whose kernels come from the object cache, without being lowered.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

class CachedModelTest : public ::testing::Test {
 protected:
  CachedModelTest()
      : folder_(fs::path(::testing::TempDir()) / StrCat("tenon_cached_model_", getpid())) {}
  ~CachedModelTest() override { fs::remove_all(folder_); }

  std::vector<NDArray> Run(const ir::Module& module, const runtime::Inputs& inputs,
                           const CompileOptions& changed = {}) const {
    CompileOptions options = changed;
    options.cache_dir = folder_;
    return ValueOrThrow(ValueOrThrow(Compile(module, options)).Run(inputs));
  }

  std::vector<fs::path> Files() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_)) files.push_back(entry.path());
    return files;
  }

  const fs::path folder_;
};

// A convolution whose weights are packed, a softmax and a pool.
ir::Module Model(float scale) {
  return Parsed(
      StrCat("def @main(%x: Tensor[(1, 16, 9, 11), float32], %w: Tensor[(32, 16, 3, 3), float32]) {"
             " %0 = nn.conv2d(%x, %w, padding=[1, 1]);"
             " %1 = nn.softmax(multiply(%0, ",
             scale, "f), axis=1); nn.max_pool2d(%1, pool_size=[2, 2], strides=[2, 2]) }"));
}

TEST_F(CachedModelTest, AWarmModelComputesWhatAColdOneDid) {
  const ir::Module module = Model(2);
  const runtime::Inputs inputs = RandomInputs(module, 5);
  const std::vector<NDArray> expected = Interpreted(module, inputs);
  for (const LibraryChoice library : {LibraryChoice::kTe, LibraryChoice::kAuto}) {
    ExpectClose(Run(module, inputs, {.library = library}), expected, 1e-4);
    const std::size_t files = Files().size();
    ExpectClose(Run(module, inputs, {.library = library}), expected, 1e-4);
    EXPECT_EQ(Files().size(), files);
  }
}

// Rows of 0 to 37 by kernels for all of them: from an empty cache, from a warm one and from none.
TEST_F(CachedModelTest, AWarmModelForAllShapesComputesWhatAColdOneDid) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(n, 17), float32], %w: Tensor[(33, 17), float32]) {"
      " %0 = nn.dense(%x, %w); %1 = nn.softmax(%0); (%1, sum(%1, axis=[0]), strided_slice(%0,"
      " begin=[0, 0], end=[1, 33])) }");
  const auto compiled = [&](const std::string& cache_dir) {
    CompileOptions options;
    options.cache_dir = cache_dir;
    return ValueOrThrow(Compile(module, options));
  };
  const Executable without = compiled(""), cold = compiled(folder_);
  const std::size_t files = Files().size();
  EXPECT_GT(files, 0);
  const Executable warm = compiled(folder_);
  EXPECT_EQ(Files().size(), files);
  for (const std::int64_t rows : {1, 2, 16, 37}) {
    const runtime::Inputs inputs = {{"x", testing_graphs::Random({rows, 17}, 1)},
                                    {"w", testing_graphs::Random({33, 17}, 2)}};
    const std::vector<NDArray> expected = ValueOrThrow(without.Run(inputs));
    for (const Executable* exe : {&cold, &warm}) {
      const std::vector<NDArray> results = ValueOrThrow(exe->Run(inputs));
      for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_TRUE(results[i].SameBytes(expected[i])) << "result " << i << " of " << rows;
    }
  }
}

TEST_F(CachedModelTest, AModelThatDiffersInAConstantHasKernelsOfItsOwn) {
  for (const float scale : {2.0F, 3.0F, 2.0F}) {
    const ir::Module module = Model(scale);
    const runtime::Inputs inputs = RandomInputs(module, 5);
    ExpectClose(Run(module, inputs), Interpreted(module, inputs), 1e-4);
  }
}

// A result that the kernel itself reads is computed into the caller's memory where it is read.
TEST_F(CachedModelTest, AGroupWhoseResultsAreReadInsideItRunsFromAnEmptyAndAWarmCache) {
  for (const std::int64_t columns : {7, 256, 768}) {
    const ir::Module module = Parsed(
        StrCat("def @main(%x: Tensor[(1, 197, ", columns,
               "), float32]) {"
               " %0 = mean(%x, axis=[-1], keepdims=True); %1 = subtract(%x, %0);"
               " %2 = multiply(%1, %1); %3 = mean(%2, axis=[-1], keepdims=True); (%1, %3) }"));
    const runtime::Inputs inputs = RandomInputs(module, 6);
    const std::vector<NDArray> expected = ValueOrThrow(ValueOrThrow(Compile(module)).Run(inputs));
    ExpectClose(expected, Interpreted(module, inputs), 1e-4);
    for (int i = 0; i < 2; ++i) {
      const std::vector<NDArray> cached = Run(module, inputs);
      for (std::size_t r = 0; r < 2; ++r) EXPECT_TRUE(cached[r].SameBytes(expected[r]));
    }
  }
}

}  // namespace
}  // namespace tenon
