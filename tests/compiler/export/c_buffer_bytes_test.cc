// The sizes of a kernel's arrays as C.
#include "tenon/compiler/export/c_buffer_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/loop/expr.h"

namespace tenon::compiler {
namespace {

using loop::Expr;
using ::testing::HasSubstr;

loop::Function FunctionOver(const loop::Var& n, const Expr& extent) {
  loop::Function function;
  function.name = "f";
  function.scalars = {n};
  function.buffers = {loop::Buffer::Make("x", Float32, {extent})};
  return function;
}

TEST(CBufferBytesTest, OperationsAreVariables) {
  const loop::Var n("n", Int64);
  EXPECT_EQ(CBufferBytes(FunctionOver(n, loop::FloorDiv(n * 3, 2) + n * 3), "bytes"),
            "static void bytes(const int64_t* extents, int64_t* bytes) {\n"
            "  (void)extents;\n"
            "  int overflows = 0;\n"
            "  int64_t v0;\n"
            "  overflows |= __builtin_mul_overflow(extents[0], INT64_C(3), &v0);\n"
            "  const int64_t v1 = v0 / INT64_C(2) - (v0 % INT64_C(2) < 0);\n"
            "  int64_t v2;\n"
            "  overflows |= __builtin_add_overflow(v1, v0, &v2);\n"
            "  overflows |= extents[0] < 1;\n"
            "  bytes[0] = 4;\n"
            "  overflows |= __builtin_mul_overflow(bytes[0], v2, &bytes[0]);\n"
            "  for (int i = 0; overflows && i < 1; ++i) bytes[i] = -1;\n"
            "}\n");
}

// As roundings of a float make it: each level reads the one below several times.
TEST(CBufferBytesTest, SharedPartsAreWrittenOnce) {
  const loop::Var n("n", Int64);
  Expr e = n;
  for (int level = 0; level < 60; ++level) e = loop::Max(loop::FloorDiv(e, 3), e - 1);
  EXPECT_LT(CBufferBytes(FunctionOver(n, e), "bytes").size(), 60U * 300);
}

}  // namespace
}  // namespace tenon::compiler
