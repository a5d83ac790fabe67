// Reductions and normalisations of the rows of a matrix, with lengths that fill vectors and that do
// not. A reduction must read its input, a normalisation read it and write as much.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tenon/benchmarks/baselines.h"
#include "tenon/benchmarks/compiled_graph.h"
#include "tenon/benchmarks/families.h"
#include "tenon/support/strings.h"

namespace tenon::benchmarks {
namespace {

constexpr std::int64_t kRows = 16384;
// Rows between those that are checked.
constexpr std::int64_t kCheckStride = 101;

using Row = const float*;

double SumOf(Row row, std::int64_t columns) {
  double sum = 0;
  for (std::int64_t i = 0; i < columns; ++i) sum += row[i];
  return sum;
}

double MaxOf(Row row, std::int64_t columns) { return *std::max_element(row, row + columns); }

double ArgMaxOf(Row row, std::int64_t columns) {
  return static_cast<double>(std::max_element(row, row + columns) - row);
}

struct Reduction {
  const char* name;
  const char* call;
  double (*reference)(Row row, std::int64_t columns);
};

constexpr Reduction kReductions[] = {{"sum", "sum(%x, axis=[-1])", SumOf},
                                     {"max", "max(%x, axis=[-1])", MaxOf},
                                     {"argmax", "argmax(%x, axis=[-1])", ArgMaxOf}};

Contestants PrepareReduction(const Reduction& reduction, std::int64_t columns, int threads) {
  const Tensor x = RandomArray({kRows, columns});
  const Tensor sums = Tensor::Zeros({kRows}, Float32);
  auto graph =
      std::make_shared<CompiledGraph>(Parse(StrCat("fn (%x: Tensor[(", kRows, ", ", columns,
                                                   "), float32]) { ", reduction.call, " }")),
                                      runtime::Inputs{{"x", x}});
  graph->Call();
  const Tensor& y = graph->result();
  for (std::int64_t row = 0; row < kRows; row += kCheckStride) {
    const double expected = reduction.reference(x.data<float>() + row * columns, columns);
    const double ours = y.dtype() == Float32 ? y.data<float>()[row] : y.data<std::int32_t>()[row];
    Require(std::fabs(ours - expected) <= 1e-4 * (1 + std::fabs(expected)),
            StrCat("wrong result: row ", row, " gives ", ours, ", not ", expected));
  }
  Require(graph->num_kernels() == 1, "the reduction is not one kernel");
  return {{Role::kTenon, "one kernel", [graph] { graph->Call(); }},
          {Role::kFloor, "row-sum loop",
           [=] { RowSum(x.data<float>(), sums.data<float>(), kRows, columns, threads); }}};
}

void SoftmaxOf(Row row, std::int64_t columns, double* result) {
  const double max = MaxOf(row, columns);
  double sum = 0;
  for (std::int64_t i = 0; i < columns; ++i) sum += std::exp(row[i] - max);
  for (std::int64_t i = 0; i < columns; ++i) result[i] = std::exp(row[i] - max) / sum;
}

void LayerNormOf(Row row, std::int64_t columns, double* result) {
  const auto n = static_cast<double>(columns);
  const double mean = SumOf(row, columns) / n;
  double variance = 0;
  for (std::int64_t i = 0; i < columns; ++i) variance += (row[i] - mean) * (row[i] - mean) / n;
  for (std::int64_t i = 0; i < columns; ++i)
    result[i] = (row[i] - mean) / std::sqrt(variance + 1e-5);
}

struct Normalisation {
  const char* name;
  bool has_scale;
  void (*reference)(Row row, std::int64_t columns, double* result);
};

constexpr Normalisation kNormalisations[] = {{"softmax", false, SoftmaxOf},
                                             {"layer norm", true, LayerNormOf}};

ir::Module ModuleOf(const Normalisation& normalisation, std::int64_t columns) {
  const std::string x = StrCat("%x: Tensor[(", kRows, ", ", columns, "), float32]");
  if (!normalisation.has_scale) return Parse(StrCat("fn (", x, ") { nn.softmax(%x) }"));
  const std::string vector = StrCat("Tensor[(", columns, "), float32]");
  return Parse(StrCat("fn (", x, ", %g: ", vector, ", %b: ", vector,
                      ") { nn.layer_norm(%x, %g, %b, epsilon=1e-5) }"));
}

Contestants PrepareNormalisation(const Normalisation& normalisation, std::int64_t columns,
                                 int threads) {
  const Tensor x = RandomArray({kRows, columns});
  const Tensor copy = Tensor::Zeros({kRows, columns}, Float32);
  runtime::Inputs inputs = {{"x", x}};
  if (normalisation.has_scale) {
    const std::vector<float> ones(static_cast<std::size_t>(columns), 1.0F);
    inputs["g"] = Tensor::FromVector<float>({columns}, ones);
    inputs["b"] = Tensor::Zeros({columns}, Float32);
  }
  auto graph = std::make_shared<CompiledGraph>(ModuleOf(normalisation, columns), inputs);
  graph->Call();
  std::vector<double> expected(static_cast<std::size_t>(columns));
  for (std::int64_t row = 0; row < kRows; row += kCheckStride) {
    normalisation.reference(x.data<float>() + row * columns, columns, expected.data());
    for (std::int64_t i = 0; i < columns; ++i) {
      const double ours = graph->result().data<float>()[row * columns + i];
      Require(
          std::fabs(ours - expected[i]) <= 1e-4 * (1e-3 + std::fabs(expected[i])),
          StrCat("wrong result: row ", row, ", column ", i, " is ", ours, ", not ", expected[i]));
    }
  }
  Require(graph->num_kernels() == 1, "the normalisation is not one kernel");
  return {{Role::kTenon, "one kernel", [graph] { graph->Call(); }},
          {Role::kFloor, "copy loop",
           [=] { CopyArray(copy.data<float>(), x.data<float>(), kRows * columns, threads); }}};
}

}  // namespace

void AddReductions(std::vector<Race>& races) {
  for (const std::int64_t columns : {1024, 1000, 1023}) {
    const auto elements = static_cast<double>(kRows * columns);
    for (const int threads : {1, 2}) {
      for (const Reduction& reduction : kReductions) {
        races.push_back({.table = "reductions",
                         .name = StrCat(reduction.name, ", rows of ", columns),
                         .threads = threads,
                         .bytes = 4 * elements,
                         .aim = {.of_floor = 0.9},
                         .prepare = [=] { return PrepareReduction(reduction, columns, threads); }});
      }
      for (const Normalisation& norm : kNormalisations) {
        races.push_back({.table = "normalisations",
                         .name = StrCat(norm.name, ", rows of ", columns),
                         .threads = threads,
                         .bytes = 8 * elements,
                         .aim = {.of_floor = 1 / 1.1},
                         .prepare = [=] { return PrepareNormalisation(norm, columns, threads); }});
      }
    }
  }
}

}  // namespace tenon::benchmarks
