// A plan with a variable, for tests.
#ifndef TENON_TESTS_RUNTIME_SYMBOLIC_EXAMPLE_H_
#define TENON_TESTS_RUNTIME_SYMBOLIC_EXAMPLE_H_

#include <utility>
#include <vector>

#include "tenon/runtime/plan.h"

namespace tenon::runtime {

// x of (n, 4) -> a kernel with results of (n, 4) and (1, 4) -> a join of both, a view of its last
// row, and another kernel. For n up to 64; the numbers are those of n = 3.
inline Plan SymbolicExample() {
  const Dim n = Dim::Symbol("n");
  const auto entry = [](Shape shape, std::vector<Dim> extents) {
    return Entry{.shape = std::move(shape), .dtype = Float32, .extents = std::move(extents)};
  };
  Plan plan;
  plan.symbols = {"n"};
  plan.conditions = {{n, ExtentCondition::Kind::kAtMost, 64, "topk"}};
  plan.nodes = {{.kind = NodeKind::kInput, .name = "x", .outputs = {entry({3, 4}, {n, 4})}},
                {.kind = NodeKind::kKernel,
                 .name = "both",
                 .function_name = "both",
                 .kernel = 0,
                 .inputs = {{0, 0}},
                 .outputs = {entry({3, 4}, {n, 4}), entry({1, 4}, {})},
                 .arguments = {n}},
                {.kind = NodeKind::kJoin,
                 .name = "all",
                 .inputs = {{1, 0}, {1, 1}},
                 .outputs = {entry({4, 4}, {n + 1, 4})}},
                {.kind = NodeKind::kView,
                 .name = "last",
                 .inputs = {{2, 0}},
                 .outputs = {entry({4}, {})},
                 .offsets = {48},
                 .begins = {n * 16}},
                {.kind = NodeKind::kKernel,
                 .name = "both1",
                 .function_name = "both",
                 .kernel = 0,
                 .inputs = {{2, 0}},
                 .outputs = {entry({4, 4}, {n + 1, 4}), entry({1, 4}, {})},
                 .arguments = {n + 1}}};
  plan.heads = {{3, 0}, {4, 0}};
  AssignStorage(&plan);
  return plan;
}

}  // namespace tenon::runtime

#endif  // TENON_TESTS_RUNTIME_SYMBOLIC_EXAMPLE_H_
