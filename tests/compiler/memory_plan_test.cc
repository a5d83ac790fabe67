// Concatenations that their producers write into, and cuts that are views: which kernels disappear,
// and that what remains computes the same - in the executable and in the exported C source.
#include <algorithm>

#include "tenon/compiler/compile.h"
#include "tenon/compiler/export.h"
#include "tenon/models/squeezenet.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/c_library.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon {
namespace {

using runtime::NodeKind;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

struct Row {
  const char* rule;
  const char* body;
  int joins = 0;
  int views = 0;
  int kernels = 0;
};

// max_pool2d shares no kernel with what follows it.
ir::Module ModuleOf(const Row& row, const std::string& batch = "1") {
  return Parsed(StrCat("def @main(%x: Tensor[(", batch, ", 6, 5, 5), float32], %y: Tensor[(", batch,
                       ", 3, 5, 5), float32]) {\n",
                       "  %0 = nn.max_pool2d(%x, pool_size=[3, 3], padding=[1, 1, 1, 1]);\n",
                       "  %1 = nn.max_pool2d(%y, pool_size=[3, 3], padding=[1, 1, 1, 1]);\n",
                       row.body, "\n}"));
}

int Count(const runtime::Plan& plan, NodeKind kind) {
  return static_cast<int>(std::count_if(plan.nodes.begin(), plan.nodes.end(),
                                        [&](const auto& node) { return node.kind == kind; }));
}

// The exported C source, by the system's compiler.
std::vector<NDArray> InC(const Lowered& lowered, const runtime::Inputs& inputs) {
  const jit::ScopedFolder folder;
  EXPECT_EQ(ExportSharedLibrary(lowered, folder / "net.so"), absl::OkStatus());
  void* library = dlopen((folder / "net.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw NotFound(dlerror());
  const auto run = reinterpret_cast<std::int32_t (*)(const void* const*, void* const*, void*)>(
      dlsym(library, "net_run"));
  std::vector<const void*> in;
  for (const runtime::Node& node : lowered.plan.nodes) {
    if (node.kind == NodeKind::kInput) in.push_back(inputs.at(node.name).raw());
  }
  std::vector<NDArray> results;
  std::vector<void*> out;
  for (const runtime::EntryRef head : lowered.plan.heads) {
    const runtime::Entry& entry = lowered.plan.entry(head);
    results.push_back(NDArray::Zeros(entry.shape, entry.dtype));
    out.push_back(results.back().raw());
  }
  EXPECT_EQ(run(in.data(), out.data(), nullptr), 0);
  dlclose(library);
  return results;
}

void Check(const Row& row) {
  SCOPED_TRACE(row.rule);
  const ir::Module module = ModuleOf(row);
  const runtime::Inputs inputs = RandomInputs(module, 5);
  const std::vector<NDArray> wanted = Interpreted(module, inputs);
  for (int level = 0; level <= 4; ++level)
    ExpectClose(testing_graphs::Outcome(module, inputs, {.opt_level = level}), wanted);
  const Lowered lowered = ValueOrThrow(Lower(module, {.library = LibraryChoice::kTe}));
  EXPECT_EQ(Count(lowered.plan, NodeKind::kJoin), row.joins);
  EXPECT_EQ(Count(lowered.plan, NodeKind::kView), row.views);
  EXPECT_EQ(Count(lowered.plan, NodeKind::kKernel), row.kernels);
  ExpectClose(InC(lowered, inputs), wanted);
}

TEST(MemoryPlanTest, ProducersWriteIntoTheConcatenation) {
  const Row rows[] = {
      {"the result itself", "concatenate((%0, %1), axis=1)", 1, 0, 2},
      {"read by a heavy operator", "nn.max_pool2d(concatenate((%1, %0), axis=1), pool_size=[2, 2])",
       1, 0, 3},
      {"the parts have other readers, too",
       "%2 = concatenate((%0, %1), axis=1);\n"
       "%3 = nn.max_pool2d(%0, pool_size=[2, 2]); %4 = nn.max_pool2d(%1, pool_size=[2, 2]);\n"
       "(nn.max_pool2d(%2, pool_size=[2, 2]), %3, %4)",
       1, 0, 5},
      {"a concatenation in another one",
       "%2 = concatenate((%0, %1), axis=1); %3 = nn.max_pool2d(%2, pool_size=[1, 1]);\n"
       "concatenate((%3, %2), axis=1)",
       2, 0, 3},
      {"one part is computed from the other",
       "%2 = nn.max_pool2d(%0, pool_size=[3, 3], padding=[1, 1, 1, 1]);\n"
       "concatenate((%2, %0, %1), axis=1)",
       1, 0, 3},
      {"stacked",
       "%2 = nn.max_pool2d(%0, pool_size=[3, 3], padding=[1, 1, 1, 1]);\n"
       "nn.max_pool2d(reshape(stack((%2, %0)), newshape=[2, 6, 5, 5]), pool_size=[2, 2])",
       1, 0, 3},
      {"a part under another shape",
       "%2 = reshape(%0, newshape=[2, 3, 5, 5]);\n"
       "%3 = nn.max_pool2d(%2, pool_size=[1, 1]); %4 = concatenate((%2, %1), axis=0);\n"
       "(nn.max_pool2d(%4, pool_size=[2, 2]), %3)",
       1, 1, 4},
  };
  for (const Row& row : rows) Check(row);
}

TEST(MemoryPlanTest, ConcatenationsThatCannotBeWrittenInPlaceAreCopied) {
  const Row rows[] = {
      {"an input", "concatenate((%0, %y), axis=1)", 0, 0, 2},
      {"a result", "(concatenate((%0, %1), axis=1), %1)", 0, 0, 3},
      {"a result under another shape",
       "(concatenate((%0, %1), axis=1), reshape(%1, newshape=[75]))", 0, 1, 3},
      {"the same part twice", "concatenate((%0, %1, %0), axis=1)", 0, 0, 3},
      {"a part lies in another concatenation",
       "%2 = concatenate((%0, %1), axis=1); %3 = concatenate((%1, %0), axis=1);\n"
       "(nn.max_pool2d(%2, pool_size=[2, 2]), nn.max_pool2d(%3, pool_size=[3, 3]))",
       1, 0, 5},
      {"an inner axis", "concatenate((%0, %0), axis=2)", 0, 0, 2},
      {"part of a part",
       "%2 = split(%0, indices_or_sections=2, axis=1); concatenate((%2.1, %1), axis=1)", 0, 0, 3},
  };
  for (const Row& row : rows) Check(row);
}

TEST(MemoryPlanTest, CutsOfTheOutermostAxisAreViews) {
  const Row rows[] = {
      {"parts that are read by heavy operators",
       "%2 = split(%0, indices_or_sections=[2], axis=1);\n"
       "(nn.max_pool2d(%2.0, pool_size=[2, 2]), nn.max_pool2d(%2.1, pool_size=[3, 3]), %1)",
       0, 1, 4},
      {"results", "%2 = split(%0, indices_or_sections=3, axis=1); (%2.2, %2.0, %1)", 0, 1, 2},
      {"a slice of an input", "(strided_slice(%x, begin=[0, 1], end=[1, 4], strides=[1]), %1)", 0,
       1, 1},
      {"a slice of an input, read",
       "(nn.max_pool2d(strided_slice(%x, begin=[0, 1], end=[1, 4], strides=[1]), "
       "pool_size=[2, 2]), %1)",
       0, 1, 2},
      {"a slice of a slice",
       "%2 = strided_slice(%0, begin=[0, 1], end=[1, 5], strides=[1]);\n"
       "%3 = strided_slice(%2, begin=[0, 1, 2], end=[1, 2, 4], strides=[1]);\n"
       "(nn.max_pool2d(%2, pool_size=[2, 2]), nn.max_pool2d(%3, pool_size=[1, 3]), %1)",
       0, 2, 4},
      {"a slice of a concatenation",
       "%2 = concatenate((%0, %1), axis=1);\n"
       "%3 = strided_slice(%2, begin=[0, 4], end=[1, 8], strides=[1]);\n"
       "(nn.max_pool2d(%2, pool_size=[2, 2]), nn.max_pool2d(%3, pool_size=[2, 2]))",
       1, 1, 4},
  };
  for (const Row& row : rows) Check(row);
}

TEST(MemoryPlanTest, CutsOfAnInnerAxisAreCopied) {
  const ir::Module module = ModuleOf(
      {"",
       "%2 = split(%0, indices_or_sections=2, axis=1); %3 = concatenate((%0, %1), axis=1);\n"
       "(nn.max_pool2d(%2.0, pool_size=[2, 2]), nn.max_pool2d(%2.1, pool_size=[3, 3]),\n"
       "nn.max_pool2d(%3, pool_size=[2, 2]))"},
      "2");
  const Lowered lowered = ValueOrThrow(Lower(module));
  EXPECT_EQ(Count(lowered.plan, NodeKind::kJoin), 0);
  EXPECT_EQ(Count(lowered.plan, NodeKind::kView), 0);
  const runtime::Inputs inputs = RandomInputs(module, 6);
  ExpectClose(testing_graphs::Outcome(module, inputs), Interpreted(module, inputs));
}

// A concatenation keeps its storage from its first part's writing to its last reader, whatever else
// wants room meanwhile.
TEST(MemoryPlanTest, RoomForAllPartsIsKeptFromTheFirstOn) {
  const ir::Module module =
      ModuleOf({"",
                "%2 = nn.max_pool2d(%1, pool_size=[3, 3], padding=[1, 1, 1, 1]);\n"
                "%3 = nn.max_pool2d(%2, pool_size=[3, 3], padding=[1, 1, 1, 1]);\n"
                "%4 = nn.max_pool2d(%3, pool_size=[3, 3], padding=[1, 1, 1, 1]);\n"
                "%5 = concatenate((%0, %4), axis=1);\n"
                "%6 = nn.max_pool2d(%4, pool_size=[3, 3], padding=[1, 1, 1, 1]);\n"
                "%7 = nn.max_pool2d(%6, pool_size=[2, 2]);\n"
                "%8 = nn.max_pool2d(%0, pool_size=[2, 2]);\n"
                "(nn.max_pool2d(%5, pool_size=[2, 2]), %7, %8)"});
  const runtime::Inputs inputs = RandomInputs(module, 7);
  const Lowered lowered = ValueOrThrow(Lower(module));
  EXPECT_EQ(Count(lowered.plan, NodeKind::kJoin), 1);
  const Executable exe = ValueOrThrow(Link(lowered));
  for (int repeat = 0; repeat < 2; ++repeat)
    ExpectClose(ValueOrThrow(exe.Run(inputs)), Interpreted(module, inputs));
}

// Each fire module ends in a concatenation of two convolutions.
TEST(MemoryPlanTest, ModelsConcatenateWithoutCopying) {
  const Lowered squeezenet = ValueOrThrow(Lower(models::SqueezeNet({.image_size = 64})));
  EXPECT_EQ(Count(squeezenet.plan, NodeKind::kJoin), 8);
}

}  // namespace
}  // namespace tenon
