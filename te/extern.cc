#include "tenon/te/extern.h"

#include "tenon/loop/check_given.h"
#include "tenon/loop/print.h"
#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::te {

Expr CallIntrinsic(const ExternFunction& callee, std::vector<Expr> args) {
  const auto refuse = [&](std::string_view reason) {
    throw InvalidArgument(StrCat("intrinsic ", callee->symbol, ": ", reason));
  };
  if (callee->effect != Effect::kPure)
    refuse("only pure functions stand in expressions; declare it with Effect::kPure");
  if (callee->result.is_void() || callee->result == loop::Handle) refuse("it must return a number");
  for (const Expr& arg : args) {
    loop::RequireDefined(arg, StrCat("intrinsic ", callee->symbol, ": an argument"));
    if (arg.dtype() == loop::Handle)
      refuse("an argument is an address; functions of whole buffers are called by Extern");
  }
  return ExternCall(callee, std::move(args));
}

std::vector<Tensor> Extern(const std::vector<std::vector<Expr>>& shapes, std::vector<Tensor> inputs,
                           const std::vector<DataType>& dtypes, const ExternBody& body,
                           std::string name) {
  const auto refuse = [&](const std::string& reason) {
    throw InvalidArgument(StrCat("extern ", name, ": ", reason));
  };
  if (shapes.empty()) refuse("there is no output");
  if (shapes.size() != dtypes.size())
    refuse(StrCat(shapes.size(), " shapes and ", dtypes.size(),
                  " types are given; every output needs one of each"));
  if (body == nullptr) refuse("there is no body");
  auto* op = new OperationNode;
  const Operation handle(op);
  op->name = name;
  op->kind = OperationKind::kExtern;
  std::vector<Expr> from, to;
  for (const Tensor& input : inputs) from.push_back(loop::Address(input.buffer()));
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    // As of any tensor, extents and type are checked.
    op->outputs.push_back(
        Placeholder(shapes[i], dtypes[i], shapes.size() == 1 ? name : StrCat(name, ".v", i))
            .buffer());
    to.push_back(loop::Address(op->outputs.back()));
  }
  const Expr call = body(from, to);
  loop::RequireDefined(call, StrCat("extern ", name, ": its call"));
  const auto* node = call.As<loop::ExternCallNode>();
  if (node == nullptr) refuse(StrCat("the body must be an ExternCall; it is ", loop::Print(call)));
  if (!call.dtype().is_void())
    refuse(StrCat("the function ", node->callee->symbol, " returns ", call.dtype().ToString(),
                  "; it must return nothing"));
  loop::VisitExpr(call, [&](const Expr& e) {
    if (e.kind() == loop::ExprKind::kLoad)
      refuse("an argument reads an element; pass addresses, constants and extents");
  });
  op->body = {call};
  op->inputs = std::move(inputs);
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < op->outputs.size(); ++i)
    tensors.emplace_back(handle, static_cast<int>(i));
  return tensors;
}

}  // namespace tenon::te
