// Kernels from the object cache: taken from it, rebuilt when it is damaged, right in every case.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/jit/kernel.h"
#include "tenon/jit/object/object_cache.h"
#include "tenon/loop/print.h"
#include "tenon/schedule/lower.h"
#include "tenon/support/error.h"
#include "tenon/te/extern.h"
#include "tenon/te/reduce.h"
#include "tenon/tests/testing/scratch_folder.h"

namespace tenon::jit {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

loop::Function Adding(float summand) {
  const te::Tensor a = te::Placeholder({4}, Float32, "A");
  const te::Tensor b = te::Compute(
      {4}, [&](te::Var i) { return a(i) + summand; }, "B");
  return schedule::Lower(schedule::Schedule(b), {a, b}, "adding");
}

std::vector<float> ResultOf(const loop::Function& function, const CompileOptions& options) {
  const absl::StatusOr<Kernel> kernel = Compile(function, options);
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  const NDArray x = NDArray::FromVector<float>({4}, {1, 2, 3, 4}), y = NDArray::Zeros({4}, Float32);
  EXPECT_TRUE((*kernel)(x, y).ok());
  return y.ToVector<float>();
}

// The entry of the function that was just compiled, which must be the folder's only one.
fs::path OnlyEntry(const ScratchFolder& folder) {
  const std::vector<fs::path> files = folder.files();
  EXPECT_THAT(files, SizeIs(1));
  return files.empty() ? fs::path() : files[0];
}

std::string KeyOf(const fs::path& entry) { return entry.filename().string().substr(0, 64); }

TEST(KernelCacheTest, IsOffUnlessAFolderIsGiven) {
  const ScratchFolder folder;
  ResultOf(Adding(1), {});
  EXPECT_THAT(folder.files(), IsEmpty());
}

// Another kernel's code under this one's key runs in its place: nothing was generated.
TEST(KernelCacheTest, ACachedObjectIsUsed) {
  const ScratchFolder folder;
  const CompileOptions options{.cache_dir = folder.path()};
  EXPECT_THAT(ResultOf(Adding(1), options), ElementsAre(2, 3, 4, 5));
  const std::string one = KeyOf(OnlyEntry(folder));
  fs::remove(OnlyEntry(folder));
  EXPECT_THAT(ResultOf(Adding(2), options), ElementsAre(3, 4, 5, 6));
  const std::string two = KeyOf(OnlyEntry(folder));
  ASSERT_NE(one, two);
  const ObjectCache cache(folder.path(), 1 << 20);
  cache.Store(one, cache.Load(two).value());
  EXPECT_THAT(ResultOf(Adding(1), options), ElementsAre(3, 4, 5, 6));
}

TEST(KernelCacheTest, EqualFunctionsMadeTwiceShareAnEntry) {
  const ScratchFolder folder;
  const CompileOptions options{.cache_dir = folder.path()};
  for (int i = 0; i < 3; ++i) ResultOf(Adding(1), options);
  EXPECT_THAT(folder.files(), SizeIs(1));
}

// Of copies and sums, which the last phase of the loop pipeline makes vectors of. Compiled as a
// function of their own, they add no object.
TEST(KernelCacheTest, TheLoopsThatAreShownGiveTheKeyOfTheObject) {
  const te::Tensor a = te::Placeholder({40, 500}, Float32, "A");
  const te::IterVar k = te::ReduceAxis(0, 500, "k");
  const te::Tensor copy = te::Compute(
      {40, 30}, [&](te::Var i, te::Var j) { return a(i, j + 3); }, "copy");
  const te::Tensor sums = te::Compute(
      {40}, [&](te::Var i) { return te::Sum(a(i, k.var), {k}); }, "sums");
  for (const te::Tensor& result : {copy, sums}) {
    const ScratchFolder folder;
    const CompileOptions options{.cache_dir = folder.path()};
    const loop::Function lowered =
        schedule::Lower(schedule::Schedule(result), {a, result}, "shown");
    const Kernel kernel = Compile(lowered, options).value();
    const loop::Function shown = FinalLoops(lowered, options).value();
    EXPECT_EQ(kernel.Loops(), loop::Print(shown));
    EXPECT_NE(kernel.Loops(), loop::Print(lowered));
    const fs::path object = OnlyEntry(folder);
    Compile(shown, options).value();
    EXPECT_EQ(OnlyEntry(folder), object);
  }
}

TEST(KernelCacheTest, TheLoopsOfAKernelWithChecksShowThem) {
  const CompileOptions options{.check_bounds = true};
  EXPECT_THAT(Compile(Adding(1), options).value().Loops(), HasSubstr("report"));
}

TEST(KernelCacheTest, OtherFeaturesAndOptionsHaveEntriesOfTheirOwn) {
  const ScratchFolder folder;
  for (const char* features : {"", "-avx512f", "-avx2", "-sse4.2"}) {
    EXPECT_THAT(ResultOf(Adding(1), {.target = HostTarget(features), .cache_dir = folder.path()}),
                ElementsAre(2, 3, 4, 5));
  }
  EXPECT_GE(folder.files().size(), 2U);  // a host may lack what is taken away
  const std::size_t entries = folder.files().size();
  ResultOf(Adding(1), {.reassociate_reductions = false, .cache_dir = folder.path()});
  EXPECT_THAT(folder.files(), SizeIs(entries + 1));
}

TEST(KernelCacheTest, DamagedEntriesAreRebuilt) {
  const ScratchFolder folder;
  const CompileOptions options{.cache_dir = folder.path()};
  ResultOf(Adding(1), options);
  const fs::path entry = OnlyEntry(folder);
  const std::string whole = ReadBytes(entry);
  std::string flipped = whole;
  flipped[whole.size() / 2] = static_cast<char>(flipped[whole.size() / 2] ^ 1);
  for (const std::string& damaged :
       {flipped, whole.substr(0, whole.size() - 1), whole.substr(0, 10), std::string()}) {
    WriteBytes(entry, damaged);
    EXPECT_THAT(ResultOf(Adding(1), options), ElementsAre(2, 3, 4, 5));
    EXPECT_EQ(ReadBytes(entry), whole);
  }
}

// Adding(1), which says what it is made of and counts how often it is made.
loop::Function AddingOne(int* made) {
  loop::Function function = Adding(1);
  function.body = loop::Body([body = function.body, made] {
    ++*made;
    return body.stmt();
  });
  function.origin = "A + 1";
  return function;
}

TEST(KernelCacheTest, ABodyIsNotMadeWhereTheObjectOfItsOriginIsKnown) {
  const ScratchFolder folder;
  const CompileOptions options{.cache_dir = folder.path()};
  int made = 0;
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(ResultOf(AddingOne(&made), options), ElementsAre(2, 3, 4, 5));
  EXPECT_EQ(made, 1);
  EXPECT_THAT(folder.files(), SizeIs(2));  // the object, and its key under that of the origin
  // It is made for the texts.
  const Kernel warm = Compile(AddingOne(&made), options).value();
  EXPECT_THAT(warm.LlvmIr(), HasSubstr("i32 @adding("));
  EXPECT_EQ(made, 2);
}

TEST(KernelCacheTest, ABodyIsMadeWhereEitherEntryIsLostOrDamaged) {
  const ScratchFolder folder;
  const CompileOptions options{.cache_dir = folder.path()};
  int made = 0;
  ResultOf(AddingOne(&made), options);
  for (const fs::path& entry : folder.files()) {
    for (const bool is_lost : {false, true}) {
      const int before = made;
      std::string bytes = ReadBytes(entry);
      bytes.back() = static_cast<char>(bytes.back() ^ 1);
      is_lost ? static_cast<void>(fs::remove(entry)) : WriteBytes(entry, bytes);
      EXPECT_THAT(ResultOf(AddingOne(&made), options), ElementsAre(2, 3, 4, 5));
      EXPECT_EQ(made, before + 1);
      EXPECT_THAT(ResultOf(AddingOne(&made), options), ElementsAre(2, 3, 4, 5));
      EXPECT_EQ(made, before + 1);
    }
  }
}

TEST(KernelCacheTest, ABodyThatCannotBeMadeIsAnErrorOfTheCompilation) {
  const ScratchFolder folder;
  for (const std::string& cache_dir : {std::string(), folder.path().string()}) {
    loop::Function function = Adding(1);
    function.body = loop::Body([]() -> loop::Stmt { throw InvalidArgument("no loop for this"); });
    function.origin = "nothing";
    const absl::Status status = Compile(function, {.cache_dir = cache_dir}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("no loop for this"));
  }
}

TEST(KernelCacheTest, AFolderThatCannotBeMadeIsNoError) {
  const ScratchFolder folder;
  WriteBytes(folder.path() / "file", "x");
  const std::string impossible = folder.path() / "file" / "folder";
  EXPECT_THAT(ResultOf(Adding(1), {.cache_dir = impossible}), ElementsAre(2, 3, 4, 5));
}

TEST(KernelCacheTest, AFolderThatMayNotBeWrittenIsNoError) {
  const ScratchFolder folder;
  const fs::path inner = folder.path() / "inner";
  fs::create_directory(inner);
  fs::permissions(inner, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THAT(ResultOf(Adding(1), {.cache_dir = inner}), ElementsAre(2, 3, 4, 5));
  fs::permissions(inner, fs::perms::owner_all);
  // The superuser may write everywhere.
  EXPECT_TRUE(geteuid() == 0 || fs::is_empty(inner));
  EXPECT_THAT(ResultOf(Adding(1), {.cache_dir = "/proc/nowhere"}), ElementsAre(2, 3, 4, 5));
}

TEST(KernelCacheTest, TheFolderStaysBounded) {
  const ScratchFolder folder;
  const std::int64_t bound = 20000;
  for (int i = 0; i < 20; ++i) {
    ResultOf(Adding(static_cast<float>(i)), {.cache_dir = folder.path(), .cache_bytes = bound});
    std::int64_t bytes = 0;
    for (const fs::path& file : folder.files())
      bytes += static_cast<std::int64_t>(fs::file_size(file));
    EXPECT_LE(bytes, bound);
    EXPECT_GT(bytes, 0);
  }
}

TEST(KernelCacheTest, ACachedKernelShowsItsTexts) {
  const ScratchFolder folder;
  const CompileOptions options{.cache_dir = folder.path()};
  const Kernel cold = Compile(Adding(1), options).value();
  const Kernel warm = Compile(Adding(1), options).value();
  EXPECT_EQ(warm.LlvmIr(), cold.LlvmIr());
  EXPECT_EQ(warm.Assembly(), cold.Assembly());
  EXPECT_THAT(warm.LlvmIr(), HasSubstr("i32 @adding("));
}

float TimesTen(float x) { return 10 * x; }
float TimesHundred(float x) { return 100 * x; }

// The object names the function; the linker gets the address that this process has for it.
TEST(KernelCacheTest, FunctionsGivenByAddressAreThoseOfThisCall) {
  const ScratchFolder folder;
  const auto scaled = [](float (*function)(float)) {
    const auto callee = loop::ExternFunction::At("scale", function, loop::Effect::kPure);
    const te::Tensor a = te::Placeholder({4}, Float32, "A");
    const te::Tensor b = te::Compute(
        {4}, [&](te::Var i) { return loop::ExternCall(callee, {a(i)}); }, "B");
    return schedule::Lower(schedule::Schedule(b), {a, b}, "scaled");
  };
  const CompileOptions options{.cache_dir = folder.path()};
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(ResultOf(scaled(&TimesTen), options), ElementsAre(10, 20, 30, 40));
    EXPECT_THAT(ResultOf(scaled(&TimesHundred), options), ElementsAre(100, 200, 300, 400));
  }
}

TEST(KernelCacheTest, AMissingFunctionIsRefusedWhateverTheCacheHolds) {
  const ScratchFolder folder;
  const CompileOptions options{.cache_dir = folder.path()};
  const te::Tensor a = te::Placeholder({4}, Float32, "A");
  const auto callee = loop::ExternFunction::Untyped("tenon_no_such_function", Float32);
  const te::Tensor b = te::Compute(
      {4}, [&](te::Var i) { return loop::ExternCall(callee, {a(i)}); }, "B");
  const loop::Function function = schedule::Lower(schedule::Schedule(b), {a, b}, "missing");
  for (int round = 0; round < 2; ++round) {
    const absl::StatusOr<Kernel> kernel = Compile(function, options);
    EXPECT_EQ(kernel.status().code(), absl::StatusCode::kNotFound);
    EXPECT_THAT(std::string(kernel.status().message()), HasSubstr("tenon_no_such_function"));
  }
  EXPECT_THAT(folder.files(), IsEmpty());
}

TEST(KernelCacheTest, APartThatIsNoneIsRefused) {
  const ScratchFolder folder;
  const CompileOptions options{.cache_dir = folder.path()};
  const std::vector<loop::Function> functions = {Adding(1)};
  for (const auto& [part, parts] : {std::pair(0, 0), std::pair(-1, 2), std::pair(2, 2)}) {
    const absl::StatusOr<int> filled = FillCache(functions, options, part, parts);
    EXPECT_EQ(filled.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(filled.status().message()), HasSubstr("parts are counted from 0"));
  }
  EXPECT_THAT(folder.files(), IsEmpty());
}

}  // namespace
}  // namespace tenon::jit
