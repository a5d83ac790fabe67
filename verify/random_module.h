// Random modules: graphs of registered operators, with inputs for which their values are finite.
//
// Operators are drawn from the registry, with attributes by reflection. A call stays when the type
// relation accepts it and no element of its value is NaN, infinite or large. The parts of real
// networks (convolutions with bias and normalisation, branches of one input, chains of constants)
// are drawn more often than the rest. Everything depends only on the seed.
//
//   RandomModule random = MakeRandomModule(7);
//   std::vector<NDArray> y = Interpret(random.module, random.inputs);
#ifndef TENON_VERIFY_RANDOM_MODULE_H_
#define TENON_VERIFY_RANDOM_MODULE_H_

#include <cstdint>
#include <vector>

#include "tenon/ir/module.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {

struct RandomModule {
  ir::Module module;  // @main, with checked types
  std::vector<NDArray> inputs;
};

RandomModule MakeRandomModule(std::uint64_t seed);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_RANDOM_MODULE_H_
