// How often one compile was not enough: kernels that runs of symbolic models have made.
#ifndef TENON_COMPILER_REMADE_KERNELS_H_
#define TENON_COMPILER_REMADE_KERNELS_H_

#include <cstddef>

namespace tenon {

// The kernels that Bind and Run have made in this process, since a kernel of a model does not take
// the values of its variables: one that needs numbers, or elements. Compiles of hot shapes
// (DynamicModel) do not count. Thread-safe.
std::size_t RemadeKernels();

}  // namespace tenon

#endif  // TENON_COMPILER_REMADE_KERNELS_H_
