#include "tenon/relax/extent_calls.h"

#include <map>
#include <set>
#include <utility>

#include "tenon/ir/parse_extents.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/given_extents.h"
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

// Extents at their own place are copied (0), and one may be what remains (-1).
Expr Reshape(const Expr& x, const Dims& target, const Span& span) {
  const Dims& from = TensorOf(x).shape;
  ops::Ints codes;
  bool is_known = ops::Product(from) == ops::Product(target), has_inferred = false;
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (target[i].is_static()) {
      codes.push_back(target[i].value());
      is_known = is_known && target[i].value() > 0;
    } else if (i < from.size() && from[i] == target[i]) {
      codes.push_back(0);
    } else {
      codes.push_back(-1);
      is_known = is_known && !std::exchange(has_inferred, true);
    }
  }
  Expr call;
  if (is_known) {
    try {
      call = Typed(ops::Reshape(x, codes), span);
    } catch (const Error& error) {
      if (error.code() == absl::StatusCode::kInternal) throw;
    }
  }
  if (!call || TensorOf(call).shape != target)
    throw Unimplemented(StrCat("a reshape of ", ir::ToString(x.checked_type()), " to ",
                               ir::ToText(target),
                               " is not known to keep the number of elements; at most one extent "
                               "may be computed from the others"));
  return call;
}

Expr Broadcast(const Expr& x, const Dims& target, const Scope& scope, const Span& span) {
  std::set<std::string> symbols;
  for (const Dim& dim : target) dim.AddSymbols(&symbols);
  std::vector<Expr> others;
  std::vector<ir::Type> types;
  std::map<std::string, ops::ExtentPlace> places;
  for (const std::string& symbol : symbols) {
    const auto place = scope.extents.find(symbol);
    if (place == scope.extents.end())
      throw Unimplemented(StrCat("the shape ", ir::ToText(target), " has the variable ", symbol,
                                 ", and no parameter has the extent ", symbol, " alone"));
    places.emplace(symbol, ops::ExtentPlace{others.size(), place->second.axis});
    others.push_back(place->second.param);
    types.push_back(others.back().checked_type());
  }
  const Expr call = ops::BroadcastToExtents(x, others, ops::TextOfExtents(target, places));
  const auto& node = *call.As<ir::CallNode>();
  return passes::InferCall(ir::Call::Make(
      node.callee, {x, ir::Tuple::Make(others, span, ir::TupleType(types))}, node.attrs, span));
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
  if (op == "reshape") return Reshape(inputs[0], shape, span);
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
