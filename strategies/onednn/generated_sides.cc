#include "tenon/strategies/onednn/generated_sides.h"

#include "tenon/ir/visit.h"
#include "tenon/ops/known_ops.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/strategies/lower_outputs.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/strings.h"

namespace tenon::strategies::onednn {

using ir::CallNode;
using te::Tensor;

DataType ElementsOf(const ir::Type& tensor) { return tensor.As<ir::TensorTypeNode>()->dtype; }

const CallNode& MadeByLibrary(const Group& group) {
  const CallNode& anchor = *group.Anchor();
  if (ElementsOf(anchor.args[0].checked_type()) != BFloat16) return anchor;
  const CallNode* made = &anchor;
  const ir::ReaderCounts readers = ir::CountReaders(group.function->body);
  ir::VisitPostOrder(group.function->body, [&](const ir::Expr& e) {
    const auto* call = e.As<CallNode>();
    if (call != nullptr && call->callee == ops::Known().cast && call->args[0].get() == &anchor &&
        ElementsOf(call->checked_type) == BFloat16 && readers.at(call->args[0]) == 1)
      made = call;
  });
  return *made;
}

Side After(const Group& group, const Tensor& sums, const CallNode& made, const Tensor& value,
           std::vector<int>* arguments) {
  LowerFunctionOptions options{.target = group.lowering.target, .is_constant = {}};
  options.given = &made;
  options.given_value = value;
  const TeFunction function = LowerFunction(*group.function, options);
  std::vector<Tensor> args = ParamsReadBy(function.outputs, function.params, arguments);
  const std::size_t count = args.size();
  args.push_back(sums);
  return {.function = LowerOutputs(std::move(args), function.outputs, StrCat(group.name, "_after"),
                                   group.lowering),
          .arguments = count,
          .bytes = static_cast<std::size_t>(BytesOf(sums))};
}

}  // namespace tenon::strategies::onednn
