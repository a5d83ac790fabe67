// What tests of whole graphs share: modules from text, random inputs, the interpreter as an oracle
// and comparison by value.
//
//   const ir::Module module = Parsed("def @main(%x: Tensor[(3, 5), float32]) { exp(%x) }");
//   ExpectClose(Compile(module).value().Run(inputs).value(), Interpreted(module, inputs));
#ifndef TENON_TESTS_TESTING_GRAPH_TESTING_H_
#define TENON_TESTS_TESTING_GRAPH_TESTING_H_

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/compiler/compile.h"
#include "tenon/ir/text_format.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/infer_type.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/support/error.h"
#include "tenon/te/interpret.h"

namespace tenon::testing_graphs {

// Throws when the text is wrong, which fails the test with the message.
ir::Module Parsed(const std::string& text);

// Values in [low, high]; bool takes both, bytes take all.
NDArray Random(const Shape& shape, DataType dtype, int seed, double low = -1, double high = 1);
inline NDArray Random(const Shape& shape, int seed) { return Random(shape, Float32, seed); }

runtime::Inputs RandomInputs(const ir::Module& module, int seed);

// @main as one tensor expression, by the interpreter: no fusion, no schedule, no library.
std::vector<NDArray> Interpreted(const ir::Module& module, const runtime::Inputs& inputs);

double ValueAt(const NDArray& array, std::int64_t i);

bool IsClose(double got, double expected, double tolerance);

// The printed loops of all kernels, which must be generated ones.
std::string LoopsOf(const ir::Module& module,
                    const CompileOptions& options = {.library = LibraryChoice::kTe});

// Floats to `tolerance`, relative; everything else exactly.
void ExpectClose(const NDArray& got, const NDArray& expected, double tolerance = 1e-4);
void ExpectClose(const std::vector<NDArray>& got, const std::vector<NDArray>& expected,
                 double tolerance = 1e-4);

// Compiles and runs; a failure of either is a failure of the test. Some modules are compiled with
// an empty and with a warm cache as well, which must change no bit.
std::vector<NDArray> Outcome(const ir::Module& module, const runtime::Inputs& inputs,
                             const CompileOptions& options = {});

}  // namespace tenon::testing_graphs

#endif  // TENON_TESTS_TESTING_GRAPH_TESTING_H_
