#include "tenon/verify/draw/random_call.h"

#include <algorithm>
#include <utility>

#include "tenon/ir/expr.h"
#include "tenon/ir/visit.h"
#include "tenon/ops/registry.h"
#include "tenon/support/strings.h"
#include "tenon/verify/draw/operands.h"
#include "tenon/verify/draw/random_attributes.h"
#include "tenon/verify/draw/symbolic_module.h"

namespace tenon::verify {
namespace {

Shape RandomShape(std::size_t rank, Random& random) {
  static const std::vector<std::int64_t>& sizes =
      *new std::vector<std::int64_t>{1, 2, 3, 3, 4, 5, 7, 8, 13, 16, 17, 31, 33, 64, 65};
  Shape shape;
  std::int64_t elements = 1;
  for (std::size_t d = 0; d < rank; ++d) {
    std::int64_t size = random.Chance(2) ? 0 : random.Of(sizes);
    if (elements * size > kMaxArgumentElements) size = 2;
    elements *= std::max<std::int64_t>(size, 1);
    shape.push_back(size);
  }
  return shape;
}

// Up to five dimensions, as in convolutions over volumes.
Shape RandomShape(Random& random) {
  return RandomShape(static_cast<std::size_t>(random.Below(6)), random);
}

// A shape that is related to the first argument's in one of the ways that operators use.
Shape RelatedShape(const Shape& first, Random& random) {
  switch (random.Below(5)) {
    case 0:
    case 1:
      return first;
    case 2: {  // of one of its extents
      if (first.empty()) return {};
      return {random.Of(first)};
    }
    case 3: {  // the same rank, some extents shared
      Shape shape = RandomShape(first.size(), random);
      for (std::size_t d = 0; d < shape.size(); ++d) {
        const std::int64_t choice = random.Below(3);
        if (choice == 0) shape[d] = first[d];
        if (choice == 1) shape[d] = random.Of(std::vector<std::int64_t>{1, 3});
      }
      return shape;
    }
    default:
      return RandomShape(random);
  }
}

struct Drawn {
  std::vector<ir::Expr> params, args;
  std::vector<NDArray> values;  // of the parameters, where the operator says what they may be

  ir::Expr Add(const ir::Type& type) {
    params.push_back(ir::Var::Make(StrCat("x", params.size()), type));
    return params.back();
  }
  ir::Expr Add(const Shape& shape, DataType type) { return Add(ir::TensorTypeOf(shape, type)); }
};

// `leaves_types`: some arguments have no type, because the relation may know it.
Drawn DrawArguments(const ops::OpDef& op, bool leaves_types, Random& random) {
  static const std::vector<DataType>& types = *new std::vector<DataType>{
      Float32, Float32, Float32, Float32, Float64, Int32, Int64, Int8, UInt8, Bool, Float16};
  static const std::vector<DataType>& rare =
      *new std::vector<DataType>{Int16, UInt16, UInt32, UInt64, UInt64, BFloat16};
  const DataType type = random.Of(random.Chance(25) ? rare : types);
  const Shape first = RandomShape(random);
  Drawn drawn;
  for (std::size_t i = 0; i < op.arguments.size(); ++i) {
    const DataType own = random.Chance(80) ? type : random.Of(types);
    if (op.arguments[i].type.starts_with("Tuple") || random.Chance(5)) {
      std::vector<ir::Expr> fields;
      for (std::int64_t f = 1 + random.Below(3); f > 0; --f)
        fields.push_back(drawn.Add(random.Chance(80) ? first : RelatedShape(first, random), own));
      drawn.args.push_back(ir::Tuple::Make(std::move(fields)));
    } else if (leaves_types && i > 0 && random.Chance(50)) {
      drawn.args.push_back(drawn.Add(ir::Type()));
    } else {
      drawn.args.push_back(drawn.Add(i == 0 ? first : RelatedShape(first, random), own));
    }
  }
  return drawn;
}

Drawn ArgumentsOf(const Operands& operands) {
  Drawn drawn;
  for (const Operands::Argument& argument : operands.arguments) {
    std::vector<ir::Expr> fields;
    for (const NDArray& value : argument.fields) {
      fields.push_back(drawn.Add(value.shape(), value.dtype()));
      drawn.values.push_back(value);
    }
    drawn.args.push_back(argument.is_tuple ? ir::Tuple::Make(std::move(fields)) : fields.at(0));
  }
  return drawn;
}

UntypedCall CallOf(const ir::Expr& callee, Drawn drawn, const attrs::Attrs& attributes) {
  const ir::Expr call = ir::Call::Make(callee, std::move(drawn.args), attributes);
  return {ir::Module::FromExpr(ir::Function::Make(std::move(drawn.params), call)),
          std::move(drawn.values)};
}

// Next to the extent, or one that kernels have rules for.
std::int64_t OtherExtent(std::int64_t extent, Random& random) {
  return random.Of(std::vector<std::int64_t>{0, 1, 2, 3, 16, extent + 1, extent * 2,
                                             std::max<std::int64_t>(extent - 1, 0)});
}

Shape OtherShape(Shape shape, Random& random) {
  if (random.Chance(10)) {
    shape.insert(shape.begin(), random.Chance(70) ? 1 : 2);
  } else if (!shape.empty() && random.Chance(10)) {
    shape.erase(shape.begin() + random.Below(static_cast<std::int64_t>(shape.size())));
  } else if (!shape.empty()) {
    std::int64_t& extent = shape[At(random.Below(static_cast<std::int64_t>(shape.size())))];
    extent = OtherExtent(extent, random);
  }
  return shape;
}

DataType OtherType(Random& random) {
  return random.Of(std::vector<DataType>{Float32, Float64, Float16, BFloat16, Int8, UInt8, Int16,
                                         UInt16, Int32, UInt32, Int64, UInt64, Bool});
}

}  // namespace

UntypedCall DrawCall(const std::string& name, bool leaves_types, Random& random) {
  const ir::Expr& callee = ops::OpRegistry::Global().Get(name);
  const ops::OpDef& op = *ops::OpOf(callee);
  const OperandDrawer* draw = FindOperandDrawer(name);
  if (draw == nullptr) {
    Drawn drawn = DrawArguments(op, leaves_types, random);
    return CallOf(callee, std::move(drawn), DrawAttributes(op, random));
  }
  const Operands operands = (*draw)(random);
  attrs::Attrs attributes;
  if (op.schema != nullptr) attributes = attrs::Attrs::FromFields(*op.schema, operands.attributes);
  return CallOf(callee, ArgumentsOf(operands), attributes);
}

UntypedCall AnyCall(const std::string& name, Random& random) {
  const ir::Expr& callee = ops::OpRegistry::Global().Get(name);
  const ops::OpDef& op = *ops::OpOf(callee);
  Drawn drawn = DrawArguments(op, false, random);
  // Of a count, as operators want that cut or index.
  if (drawn.args.size() > 1 && random.Chance(20)) drawn.args.back() = drawn.Add({1}, Int64);
  if (random.Chance(5)) drawn.args.push_back(drawn.Add({}, Float32));
  if (!drawn.args.empty() && random.Chance(5)) drawn.args.pop_back();
  return CallOf(callee, std::move(drawn), DrawAttributes(op, random, /*extreme_percent=*/25));
}

UntypedCall WithOneChange(const UntypedCall& given, Random& random) {
  const ir::FunctionNode& main = given.module.Main();
  std::vector<ir::Expr> params = main.params;
  std::vector<NDArray> values = given.values;
  values.resize(params.size());
  for (std::size_t i = 0; i < params.size(); ++i) {
    const ir::Type& type = params[i].checked_type();
    if (!values[i].defined())
      values[i] = RandomArray(ir::StaticShape(type, "an argument"),
                              type.As<ir::TensorTypeNode>()->dtype, random);
  }
  const auto& call = *main.body.As<ir::CallNode>();
  attrs::Attrs attributes = call.attrs;
  ir::ExprMap changed;
  const auto any = [&] { return At(random.Below(static_cast<std::int64_t>(params.size()))); };
  if (params.empty() || (attributes.defined() && random.Chance(45))) {
    attributes = WithOtherInteger(attributes, random);
  } else if (const std::size_t i = any(); random.Chance(15)) {
    changed.emplace(params[i], params[any()]);
  } else {
    values[i] = random.Chance(15)
                    ? RandomArray(values[i].shape(), OtherType(random), random)
                    : Resized(values[i], OtherShape(values[i].shape(), random), random);
    const ir::Expr other = ir::Var::Make(ir::Var(params[i]).name(),
                                         ir::TensorTypeOf(values[i].shape(), values[i].dtype()));
    changed.emplace(params[i], other);
    params[i] = other;
  }
  std::vector<ir::Expr> args;
  for (const ir::Expr& arg : call.args) args.push_back(ir::Substitute(arg, changed));
  return CallOf(call.callee, {std::move(params), std::move(args), std::move(values)}, attributes);
}

}  // namespace tenon::verify
