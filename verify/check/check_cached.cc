#include "tenon/verify/check/check_cached.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/ir/text_format.h"
#include "tenon/ops/builders.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/check/temporary_folder.h"

namespace tenon::verify {
namespace {

// The numbers of one module, which are small and not those with which arithmetic is simpler.
struct Numbers {
  double first, second;
};

ir::Module Typed(const ir::Expr& input, const ir::Expr& body) {
  return passes::InferType(ir::Module::FromExpr(ir::Function::Make({input}, body)));
}

ir::Expr InputFor(const NDArray& x) {
  return ir::Var::Make("x", ir::TensorTypeOf(x.shape(), x.dtype()));
}

ir::Module ModuleOf(const std::vector<std::string>& words, const NDArray& x,
                    const Numbers& numbers) {
  const ir::Expr input = InputFor(x);
  const auto constant = [&](double number) {
    return ir::Constant::Make(ArrayOf({}, x.dtype(), [=](std::int64_t) { return number; }));
  };
  const ir::Expr inner = ops::CallOp(words[0], {input, constant(numbers.first)});
  return Typed(input, ops::CallOp(words[1], {inner, constant(numbers.second)}));
}

std::vector<NDArray> ResultsOf(const ir::Module& module, const NDArray& x,
                               const std::string& cache) {
  CompileOptions options;
  options.threads = 1;
  options.library = LibraryChoice::kTe;
  options.cache_dir = cache;
  return ValueOrThrow(ValueOrThrow(Compile(module, options)).Run({{"x", x}}));
}

bool SameBits(const std::vector<NDArray>& a, const std::vector<NDArray>& b) {
  return std::ranges::equal(a, b,
                            [](const NDArray& x, const NDArray& y) { return x.SameBytes(y); });
}

}  // namespace

std::optional<std::string> CheckCached(Random& random) {
  const std::vector<std::string> all = {"add", "subtract", "multiply", "maximum", "minimum"};
  const std::vector<std::string> words = {random.Of(all), random.Of(all)};
  const DataType type =
      random.Of(std::vector<DataType>{Int8, UInt8, Int16, UInt16, Int32, UInt32, Int64, UInt64,
                                      Float16, BFloat16, Float32, Float64});
  const NDArray x = RandomArray({random.Of(std::vector<std::int64_t>{1, 7, 33})}, type, random);
  Numbers numbers = {static_cast<double>(3 + random.Below(8)),
                     static_cast<double>(3 + random.Below(8))};
  const ir::Module module = ModuleOf(words, x, numbers);
  (random.Chance(50) ? numbers.first : numbers.second) += 1;
  const ir::Module other = ModuleOf(words, x, numbers);
  const TemporaryFolder folder;
  (void)ResultsOf(module, x, folder.path().string());
  const std::vector<NDArray> cached = ResultsOf(other, x, folder.path().string()),
                             expected = ResultsOf(other, x, "");
  if (SameBits(cached, expected)) return std::nullopt;
  return StrCat("other bits from the cache of a module that differs in a constant:\n",
                ir::PrintModule(module), "\nfor\n", ir::PrintModule(other));
}

std::optional<std::string> CheckCachedRows(Random& random) {
  const auto reduced = [&](const ir::Expr& of) {
    return ops::CallOp(
        random.Of(std::vector<std::string>{"mean", "sum", "max"}), {of},
        attrs::Attrs::Make(ops::ReduceAttrs{.axis = ops::Ints{-1}, .keepdims = true}));
  };
  const auto mixed = [&](const ir::Expr& a, const ir::Expr& b) {
    return ops::CallOp(random.Of(std::vector<std::string>{"subtract", "multiply", "maximum"}),
                       {a, b});
  };
  const Shape shape = {random.Of(std::vector<std::int64_t>{1, 3, 40, 197}),
                       random.Of(std::vector<std::int64_t>{7, 256, 768})};
  const NDArray x = RandomArray(shape, Float32, random);
  const ir::Expr input = InputFor(x), first = reduced(input), beside = mixed(input, first);
  const ir::Expr second = reduced(mixed(beside, beside));
  const ir::Expr results[] = {beside, second, first};
  const ir::Module module = Typed(input, ir::Tuple::Make({results, results + 2 + random.Below(2)}));
  const std::vector<NDArray> expected = ResultsOf(module, x, "");
  const TemporaryFolder folder;
  for (const char* cache : {"an empty", "a warm"}) {
    const absl::StatusOr<std::vector<NDArray>> made =
        CatchErrors([&] { return ResultsOf(module, x, folder.path().string()); });
    if (!made.ok() || !SameBits(*made, expected))
      return StrCat("from ", cache, " cache: ", made.ok() ? "other bits" : made.status().ToString(),
                    "\n", ir::PrintModule(module));
  }
  return std::nullopt;
}

}  // namespace tenon::verify
