// One plan for all values: run in this process, exported and saved. Results are those of the
// interpreter for each of the values.
#include "tenon/compiler/symbolic/symbolic_plan.h"

#include <algorithm>
#include <limits>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include <dlfcn.h>

#include "tenon/compiler/export.h"
#include "tenon/compiler/save_executable.h"
#include "tenon/compiler/symbolic/concrete_module.h"
#include "tenon/passes/infer_type.h"
#include "tenon/runtime/saved_executable.h"
#include "tenon/strategies/register_op.h"
#include "tenon/tests/testing/c_library.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon {
namespace {

using jit::FailureOf;
using jit::ScopedFolder;
using ::testing::HasSubstr;
using ::testing::Not;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

struct PlanCase {
  const char* name;
  const char* text;
  std::vector<Dim::Values> values;
};
void PrintTo(const PlanCase& c, std::ostream* out) { *out << c.name; }

const PlanCase kCases[] = {
    {"Elementwise",
     "def @main(%x: Tensor[(n, 5), float32]) { nn.relu(exp(%x)) }\n",
     {{{"n", 1}}, {{"n", 2}}, {{"n", 33}}, {{"n", 1000}}}},
    {"Convolutions",
     "def @main(%x: Tensor[(n, 3, h, w), float32], %k: Tensor[(16, 3, 3, 3), float32],\n"
     "          %l: Tensor[(8, 16, 1, 1), float32]) {\n"
     "  %0 = nn.relu(nn.conv2d(%x, %k, padding=[1, 1, 1, 1], strides=[2, 2]));\n"
     "  %1 = nn.max_pool2d(%0, pool_size=[2, 2], strides=[2, 2], ceil_mode=True);\n"
     "  %2 = nn.conv2d(%1, %l);\n"
     "  %3 = nn.batch_flatten(nn.global_avg_pool2d(%2));\n"
     "  (nn.softmax(%3), %2, reshape(%x, newshape=[0, -1]))\n}\n",
     {{{"n", 1}, {"h", 9}, {"w", 11}},
      {{"n", 3}, {"h", 3}, {"w", 3}},
      {{"n", 2}, {"h", 17}, {"w", 64}},
      {{"n", 1}, {"h", 3}, {"w", 40}}}},
    {"ViewsAndJoins",
     "def @main(%x: Tensor[(n, 4, w), float32], %y: Tensor[(n, 2, w), float32]) {\n"
     "  %0 = nn.softmax(%x);\n  %1 = nn.softmax(%y);\n  %2 = (%0, %1);\n"
     "  %3 = concatenate(%2, axis=1);\n"
     "  %4 = split(%3, indices_or_sections=[3], axis=1);\n"
     "  (sum(%4.1, axis=[2]), %4.0, max(%3, axis=[1]), %x)\n}\n",
     {{{"n", 1}, {"w", 1}}, {{"n", 1}, {"w", 37}}, {{"n", 5}, {"w", 16}}}},
    {"JoinAlongTheOuterAxis",
     "def @main(%x: Tensor[(n, 5), float32], %y: Tensor[(m, 5), float32]) {\n"
     "  %0 = nn.softmax(%x);\n  %1 = nn.softmax(%y);\n  %2 = (%0, %1);\n"
     "  %3 = concatenate(%2, axis=0);\n  (%3, sum(%3, axis=[1]), reshape(%3, newshape=[-1]))\n}\n",
     {{{"n", 1}, {"m", 1}}, {{"n", 7}, {"m", 2}}, {{"n", 2}, {"m", 65}}}},
    {"Attention",
     "def @main(%q: Tensor[(b, l, 8), float32], %k: Tensor[(b, s, 8), float32]) {\n"
     "  %0 = nn.batch_matmul(%q, %k, transpose_b=True);\n  %1 = nn.softmax(%0);\n"
     "  (nn.batch_matmul(%1, %k), %0)\n}\n",
     {{{"b", 1}, {"l", 1}, {"s", 1}},
      {{"b", 2}, {"l", 17}, {"s", 5}},
      {{"b", 3}, {"l", 2}, {"s", 33}}}},
    {"ExpressionsOfVariables",
     "def @main(%x: Tensor[(n, 2*w), float32], %y: Tensor[(w), float32]) {\n"
     "  %0 = split(exp(%x), indices_or_sections=2, axis=1);\n"
     "  (add(%0.0, %y), multiply(%0.1, %y))\n}\n",
     {{{"n", 1}, {"w", 1}}, {{"n", 1}, {"w", 9}}, {{"n", 4}, {"w", 32}}}},
    {"ReductionsAlongTheOuterAxis",
     "def @main(%x: Tensor[(n, m), float32]) { (nn.softmax(%x, axis=0), sum(%x, axis=[0])) }\n",
     {{{"n", 1}, {"m", 1}}, {{"n", 9}, {"m", 40}}, {{"n", 33}, {"m", 7}}}},
    {"ExtentsAsValues",
     "def @main(%x: Tensor[(n, m), float32]) {\n"
     "  (add(shape_of(%x, dtype=\"int64\"), shape_of(transpose(%x), dtype=\"int64\")),\n"
     "   ndarray_size(%x, dtype=\"int64\"))\n}\n",
     {{{"n", 1}, {"m", 1}}, {{"n", 9}, {"m", 40}}}},
    {"ReshapesThatNeedAMultiple",
     "def @main(%x: Tensor[(n, 4), float32], %y: Tensor[(m, 5), float32]) {\n"
     "  (exp(reshape(%x, newshape=[-1, 8])), reshape(exp(%y), newshape=[-4, -1, 3, 0]))\n}\n",
     {{{"n", 2}, {"m", 3}}, {{"n", 18}, {"m", 9}}}},
    {"ReshapesToExtentsOfOthers",
     "def @main(%x: Tensor[(b, t, 4), float32], %y: Tensor[(t, b, 4), float32]) {\n"
     "  %0 = nn.softmax(reshape(%x, newshape=[-3, 0]));\n"
     "  %1 = reshape_to_extents(%0, (%y,), shape=\"(x0_0, x0_1, 4)\");\n"
     "  %2 = reshape_to_extents(exp(%0), (%x,), shape=\"(2*x0_1, x0_0, 2)\");\n"
     "  (add(%1, %y), %1, negative(%2))\n}\n",
     {{{"b", 1}, {"t", 1}}, {{"b", 2}, {"t", 5}}, {{"b", 7}, {"t", 3}}, {{"b", 1}, {"t", 33}}}},
    {"ReshapesThatNeedAnEqualNumber",
     "def @main(%x: Tensor[(n, 6), float32], %y: Tensor[(m, 4), float32]) {\n"
     "  add(reshape_to_extents(exp(%x), (%y,), shape=\"(x0_0, 4)\"), %y)\n}\n",
     {{{"n", 2}, {"m", 3}}, {{"n", 10}, {"m", 15}}}},
    {"NamesThatCHas",
     "def @main(%x: Tensor[(int64_t, 2*INT64_MAX), float32], %y: Tensor[(INT64_MAX), float32]) {\n"
     "  %0 = split(exp(%x), indices_or_sections=2, axis=1);\n"
     "  (add(%0.0, %y), multiply(%0.1, %y))\n}\n",
     {{{"int64_t", 3}, {"INT64_MAX", 5}}}},
    {"RunningSums",
     "def @main(%x: Tensor[(n, m), float32]) {\n"
     "  (cumsum(%x, axis=0), cumsum(%x, axis=1, exclusive=True), cumprod(exp(%x), axis=1))\n}\n",
     {{{"n", 1}, {"m", 1}}, {{"n", 7}, {"m", 3}}, {{"n", 2}, {"m", 65}}}},
    {"SamplesOfImages",
     "def @main(%x: Tensor[(n, 2, h, w), float32], %g: Tensor[(n, 2, k, l), float32]) {\n"
     "  (image.grid_sample(%x, %g, method=\"bilinear\", padding_mode=\"zeros\"),\n"
     "   image.grid_sample(%x, %g, method=\"bilinear\", padding_mode=\"reflection\"),\n"
     "   image.grid_sample(%x, %g, method=\"bicubic\", padding_mode=\"reflection\",\n"
     "                     align_corners=False),\n"
     "   image.grid_sample(%x, %g, method=\"nearest\", padding_mode=\"border\"))\n}\n",
     {{{"n", 1}, {"h", 1}, {"w", 1}, {"k", 3}, {"l", 2}},
      {{"n", 2}, {"h", 5}, {"w", 9}, {"k", 4}, {"l", 7}}}},
    {"Layouts",
     "def @main(%x: Tensor[(n, 32, h, w), float32]) {\n"
     "  %0 = layout_transform(%x, src_layout=\"NCHW\", dst_layout=\"NCHW16c\");\n"
     "  (exp(%0), layout_transform(%0, src_layout=\"NCHW16c\", dst_layout=\"NHWC\"))\n}\n",
     {{{"n", 1}, {"h", 1}, {"w", 1}}, {{"n", 2}, {"h", 3}, {"w", 7}}}},
    {"Transpositions",
     "def @main(%x: Tensor[(n, 40, l), float32], %y: Tensor[(m, l), int8]) {\n"
     "  (transpose(%x, axes=[0, 2, 1]), transpose(%x, axes=[2, 0, 1]), transpose(%y),\n"
     "   transpose(transpose(%x, axes=[0, 2, 1]), axes=[1, 2, 0]))\n}\n",
     {{{"n", 1}, {"l", 1}, {"m", 1}},
      {{"n", 2}, {"l", 16}, {"m", 64}},
      {{"n", 3}, {"l", 67}, {"m", 79}},
      {{"n", 1}, {"l", 31}, {"m", 130}}}},
    {"MeansOfWindows",
     "def @main(%x: Tensor[(n, 3, h, w), float32]) {\n"
     "  (nn.avg_pool2d(%x, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1]),\n"
     "   nn.avg_pool2d(%x, pool_size=[2, 3], strides=[2, 1], padding=[0, 1, 1, 2],\n"
     "                 ceil_mode=True, count_include_pad=True),\n"
     "   nn.avg_pool2d(%x, pool_size=[2, 2], dilation=[2, 1], padding=[1, 0, 1, 0]))\n}\n",
     {{{"n", 1}, {"h", 3}, {"w", 3}},
      {{"n", 2}, {"h", 5}, {"w", 40}},
      {{"n", 1}, {"h", 17}, {"w", 4}}}},
    {"Upsampling",
     "def @main(%x: Tensor[(n, 2, h, w), float32]) {\n"
     "  (nn.upsampling(%x, scale_h=2, scale_w=3, method=\"bilinear\"),\n"
     "   nn.upsampling(%x, scale_h=3, scale_w=2, method=\"bicubic\"),\n"
     "   nn.upsampling(%x, scale_h=1, scale_w=5, method=\"bicubic\"),\n"
     "   nn.upsampling(%x, scale_h=2, scale_w=4, method=\"bilinear\", align_corners=True))\n}\n",
     {{{"n", 1}, {"h", 1}, {"w", 1}},
      {{"n", 2}, {"h", 3}, {"w", 2}},
      {{"n", 1}, {"h", 2}, {"w", 9}},
      {{"n", 1}, {"h", 5}, {"w", 33}}}},
    {"SlidingWindows",
     "def @main(%x: Tensor[(n, l), float32]) {\n"
     "  sliding_window(%x, axis=1, window_shape=[6], strides=[4])\n}\n",
     {{{"n", 1}, {"l", 6}}, {{"n", 3}, {"l", 9}}, {{"n", 2}, {"l", 43}}}},
    {"Losses",
     "def @main(%x: Tensor[(n, 5), float32], %y: Tensor[(n, 5), float32]) {\n"
     "  nn.cross_entropy_with_logits(%x, %y)\n}\n",
     {{{"n", 1}}, {{"n", 33}}}},
    {"BytesAndTwoResultsOfAKernel",
     "def @main(%x: Tensor[(3, n), int8]) {\n"
     "  %0 = topk(%x, k=2, dtype=\"int64\");\n  (%0.0, %0.1, sum(cast(%x, dtype=\"int64\")))\n}\n",
     {{{"n", 2}}, {{"n", 3}}, {{"n", 70}}}},
};

std::string At(const Dim::Values& values) {
  std::string at;
  for (const auto& [name, value] : values) at += name + "=" + std::to_string(value) + " ";
  return at;
}

// What `run` gives for each of the values, against the interpreter.
template <typename Run>
void ExpectRightForAll(const PlanCase& c, const Run& run) {
  const ir::Module module = passes::InferType(Parsed(c.text));
  int seed = 1;
  for (const Dim::Values& values : c.values) {
    SCOPED_TRACE(At(values));
    const ir::Module concrete = compiler::MakeConcrete(module, values).module;
    const runtime::Inputs inputs = RandomInputs(concrete, seed++);
    const std::vector<NDArray> wanted = Interpreted(concrete, inputs);
    ExpectClose(run(inputs, wanted), wanted);
  }
}

class SymbolicPlanTest : public ::testing::TestWithParam<PlanCase> {
 protected:
  static Lowered LoweredFor(const PlanCase& c) {
    return ValueOrThrow(Lower(passes::InferType(Parsed(c.text))));
  }
};

TEST_P(SymbolicPlanTest, RunsForAllValues) {
  const Executable exe = ValueOrThrow(Link(LoweredFor(GetParam())));
  EXPECT_TRUE(exe.is_symbolic());
  ExpectRightForAll(GetParam(), [&](const runtime::Inputs& inputs, const auto&) {
    return ValueOrThrow(exe.Run(inputs));
  });
}

// The module with other names for its variables, which say that these may be 0.
ir::Module WithCounts(const PlanCase& c) {
  std::string text = c.text;
  for (std::size_t at = 0; (at = text.find("Tensor[(", at)) != std::string::npos;) {
    const std::size_t end = text.find("), ", at);
    std::string extents = text.substr(at, end - at);
    for (const auto& [name, value] : c.values[0]) {
      extents = std::regex_replace(extents, std::regex("\\b" + name + "\\b"), "#" + name);
    }
    text.replace(at, end - at, extents);
    at += extents.size();
  }
  return passes::InferType(Parsed(text));
}

// Of each variable, whose extents may have no elements. Operators that refuse that as a number
// refuse it here, and no others.
TEST_P(SymbolicPlanTest, TakesExtentsOf0WhereOperatorsDo) {
  const ir::Module module = WithCounts(GetParam());
  const Lowered lowered = ValueOrThrow(Lower(module));
  const Executable exe = ValueOrThrow(Link(lowered));
  for (const auto& [zero, value] : GetParam().values[0]) {
    Dim::Values values;
    for (const auto& [name, number] : GetParam().values.back())
      values.emplace("#" + name, name == zero ? 0 : number);
    SCOPED_TRACE(At(values));
    const bool is_refused = std::ranges::any_of(
        lowered.plan.conditions, [&](const auto& condition) { return !condition.Holds(values); });
    ir::Module concrete;
    try {
      concrete = compiler::MakeConcrete(module, values).module;
    } catch (const Error&) {
      EXPECT_TRUE(is_refused);
      continue;
    }
    const runtime::Inputs inputs = RandomInputs(concrete, 1);
    ExpectClose(ValueOrThrow(exe.Run(inputs)), Interpreted(concrete, inputs));
  }
}

// The exported functions of "net".
class Exported {
 public:
  Exported(const std::string& path, const runtime::Plan& plan)
      : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)), plan_(plan) {
    EXPECT_NE(handle_, nullptr) << dlerror();
  }
  ~Exported() { dlclose(handle_); }
  Exported(const Exported&) = delete;
  Exported& operator=(const Exported&) = delete;

  struct Shapes {
    std::vector<Shape> owned;
    std::vector<const std::int64_t*> data;
  };
  Shapes ShapesOf(const runtime::Inputs& inputs) const {
    Shapes shapes;
    for (const runtime::Node& node : plan_.nodes) {
      if (node.kind == runtime::NodeKind::kInput)
        shapes.owned.push_back(inputs.at(node.name).shape());
    }
    for (const Shape& shape : shapes.owned) shapes.data.push_back(shape.data());
    return shapes;
  }

  std::vector<NDArray> Run(const runtime::Inputs& inputs, bool gives_workspace) const {
    const Shapes shapes = ShapesOf(inputs);
    std::vector<const void*> in;
    for (const runtime::Node& node : plan_.nodes) {
      if (node.kind == runtime::NodeKind::kInput) in.push_back(inputs.at(node.name).raw());
    }
    std::vector<Shape> extents;
    std::vector<std::int64_t*> extents_data;
    for (const runtime::EntryRef head : plan_.heads)
      extents.emplace_back(plan_.entry(head).shape.size(), -1);
    for (Shape& shape : extents) extents_data.push_back(shape.data());
    EXPECT_EQ(OutputShapes()(shapes.data.data(), extents_data.data()), 0);
    std::vector<NDArray> results;
    std::vector<void*> out;
    for (std::size_t k = 0; k < extents.size(); ++k) {
      results.push_back(NDArray::Zeros(extents[k], plan_.entry(plan_.heads[k]).dtype));
      out.push_back(results.back().raw());
    }
    const std::int64_t bytes = WorkspaceBytes()(shapes.data.data());
    EXPECT_GE(bytes, 0);
    std::vector<char> workspace(static_cast<std::size_t>(bytes) + 1);
    EXPECT_EQ(RunFunction()(in.data(), shapes.data.data(), out.data(),
                            gives_workspace ? workspace.data() + 1 : nullptr),
              0);
    return results;
  }

  using OutputShapesType = std::int32_t (*)(const std::int64_t* const*, std::int64_t* const*);
  using WorkspaceType = std::int64_t (*)(const std::int64_t* const*);
  using RunType = std::int32_t (*)(const void* const*, const std::int64_t* const*, void* const*,
                                   void*);
  OutputShapesType OutputShapes() const { return Find<OutputShapesType>("net_output_shapes"); }
  WorkspaceType WorkspaceBytes() const { return Find<WorkspaceType>("net_workspace_bytes"); }
  RunType RunFunction() const { return Find<RunType>("net_run"); }

 private:
  template <typename Function>
  Function Find(const char* name) const {
    void* found = dlsym(handle_, name);
    EXPECT_NE(found, nullptr) << name;
    return reinterpret_cast<Function>(found);
  }

  void* handle_;
  const runtime::Plan& plan_;
};

TEST_P(SymbolicPlanTest, ASharedLibraryRunsForAllValues) {
  const ScopedFolder folder;
  const Lowered lowered = LoweredFor(GetParam());
  ASSERT_EQ(ExportSharedLibrary(lowered, folder / "net.so"), absl::OkStatus());
  const Exported net(folder / "net.so", lowered.plan);
  for (const bool gives_workspace : {true, false}) {
    ExpectRightForAll(GetParam(), [&](const runtime::Inputs& inputs, const auto&) {
      return net.Run(inputs, gives_workspace);
    });
  }
}

// Some kernels have nothing to compute then, and are not called.
TEST(SymbolicExportTest, ALibraryTakesExtentsOf0) {
  const ScopedFolder folder;
  const ir::Module module = passes::InferType(Parsed(
      "def @main(%x: Tensor[(#n, 4), float32], %y: Tensor[(m, 4), float32]) {\n"
      "  %0 = nn.softmax(%x);\n"
      "  (%0, concatenate((%0, %y), axis=0), sum(%0, axis=[0]), max(exp(%x), axis=[1]))\n}\n"));
  const Lowered lowered = ValueOrThrow(Lower(module));
  ASSERT_EQ(ExportSharedLibrary(lowered, folder / "net.so"), absl::OkStatus());
  const Exported net(folder / "net.so", lowered.plan);
  for (const std::int64_t n : {0, 3}) {
    SCOPED_TRACE(n);
    const ir::Module concrete = compiler::MakeConcrete(module, {{"#n", n}, {"m", 2}}).module;
    const runtime::Inputs inputs = RandomInputs(concrete, 1);
    ExpectClose(net.Run(inputs, true), Interpreted(concrete, inputs));
  }
}

TEST_P(SymbolicPlanTest, CSourceRunsForAllValues) {
  const ScopedFolder folder;
  const Lowered lowered = LoweredFor(GetParam());
  ASSERT_EQ(ExportCSource(lowered, folder / "net.c"), absl::OkStatus());
  ASSERT_EQ(FailureOf(StrCat(jit::kStrictC, " ", folder / "net.c", " -lm -o ", folder / "net_c.so"),
                      folder),
            "");
  const Exported net(folder / "net_c.so", lowered.plan);
  ExpectRightForAll(GetParam(), [&](const runtime::Inputs& inputs, const auto&) {
    return net.Run(inputs, true);
  });
}

TEST_P(SymbolicPlanTest, ASavedExecutableRunsForAllValuesWithTheSameBits) {
  const ScopedFolder folder;
  const Lowered lowered = LoweredFor(GetParam());
  const Executable original = ValueOrThrow(Link(lowered));
  ASSERT_EQ(SaveExecutable(lowered, folder / "net"), absl::OkStatus());
  const Executable loaded = ValueOrThrow(runtime::LoadExecutable(folder / "net")).executable;
  ASSERT_TRUE(loaded.is_symbolic());
  EXPECT_EQ(loaded.GraphJson(), original.GraphJson());
  EXPECT_EQ(jit::ReadText(folder / "net/graph.json"), original.GraphJson());
  ASSERT_EQ(loaded.inputs().size(), original.inputs().size());
  for (std::size_t i = 0; i < loaded.inputs().size(); ++i)
    EXPECT_EQ(loaded.inputs()[i].extents, original.inputs()[i].extents);
  ExpectRightForAll(GetParam(), [&](const runtime::Inputs& inputs, const auto&) {
    const std::vector<NDArray> results = ValueOrThrow(loaded.Run(inputs));
    const std::vector<NDArray> same = ValueOrThrow(original.Run(inputs));
    for (std::size_t i = 0; i < same.size(); ++i)
      EXPECT_TRUE(results[i].SameBytes(same[i])) << "result " << i;
    return results;
  });
}

// A window of 5 rows, and two inputs of one batch.
Lowered Windows() {
  return ValueOrThrow(
      Lower(Parsed("def @main(%x: Tensor[(n, 1, h, 8), float32], %y: Tensor[(n, 3), float32],\n"
                   "          %k: Tensor[(1, 1, 5, 5), float32]) {\n"
                   "  (nn.conv2d(%x, %k), exp(%y))\n}\n")));
}
runtime::Inputs WindowInputs(const Shape& x, const Shape& y, const Shape& k = {1, 1, 5, 5}) {
  return {{"x", NDArray::Zeros(x, Float32)},
          {"y", NDArray::Zeros(y, Float32)},
          {"k", NDArray::Zeros(k, Float32)}};
}

TEST(SymbolicExportTest, ShapesThatTheModelDoesNotTakeAreRefused) {
  const ScopedFolder folder;
  const Lowered lowered = Windows();
  ASSERT_EQ(ExportSharedLibrary(lowered, folder / "net.so"), absl::OkStatus());
  const Exported net(folder / "net.so", lowered.plan);
  const auto code = [&](const runtime::Inputs& inputs) {
    const Exported::Shapes shapes = net.ShapesOf(inputs);
    std::vector<std::int64_t> first(4), second(2);
    std::int64_t* const extents[] = {first.data(), second.data()};
    const std::int32_t status = net.OutputShapes()(shapes.data.data(), extents);
    EXPECT_EQ(net.WorkspaceBytes()(shapes.data.data()) == -1, status != 0);
    EXPECT_EQ(status,
              net.RunFunction()(nullptr, shapes.data.data(), nullptr, nullptr) == 2 ? 2 : 0);
    return status;
  };
  EXPECT_EQ(code(WindowInputs({2, 1, 4, 8}, {2, 3})), 2) << "the window is larger";
  EXPECT_EQ(code(WindowInputs({2, 1, 9, 7}, {2, 3})), 2) << "an extent that is a number";
  EXPECT_EQ(code(WindowInputs({2, 1, 9, 8}, {3, 3})), 2) << "another batch";
  EXPECT_EQ(code(WindowInputs({0, 1, 9, 8}, {0, 3})), 2) << "no elements";
  const std::int64_t huge[][4] = {{std::int64_t{1} << 40, 1, std::int64_t{1} << 40, 8},
                                  {std::int64_t{1} << 40, 3},
                                  {1, 1, 5, 5}};
  const std::int64_t* const shapes[] = {huge[0], huge[1], huge[2]};
  EXPECT_EQ(net.WorkspaceBytes()(shapes), -1) << "sizes that do not fit";
}

// Whatever the extents are, they are computed without undefined behaviour.
TEST(SymbolicExportTest, ExtentsOfAnySizeAndSignAreRefused) {
  const ScopedFolder folder;
  const Lowered lowered = ValueOrThrow(Lower(
      Parsed("def @main(%x: Tensor[(n, 4, h, w), float32], %k: Tensor[(4, 4, 5, 5), float32]) {\n"
             "  strided_slice(nn.conv2d(%x, %k), begin=[0], end=[-2], axes=[3])\n}\n")));
  ASSERT_EQ(ExportCSource(lowered, folder / "net.c"), absl::OkStatus());
  ASSERT_EQ(FailureOf(StrCat("gcc -std=c99 -O1 -shared -fPIC -fsanitize=undefined ",
                             "-fno-sanitize-recover -fsanitize-undefined-trap-on-error ",
                             folder / "net.c", " -lm -o ", folder / "net.so"),
                      folder),
            "");
  const Exported net(folder / "net.so", lowered.plan);
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const std::int64_t kernel[] = {4, 4, 5, 5};
  for (const std::int64_t extent :
       {-kMax - 1, -kMax, std::int64_t{-2}, std::int64_t{-1}, std::int64_t{0}, kMax / 2, kMax}) {
    for (int axis = 0; axis < 4; ++axis) {
      std::int64_t x[] = {1, 4, 6, 9};
      x[axis] = extent;
      const std::int64_t* const shapes[] = {x, kernel};
      EXPECT_EQ(net.WorkspaceBytes()(shapes), -1) << extent << " on axis " << axis;
    }
  }
  const std::int64_t narrow[] = {1, 4, 6, 3}, fits[] = {1, 4, 6, 9};
  const std::int64_t* const refused[] = {narrow, kernel};
  const std::int64_t* const taken[] = {fits, kernel};
  EXPECT_EQ(net.WorkspaceBytes()(refused), -1);
  EXPECT_GE(net.WorkspaceBytes()(taken), 0);
}

TEST(SymbolicExportTest, TheHeaderSaysWhatTheArraysHold) {
  const ScopedFolder folder;
  ASSERT_EQ(ExportCSource(Windows(), folder / "net.c"), absl::OkStatus());
  const std::string header = jit::ReadText(folder / "net.h");
  for (const char* part :
       {"inputs[0]: x, float32 (n, 1, h, 8)", "outputs[0]: float32 (n, 1, h - 4, 4)",
        "shapes[i]: the extents of inputs[i]",
        "int32_t net_run(const void* const* inputs, const int64_t* const* shapes, ",
        "int64_t net_workspace_bytes(const int64_t* const* shapes);",
        "int32_t net_output_shapes(const int64_t* const* shapes, ",
        "2 for shapes that the model does not take"})
    EXPECT_THAT(header, HasSubstr(part));
  EXPECT_THAT(header, Not(HasSubstr("WORKSPACE_BYTES")));
}

TEST(SymbolicExportTest, RefusedValuesAreNamed) {
  const Lowered lowered = Windows();
  const ScopedFolder folder;
  ASSERT_EQ(SaveExecutable(lowered, folder / "net"), absl::OkStatus());
  const Executable loaded = ValueOrThrow(runtime::LoadExecutable(folder / "net")).executable;
  for (const Executable& exe : {ValueOrThrow(Link(lowered)), loaded}) {
    const auto message = [&](const runtime::Inputs& inputs) {
      return std::string(exe.Run(inputs).status().message());
    };
    EXPECT_THAT(message(WindowInputs({2, 1, 4, 8}, {2, 3})),
                HasSubstr("the model needs 5 <= h, for nn.conv2d; here h = 4, n = 2"));
    EXPECT_THAT(message(WindowInputs({2, 1, 9, 8}, {3, 3})),
                HasSubstr("input 'y' has 3 elements on axis 0; it must have 2"));
    EXPECT_THAT(message(WindowInputs({0, 1, 9, 8}, {0, 3})), HasSubstr("n must be at least 1"));
    EXPECT_TRUE(exe.Run(WindowInputs({2, 1, 9, 8}, {2, 3})).ok());
  }
}

std::string RefusalOfLower(const std::string& text) {
  return std::string(Lower(Parsed(text)).status().message());
}

TEST(SymbolicLowerTest, AVariableThatNoExtentOfAnInputGivesIsRefused) {
  EXPECT_THAT(RefusalOfLower("def @main(%x: Tensor[(n * m), float32]) { exp(%x) }"),
              HasSubstr("no input of the model has the extent m alone, or a multiple of it"));
}

// The author's relation compares numbers, so that what it would refuse is not known.
TEST(SymbolicLowerTest, AnOperatorThatDoesNotSayWhatItNeedsIsNamed) {
  strategies::OpRegistration("test.symbolic_pairs")
      .Argument("data", "Tensor", "of an even number of rows")
      .TypeRelation([](ops::TypeCall& call) {
        const auto* x = call.tensor(0);
        if (x == nullptr) return;
        if (x->shape[0].is_static() && x->shape[0].value() % 2 != 0) call.Refuse("odd");
        call.LearnResult(call.input(0));
      })
      .Elementwise([](te::Expr x) { return x; });
  const std::string text =
      "def @main(%x: Tensor[(n, 3), float32]) { test.symbolic_pairs(exp(%x)) }";
  EXPECT_THAT(RefusalOfLower(text),
              HasSubstr("the type relation of test.symbolic_pairs does not say what it needs of "
                        "variables; register the operator with .KnownConditions()"));
  const Executable exe = ValueOrThrow(Compile(Parsed(text)));
  EXPECT_TRUE(exe.Run({{"x", NDArray::Zeros({4, 3}, Float32)}}).ok());
  EXPECT_THAT(std::string(exe.Run({{"x", NDArray::Zeros({5, 3}, Float32)}}).status().message()),
              HasSubstr("test.symbolic_pairs: odd"));
}

TEST(SymbolicLowerTest, AnAuthorsOperatorOfASharedRelationHasAPlanForAllValues) {
  strategies::OpRegistration("test.symbolic_same")
      .Argument("data", "Tensor", "")
      .TypeRelation(ops::Identity)
      .Elementwise([](te::Expr x) { return x; });
  strategies::OpRegistration("test.symbolic_known")
      .Argument("data", "Tensor", "of an even number of rows")
      .TypeRelation([](ops::TypeCall& call) {
        const auto* x = call.tensor(0);
        if (x == nullptr) return;
        if (call.HasRest(x->shape[0], 2)) call.Refuse("odd");
        call.LearnResult(call.input(0));
      })
      .KnownConditions()
      .Elementwise([](te::Expr x) { return x; });
  for (const char* name : {"test.symbolic_same", "test.symbolic_known"})
    EXPECT_EQ(RefusalOfLower(StrCat("def @main(%x: Tensor[(n, 3), float32]) { ", name, "(%x) }")),
              "");
}

INSTANTIATE_TEST_SUITE_P(Plans, SymbolicPlanTest, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon
