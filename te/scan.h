// Recurrences over time: each step computes the state from the states of earlier steps.
//
// The first dimension of every state is time. `init` gives the first steps of each state; `update`,
// a compute over the whole shape, gives step t from the placeholder `state` read at steps before t,
// and from whatever else. A compute between a state and an update has time as its first dimension
// too and is read at the step that is computed.
//
//   Tensor X = Placeholder({T, n}, Float32, "X"), s = Placeholder({T, n}, Float32, "s");
//   Tensor first = Compute({1, n}, [&](Var t, Var i) { return X(t, i); }, "first");
//   Tensor next = Compute({T, n}, [&](Var t, Var i) { return s(t - 1, i) + X(t, i); }, "next");
//   Tensor sum = Scan({first}, {next}, {s}, "sum")[0];
#ifndef TENON_TE_SCAN_H_
#define TENON_TE_SCAN_H_

#include <string>
#include <vector>

#include "tenon/te/tensor.h"

namespace tenon::te {

// One output for each state; states may differ in rank and extents, time aside. Throws
// InvalidArgument, naming the state and what is wrong: lists of different lengths or empty ones;
// element types, ranks or extents (except the first of init) that differ; inits of different
// lengths; a state that is not a placeholder or is used twice; an update that is a placeholder; a
// state that is read at a step which is not known to be computed already; an external operation or
// another scan between state and update.
std::vector<Tensor> Scan(const std::vector<Tensor>& init, const std::vector<Tensor>& update,
                         const std::vector<Tensor>& state, std::string name = "scan");

// The operations that each step of the scan computes, producers first: the updates and what they
// read that depends on a state.
std::vector<Operation> StepOperations(const OperationNode& scan);

}  // namespace tenon::te

#endif  // TENON_TE_SCAN_H_
