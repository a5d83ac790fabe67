#include "tenon/quantize/calibrate.h"

#include <utility>

#include "tenon/passes/infer_type.h"
#include "tenon/quantize/report.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::quantize {
namespace {

ir::Module WithResults(const ir::Module& module, const std::vector<ir::Expr>& values) {
  const ir::FunctionNode& main = module.Main();
  return passes::InferType(
      module.With("main", ir::Function::Make(main.params, ir::Tuple::Make(values))));
}

}  // namespace

std::vector<Histogram> Calibrate(const ir::Module& module, const std::vector<ir::Expr>& values,
                                 const SampleSource& samples, const CompileOptions& options) {
  const Executable exe = ValueOrThrow(Compile(WithResults(module, values), options));
  std::vector<Histogram> seen(values.size());
  std::size_t count = 0;
  for (; const std::optional<runtime::Inputs> inputs = samples(count); ++count) {
    const std::vector<NDArray> results = ValueOrThrow(exe.Run(*inputs));
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!seen[i].Add(results[i]))
        throw InvalidArgument(
            StrCat("sample ", count, ": ", NameOf(values[i]),
                   " has elements that are infinite or NaN, which bytes cannot hold"));
    }
  }
  if (count == 0)
    throw InvalidArgument("there is no sample; bytes need to know how large values are");
  return seen;
}

}  // namespace tenon::quantize
