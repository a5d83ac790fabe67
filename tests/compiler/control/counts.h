// Runs of modules in which values decide extents: the number of rows, for most.
#ifndef TENON_TESTS_COMPILER_CONTROL_COUNTS_H_
#define TENON_TESTS_COMPILER_CONTROL_COUNTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tenon/passes/name_run_time_extents.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"
#include "tenon/verify/interpret.h"

namespace tenon::testing_counts {

inline NDArray Count(std::int64_t n) { return NDArray::FromVector<std::int64_t>({1}, {n}); }

inline NDArray Rows(std::int64_t rows, std::int64_t columns) {
  NDArray array = NDArray::Empty({rows, columns}, Float32);
  for (std::int64_t i = 0; i < array.size(); ++i)
    array.data<float>()[i] = 0.25F * static_cast<float>(i % 13) - 1;
  return array;
}

inline std::vector<NDArray> Interpreted(const ir::Module& module, const runtime::Inputs& inputs) {
  const ir::Module typed = passes::InferType(passes::NameRunTimeExtents(module));
  std::vector<NDArray> in_order;
  for (const ir::Expr& param : typed.Main().params)
    in_order.push_back(inputs.at(ir::Var(param).name()));
  return verify::Interpret(typed, in_order);
}

// Compiled once at a level; the runs must agree with the interpreter.
inline void ExpectRuns(const std::string& text, const std::vector<runtime::Inputs>& runs,
                       double tolerance = 1e-4) {
  const ir::Module module = testing_graphs::Parsed(text);
  for (const int level : {0, 3}) {
    SCOPED_TRACE(StrCat("level ", level));
    const Executable exe =
        ValueOrThrow(Compile(module, {.opt_level = level, .verify = true, .check_bounds = true}));
    for (const runtime::Inputs& inputs : runs)
      testing_graphs::ExpectClose(ValueOrThrow(exe.Run(inputs)), Interpreted(module, inputs),
                                  tolerance);
  }
}

inline std::vector<runtime::Inputs> WithCounts(const runtime::Inputs& inputs,
                                               const std::vector<std::int64_t>& counts) {
  std::vector<runtime::Inputs> runs;
  for (const std::int64_t count : counts) {
    runs.push_back(inputs);
    runs.back()["n"] = Count(count);
  }
  return runs;
}

}  // namespace tenon::testing_counts

#endif  // TENON_TESTS_COMPILER_CONTROL_COUNTS_H_
