#include "tenon/strategies/built.h"

#include <cstdint>

#include "tenon/ir/flatten.h"
#include "tenon/strategies/strategy.h"
#include "tenon/support/error.h"
#include "tenon/support/ndarray.h"
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

namespace {

// What a kernel takes or is called with.
struct Array {
  DataType type;
  std::optional<std::int64_t> elements;  // nothing where variables decide
};

std::vector<Array> ArraysOf(const ir::Type& type) {
  std::vector<Array> arrays;
  for (const ir::Type& leaf : ir::Flatten(type)) {
    Array& array = arrays.emplace_back(Array{leaf.As<ir::TensorTypeNode>()->dtype, std::nullopt});
    if (ir::IsStaticTensor(leaf)) array.elements = NumElements(ir::StaticShape(leaf, "an array"));
  }
  return arrays;
}

Array ArrayOf(const loop::Buffer& buffer) {
  Shape shape;
  for (const loop::Expr& extent : buffer->shape) {
    const auto* number = extent.As<loop::IntImmNode>();
    if (number == nullptr) return {buffer->dtype, std::nullopt};
    shape.push_back(number->value);
  }
  return {buffer->dtype, NumElements(shape)};
}

// `arguments` are positions among the parameters.
void RequireParams(const char* list, const std::vector<int>& arguments, std::size_t params) {
  for (const int argument : arguments) {
    if (argument < 0 || static_cast<std::size_t>(argument) >= params)
      throw InvalidArgument(
          StrCat(list, " names parameter ", argument, "; the function has ", params));
  }
}

Array ResultOf(const PreparedConstant& constant, std::size_t params) {
  if (constant.function.buffers.empty())
    throw InvalidArgument("a prepared constant's function has no buffers");
  RequireParams("PreparedConstant::arguments", constant.arguments, params);
  const Array made = ArrayOf(constant.function.buffers.back());
  if (!made.elements) throw InvalidArgument("a prepared constant has an extent that is no number");
  return made;
}

}  // namespace

void RequireBuilt(const Group& group, const Built& built) {
  std::vector<Array> params;
  const auto add = [](const std::vector<Array>& more, std::vector<Array>* arrays) {
    arrays->insert(arrays->end(), more.begin(), more.end());
  };
  for (const ir::Expr& param : group.function->params) add(ArraysOf(param.checked_type()), &params);
  RequireParams("Built::arguments", built.arguments, params.size());
  std::vector<Array> arrays;  // that the kernel is called with
  for (const int argument : built.arguments)
    arrays.push_back(params[static_cast<std::size_t>(argument)]);
  for (const PreparedConstant& constant : built.prepared)
    arrays.push_back(ResultOf(constant, params.size()));
  if (const auto* callable = std::get_if<std::shared_ptr<const jit::Callable>>(&built.kernel)) {
    if (*callable == nullptr) throw InvalidArgument("Built::kernel is a null library kernel");
    return;
  }
  const auto& kernel = std::get<loop::Function>(built.kernel);
  if (kernel.origin.empty() && !kernel.body.stmt())
    throw InvalidArgument("Built::kernel is a function without a body");
  add(ArraysOf(group.function->body.checked_type()), &arrays);
  if (kernel.buffers.size() != arrays.size())
    throw InvalidArgument(StrCat("the kernel ", kernel.name, " has ", kernel.buffers.size(),
                                 " buffers; it is called with ", arrays.size(), ": ",
                                 built.arguments.size(), " of Built::arguments, ",
                                 built.prepared.size(), " of Built::prepared, and the results"));
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const Array taken = ArrayOf(kernel.buffers[i]), &given = arrays[i];
    const auto which =
        StrCat("buffer ", i, " of the kernel ", kernel.name, " (", kernel.buffers[i]->name, ") ");
    if (taken.type != given.type)
      throw InvalidArgument(StrCat(which, "holds ", taken.type.ToString(), "; it is called with ",
                                   given.type.ToString()));
    if (taken.elements && given.elements && *taken.elements != *given.elements)
      throw InvalidArgument(
          StrCat(which, "has ", *taken.elements, " elements; it is called with ", *given.elements));
  }
}

}  // namespace tenon::strategies
