// What tests of algebraic passes share: graphs with constants from text, short prints, and the
// interpreter as a judge of values.
//
//   const ir::Module module = WithConstants("%x: Tensor[(2, 3), float32], %k: Tensor[(3),
//   float32]",
//                                           "multiply(%x, %k)");   // %k is a constant
//   EXPECT_EQ(Body(SimplifyExpr(module)), "...");
#ifndef TENON_TESTS_PASSES_ALGEBRA_TESTING_H_
#define TENON_TESTS_PASSES_ALGEBRA_TESTING_H_

#include <string>

#include "tenon/ir/visit.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::passes {

// A graph with constants and, for a pass that changes it, the lines of its body afterwards.
struct PassCase {
  const char* name;
  const char* params;
  const char* body;
  const char* expected = "";
  friend void PrintTo(const PassCase& c, std::ostream* out) { *out << c.name; }
};

// @main with checked types. Parameters whose names start with k become constants: of values in
// [0.5, 2], alternating in sign when they start with kn ("negative").
ir::Module WithConstants(const std::string& params, const std::string& body);
inline ir::Module WithConstants(const PassCase& c) { return WithConstants(c.params, c.body); }

// The lines between the braces of @main, without type comments and indentation.
std::string Body(const ir::Module& module);

// "%0 = <first>", then `depth` lines that each apply `op` to the line before and to `operand`; the
// last is called %last.
std::string LongChain(const char* first, const char* op, const char* operand, int depth);

// The module's results by the interpreter, which takes constants of rank above 0 as parameters.
std::vector<NDArray> ValuesOf(const ir::Module& module, runtime::Inputs inputs);

// Both modules give the same values on the same random inputs.
void ExpectSameValues(const ir::Module& a, const ir::Module& b, double tolerance = 1e-4);

}  // namespace tenon::passes

#endif  // TENON_TESTS_PASSES_ALGEBRA_TESTING_H_
