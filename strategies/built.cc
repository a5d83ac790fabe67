#include "tenon/strategies/built.h"

#include "tenon/ir/flatten.h"
#include "tenon/strategies/strategy.h"
#include "tenon/support/strings.h"

namespace tenon::strategies {

std::vector<loop::Function> GeneratedFunctions(const Built& built) {
  std::vector<loop::Function> functions;
  if (const auto* function = std::get_if<loop::Function>(&built.kernel))
    functions.push_back(*function);
  for (const std::optional<Side>& side : {built.before, built.after}) {
    if (side) functions.push_back(side->function);
  }
  return functions;
}

void RequireBuilt(const Group& group, const Built& built) {
  std::vector<DataType> params;
  const auto add = [](const ir::Type& type, std::vector<DataType>* types) {
    for (const ir::Type& tensor : ir::Flatten(type))
      types->push_back(tensor.As<ir::TensorTypeNode>()->dtype);
  };
  for (const ir::Expr& param : group.function->params) add(param.checked_type(), &params);
  std::vector<DataType> buffers;
  for (const int argument : built.arguments) {
    if (argument < 0 || static_cast<std::size_t>(argument) >= params.size())
      throw InvalidArgument(StrCat("Built::arguments names parameter ", argument,
                                   "; the function has ", params.size()));
    buffers.push_back(params[static_cast<std::size_t>(argument)]);
  }
  if (const auto* callable = std::get_if<std::shared_ptr<const jit::Callable>>(&built.kernel)) {
    if (*callable == nullptr) throw InvalidArgument("Built::kernel is a null library kernel");
    return;
  }
  const auto& kernel = std::get<loop::Function>(built.kernel);
  if (kernel.origin.empty() && !kernel.body.stmt())
    throw InvalidArgument("Built::kernel is a function without a body");
  for (const PreparedConstant& constant : built.prepared) {
    if (constant.function.buffers.empty())
      throw InvalidArgument("a prepared constant's function has no buffers");
    buffers.push_back(constant.function.buffers.back()->dtype);
  }
  add(group.function->body.checked_type(), &buffers);
  if (kernel.buffers.size() != buffers.size())
    throw InvalidArgument(StrCat("the kernel ", kernel.name, " has ", kernel.buffers.size(),
                                 " buffers; it is called with ", buffers.size(), ": ",
                                 built.arguments.size(), " of Built::arguments, ",
                                 built.prepared.size(), " of Built::prepared, and the results"));
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (kernel.buffers[i]->dtype != buffers[i])
      throw InvalidArgument(StrCat(
          "buffer ", i, " of the kernel ", kernel.name, " (", kernel.buffers[i]->name, ") holds ",
          kernel.buffers[i]->dtype.ToString(), "; it is called with ", buffers[i].ToString()));
  }
}

}  // namespace tenon::strategies
