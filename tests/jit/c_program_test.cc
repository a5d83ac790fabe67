// Generated C for whole kernels: what the text looks like, that it gives what
// the JIT gives, and what its packed functions refuse.
#include "tenon/loop/stmt.h"
#include "tenon/support/error.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/tests/jit/c_comparison.h"

namespace tenon::jit {
namespace {

using loop::Expr;
using schedule::Lower;
using schedule::Schedule;
using te::Placeholder;
using te::ReduceAxis;
using te::Tensor;
using te::Var;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string SourceOf(const loop::Function& function) { return ValueOrThrow(CSource(function)); }

// --- the text

// x (20, 20): the row sums of (x + x) + (x + x).
loop::Function AddAddSum() {
  const Tensor x = Placeholder({20, 20}, Float32, "x");
  const te::IterVar k = ReduceAxis(0, 20, "k1");
  const Tensor y = te::Compute(
      {20, 20}, [&](Var i, Var j) { return x(i, j) + x(i, j); }, "y");
  const Tensor sum = te::Compute(
      {20}, [&](Var ax0) { return te::Sum(y(ax0, k.var) + y(ax0, k.var), {k}); }, "sum");
  Schedule s(sum);
  s[y].ComputeInline();
  return Lower(s, {x, sum}, "add_add_sum");
}

// The target, an export macro, math.h. The text stands alone: it includes no header of a
// runtime but declares the tensor struct itself.
TEST(CProgramTest, S001_38_ASourceNamesItsTargetAndIncludesSystemHeadersOnly) {
  const std::string source = SourceOf(AddAddSum());
  EXPECT_THAT(source, AllOf(HasSubstr("target: c -keys=cpu -link-params=0"),
                            HasSubstr("#define TENON_EXPORT"), HasSubstr("#include <math.h>"),
                            Not(HasSubstr("#include \""))));
}

TEST(CProgramTest, S001_39_S001_40_AKernelHasThePackedConventionInsideExternC) {
  const std::string source = SourceOf(AddAddSum());
  EXPECT_THAT(source, AllOf(HasSubstr("#ifdef __cplusplus\nextern \"C\" {\n#endif"),
                            HasSubstr("int32_t add_add_sum(void* args, void* arg_type_ids, int32_t "
                                      "num_args, void* out_ret_value, void* out_ret_tcode, void* "
                                      "resource_handle)"),
                            HasSubstr("const int32_t* codes = (const int32_t*)arg_type_ids;"),
                            HasSubstr("if (tensor->strides == NULL) return true;"),
                            HasSubstr("tensor->device.device_type != 1")));
}

// The producer is inlined into the reduction, whose start is inside the row loop.
// The expression that occurs twice is computed once.
TEST(CProgramTest, S001_41_S001_42_AReductionStartsInsideItsRowAndTakesItsProducerIn) {
  EXPECT_THAT(SourceOf(AddAddSum()),
              HasSubstr("  for (int64_t ax0 = 0; ax0 < 20; ++ax0) {\n"
                        "    sum[ax0] = 0.0f;\n"
                        "    for (int64_t k1 = 0; k1 < 20; ++k1) {\n"
                        "      const float t = x[(ax0 * 20) + k1] + x[(ax0 * 20) + k1];\n"
                        "      sum[ax0] = sum[ax0] + (t + t);\n"
                        "    }\n"
                        "  }\n"
                        "  return 0;\n"));
}

// 20 elements 16 at a time: whole vectors, and a last one that stays inside.
TEST(CProgramTest, S001_43_AnAxisThatItsFactorDoesNotDivideKeepsAGuard) {
  const Tensor x = Placeholder({20}, Float32, "x");
  const Tensor y = te::Compute(
      {20}, [&](Var i) { return x(i) + x(i); }, "y");
  Schedule s(y);
  s[y].Vectorize(s[y].Split(y.axis(0), 16).second);
  const loop::Function function = Lower(s, {x, y}, "add");
  EXPECT_THAT(SourceOf(function), AllOf(HasSubstr("for (int64_t lane = 0; lane < 16; ++lane)"),
                                        HasSubstr("if ((16 + lane_1) < 20) {")));
  CComparison comparison;
  comparison.Add(function, {Numbers(Float32, 20, 1, 10), NDArray::Zeros({20}, Float32)});
  comparison.Check();
}

TEST(CProgramTest, NamesThatCTakesForItselfGetAnother) {
  const Tensor x = Placeholder({5}, Float32, "float"), y = Placeholder({5}, Float32, "for");
  const Tensor z = te::Compute(
      {5}, [&](Var i) { return x(i) * y(i); }, "z.w");
  const std::string source = SourceOf(Lower(Schedule(z), {x, y, z}, "exp"));
  EXPECT_THAT(source, AllOf(HasSubstr("int32_t exp_1(void* args"),
                            HasSubstr("const float* TENON_RESTRICT float_1, const float* "
                                      "TENON_RESTRICT for_1, float* TENON_RESTRICT z_w")));
  EXPECT_EQ(CLibrary(source).failure(), "");
}

TEST(CProgramTest, AKernelGivesItsSource) {
  const loop::Function function = AddAddSum();
  EXPECT_EQ(ValueOrThrow(Compile(function)).CSource(), SourceOf(function));
}

// Written out without sharing, 40 squarings would take a million million characters.
TEST(CProgramTest, SharedExpressionsAreWrittenOnce) {
  const loop::Buffer x = loop::Buffer::Make("x", Float32, {1});
  Expr e = loop::Load(x, {0});
  for (int n = 0; n < 40; ++n) e = e * e - 0.5F;
  const loop::Function function{"chain", {x}, {}, loop::Store(x, e, {0})};
  EXPECT_LT(SourceOf(function).size(), 10000U);
  CComparison comparison;
  comparison.Add(function, {NDArray::FromVector<float>({1}, {0.7F})}, 0, 1e-3);
  comparison.Check();
}

// --- what it computes

loop::Function Matmul(DataType type, const Expr& m, const Expr& n, const Expr& k) {
  const Tensor a = Placeholder({m, k}, type, "A"), b = Placeholder({k, n}, type, "B");
  const te::IterVar r = ReduceAxis(0, k);
  const Tensor c = te::Compute(
      {m, n}, [&](Var i, Var j) { return te::Sum(a(i, r.var) * b(r.var, j), {r}); }, "C");
  Schedule s(c);
  const auto tiles = s[c].Tile(c.axis(0), c.axis(1), 4, 16);
  s[c].Reorder({tiles.x_outer, tiles.y_outer, c.reduce_axis(0), tiles.x_inner, tiles.y_inner});
  s[c].Unroll(tiles.x_inner).Vectorize(tiles.y_inner).Parallel(tiles.x_outer);
  return Lower(s, {a, b, c}, StrCat("matmul_", type.ToString()));
}

// Integers exactly. Sums of floats have other orders and roundings: 1e-5 of 31 terms up to 1.
TEST(CProgramTest, TiledProductsAgreeForFixedAndSymbolicExtents) {
  CComparison comparison;
  for (const DataType type : {Int8, Int32, UInt16, Int64, Float32, Float64}) {
    const Var m("m"), n("n"), k("k");
    const auto random = [&](std::int64_t rows, std::int64_t columns, unsigned seed) {
      return Numbers(type, rows * columns, seed, 1).Reshape({rows, columns});
    };
    const bool exact = !type.is_float();
    loop::Function fixed = Matmul(type, 17, 33, 31), symbolic = Matmul(type, m, n, k);
    symbolic.name += "_symbolic";
    comparison.Add(fixed, {random(17, 31, 1), random(31, 33, 2), NDArray::Zeros({17, 33}, type)}, 0,
                   exact ? 0 : 1e-5);
    comparison.Add(symbolic, {random(5, 16, 3), random(16, 15, 4), NDArray::Zeros({5, 15}, type)},
                   0, exact ? 0 : 1e-5);
  }
  comparison.Check();
}

// A sum over a window that leaves the array: the side that is not taken must not be read.
TEST(CProgramTest, GuardedReadsBuffersAndTuplesAgree) {
  CComparison comparison;
  const Tensor x = Placeholder({13, 17}, Float32, "x");
  const auto inside = [&](const Expr& i, const Expr& j) {
    return loop::IfThenElse(i >= 0 && i < 13 && j >= 0 && j < 17, x(i, j) * x(i, j), 0.0F);
  };
  const te::IterVar di = ReduceAxis(-1, 3, "di"), dj = ReduceAxis(-1, 3, "dj");
  const Tensor padded = te::Compute(
      {13, 17},
      [&](Var i, Var j) {
        return te::Max(inside(i + di.var, j + dj.var), {di, dj});
      },
      "padded");
  const Tensor twice = te::Compute(
      {13, 17}, [&](Var i, Var j) { return padded(i, j) + padded(12 - i, j); }, "twice");
  Schedule s(twice);
  s[twice].Vectorize(s[twice].Split(twice.axis(1), 8).second);
  const NDArray image = Numbers(Float32, 221, 5, 9).Reshape({13, 17});
  comparison.Add(Lower(s, {x, twice}, "window"), {image, NDArray::Zeros({13, 17}, Float32)});

  const Tensor row = te::Compute(
      {13, 17}, [&](Var i, Var j) { return x(i, j) + 1.0F; }, "row");
  const Tensor out = te::Compute(
      {13, 17}, [&](Var i, Var j) { return row(i, j) * row(i, 16 - j); }, "out");
  Schedule at(out);
  at[row].ComputeAt(at[out], out.axis(0));
  at[out].Parallel(out.axis(0));
  comparison.Add(Lower(at, {x, out}, "local_row"), {image, NDArray::Zeros({13, 17}, Float32)});

  const te::IterVar k = ReduceAxis(0, 17);
  const auto best = te::ReduceTuple(
      {Expr(13)},
      [&](const std::vector<Var>& i) {
        return te::ArgMax(loop::Cast(Int32, k.var), x(i[0], k.var), {k});
      },
      "best");
  comparison.Add(Lower(Schedule(best), {x, best[0], best[1]}, "argmax"),
                 {image, NDArray::Zeros({13}, Int32), NDArray::Zeros({13}, Float32)});

  // More than the stack has room for.
  const Tensor v = Placeholder({40000}, Float32, "v");
  const Tensor half = te::Compute(
      {40000}, [&](Var i) { return v(i) * 0.5F; }, "half");
  const Tensor mirrored = te::Compute(
      {40000}, [&](Var i) { return half(39999 - i); }, "mirrored");
  const loop::Function heap = Lower(Schedule(mirrored), {v, mirrored}, "heap");
  EXPECT_THAT(SourceOf(heap), AllOf(HasSubstr("malloc("), HasSubstr("free(half);")));
  comparison.Add(heap, {Numbers(Float32, 40000, 6, 9), NDArray::Zeros({40000}, Float32)});
  comparison.Check();
}

// A vector store reads all lanes before it writes the first; lets and external functions.
TEST(CProgramTest, HandMadeLoopsAgree) {
  CComparison comparison;
  const loop::Buffer a = loop::Buffer::Make("a", Int32, {40}),
                     b = loop::Buffer::Make("b", Int32, {40});
  const Expr first = loop::Ramp(0, 1, 16), next = loop::Ramp(1, 1, 16);
  const loop::Function shift{"shift", {a}, {}, loop::Store(a, loop::Load(a, {first}), {next})};
  comparison.Add(shift, {Numbers(Int32, 40, 7)});
  const loop::Function gather{
      "gather",
      {a, b},
      {},
      loop::Store(b, loop::Load(a, {loop::Ramp(39, -2, 16)}), {loop::Ramp(1, 2, 16)})};
  comparison.Add(gather, {Numbers(Int32, 40, 8), NDArray::Zeros({40}, Int32)});

  const Var i("i"), x("x", Int32), y("x", Int32);
  const Expr squared = loop::Let(x, loop::Load(a, {i}), x * x + loop::Let(x, x + 1, x * 3));
  const loop::Function lets{"lets",
                            {a, b},
                            {},
                            loop::For(i, 0, 40, loop::ForKind::kSerial,
                                      loop::LetStmt(y, squared,
                                                    loop::If(y > 0, loop::Store(b, y, {i}),
                                                             loop::Store(b, 0 - y, {39 - i}))))};
  comparison.Add(lets, {Numbers(Int32, 40, 9), NDArray::Zeros({40}, Int32)});

  const loop::Buffer d = loop::Buffer::Make("d", Float64, {40});
  const loop::Function external{
      "external",
      {d},
      {},
      loop::For(i, 0, 40, loop::ForKind::kSerial,
                loop::Store(d, loop::ExternCall(Float64, "cbrt", {loop::Load(d, {i})}), {i}))};
  EXPECT_THAT(SourceOf(external), HasSubstr("extern double cbrt(double);"));
  comparison.Add(external, {Numbers(Float64, 40, 10)});
  comparison.Check();
}

TEST(CProgramTest, DenormalsCountAsZeroAsInTheJit) {
  const Tensor x = Placeholder({4}, Float32, "x");
  const Tensor y = te::Compute(
      {4}, [&](Var i) { return x(i) * 0.5F; }, "y");
  CComparison comparison;
  const float tiny = std::numeric_limits<float>::min();
  comparison.Add(Lower(Schedule(y), {x, y}, "halve"),
                 {NDArray::FromVector<float>({4}, {tiny, tiny / 4, 1e-44F, tiny * 2}),
                  NDArray::Zeros({4}, Float32)});
  comparison.Check();
}

// With OpenMP the same text runs in parallel; its results have the same bits.
TEST(CProgramTest, ThreadsChangeNoResult) {
  const std::string source = SourceOf(Matmul(Float32, 65, 63, 31));
  const CLibrary serial(source), parallel(source, StrCat(kStrictC, " -fopenmp"));
  ASSERT_EQ(serial.failure(), "");
  ASSERT_EQ(parallel.failure(), "");
  const NDArray a = Numbers(Float32, 65 * 31, 1, 1).Reshape({65, 31}),
                b = Numbers(Float32, 31 * 63, 2, 1).Reshape({31, 63}),
                one = NDArray::Zeros({65, 63}, Float32), many = NDArray::Zeros({65, 63}, Float32);
  EXPECT_EQ(serial.Call("matmul_float32", {a, b, one}), 0);
  EXPECT_EQ(parallel.Call("matmul_float32", {a, b, many}), 0);
  EXPECT_NE(NumberAt(one, 0), 0);
  EXPECT_TRUE(one.SameBytes(many));
}

// --- refusals

TEST(CProgramTest, APackedFunctionTakesNothingElseThanItsTensors) {
  const Var n("n");
  const Tensor x = Placeholder({n, 3}, Float32, "x");
  const Tensor y = te::Compute(
      {n + 1}, [&](Var i) { return x(te::Max(i - 1, 0), 0); }, "y");
  const CLibrary library(SourceOf(Lower(Schedule(y), {x, y}, "kernel")));
  ASSERT_EQ(library.failure(), "");
  const NDArray in = Numbers(Float32, 6, 1, 9).Reshape({2, 3}), out = NDArray::Zeros({3}, Float32);
  const auto call = [&](const auto& change) {
    std::vector<PackedTensor> tensors = {CLibrary::Packed(in), CLibrary::Packed(out)};
    change(tensors);
    return library.Call("kernel", tensors);
  };
  using Tensors = std::vector<PackedTensor>;
  EXPECT_EQ(call([](Tensors&) {}), 0);
  EXPECT_EQ(NumberAt(out, 2), NumberAt(in, 3));
  EXPECT_EQ(call([](Tensors& t) { t.pop_back(); }), 2);
  EXPECT_EQ(call([](Tensors& t) { t[0].bits = 64; }), 2);
  EXPECT_EQ(call([](Tensors& t) { t[0].code = 0; }), 2);
  EXPECT_EQ(call([](Tensors& t) { t[0].lanes = 4; }), 2);
  EXPECT_EQ(call([](Tensors& t) { t[0].ndim = 1; }), 2);
  EXPECT_EQ(call([](Tensors& t) { t[1].device_type = 2; }), 2);
  std::int64_t narrow[] = {2, 2}, longer[] = {4}, gaps[] = {4, 1}, compact[] = {3, 1};
  EXPECT_EQ(call([&](Tensors& t) { t[0].shape = narrow; }), 2);
  EXPECT_EQ(call([&](Tensors& t) { t[1].shape = longer; }), 2);  // must be n + 1
  EXPECT_EQ(call([&](Tensors& t) { t[0].strides = gaps; }), 2);
  EXPECT_EQ(call([&](Tensors& t) { t[0].strides = compact; }), 0);
  EXPECT_EQ(call([&](Tensors& t) {
              t[0].data = static_cast<char*>(t[0].data) - 64;
              t[0].byte_offset = 64;
            }),
            0);
  std::int32_t codes[] = {7, 0};  // an integer where a tensor should be
  PackedTensor tensor = CLibrary::Packed(in);
  void* args[] = {&tensor, &tensor};
  EXPECT_EQ(library.Find<PackedFunction>("kernel")(args, codes, 2, nullptr, nullptr, nullptr), 2);
}

TEST(CProgramTest, APackedFunctionTakesTensorsWithoutElementsByAnySteps) {
  const Var n("n");
  const Tensor x = Placeholder({3, n}, Float32, "x");
  const Tensor y = te::Compute(
      {3, n}, [&](Var i, Var j) { return x(i, j) + 1.0F; }, "y");
  const CLibrary library(SourceOf(Lower(Schedule(y), {x, y}, "kernel")));
  ASSERT_EQ(library.failure(), "");
  const NDArray in = NDArray::Zeros({3, 0}, Float32), out = NDArray::Zeros({3, 0}, Float32);
  std::vector<PackedTensor> tensors = {CLibrary::Packed(in), CLibrary::Packed(out)};
  std::int64_t steps[] = {1, 1};  // PyTorch's
  tensors[0].strides = steps;
  EXPECT_EQ(library.Call("kernel", tensors), 0);
}

TEST(CProgramTest, AnExternalFunctionOfHalvesIsRefused) {
  const loop::Buffer h = loop::Buffer::Make("h", Float16, {4});
  const loop::Function function{
      "kernel",
      {h},
      {},
      loop::Store(h, loop::ExternCall(Float16, "halve", {loop::Load(h, {0})}), {0})};
  const absl::Status status = CSource(function).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()),
              AllOf(StartsWith("C source: the external function halve"), HasSubstr("float32")));
}

}  // namespace
}  // namespace tenon::jit
