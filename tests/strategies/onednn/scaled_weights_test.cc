// Products by weights of bytes and their scales, in composites: oneDNN 3 scales the weights on the
// way, and where it has no code the kernel is generated. Both agree with the interpreter.
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "tenon/jit/host_target.h"
#include "tenon/passes/bind_params.h"
#include "tenon/strategies/onednn/adapter.h"
#include "tenon/strategies/onednn/facts.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Parsed;

struct Graph {
  const char* name;
  const char* data;  // the shapes
  const char* weights;
  const char* type;  // of the weights
  const char* scales;
  const char* zeros;
  const char* operand;        // of %q, %s and %z
  const char* rest;           // of %x and %w
  bool is_generated = false;  // it is faster, or oneDNN 3.7 has reference code alone
};
void PrintTo(const Graph& graph, std::ostream* out) { *out << graph.name; }

std::string ParamsOf(const Graph& graph, const char* type = "bfloat16") {
  return StrCat("%x: Tensor[(", graph.data, "), ", type, "], %q: Tensor[(", graph.weights, "), ",
                graph.type, "], %s: Tensor[(", graph.scales, "), float32], %z: Tensor[(",
                graph.zeros, "), ", graph.type, "], %b: Tensor[(19), float32]");
}

std::string BodyOf(const Graph& graph, const char* type = "bfloat16") {
  return StrCat("{ %w = cast(", graph.operand, ", dtype=\"", type, "\"); ", graph.rest, " }");
}

ir::Module Plain(const Graph& graph, const char* type = "bfloat16") {
  return Parsed(StrCat("def @main(", ParamsOf(graph, type), ") ", BodyOf(graph, type)));
}

// The same as a composite for oneDNN, whose weights are known, except those of `unknown`.
ir::Module Composite(const Graph& graph, const runtime::Inputs& inputs,
                     const std::string& unknown = "", const char* type = "bfloat16") {
  const std::string params = ParamsOf(graph, type);
  passes::ParamValues known;
  for (const char* name : {"q", "s", "z"}) {
    if (name != unknown) known.emplace_back(name, inputs.at(name));
  }
  return passes::BindParams(
      Parsed(StrCat("def @scaled(", params, ", Composite=\"dnnl.scaled\") ", BodyOf(graph, type),
                    " def @main(", params, ") { @scaled(%x, %q, %s, %z, %b) }")),
      "main", known);
}

// Whole numbers, and scales that are powers of two: rounding the weights changes none, and float32
// holds every sum.
runtime::Inputs InputsOf(const ir::Module& module) {
  runtime::Inputs inputs = testing_graphs::RandomInputs(module, 7);
  NDArray& x = inputs.at("x");
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const auto whole = static_cast<float>(std::round(4 * testing_graphs::ValueAt(x, i)));
    if (x.dtype() == Float32) {
      x.data<float>()[i] = whole;
    } else {
      static_cast<std::uint16_t*>(x.raw())[i] =
          static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(whole) >> 16);
    }
  }
  NDArray& s = inputs.at("s");
  for (std::int64_t i = 0; i < s.size(); ++i)
    s.data<float>()[i] = std::ldexp(1.0F, -static_cast<int>(i * 7 % 5));
  for (const char* name : {"q", "z"}) {
    NDArray& bytes = inputs.at(name);
    const bool is_zero = std::string_view(name) == "z";
    for (std::int64_t i = 0; i < bytes.size(); ++i) {
      const std::int64_t byte = (i * 37 + 11) % 97;
      if (bytes.dtype() == UInt8) {
        bytes.data<std::uint8_t>()[i] =
            static_cast<std::uint8_t>(is_zero ? 120 + i % 3 : 80 + byte);
      } else {
        bytes.data<std::int8_t>()[i] = static_cast<std::int8_t>(is_zero ? i % 4 : byte - 48);
      }
    }
  }
  return inputs;
}

runtime::Inputs WithoutWeights(const runtime::Inputs& inputs) {
  return {{"x", inputs.at("x")}, {"b", inputs.at("b")}};
}

bool HasCode() { return onednn::Facts().scales_weights && jit::HostTarget().Has("avx512bf16"); }

std::string Explanation(const ir::Module& module, LibraryChoice library = LibraryChoice::kAuto) {
  return ValueOrThrow(Lower(module, {.library = library})).kernels[0].choice.Explanation();
}

class ScaledWeightsTest : public ::testing::TestWithParam<Graph> {};

TEST_P(ScaledWeightsTest, AgreesWithTheInterpreterWhicheverCodeItIs) {
  const ir::Module module = Plain(GetParam());
  const runtime::Inputs inputs = InputsOf(module);
  const Executable exe = ValueOrThrow(Compile(Composite(GetParam(), inputs)));
  if (HasCode() && !GetParam().is_generated) {
    EXPECT_THAT(exe.kernels()[0]->implementation(),
                AllOf(HasSubstr("onednn"), HasSubstr("matmul"), Not(HasSubstr("ref"))));
  }
  for (int run = 0; run < 2; ++run)
    ExpectClose(ValueOrThrow(exe.Run(WithoutWeights(inputs))), Interpreted(module, inputs), 1e-5);
  ExpectClose(testing_graphs::Outcome(Composite(GetParam(), inputs), WithoutWeights(inputs),
                                      {.library = LibraryChoice::kTe}),
              Interpreted(module, inputs), 1e-5);
}

TEST_P(ScaledWeightsTest, HasTheSameValuesOnEveryNumberOfThreads) {
  const ir::Module module = Plain(GetParam());
  const runtime::Inputs inputs = InputsOf(module);
  for (const int threads : {1, 3}) {
    CompileOptions options;
    options.threads = threads;
    ExpectClose(
        testing_graphs::Outcome(Composite(GetParam(), inputs), WithoutWeights(inputs), options),
        Interpreted(module, inputs), 1e-5);
  }
}

constexpr const char* kColumns = "multiply(cast(%q, dtype=\"float32\"), %s)";
constexpr const char* kLessZero =
    "multiply(cast(subtract(cast(%q, dtype=\"int32\"), cast(%z, dtype=\"int32\")), "
    "dtype=\"float32\"), %s)";
constexpr const char* kProduct = "nn.matmul(%x, %w, out_dtype=\"float32\")";

INSTANTIATE_TEST_SUITE_P(
    Graphs, ScaledWeightsTest,
    ::testing::Values(
        Graph{"OneScale", "5, 64", "64, 19", "int8", "1", "1", kColumns, kProduct},
        Graph{"Columns", "5, 64", "64, 19", "int8", "19", "19", kColumns, kProduct},
        Graph{"OneRow", "1, 67", "67, 19", "int8", "19", "19", kColumns, kProduct},
        Graph{"ManyRows", "130, 33", "33, 19", "int8", "19", "19", kColumns, kProduct},
        Graph{"OneTerm", "3, 1", "1, 19", "int8", "19", "19", kColumns, kProduct},
        Graph{"ZeroPoints", "5, 64", "64, 19", "int8", "19", "19", kLessZero, kProduct},
        Graph{"UnsignedBytes", "5, 64", "64, 19", "uint8", "19", "1", kLessZero, kProduct},
        Graph{"DifferencesThatWrapAround", "5, 64", "64, 19", "uint8", "19", "1",
              "multiply(cast(subtract(%q, %z), dtype=\"float32\"), %s)", kProduct, true},
        Graph{"BytesWhoseSignIsDropped", "5, 64", "64, 19", "int8", "19", "1",
              "multiply(cast(cast(%q, dtype=\"uint8\"), dtype=\"float32\"), %s)", kProduct, true},
        Graph{"ProductsThatWrapAround", "5, 64", "64, 19", "int8", "19", "19", "multiply(%q, %z)",
              kProduct, true},
        Graph{"Blocks", "5, 128", "128, 19", "int8", "4, 19", "1",
              "multiply(cast(%q, dtype=\"float32\"), repeat(%s, repeats=32, axis=0))", kProduct},
        Graph{"BlocksOfOneRow", "1, 128", "128, 19", "int8", "4, 19", "1",
              "multiply(cast(%q, dtype=\"float32\"), repeat(%s, repeats=32, axis=0))", kProduct,
              true},
        Graph{"BlocksOfFourRows", "4, 128", "128, 19", "int8", "4, 19", "1",
              "multiply(cast(%q, dtype=\"float32\"), repeat(%s, repeats=32, axis=0))", kProduct},
        Graph{"ShortBlocks", "5, 64", "64, 19", "int8", "4, 19", "1",
              "multiply(cast(%q, dtype=\"float32\"), repeat(%s, repeats=16, axis=0))", kProduct,
              true},
        Graph{"BlocksThatDoNotDivide", "5, 80", "80, 19", "int8", "3, 19", "1",
              "multiply(cast(%q, dtype=\"float32\"), strided_slice(repeat(%s, repeats=32, axis=0), "
              "begin=[0], end=[80], strides=[1], axes=[0]))",
              kProduct, true},
        Graph{"BlocksWithZeroPoints", "7, 64", "64, 19", "uint8", "2, 19", "2, 19",
              "multiply(cast(subtract(cast(%q, dtype=\"int32\"), repeat(cast(%z, dtype=\"int32\"), "
              "repeats=32, axis=0)), dtype=\"float32\"), repeat(%s, repeats=32, axis=0))",
              kProduct},
        Graph{"Dense", "5, 64", "19, 64", "int8", "19, 1", "1", kColumns,
              "nn.dense(%x, %w, out_dtype=\"float32\")"},
        Graph{"DenseOfBlocks", "5, 64", "19, 64", "int8", "19, 2", "1",
              "multiply(repeat(%s, repeats=32, axis=1), cast(%q, dtype=\"float32\"))",
              "nn.dense(%x, %w, out_dtype=\"float32\")"},
        Graph{"TransposedData", "64, 5", "64, 19", "int8", "19", "1", kColumns,
              "nn.matmul(%x, %w, transpose_a=True, out_dtype=\"float32\")"},
        Graph{"BiasAndRelu", "5, 64", "64, 19", "int8", "19", "1", kColumns,
              "nn.relu(add(nn.matmul(%x, %w, out_dtype=\"float32\"), %b))"},
        Graph{"MoreAxes", "2, 3, 64", "64, 19", "int8", "19", "1", kColumns, kProduct},
        Graph{"RoundedSums", "5, 64", "64, 19", "int8", "19", "1", kColumns,
              "%y = cast(nn.matmul(%x, %w, out_dtype=\"float32\"), dtype=\"bfloat16\"); "
              "nn.relu(%y)"}),
    [](const auto& info) { return info.param.name; });

const Graph& OfColumns() {
  static const Graph graph{"Columns", "5, 64", "64, 19", "int8", "19", "19", kColumns, kProduct};
  return graph;
}

std::string Absent() {
  return StrCat("onednn_scaled: no, oneDNN ", onednn::LibraryVersion(),
                " does not scale the weights of a product");
}

TEST(ScaledWeightsChoiceTest, ALibraryThatScalesNoWeightsSaysSo) {
  const runtime::Inputs inputs = InputsOf(Plain(OfColumns()));
  EXPECT_THAT(Explanation(Composite(OfColumns(), inputs)),
              HasSubstr(onednn::Facts().scales_weights ? "onednn_scaled: chosen" : Absent()));
}

TEST(ScaledWeightsChoiceTest, WeightsWithoutScalesAreNotItsMatter) {
  EXPECT_THAT(Explanation(Parsed("def @main(%x: Tensor[(5, 8), float32], %w: Tensor[(8, 9), "
                                 "float32]) { nn.matmul(%x, %w) }")),
              HasSubstr("onednn_scaled: no, its right operand is no known bytes "
                        "times a scale"));
}

TEST(ScaledWeightsChoiceTest, WhatIsNotKnownOrDoesNotFitIsGenerated) {
  const Graph graph{"Graph", "5, 64", "64, 19", "uint8", "19", "1", kLessZero, kProduct};
  const ir::Module module = Plain(graph);
  const runtime::Inputs inputs = InputsOf(module);
  const auto expect = [&](const char* reason, const runtime::Inputs& given,
                          const std::string& unknown = "") {
    SCOPED_TRACE(reason);
    const ir::Module composite = Composite(graph, given, unknown);
    EXPECT_THAT(Explanation(composite),
                HasSubstr(onednn::Facts().scales_weights ? reason : Absent()));
    runtime::Inputs rest = WithoutWeights(given);
    if (!unknown.empty()) rest.emplace(unknown, given.at(unknown));
    ExpectClose(testing_graphs::Outcome(composite, rest), Interpreted(module, given), 1e-5);
  };
  for (const char* name : {"q", "s", "z"}) expect("no, the weights are not known", inputs, name);
  runtime::Inputs wide = inputs;
  wide.at("z") = NDArray::FromVector<std::uint8_t>({1}, {0});
  expect("no signed number of 8 bits", wide);
  for (const float scale :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), 1e35F}) {
    runtime::Inputs endless = inputs;
    endless.at("s") = inputs.at("s").Clone();
    endless.at("s").data<float>()[3] = scale;
    expect("from which sums overflow", endless);
  }
}

TEST(ScaledWeightsChoiceTest, AnInfinityAndNaNStayInTheirRows) {
  const ir::Module module = Plain(OfColumns());
  runtime::Inputs inputs = InputsOf(module);
  auto* data = static_cast<std::uint16_t*>(inputs.at("x").raw());
  data[3] = 0x7F80;       // infinity in the first row
  data[64 + 5] = 0x7FC0;  // NaN in the second
  ExpectClose(testing_graphs::Outcome(Composite(OfColumns(), inputs), WithoutWeights(inputs)),
              Interpreted(module, inputs), 1e-5);
}

TEST(ScaledWeightsChoiceTest, NoRowsGiveNoResult) {
  const Graph none{"None", "0, 64", "64, 19", "int8", "19", "19", kColumns, kProduct};
  const ir::Module module = Plain(none);
  const runtime::Inputs inputs = InputsOf(module);
  const std::vector<NDArray> results =
      testing_graphs::Outcome(Composite(none, inputs), WithoutWeights(inputs));
  EXPECT_EQ(results.at(0).shape(), (Shape{0, 19}));
}

// oneDNN 3.7 has reference code only, which is refused; a later one may have more.
TEST(ScaledWeightsChoiceTest, FloatsAgreeWithTheInterpreterByNoReferenceCode) {
  const ir::Module module = Plain(OfColumns(), "float32");
  const runtime::Inputs inputs = InputsOf(module);
  const ir::Module composite = Composite(OfColumns(), inputs, "", "float32");
  const Executable exe = ValueOrThrow(Compile(composite));
  EXPECT_THAT(exe.kernels()[0]->implementation(), Not(HasSubstr("ref")));
  ExpectClose(ValueOrThrow(exe.Run(WithoutWeights(inputs))), Interpreted(module, inputs), 1e-5);
}

TEST(ScaledWeightsChoiceTest, WeightsBecomeWholeUnlessACompositeKeepsThem) {
  const ir::Module module = Plain(OfColumns());
  const runtime::Inputs inputs = InputsOf(module);
  const ir::Module bound = passes::BindParams(
      module, "main", {{"q", inputs.at("q")}, {"s", inputs.at("s")}, {"z", inputs.at("z")}});
  EXPECT_THAT(Explanation(bound), HasSubstr("onednn_scaled: no, its right operand"));
}

}  // namespace
}  // namespace tenon::strategies
