#include "tenon/strategies/lower/build_from_te.h"

#include <string>
#include <utility>
#include <vector>

#include "tenon/strategies/lower_outputs.h"
#include "tenon/strategies/op_schedule.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::strategies {
namespace {

Built Generate(const Group& group, const LowerFunctionOptions& options) {
  const TeFunction function = LowerFunction(*group.function, options);
  Built built;
  std::vector<te::Tensor> args = ParamsReadBy(function.outputs, function.params, &built.arguments);
  for (const PreparedTensor& tensor : function.prepared) {
    args.push_back(tensor.placeholder);
    PreparedConstant& constant = built.prepared.emplace_back();
    const std::vector<te::Tensor> results = {tensor.computed};
    const auto sources = ParamsReadBy(results, function.params, &constant.arguments);
    constant.function = LowerOutputs(
        sources, results, StrCat(group.name, "_prepare", built.prepared.size()), group.lowering);
  }
  LoweringOptions lowering = group.lowering;
  lowering.config = options.config;
  lowering.blocks_sums = options.form == nullptr;
  const bool is_by_author = options.form != nullptr && options.form->schedule != nullptr;
  ScheduleMaker maker;
  if (is_by_author)
    maker = [&](const std::vector<te::Tensor>&) { return ScheduleByAuthor(function, options); };
  try {
    built.kernel = LowerOutputs(std::move(args), function.outputs, group.name, lowering, maker);
  } catch (Error& error) {
    if (!is_by_author) throw;
    throw error.AddNote(StrCat("under the author's schedule of ", options.formed->op()->name,
                               ", row ", options.form->name));
  }
  return built;
}

}  // namespace

LowerFunctionOptions LoweringOf(const Group& group) {
  LowerFunctionOptions options{.target = group.lowering.target,
                               .is_constant = {},
                               .plain_forms = group.lowering.generic,
                               .keeps_order = !group.lowering.reassociate_sums};
  for (const NDArray& constant : group.constants) options.is_constant.push_back(constant.defined());
  return options;
}

BuildResult BuildFromTe(const Group& group, const LowerFunctionOptions& options) {
  return RefusedIfUnimplemented([&]() -> BuildResult { return Generate(group, options); });
}

}  // namespace tenon::strategies
