// External functions, addresses and dot products within lanes in generated C, against the JIT.
#include <cstring>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/te/extern.h"
#include "tenon/tests/jit/c_comparison.h"

namespace tenon::jit {
namespace {

using loop::Effect;
using loop::Expr;
using loop::ExternFunction;
using ::testing::HasSubstr;

NDArray Bytes(const NDArray& any, DataType type, std::int64_t count) {
  NDArray result = NDArray::Empty({count}, type);
  std::memcpy(result.raw(), any.raw(), result.bytes());
  return result;
}

// out[l] = c[l] + a dot b for all lanes, where a is `width` numbers again and again; 0: a word.
loop::Function DotFunction(const std::string& name, loop::Intrinsic dot, int lanes, int width) {
  const bool bytes = dot == loop::Intrinsic::kDotU8S8;
  const int wide = (bytes ? 4 : 2) * lanes;
  const bool is_word = width == 0;
  const auto buffer = [](const char* what, DataType type, int size) {
    return loop::Buffer::Make(what, type, {size});
  };
  const auto all = [](const loop::Buffer& b, int size) {
    return loop::Load(b, {loop::Ramp(0, 1, size)});
  };
  loop::Function f;
  f.name = name;
  f.buffers = {buffer("c", bytes ? Int32 : Float32, lanes),
               is_word ? buffer("a", Int32, 1) : buffer("a", bytes ? UInt8 : BFloat16, width),
               buffer("b", bytes ? Int8 : BFloat16, wide),
               buffer("out", bytes ? Int32 : Float32, lanes)};
  const Expr a = is_word ? loop::Broadcast(loop::Load(f.buffers[1], {0}), lanes)
                         : loop::Broadcast(all(f.buffers[1], width), wide);
  f.body = loop::Store(f.buffers[3],
                       loop::Call(dot, {all(f.buffers[0], lanes), a, all(f.buffers[2], wide)}),
                       {loop::Ramp(0, 1, lanes)});
  return f;
}

TEST(CDotTest, DotProductsAgree) {
  const NDArray bits = Numbers(UInt64, 64, 1);
  const NDArray floats = Numbers(Float32, 16, 2, 100), halves = Numbers(BFloat16, 32, 3, 100);
  CComparison comparison;
  for (const int width : {0, 4, 64}) {
    comparison.Add(
        DotFunction(StrCat("bytes", width), loop::Intrinsic::kDotU8S8, 16, width),
        {Bytes(bits, Int32, 16), width == 0 ? Bytes(bits, Int32, 1) : Bytes(bits, UInt8, width),
         Bytes(Rotated(bits, 5), Int8, 64), NDArray::Zeros({16}, Int32)});
  }
  for (const int width : {0, 2, 32}) {
    comparison.Add(DotFunction(StrCat("bfloats", width), loop::Intrinsic::kDotBF16, 16, width),
                   {floats, width == 0 ? Bytes(halves, Int32, 1) : Bytes(halves, BFloat16, width),
                    Rotated(halves, 3), NDArray::Zeros({16}, Float32)});
  }
  comparison.Check();
}

TEST(CExternTest, CallsOfSymbolsAgree) {
  const ExternFunction hypot = ExternFunction::Named<float(float, float)>("hypotf", Effect::kPure);
  const te::Tensor x = te::Placeholder({33}, Float32, "x");
  const te::Tensor lengths = te::Compute(
      {33},
      [&](const te::Var& i) {
        return te::CallIntrinsic(hypot, {x(i), 3.0F});
      },
      "lengths");
  const ExternFunction swap = ExternFunction::Named<void(const void*, void*, std::int64_t)>("swab");
  const te::Tensor out = te::Extern(
      {{33}}, {lengths}, {Float32},
      [&](const auto& in, const auto& to) {
        return te::ExternCall(swap, {in[0], to[0], Expr(132)});
      },
      "out")[0];
  schedule::Schedule s(out);
  s[lengths].Vectorize(s[lengths].Split(lengths.axis(0), 16).second);
  CComparison comparison;
  comparison.Add(schedule::Lower(s, {x, out}, "lengths"),
                 {Numbers(Float32, 33, 4, 100), NDArray::Zeros({33}, Float32)});
  comparison.Check();
}

float Half(float x) { return x / 2; }

TEST(CExternTest, AFunctionGivenByItsAddressIsRefused) {
  const ExternFunction half = ExternFunction::At("half", &Half, Effect::kPure);
  const te::Tensor x = te::Placeholder({3}, Float32, "x");
  const te::Tensor out = te::Compute(
      {3}, [&](const te::Var& i) { return te::CallIntrinsic(half, {x(i)}); }, "out");
  CFile file("refused");
  try {
    file.AddKernel(schedule::Lower(schedule::Schedule(out), {x, out}, "k"));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(error.what(), HasSubstr("half is given by its address, which another program"));
  }
}

}  // namespace
}  // namespace tenon::jit
