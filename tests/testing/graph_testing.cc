#include "tenon/tests/testing/graph_testing.h"

#include <bit>
#include <cmath>
#include <filesystem>
#include <random>
#include <utility>
#include <variant>

#include <unistd.h>

#include "tenon/loop/print.h"
#include "tenon/support/hash.h"
#include "tenon/support/strings.h"

namespace tenon::testing_graphs {

ir::Module Parsed(const std::string& text) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  return ValueOrThrow(ir::ParseModule(text, ops::OpRegistry::Global().Resolver(), "test"));
}

NDArray Random(const Shape& shape, DataType dtype, int seed, double low, double high) {
  NDArray array = NDArray::Zeros(shape, dtype);
  std::mt19937 generator(static_cast<unsigned>(seed));
  std::uniform_real_distribution<double> reals(low, high);
  std::uniform_int_distribution<std::int64_t> whole(static_cast<std::int64_t>(std::ceil(low)),
                                                    static_cast<std::int64_t>(std::floor(high)));
  for (std::int64_t i = 0; i < array.size(); ++i) {
    if (dtype == Float32) {
      array.data<float>()[i] = static_cast<float>(reals(generator));
    } else if (dtype == Float64) {
      array.data<double>()[i] = reals(generator);
    } else if (dtype == Float16) {
      static_cast<_Float16*>(array.raw())[i] = static_cast<_Float16>(reals(generator));
    } else if (dtype == BFloat16) {
      const std::uint32_t bits = std::bit_cast<std::uint32_t>(static_cast<float>(reals(generator)));
      static_cast<std::uint16_t*>(array.raw())[i] = static_cast<std::uint16_t>(bits >> 16);
    } else if (dtype == Int32) {
      array.data<std::int32_t>()[i] = static_cast<std::int32_t>(whole(generator));
    } else if (dtype == Int64) {
      array.data<std::int64_t>()[i] = whole(generator);
    } else if (dtype == UInt8 || dtype == Int8) {
      static_cast<std::uint8_t*>(array.raw())[i] = static_cast<std::uint8_t>(generator());
    } else {
      array.data<bool>()[i] = reals(generator) > (low + high) / 2;
    }
  }
  return array;
}

runtime::Inputs RandomInputs(const ir::Module& module, int seed) {
  const ir::Module typed = passes::InferType(module);
  runtime::Inputs inputs;
  for (const ir::Expr& param : typed.Main().params) {
    const auto* type = param.checked_type().As<ir::TensorTypeNode>();
    inputs[ir::Var(param).name()] =
        Random(ir::StaticShape(param.checked_type(), "an input"), type->dtype, ++seed);
  }
  return inputs;
}

std::vector<NDArray> Interpreted(const ir::Module& module, const runtime::Inputs& inputs) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  const ir::Module typed = passes::InferType(module);
  const strategies::TeFunction function = strategies::LowerFunction(typed.Main());
  std::vector<std::pair<te::Tensor, NDArray>> given;
  for (std::size_t i = 0; i < function.params.size(); ++i)
    given.emplace_back(function.params[i], inputs.at(ir::Var(typed.Main().params[i]).name()));
  return te::Interpret(function.outputs, given);
}

double ValueAt(const NDArray& array, std::int64_t i) {
  const DataType t = array.dtype();
  const auto at = [&](const auto* data) { return static_cast<double>(data[i]); };
  if (t == Float32) return at(array.data<float>());
  if (t == Float64) return at(array.data<double>());
  if (t == Int32) return at(array.data<std::int32_t>());
  if (t == Int64) return at(array.data<std::int64_t>());
  if (t == Int8) return at(array.data<std::int8_t>());
  if (t == UInt8) return at(array.data<std::uint8_t>());
  if (t == Int16) return at(array.data<std::int16_t>());
  if (t == UInt16) return at(array.data<std::uint16_t>());
  if (t == UInt32) return at(array.data<std::uint32_t>());
  if (t == UInt64) return at(array.data<std::uint64_t>());
  if (t == Bool) return at(array.data<bool>());
  if (t == Float16) return at(static_cast<const _Float16*>(array.raw()));
  if (t == BFloat16) {
    const std::uint32_t bits = static_cast<const std::uint16_t*>(array.raw())[i];
    return static_cast<double>(std::bit_cast<float>(bits << 16));
  }
  throw Unimplemented("values of " + t.ToString());
}

bool IsClose(double got, double expected, double tolerance) {
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got);
  if (std::isinf(expected) || std::isinf(got)) return got == expected;
  return std::fabs(got - expected) <= tolerance * std::fabs(expected) + tolerance / 10;
}

void ExpectClose(const NDArray& got, const NDArray& expected, double tolerance) {
  ASSERT_EQ(got.shape(), expected.shape());
  ASSERT_EQ(got.dtype().ToString(), expected.dtype().ToString());
  const double allowed = got.dtype().is_float() ? tolerance : 0;
  for (std::int64_t i = 0; i < got.size(); ++i)
    ASSERT_PRED3(IsClose, ValueAt(got, i), ValueAt(expected, i), allowed) << "element " << i;
}
void ExpectClose(const std::vector<NDArray>& got, const std::vector<NDArray>& expected,
                 double tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    SCOPED_TRACE("result " + std::to_string(i));
    ExpectClose(got[i], expected[i], tolerance);
  }
}

std::string LoopsOf(const ir::Module& module, const CompileOptions& options) {
  std::string loops;
  for (const LoweredKernel& kernel : ValueOrThrow(Lower(module, options)).kernels)
    loops += loop::Print(std::get<loop::Function>(kernel.choice.built.kernel));
  return loops;
}

namespace {

std::vector<NDArray> CompiledAndRun(const ir::Module& module, const runtime::Inputs& inputs,
                                    CompileOptions options) {
  options.verify = true;
  const absl::StatusOr<Executable> exe = Compile(module, options);
  if (!exe.ok()) {
    ADD_FAILURE() << "Compile: " << exe.status();
    return {};
  }
  const auto results = exe->Run(inputs);
  if (!results.ok()) {
    ADD_FAILURE() << "Run: " << results.status();
    return {};
  }
  return *results;
}

// Of the modules that are compiled with a cache, too: one of so many.
constexpr std::uint64_t kCachedModules = 4;

// The kernels of an empty cache and of a warm one compute what those without one do, bit by bit.
void ExpectSameFromCache(const ir::Module& module, const runtime::Inputs& inputs,
                         const CompileOptions& options, const std::vector<NDArray>& expected) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(::testing::TempDir()) / StrCat("tenon_outcome_", getpid());
  CompileOptions cached = options;
  cached.cache_dir = folder;
  for (const char* state : {"empty", "warm"}) {
    const std::vector<NDArray> results = CompiledAndRun(module, inputs, cached);
    ASSERT_EQ(results.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_TRUE(results[i].SameBytes(expected[i]))
          << "result " << i << " of the " << state << " cache";
  }
  fs::remove_all(folder);
}

}  // namespace

std::vector<NDArray> Outcome(const ir::Module& module, const runtime::Inputs& inputs,
                             const CompileOptions& options) {
  std::vector<NDArray> results = CompiledAndRun(module, inputs, options);
  if (options.cache_dir.empty() && !results.empty() &&
      HashBytes(ir::PrintModule(module)) % kCachedModules == 0)
    ExpectSameFromCache(module, inputs, options, results);
  return results;
}

}  // namespace tenon::testing_graphs
