// The turn is imported over variables. What it reads of the values around it is found by a walk
// that ends at them.
#include "tenon/onnx/convert/loop_function.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "tenon/ir/visit.h"
#include "tenon/onnx/convert/known_extents.h"
#include "tenon/onnx/convert/moved_elements.h"
#include "tenon/onnx/convert/open_extents.h"
#include "tenon/onnx/convert/symbolic_shapes.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index_builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

void RequireKnownExtents(const ir::Type& type) {
  if (!HasKnownExtents(type))
    throw Unimplemented(StrCat("the loop carries a value of type ", ir::ToString(type),
                               "; it must be a tensor of extents that are known at import"));
}

// Extents that are open may be any.
bool Fits(const ir::Type& type, const ir::Type& variable, const std::set<std::string>& open) {
  const auto *given = type.As<ir::TensorTypeNode>(), *wanted = variable.As<ir::TensorTypeNode>();
  if (given == nullptr || wanted == nullptr) return ir::Equal(type, variable);
  return given->dtype == wanted->dtype &&
         std::ranges::equal(given->shape, wanted->shape, [&](const Dim& a, const Dim& b) {
           const auto symbol = b.symbol();
           return a == b || (symbol && open.contains(*symbol));
         });
}

ir::Type WithNames(const ir::Type& type, const std::map<std::string, Dim>& names) {
  const auto& tensor = *type.As<ir::TensorTypeNode>();
  std::vector<Dim> shape;
  for (const Dim& dim : tensor.shape) shape.push_back(dim.Substitute(names));
  return ir::TensorType(std::move(shape), tensor.dtype);
}

using Exprs = std::unordered_set<Expr, ir::ExprHash>;

// An array whose elements the turns of a loop give, before the first of them.
Expr BufferFor(const Node& node, const Dim& count, const ir::Type& type) {
  RequireKnownExtents(type);
  const auto& element = *type.As<ir::TensorTypeNode>();
  std::vector<Dim> extents = element.shape;
  extents.insert(extents.begin(), count);
  const Expr zero = ir::Constant::Make(NDArray::Zeros({}, element.dtype));
  return node.Typed(BroadcastTo(node.extents(), zero, extents));
}
Expr Written(const Node& node, const Expr& buffer, const Expr& place, const Expr& element) {
  return node.Typed(ops::ScatterND(buffer, node.Typed(ops::ReshapeToExtents(place, {1})), element));
}

// Values around the loop that an expression reads, in order.
std::vector<Expr> ValuesAround(const Expr& e, const Node& node, const Exprs& own,
                               const Exprs& around) {
  const auto is_around = [&](const Expr& value) {
    if (own.contains(value) || value.checked_type().As<ir::TensorTypeNode>() == nullptr)
      return false;
    return value.kind() == ir::ExprKind::kVar || (value.kind() != ir::ExprKind::kConstant &&
                                                  (around.contains(value) || node.IsAround(value)));
  };
  std::vector<Expr> values;
  ir::VisitPostOrder(
      e,
      [&](const Expr& value) {
        if (is_around(value)) values.push_back(value);
      },
      [&](const Expr& value) { return !is_around(value); });
  return values;
}

}  // namespace

std::string LoopFunctions::Reserve(const std::string& hint) {
  std::string name = "loop_";
  for (const char c : hint)
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 && static_cast<unsigned char>(c) < 128
                ? c
                : '_';
  std::string unique = name;
  for (int i = 1; !names_.insert(unique).second; ++i) unique = StrCat(name, "_", i);
  return unique;
}

const onnx::NodeProto& LoopFunctions::Keep(onnx::NodeProto loop) {
  constexpr std::size_t most = std::size_t{1} << 28;
  kept_bytes_ += loop.ByteSizeLong();
  if (kept_bytes_ > most)
    throw Unimplemented(StrCat("loops over sequences have more than ", most, " bytes"));
  return kept_.emplace_back(std::move(loop));
}

void LoopParts::Carry(const Expr& variable, const Expr& value, const Expr& after) {
  variables.push_back(variable);
  initial.push_back(value);
  next.push_back(after);
}

void LoopParts::CarryBuffer(const Node& node, const Dim& count, const Expr& place,
                            const Expr& element) {
  const Expr buffer = MadeOf(node, BufferFor(node, count, element.checked_type()), {element});
  const Expr variable = LoopVariable(node, buffer);
  Carry(variable, buffer, MadeOf(node, Written(node, variable, place, element), {element}));
}

void LoopParts::CarryList(const Node& node, const Expr& number, const Expr& element) {
  constexpr std::int64_t first_elements = 16;
  const ir::Type& type = element.checked_type();
  const Expr buffer = MadeOf(node, BufferFor(node, first_elements, type), {element});
  passes::RunTimeExtentNames& names = node.extents().names();
  open.push_back(names.Fresh("room"));
  std::vector<Dim> extents = type.As<ir::TensorTypeNode>()->shape;
  extents.insert(extents.begin(), Dim::Symbol(open.back()));
  const Expr variable = MadeOf(
      node, LoopVariable(node, ir::TensorType(std::move(extents), DataTypeOf(element))), {element});
  const Expr room = node.Typed(ExtentValue(variable, 0));
  const Expr is_full = node.Typed(ir::Call::Make(ops::Known().equal, {number, room}));
  const std::string name = names.Fresh("room");
  const Expr twice = node.Typed(ops::Concatenate({variable, variable}, 0));
  const Expr larger = WithNamedExtent(node, twice, 0, name);
  const Expr with_room = ir::If::Make(is_full, larger, WithNamedExtent(node, variable, 0, name),
                                      node.span(), larger.checked_type());
  Carry(variable, buffer, MadeOf(node, Written(node, with_room, number, element), {element}));
}

StepNumbers::StepNumbers(const Node& node, const Dim& steps, const Expr& array, std::int64_t axis) {
  if (steps.is_static()) {
    count = Integer(steps.value());
    last = Integer(steps.value() - 1);
    return;
  }
  count = node.Typed(ExtentValue(array, static_cast<std::size_t>(axis)));
  last = node.Typed(ops::Subtract(count, Integer(1)));
}

Expr LoopVariable(const Node& node, const ir::Type& type) {
  return ir::Var::MakeChecked("v", type, node.span());
}
Expr LoopVariable(const Node& node, const Expr& value) {
  return MadeOf(node, LoopVariable(node, value.checked_type()), {value});
}

namespace {

// The types of the state after the loop. Throws Unimplemented for a value whose type a turn
// changes.
std::vector<ir::Type> ResultTypes(const LoopParts& parts,
                                  const std::map<std::string, Dim>& renamed) {
  const std::set<std::string> open(parts.open.begin(), parts.open.end());
  std::vector<ir::Type> types;
  for (std::size_t i = 0; i < parts.variables.size(); ++i) {
    const ir::Type& type = parts.variables[i].checked_type();
    const ir::Type &before = parts.initial[i].checked_type(), &after = parts.next[i].checked_type();
    RequireKnownExtents(before);
    if (!Fits(before, type, open) || !Fits(after, type, open))
      throw Unimplemented(StrCat("a value is ", ir::ToString(before), " before a turn and ",
                                 ir::ToString(after),
                                 " after it; a loop of which only a run knows the end carries "
                                 "values of one type"));
    types.push_back(WithNames(type, renamed));
  }
  return types;
}

// The turn with new parameters in place of the values around it.
Expr OverParameters(const Expr& turn, const std::vector<Expr>& around, std::vector<Expr>* params) {
  ir::ExprMap inside;
  for (const Expr& value : around) {
    params->push_back(
        ir::Var::MakeChecked(StrCat("v", params->size()), value.checked_type(), value.span()));
    inside.emplace(value, params->back());
  }
  return ir::RewritePostOrder(
      turn,
      [&](const Expr& original, const Expr& e) {
        const auto found = inside.find(original);
        return found != inside.end() ? found->second : ir::KeepType(original, e);
      },
      [&](const Expr& e) { return !inside.contains(e); });
}

}  // namespace

MadeLoop MakeLoop(const Node& node, const LoopParts& parts) {
  std::vector<Expr> params = parts.variables;
  std::map<std::string, std::string> names;  // in the results, of open extents
  std::map<std::string, Dim> renamed;
  for (const std::string& name : parts.open) {
    names.emplace(name, node.extents().names().Fresh(node.proto().op_type()));
    renamed.emplace(name, Dim::Symbol(names.at(name)));
  }
  const std::vector<ir::Type> types = ResultTypes(parts, renamed);
  const ir::Type result_type = ir::TupleType(types);
  // The turn and its condition as one expression, so that they share what they read.
  std::vector<Expr> all = parts.next;
  all.push_back(parts.goes_on);
  const Exprs own(params.begin(), params.end());
  const Exprs known(parts.around.begin(), parts.around.end());
  const std::vector<Expr> around = ValuesAround(ir::Tuple::Make(all), node, own, known);
  std::vector<Expr> arguments =
      OverParameters(ir::Tuple::Make(all), around, &params).As<ir::TupleNode>()->fields;
  const Expr condition = arguments.back();
  arguments.pop_back();
  arguments.insert(arguments.end(), params.begin() + static_cast<std::ptrdiff_t>(types.size()),
                   params.end());
  LoopFunctions& functions = *node.loops();
  const std::string name = functions.Reserve(NameOf(node.proto()));
  const auto call = [&](std::vector<Expr> args) {
    return ir::Call::Make(ir::GlobalVar::Make(name, node.span()), std::move(args), {}, node.span(),
                          result_type);
  };
  std::vector<Expr> state;
  for (std::size_t i = 0; i < types.size(); ++i)
    state.push_back(WithNamedExtents(node, params[i], names));
  const Expr body =
      ir::If::Make(condition, call(std::move(arguments)),
                   ir::Tuple::Make(state, node.span(), result_type), node.span(), result_type);
  functions.Add(name, ir::Function::Make(params, body, result_type, {}, node.span()));
  MadeLoop loop{.final_state = {}, .is_constant = true};
  std::vector<Expr> given = parts.initial;
  given.insert(given.end(), around.begin(), around.end());
  for (const Expr& value : given)
    loop.is_constant = loop.is_constant && value.kind() == ir::ExprKind::kConstant;
  const Expr result = call(std::move(given));
  for (std::size_t i = 0; i < types.size(); ++i) {
    loop.final_state.push_back(
        MadeOf(node, ir::TupleGetItem::Make(result, static_cast<int>(i), node.span(), types[i]),
               {parts.initial[i], parts.next[i]}));
    node.extents().Add(loop.final_state.back());
  }
  return loop;
}

}  // namespace tenon::onnx_import
