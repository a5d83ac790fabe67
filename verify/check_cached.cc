#include "tenon/verify/check_cached.h"

#include <string>
#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/ir/text_format.h"
#include "tenon/ops/builders.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/temporary_folder.h"

namespace tenon::verify {
namespace {

// The numbers of one module, which are small and not those with which arithmetic is simpler.
struct Numbers {
  double first, second;
};

ir::Module ModuleOf(const std::vector<std::string>& words, const NDArray& x,
                    const Numbers& numbers) {
  const ir::Expr input = ir::Var::Make("x", ir::TensorTypeOf(x.shape(), x.dtype()));
  const auto constant = [&](double number) {
    return ir::Constant::Make(ArrayOf({}, x.dtype(), [=](std::int64_t) { return number; }));
  };
  const ir::Expr inner = ops::CallOp(words[0], {input, constant(numbers.first)});
  const ir::Expr body = ops::CallOp(words[1], {inner, constant(numbers.second)});
  return passes::InferType(ir::Module::FromExpr(ir::Function::Make({input}, body)));
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
  CompileOptions options;
  options.threads = 1;
  options.library = LibraryChoice::kTe;
  const auto result = [&](const ir::Module& of, const std::string& cache) {
    options.cache_dir = cache;
    return ValueOrThrow(ValueOrThrow(Compile(of, options)).Run({{"x", x}})).at(0);
  };
  const TemporaryFolder folder;
  (void)result(module, folder.path().string());
  const NDArray cached = result(other, folder.path().string()), expected = result(other, "");
  if (cached.SameBytes(expected)) return std::nullopt;
  return StrCat("other bits from the cache of a module that differs in a constant:\n",
                ir::PrintModule(module), "\nfor\n", ir::PrintModule(other));
}

}  // namespace tenon::verify
