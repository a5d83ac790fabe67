#include "tenon/relax/extent_calls.h"

#include <utility>

#include "tenon/ir/parse_extents.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/extents/extent_places.h"
#include "tenon/ops/index_builders.h"
#include "tenon/ops/type_relation.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/strings.h"

namespace tenon::relax {
namespace {

using ir::Expr;
using Dims = std::vector<Dim>;

const ir::TensorTypeNode& TensorOf(const Expr& e) {
  const auto* tensor = e.checked_type().As<ir::TensorTypeNode>();
  if (tensor == nullptr)
    throw InvalidArgument(
        StrCat("the input is ", ir::ToString(e.checked_type()), ", not a tensor"));
  return *tensor;
}

// With the place of the text.
Expr Typed(const Expr& call, const Span& span) {
  const auto& node = *call.As<ir::CallNode>();
  return passes::InferCall(ir::Call::Make(node.callee, node.args, node.attrs, span));
}

// `make` makes a call of a shape in the names of `others`, which gets its type here.
Expr OverExtents(const Expr& x, const Dims& target, const Scope& scope, const Span& span,
                 Expr (*make)(const Expr&, std::vector<Expr>, std::string)) {
  ops::ExtentPlaces::NamedShape named = scope.extents.NamesIn(target);
  std::vector<ir::Type> types;
  for (const Expr& other : named.others) types.push_back(other.checked_type());
  const Expr others = ir::Tuple::Make(named.others, span, ir::TupleType(std::move(types)));
  const Expr call = make(x, std::move(named.others), std::move(named.text));
  const auto& node = *call.As<ir::CallNode>();
  return passes::InferCall(ir::Call::Make(node.callee, {x, others}, node.attrs, span));
}

// Extents at their own place are copied (0), and one may be what remains (-1). Undefined for
// shapes that this does not give.
Expr ReshapeByCodes(const Expr& x, const Dims& target, const Span& span) {
  const Dims& from = TensorOf(x).shape;
  if (ops::Product(from) != ops::Product(target)) return Expr();
  ops::Ints codes;
  bool has_inferred = false;
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (target[i].is_static()) {
      codes.push_back(target[i].value());
      if (target[i].value() <= 0) return Expr();
    } else if (i < from.size() && from[i] == target[i]) {
      codes.push_back(0);
    } else {
      codes.push_back(-1);
      if (std::exchange(has_inferred, true)) return Expr();
    }
  }
  try {
    const Expr call = Typed(ops::Reshape(x, codes), span);
    if (TensorOf(call).shape == target) return call;
  } catch (const Error& error) {
    if (error.code() == absl::StatusCode::kInternal) throw;
  }
  return Expr();
}

Expr Reshape(const Expr& x, const Dims& target, const Scope& scope, const Span& span) {
  const Expr call = ReshapeByCodes(x, target, span);
  if (call) return call;
  if (!ops::MayBeEqual(ops::Product(TensorOf(x).shape), ops::Product(target)))
    throw InvalidArgument(StrCat("a reshape of ", ir::ToString(x.checked_type()), " to ",
                                 ir::ToText(target), " does not keep the number of elements"));
  return OverExtents(x, target, scope, span, ops::ReshapeToExtents);
}

Expr Broadcast(const Expr& x, const Dims& target, const Scope& scope, const Span& span) {
  return OverExtents(x, target, scope, span, ops::BroadcastToExtents);
}

// A number as the element type that an argument says.
Expr Filled(const Expr& number, const attrs::Value& dtype, const Span& span) {
  const auto* type = dtype.As<DataType>();
  const auto* name = dtype.As<std::string>();
  const std::optional<DataType> wanted = type != nullptr   ? std::optional(*type)
                                         : name != nullptr ? DataType::Parse(*name)
                                                           : std::nullopt;
  if (name != nullptr && !name->empty() && !wanted)
    throw InvalidArgument(StrCat("'", *name, "' is not an element type"));
  if (!wanted || wanted->is_void() || *wanted == TensorOf(number).dtype) return number;
  return Typed(ops::Cast(number, *wanted), span);
}

}  // namespace

Expr CallWithExtents(const std::string& op, const std::vector<Expr>& inputs,
                     const attrs::Value& dtype, const Dims& shape, const Scope& scope,
                     const Span& span) {
  if (op == "reshape") return Reshape(inputs[0], shape, scope, span);
  if (op == "broadcast_to") return Broadcast(inputs[0], shape, scope, span);
  if (op == "full") return Broadcast(Filled(inputs[0], dtype, span), shape, scope, span);
  if (op == "zeros" || op == "ones") {
    const auto* type = dtype.As<DataType>();
    const auto* name = dtype.As<std::string>();
    const std::optional<DataType> wanted = type != nullptr   ? std::optional(*type)
                                           : name != nullptr ? DataType::Parse(*name)
                                                             : Float32;
    if (!wanted || wanted->is_void() || wanted->is_vector())
      throw InvalidArgument(StrCat("'", name != nullptr ? *name : "", "' is not an element type"));
    const Expr number = passes::InferType(ops::Scalar(op == "ones" ? 1 : 0, *wanted));
    return Broadcast(number, shape, scope, span);
  }
  throw Unimplemented(StrCat("the shape ", ir::ToText(shape),
                             " has variables, which R.reshape, R.broadcast_to, R.full, R.zeros and "
                             "R.ones take, and this operator does not"));
}

}  // namespace tenon::relax
