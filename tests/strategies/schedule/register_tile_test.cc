// Matrix products in register tiles against plain sums in double precision, on extents around every
// tile's edges; and the code of the tile.
#include "tenon/strategies/schedule/register_tile.h"

#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tenon/jit/host_target.h"
#include "tenon/jit/kernel.h"
#include "tenon/loop/print.h"
#include "tenon/loop/visit.h"
#include "tenon/passes/bind_params.h"
#include "tenon/support/strings.h"
#include "tenon/tests/strategies/target_testing.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Outcome;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

const CompileOptions kTeOnly = {.library = LibraryChoice::kTe};

struct Sizes {
  std::int64_t rows, columns, depth;
};
void PrintTo(const Sizes& s, std::ostream* out) {
  *out << s.rows << "x" << s.columns << "x" << s.depth;
}

// relu(a b + bias) with b as (depth, columns), or transposed.
NDArray Expected(const NDArray& a, const NDArray& b, const NDArray& bias, const Sizes& s,
                 bool transposed) {
  NDArray y = NDArray::Empty({s.rows, s.columns}, Float32);
  for (std::int64_t i = 0; i < s.rows; ++i) {
    for (std::int64_t j = 0; j < s.columns; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < s.depth; ++k) {
        const float right =
            transposed ? b.data<float>()[j * s.depth + k] : b.data<float>()[k * s.columns + j];
        sum += static_cast<double>(a.data<float>()[i * s.depth + k]) * right;
      }
      y.data<float>()[i * s.columns + j] =
          std::max(0.0F, static_cast<float>(sum + bias.data<float>()[j]));
    }
  }
  return y;
}

class TiledProductTest : public ::testing::TestWithParam<Sizes> {};

TEST_P(TiledProductTest, EqualsThePlainSumWithItsEpilogue) {
  const Sizes& s = GetParam();
  for (const bool transposed : {false, true}) {
    SCOPED_TRACE(transposed ? "dense" : "matmul");
    const std::string b =
        transposed ? StrCat(s.columns, ", ", s.depth) : StrCat(s.depth, ", ", s.columns);
    const ir::Module module =
        Parsed(StrCat("def @main(%a: Tensor[(", s.rows, ", ", s.depth, "), float32], %b: Tensor[(",
                      b, "), float32], %c: Tensor[(", s.columns, "), float32]) { nn.relu(add(",
                      transposed ? "nn.dense" : "nn.matmul", "(%a, %b), %c)) }"));
    const runtime::Inputs inputs = RandomInputs(module, 3);
    ExpectClose(Outcome(module, inputs, kTeOnly),
                {Expected(inputs.at("a"), inputs.at("b"), inputs.at("c"), s, transposed)});
  }
}

INSTANTIATE_TEST_SUITE_P(Edges, TiledProductTest,
                         ::testing::Values(Sizes{7, 16, 5}, Sizes{8, 16, 1}, Sizes{8, 15, 3},
                                           Sizes{9, 17, 4}, Sizes{32, 64, 8}, Sizes{33, 65, 9},
                                           Sizes{31, 63, 7}, Sizes{35, 48, 12}, Sizes{37, 31, 2},
                                           Sizes{64, 1, 16}, Sizes{127, 113, 101},
                                           Sizes{14, 80, 33}, Sizes{41, 1000, 3},
                                           Sizes{256, 256, 64}),
                         ::testing::PrintToStringParamName());

TEST(TiledProductTest, BatchesShareOrOwnTheirOperands) {
  for (const auto& [a_batch, b_batch] : {std::pair{3, 3}, std::pair{1, 3}, std::pair{3, 1}}) {
    const ir::Module module = Parsed(
        StrCat("def @main(%a: Tensor[(", a_batch, ", 18, 10), float32], %b: Tensor[(", b_batch,
               ", 10, 34), float32]) { nn.batch_matmul(%a, %b, transpose_b=False) }"));
    const runtime::Inputs inputs = RandomInputs(module, 7);
    const auto results = Outcome(module, inputs, kTeOnly);
    ASSERT_EQ(results.size(), 1U);
    const float* a = inputs.at("a").data<float>();
    const float* b = inputs.at("b").data<float>();
    for (std::int64_t n = 0; n < 3; ++n) {
      for (std::int64_t i = 0; i < 18; ++i) {
        for (std::int64_t j = 0; j < 34; ++j) {
          double sum = 0;
          for (std::int64_t k = 0; k < 10; ++k)
            sum += static_cast<double>(a[((a_batch == 1 ? 0 : n) * 18 + i) * 10 + k]) *
                   b[((b_batch == 1 ? 0 : n) * 10 + k) * 34 + j];
          ASSERT_NEAR(results[0].data<float>()[(n * 18 + i) * 34 + j], sum, 1e-4)
              << a_batch << " by " << b_batch << " at " << n << ", " << i << ", " << j;
        }
      }
    }
  }
}

TEST(TiledProductTest, OneAndTwoThreadsGiveTheSameBits) {
  const ir::Module module = Parsed(
      "def @main(%a: Tensor[(131, 70), float32], %b: Tensor[(70, 90), float32]) "
      "{ nn.matmul(%a, %b) }");
  const runtime::Inputs inputs = RandomInputs(module, 11);
  const Executable exe = ValueOrThrow(Compile(module, kTeOnly));
  Session one(exe, {.threads = 1}), two(exe, {.threads = 2});
  EXPECT_TRUE(ValueOrThrow(one.Run(inputs)).at(0).SameBytes(ValueOrThrow(two.Run(inputs)).at(0)));
}

loop::Function OneFunction(const std::string& text, const Target& target = jit::HostTarget()) {
  const Lowered lowered =
      ValueOrThrow(Lower(Parsed(text), {.target = target, .library = LibraryChoice::kTe}));
  CheckInvariant(lowered.kernels.size() == 1, "the test's graph is one kernel");
  return std::get<loop::Function>(lowered.kernels[0].choice.built.kernel);
}

// Nothing runs on it.
Target TwoCoresWithAvx2() {
  Target target = testing_targets::Avx2();
  target.l2_bytes = 512 << 10;
  target.cores = 2;
  return target;
}

std::string RowByMatrix(int depth, int columns) {
  return StrCat("def @main(%a: Tensor[(1, ", depth, "), float32], %b: Tensor[(", depth, ", ",
                columns, "), float32]) { nn.matmul(%a, %b) }");
}

TEST(RowByMatrixTest, RowsThatAreFarApartAreAddedSeveralAtOnceToALine) {
  const auto loops = [](int depth, int columns) {
    return loop::Print(OneFunction(RowByMatrix(depth, columns), TwoCoresWithAvx2()));
  };
  // 125 vectors: a part for each core, of which the last is shorter.
  EXPECT_THAT(loops(2048, 1000),
              AllOf(HasSubstr("parallel ax1.outer.outer in [0, 2)"),
                    HasSubstr("for k.outer in [0, 256)"), HasSubstr("in [0, min(63, (125 - ")));
  EXPECT_THAT(loops(2048, 2048), AllOf(HasSubstr("parallel ax1.outer.outer in [0, 2)"),
                                       HasSubstr("for ax1.outer.inner in [0, 128)")));
  // In the cache of the second level, near to each other, or of a prime number.
  for (const auto& [depth, columns] :
       {std::pair(64, 512), std::pair(8192, 64), std::pair(2053, 512)})
    EXPECT_THAT(loops(depth, columns), Not(HasSubstr("k.outer"))) << depth;
}

TEST(RowByMatrixTest, ResultsAreThoseOfTheInterpreter) {
  for (const auto& [depth, columns] :
       {std::pair(1020, 1023), std::pair(1036, 520), std::pair(500, 1531), std::pair(72, 8200)}) {
    SCOPED_TRACE(StrCat(depth, " x ", columns));
    const ir::Module module = Parsed(RowByMatrix(depth, columns));
    const runtime::Inputs inputs = RandomInputs(module, 5);
    for (const char* features : {"", "-avx512f"})
      ExpectClose(Outcome(module, inputs,
                          {.target = jit::HostTarget(features), .library = LibraryChoice::kTe}),
                  Interpreted(module, inputs));
  }
}

std::string ProductOfInputs(std::int64_t batch, const Sizes& s, bool transposed) {
  const auto matrix = [&](std::int64_t rows, std::int64_t columns) {
    return StrCat("Tensor[(", batch, ", ", rows, ", ", columns, "), float32]");
  };
  return StrCat("def @main(%a: ", matrix(s.rows, s.depth),
                ", %b: ", transposed ? matrix(s.columns, s.depth) : matrix(s.depth, s.columns),
                ") { nn.relu(nn.batch_matmul(%a, %b", transposed ? ", transpose_b=True" : "",
                ")) }");
}

TEST(PanelTest, IsPackedWhereItsTilesAreSummedUp) {
  const auto loops = [](std::int64_t batch, const Sizes& s, bool transposed) {
    return loop::Print(OneFunction(ProductOfInputs(batch, s, transposed), TwoCoresWithAvx2()));
  };
  for (const bool transposed : {false, true}) {
    EXPECT_THAT(loops(12, {64, 768, 768}, transposed),
                AllOf(HasSubstr("\n    allocate packed: float32[1, 1, 768, 16]"),
                      Not(HasSubstr("\n  allocate packed"))));
  }
  // Too few panels for the cores, one that the cache would not hold, and one for all of a batch.
  EXPECT_THAT(loops(2, {64, 32, 768}, false), HasSubstr("\n  allocate packed: float32[2, 2,"));
  EXPECT_THAT(loops(12, {64, 768, 8192}, false), HasSubstr("\n  allocate packed: float32[12, 48,"));
  EXPECT_THAT(loops(1, {64, 768, 768}, false), HasSubstr("\n  allocate packed: float32[48,"));
}

// What its last columns lack is 0. They are not gathered one by one.
TEST(PanelTest, IsCopiedInTilesWhereColumnsDoNotFillIt) {
  for (const int columns : {768, 770, 100}) {
    const std::string loops =
        loop::Print(OneFunction(ProductOfInputs(12, {64, columns, 768}, true), TwoCoresWithAvx2()));
    EXPECT_THAT(loops, HasSubstr("shuffle(")) << columns;
  }
}

// The pixels of a convolution that its filters share are no such panel: threads share the filters.
TEST(PanelTest, FiltersOfARowTiledConvolutionAreShared) {
  const std::string loops = loop::Print(OneFunction(
      "def @main(%x: Tensor[(1, 256, 56, 56), float32], %w: Tensor[(64, 256, 1, 1), float32]) { "
      "nn.conv2d(%x, %w, channels=64, kernel_size=[1, 1]) }",
      TwoCoresWithAvx2()));
  EXPECT_THAT(loops, HasSubstr("parallel "));
  EXPECT_THAT(loops, HasSubstr("\n    allocate panel: float32[1, 1, 256, 16]"));
}

TEST(PanelTest, ResultsAreThoseOfTheInterpreter) {
  for (const Sizes& s :
       {Sizes{13, 131, 50}, Sizes{40, 257, 67}, Sizes{9, 1024, 1}, Sizes{33, 100, 64}}) {
    for (const std::int64_t batch : {1, 3}) {
      for (const bool transposed : {false, true}) {
        SCOPED_TRACE(ProductOfInputs(batch, s, transposed));
        const ir::Module module = Parsed(ProductOfInputs(batch, s, transposed));
        const runtime::Inputs inputs = RandomInputs(module, 6);
        for (const char* features : {"", "-avx512f", "-avx2"}) {
          CompileOptions options = {.target = jit::HostTarget(features),
                                    .library = LibraryChoice::kTe};
          options.target.cores = 2;
          ExpectClose(Outcome(module, inputs, options), Interpreted(module, inputs));
        }
      }
    }
  }
}

TEST(ConvTileTest, TilesOfSeveralTapsLeaveRegistersForPixels) {
  const auto loops = [](int kernel) {
    const int size = 14 + kernel - 1;
    return loop::Print(
        OneFunction(StrCat("def @main(%x: Tensor[(1, 252, ", size, ", ", size,
                           "), float32], %w: Tensor[(256, 252, ", kernel, ", ", kernel,
                           "), float32]) { nn.conv2d(%x, %w, channels=256, kernel_size=[", kernel,
                           ", ", kernel, "]) }"),
                    TwoCoresWithAvx2()));
  };
  EXPECT_THAT(loops(5), HasSubstr("allocate conv2d_nchw_1: float32[1, 1, 1, 2, 4, 8]"));
  EXPECT_THAT(loops(1), HasSubstr("allocate conv2d_nchw_1: float32[1, 1, 1, 2, 6, 8]"));
}

constexpr const char* kSquare =
    "def @main(%a: Tensor[(256, 256), float32], %b: Tensor[(256, 256), float32]) "
    "{ nn.relu(nn.matmul(%a, %b)) }";

TEST(TiledProductTest, SharesBlocksAmongThreadsAndKeepsOneTileAndThePackedOperand) {
  Target target = jit::HostTarget();  // nothing runs
  target.vector_bytes = 64;
  target.vector_registers = 32;
  const loop::Function function = OneFunction(kSquare, target);
  int parallel_loops = 0;
  std::vector<std::int64_t> temporaries;
  loop::VisitStmts(function.body, [&](const loop::Stmt& s) {
    if (const auto* loop = s.As<loop::ForNode>())
      parallel_loops += loop->for_kind == loop::ForKind::kParallel ? 1 : 0;
    if (const auto* allocate = s.As<loop::AllocateNode>()) {
      std::int64_t elements = 1;
      for (const loop::Expr& extent : allocate->buffer->shape)
        elements *= extent.As<loop::IntImmNode>()->value;
      temporaries.push_back(elements);
    }
  });
  EXPECT_EQ(parallel_loops, 2);
  EXPECT_THAT(temporaries, ::testing::UnorderedElementsAre(256 * 256, 4 * 64));
}

// The lines between labels and jumps, of which the block with the most multiply-adds is the hot
// loop.
std::string HotBlock(const std::string& assembly) {
  std::istringstream lines(assembly);
  std::string line, block, hot;
  const auto count = [](const std::string& text) {
    int found = 0;
    for (std::size_t at = text.find("vfmadd"); at != std::string::npos;
         at = text.find("vfmadd", at + 1))
      ++found;
    return found;
  };
  const auto end_block = [&] {
    if (count(block) > count(hot)) hot = block;
    block.clear();
  };
  while (std::getline(lines, line)) {
    if (!line.empty() && line[0] != '\t') end_block();
    block += line + "\n";
    if (line.starts_with("\tj")) end_block();
  }
  end_block();
  return hot;
}

class HotLoopTest : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Masks, HotLoopTest, ::testing::Values("", "-avx512f"),
                         [](const auto& info) { return *info.param == '\0' ? "Host" : "Avx2"; });

TEST_P(HotLoopTest, KeepsSumsInRegisters) {
  const Target target = jit::HostTarget(GetParam());
  if (!target.Has("fma")) GTEST_SKIP() << "products are not added up in one instruction";
  for (const char* text :
       {kSquare,
        "def @main(%x: Tensor[(1, 4, 56, 56, 16), float32], %w: Tensor[(4, 4, 3, 3, 16, 16), "
        "float32]) { nn.contrib_conv2d_NCHWc(%x, %w, kernel_size=[3, 3], channels=64, "
        "data_layout=\"NCHW16c\", kernel_layout=\"OIHW16i16o\") }",
        "def @main(%x: Tensor[(1, 64, 56, 56), float32], %w: Tensor[(64, 64, 1, 1), float32]) "
        "{ nn.conv2d(%x, %w) }",
        "def @main(%x: Tensor[(1, 64, 14, 14), float32], %w: Tensor[(32, 64, 1, 1), float32]) "
        "{ nn.conv2d(%x, %w) }",
        "def @main(%x: Tensor[(1, 64, 29, 29), float32], %w: Tensor[(64, 64, 3, 3), float32]) "
        "{ nn.conv2d(%x, %w, strides=[2, 2]) }",
        "def @main(%x: Tensor[(1, 512, 4, 32), float32], %w: Tensor[(64, 512, 1, 1), float32]) "
        "{ nn.conv2d(%x, %w) }",
        "def @main(%x: Tensor[(1, 8, 3, 96), float32], %w: Tensor[(8, 1, 5, 5), float32]) "
        "{ nn.conv2d(%x, %w, padding=[2, 2, 2, 2], groups=8) }"}) {
    SCOPED_TRACE(text);
    const jit::Kernel kernel =
        ValueOrThrow(jit::Compile(OneFunction(text, target), {.target = target}));
    const std::string assembly = kernel.Assembly();
    const std::string hot = HotBlock(assembly);
    // In a function without a frame rbp is a register like any other.
    const std::string before = assembly.substr(0, assembly.find(hot));
    const bool has_frame =
        before.find("%rsp, %rbp", before.rfind("@function")) != std::string::npos;
    ASSERT_NE(hot.find("vfmadd"), std::string::npos);
    std::istringstream lines(hot);
    int spills = 0, multiply_adds = 0;
    for (std::string line; std::getline(lines, line);) {
      // With an index register it is an array on the stack.
      const bool touches_stack = line.find("(%rsp)") != std::string::npos ||
                                 (has_frame && line.find("(%rbp)") != std::string::npos);
      if (touches_stack && line.find("mm") != std::string::npos) ++spills;
      if (line.find("vfmadd") != std::string::npos) ++multiply_adds;
    }
    // Of 16 registers LLVM spills some, as it loads operands of later steps ahead; sums that did
    // not fit would be loaded and stored at every step.
    EXPECT_LE(spills, HasManyRegisters(target) ? 0 : multiply_adds / 3) << hot;
  }
}

// A tile of more rows or vectors than the result has computes some in vain.
TEST(RegisterTileTest, TheUsualTileIsAChoiceThoughItIsLargerThanTheResult) {
  for (const char* features : {"", "-avx512f", "-avx2"}) {
    const Target target = jit::HostTarget(features);
    for (const std::int64_t most : {1, 2, 4}) {
      Config config;
      const TileSize tile = TileIn(&config, {"rows", "vectors"}, {8, 3}, {most, most}, target);
      EXPECT_EQ(tile.rows, 8);
      EXPECT_EQ(tile.vectors, 3);
      for (const Config::Choice& choice : config.choices()) {
        Config other({{choice.name, choice.values.front()}});
        const TileSize small = TileIn(&other, {"rows", "vectors"}, {8, 3}, {most, most}, target);
        EXPECT_EQ(choice.name == "rows" ? small.rows : small.vectors, 1);
      }
    }
  }
}

TEST(RegisterTileTest, GroupsOfHalfAVectorGiveTheirSums) {
  for (const char* text :
       {"def @main(%x: Tensor[(1, 24, 7, 9), float32], %w: Tensor[(24, 8, 3, 3), float32]) "
        "{ nn.conv2d(%x, %w, groups=3, strides=[2, 2], padding=[1, 1]) }",
        "def @main(%x: Tensor[(2, 10, 13, 31), float32], %w: Tensor[(16, 5, 3, 3), float32]) "
        "{ nn.relu(nn.conv2d(%x, %w, groups=2, dilation=[2, 1])) }",
        "def @main(%x: Tensor[(1, 56, 11, 17), float32], %w: Tensor[(56, 8, 1, 1), float32]) "
        "{ nn.conv2d(%x, %w, groups=7) }",
        "def @main(%x: Tensor[(1, 32, 14, 14), float32], %w: Tensor[(32, 8, 5, 5), float32], "
        "%b: Tensor[(32), float32]) { nn.bias_add(nn.conv2d(%x, %w, groups=4, padding=[2, 2]), "
        "%b) }",
        "def @main(%x: Tensor[(1, 24, 129), float32], %w: Tensor[(24, 8, 3), float32]) "
        "{ nn.conv1d(%x, %w, groups=3) }",
        "def @main(%x: Tensor[(1, 12, 12, 16), float32], %w: Tensor[(3, 3, 8, 16), float32]) "
        "{ nn.conv2d(%x, %w, groups=2, data_layout=\"NHWC\", kernel_layout=\"HWIO\") }"}) {
    SCOPED_TRACE(text);
    const ir::Module module = Parsed(text);
    const runtime::Inputs inputs = RandomInputs(module, 7);
    ExpectClose(Outcome(module, inputs), testing_graphs::Interpreted(module, inputs));
    ExpectClose(Outcome(passes::BindParams(module, "main", {{"w", inputs.at("w")}}),
                        [&] {
                          runtime::Inputs rest = inputs;
                          rest.erase("w");
                          return rest;
                        }()),
                testing_graphs::Interpreted(module, inputs));
  }
}

// --- dot products

std::string DotDense(const Sizes& s, const char* left, const char* right, const char* sum) {
  return StrCat("def @main(%a: Tensor[(", s.rows, ", ", s.depth, "), ", left, "], %b: Tensor[(",
                s.columns, ", ", s.depth, "), ", right, "]) { nn.dense(%a, %b, out_dtype=\"", sum,
                "\") }");
}

class DotTileTest : public ::testing::TestWithParam<Sizes> {};

// Where the right operand is known, few rows are summed up in tiles, too.
TEST_P(DotTileTest, BytesMakeThePlainSumWithAndWithoutTheInstruction) {
  const Sizes& s = GetParam();
  const ir::Module module = Parsed(DotDense(s, "uint8", "int8", "int32"));
  NDArray a = NDArray::Empty({s.rows, s.depth}, UInt8);
  NDArray b = NDArray::Empty({s.columns, s.depth}, Int8);
  for (std::int64_t i = 0; i < a.size(); ++i)
    a.data<std::uint8_t>()[i] = static_cast<std::uint8_t>(255 - i * 37 % 256);
  for (std::int64_t i = 0; i < b.size(); ++i)
    b.data<std::int8_t>()[i] = static_cast<std::int8_t>(i * 91 % 256 - 128);
  NDArray y = NDArray::Empty({s.rows, s.columns}, Int32);
  for (std::int64_t i = 0; i < s.rows; ++i) {
    for (std::int64_t j = 0; j < s.columns; ++j) {
      std::int32_t sum = 0;
      for (std::int64_t k = 0; k < s.depth; ++k)
        sum += a.data<std::uint8_t>()[i * s.depth + k] * b.data<std::int8_t>()[j * s.depth + k];
      y.data<std::int32_t>()[i * s.columns + j] = sum;
    }
  }
  for (const char* features : {"", "-avx512vnni", "-avx512f"}) {
    SCOPED_TRACE(features);
    ExpectClose(Outcome(module, {{"a", a}, {"b", b}}, {.target = jit::HostTarget(features)}), {y});
    const ir::Module known = passes::BindParams(module, "main", {{"b", b}});
    ExpectClose(Outcome(known, {{"a", a}}, {.target = jit::HostTarget(features)}), {y});
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, DotTileTest,
                         ::testing::Values(Sizes{1, 16, 4}, Sizes{1, 200, 3}, Sizes{2, 97, 64},
                                           Sizes{3, 33, 5}, Sizes{1, 15, 8}, Sizes{33, 15, 4},
                                           Sizes{32, 16, 4}, Sizes{33, 17, 8}, Sizes{37, 63, 12},
                                           Sizes{65, 64, 64}, Sizes{64, 65, 60},
                                           Sizes{33, 129, 63}),
                         ::testing::PrintToStringParamName());

TEST(DotTileTest, TheHostsInstructionsRunInTheHotLoop) {
  const Target host = jit::HostTarget();
  const Sizes s{64, 64, 64};
  const auto assembly = [&](const char* left, const char* right, const char* sum) {
    return ValueOrThrow(jit::Compile(OneFunction(DotDense(s, left, right, sum)))).Assembly();
  };
  if (host.Has("avx512vnni")) {
    EXPECT_THAT(assembly("uint8", "int8", "int32"), ::testing::HasSubstr("vpdpbusd"));
  }
  const std::string of_bfloats = assembly("bfloat16", "bfloat16", "float32");
  if (host.has_fast_dots_of_bf16()) {
    EXPECT_THAT(of_bfloats, ::testing::HasSubstr("vdpbf16ps"));
  } else {
    EXPECT_THAT(of_bfloats, ::testing::Not(::testing::HasSubstr("vdpbf16ps")));
  }
  // One row always, where the weights may be packed before: reading them takes the time.
  const auto of_one_row = [&](const char* left, const char* right, DataType type, const char* sum) {
    const ir::Module module = Parsed(DotDense({1, 64, 64}, left, right, sum));
    const Lowered lowered = ValueOrThrow(
        Lower(passes::BindParams(module, "main", {{"b", NDArray::Zeros({64, 64}, type)}}),
              {.library = LibraryChoice::kTe}));
    const auto& function = std::get<loop::Function>(lowered.kernels.at(0).choice.built.kernel);
    return ValueOrThrow(jit::Compile(function)).Assembly();
  };
  if (host.Has("avx512vnni")) {
    EXPECT_THAT(of_one_row("uint8", "int8", Int8, "int32"), ::testing::HasSubstr("vpdpbusd"));
  }
  if (host.Has("avx512bf16")) {
    EXPECT_THAT(of_one_row("bfloat16", "bfloat16", BFloat16, "float32"),
                ::testing::HasSubstr("vdpbf16ps"));
  }
  EXPECT_THAT(assembly("int8", "int8", "int32"), ::testing::Not(::testing::HasSubstr("vpdpbusd")));
}

}  // namespace
}  // namespace tenon::strategies
