// Random modules: graphs of registered operators, with inputs for which their values are not large.
//
// Operators are drawn from the registry, with attributes by reflection. A call stays when the type
// relation accepts it and no element of its value is large. In some modules, inputs and constants
// hold denormals, zeros of both signs, NaN and infinities; the others are finite. The parts of real
// networks (convolutions with bias and normalisation, branches of one input, chains of constants)
// are drawn more often than the rest. Everything depends only on the seed.
//
//   RandomModule random = MakeRandomModule(7);
//   std::vector<NDArray> y = Interpret(random.module, random.inputs);
#ifndef TENON_VERIFY_DRAW_RANDOM_MODULE_H_
#define TENON_VERIFY_DRAW_RANDOM_MODULE_H_

#include <cstdint>
#include <vector>

#include "tenon/ir/module.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {

enum class FloatValues {
  kUsual,
  kTiny,  // denormals, the least normal numbers, and zeros of both signs
  kAll,   // these, NaN and infinities
};

struct RandomModule {
  ir::Module module;  // @main, with checked types
  std::vector<NDArray> inputs;
  FloatValues floats = FloatValues::kUsual;
};

RandomModule MakeRandomModule(std::uint64_t seed);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_RANDOM_MODULE_H_
