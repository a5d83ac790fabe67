#include "tenon/verify/draw/random_operator.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tenon/ir/expr.h"
#include "tenon/ir/flatten.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/fusion/groups.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/quantize/canonicalize_qnn.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/strategies/schedule/accesses.h"
#include "tenon/strategies/strategy.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/draw/operands.h"

namespace tenon::verify {
namespace {

constexpr int kDraws = 2000;
constexpr std::int64_t kMaxElements = 4096;
// The interpreter computes this many in a few seconds.
constexpr std::int64_t kMaxTerms = 1 << 22;

Shape RandomShape(std::size_t rank, Random& random) {
  static const std::vector<std::int64_t>& sizes =
      *new std::vector<std::int64_t>{1, 2, 3, 3, 4, 5, 7, 8, 13, 16, 17, 31, 33, 64, 65};
  Shape shape;
  std::int64_t elements = 1;
  for (std::size_t d = 0; d < rank; ++d) {
    std::int64_t size = random.Chance(2) ? 0 : random.Of(sizes);
    if (elements * size > kMaxElements) size = 2;
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

// "float32 (3, 5), int64 (4,)"
std::string TypesOf(const std::vector<ir::Expr>& params) {
  return StrJoin(params, ", ", [](std::string* text, const ir::Expr& param) {
    const ir::Type& type = param.checked_type();
    StrAppend(text, type.As<ir::TensorTypeNode>()->dtype.ToString(), " ",
              ShapeToString(ir::StaticShape(type, "an argument")));
  });
}

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

// Of a field's values, some by far: `extreme_percent`.
struct Values {
  Random& random;
  int extreme_percent = 0;
};

attrs::Value RandomInteger(const attrs::FieldInfo& field, const Values& values) {
  Random& random = values.random;
  if (random.Chance(values.extreme_percent)) {
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    return attrs::Value(random.Of(std::vector<std::int64_t>{
        -kMax - 1, -9, 5, 6, 7, 40, std::int64_t{1} << 31, std::int64_t{1} << 32,
        std::int64_t{1} << 61, (std::int64_t{1} << 61) + 1, (std::int64_t{1} << 62) + 1, kMax}));
  }
  const std::int64_t lowest = std::clamp<std::int64_t>(field.range.min, -1, 16);
  const std::int64_t highest = std::clamp<std::int64_t>(field.range.max, lowest, lowest + 5);
  return attrs::Value(lowest + random.Below(highest - lowest + 1));
}

attrs::Value RandomList(const attrs::FieldInfo& field, std::int64_t length, const Values& values) {
  attrs::List list;
  for (std::int64_t i = 0; i < length; ++i) list.push_back(RandomInteger(field, values));
  return attrs::Value(list);
}

attrs::Value RandomWord(const attrs::FieldInfo& field, Random& random) {
  if (field.range.choices == nullptr) return field.default_value;
  return attrs::Value(std::string(random.Of(StrSplit(field.range.choices, ' '))));
}

// A value of the kind of the default; without a default, of any kind.
attrs::Value DrawValue(const attrs::FieldInfo& field, const Values& values) {
  Random& random = values.random;
  const attrs::Value& usual = field.default_value;
  const auto number = [&] {
    // Ends of types, and what lies beyond them.
    static const std::vector<double>& far = *new std::vector<double>{
        HUGE_VAL, -HUGE_VAL, 1e300, -1e300, 0x1p64, 0x1p63, -0x1p63, 0x1p32, 255, -129, 127.5};
    if (random.Chance(25)) return attrs::Value(random.Of(far));
    return attrs::Value(static_cast<double>(random.Below(17) - 8) / 4);
  };
  const auto type = [&] {
    static const std::vector<DataType>& all =
        *new std::vector<DataType>{Float64, BFloat16, BFloat16, BFloat16, Float16, Float16, Int8,
                                   UInt8,   Int16,    UInt16,   UInt32,   Int64,   UInt64,  Bool};
    if (random.Chance(40)) return attrs::Value(random.Of(all));
    return attrs::Value(random.Chance(50) ? Float32 : Int32);
  };
  if (usual.As<bool>() != nullptr) return attrs::Value(random.Chance(50));
  if (usual.As<double>() != nullptr) return number();
  if (usual.As<DataType>() != nullptr) return type();
  if (usual.As<std::string>() != nullptr) return RandomWord(field, random);
  if (usual.As<std::int64_t>() != nullptr) return RandomInteger(field, values);
  if (const auto* list = usual.As<attrs::List>()) {
    const bool as_long = !list->empty() && random.Chance(70);
    return RandomList(field, as_long ? static_cast<std::int64_t>(list->size()) : random.Below(5),
                      values);
  }
  switch (random.Below(9)) {
    case 0:
      return number();
    case 1:
      return type();
    case 2:
      return RandomWord(field, random);
    case 3: {
      attrs::List pairs;
      for (std::int64_t n = random.Below(5); n > 0; --n)
        pairs.push_back(RandomList(field, 2, values));
      return attrs::Value(pairs);
    }
    case 4:
    case 5:
    case 6:
      return RandomList(field, random.Below(6), values);
    default:
      return RandomInteger(field, values);
  }
}

// A value that the field accepts, or nothing.
std::optional<attrs::Value> DrawAcceptedValue(const ops::OpDef& op, const attrs::FieldInfo& field,
                                              const Values& values) {
  constexpr int kTries = 20;
  const std::shared_ptr<void> scratch = op.schema->make_default();
  for (int i = 0; i < kTries; ++i) {
    attrs::Value value = DrawValue(field, values);
    if (CatchErrors([&] { field.Set(scratch.get(), value); }).ok()) return value;
  }
  return std::nullopt;
}

// The number of elements and terms that all computations take.
std::int64_t TermsOf(const std::vector<te::Tensor>& outputs) {
  std::int64_t terms = 0;
  for (const te::Operation& op : te::PostOrder(outputs)) {
    if (op->is_compute())
      terms +=
          strategies::ProductOfExtents(op->axes) * strategies::ProductOfExtents(op->reduce_axes);
  }
  return terms;
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

// The function from which a kernel is made: operators that others stand for have no compute of
// their own, and kernels read constants as parameters, whose values it adds.
ir::Expr AsKernel(const ir::Module& module, std::vector<NDArray>* values) {
  const ir::Module lowered = passes::CanonicalizeQnn(module);
  const ir::FunctionNode& main = lowered.Main();
  const ir::Expr kernel =
      ir::Function::Make(main.params, main.body, main.body.checked_type(),
                         {{"Primitive", attrs::Value(std::int64_t{1})}}, {}, main.checked_type);
  const ir::Expr call = passes::WithConstantsAsArguments(
      ir::Call::Make(kernel, main.params, {}, {}, main.body.checked_type()));
  const auto& made = *call.As<ir::CallNode>();
  for (std::size_t i = main.params.size(); i < made.args.size(); ++i) {
    values->resize(i);  // those of parameters that are not known are null
    values->push_back(made.args[i].As<ir::ConstantNode>()->data);
  }
  return made.callee;
}

// Whether values decide extents of the results, so that no one kernel computes them.
bool HasRunTimeExtents(const ir::Type& type) {
  return std::ranges::any_of(ir::Flatten(type), [](const ir::Type& part) {
    return part.As<ir::TensorTypeNode>() != nullptr && !ir::IsStaticTensor(part);
  });
}

OperatorCall Draw(const ir::Expr& callee, const ops::OpDef& op, bool leaves_types, Random& random) {
  Drawn drawn;
  attrs::Attrs attributes;
  if (const OperandDrawer* draw = FindOperandDrawer(op.name)) {
    const Operands operands = (*draw)(random);
    drawn = ArgumentsOf(operands);
    if (op.schema != nullptr)
      attributes = attrs::Attrs::FromFields(*op.schema, operands.attributes);
  } else {
    drawn = DrawArguments(op, leaves_types, random);
    attributes = DrawAttributes(op, random);
  }
  const ir::Expr call = ir::Call::Make(callee, drawn.args, attributes);
  const ir::Module module =
      passes::InferType(ir::Module::FromExpr(ir::Function::Make(drawn.params, call)));
  const std::string attribute_text = attributes.defined() ? attributes.ToText() : "";
  const std::string text = StrCat(op.name, "(", TypesOf(module.Main().params),
                                  attribute_text.empty() ? "" : ", ", attribute_text, ")");
  if (HasRunTimeExtents(module.Main().body.checked_type()))
    return {{.values = std::move(drawn.values)}, module, text};
  const strategies::TeFunction made =
      strategies::LowerFunction(*AsKernel(module, &drawn.values).As<ir::FunctionNode>());
  for (const te::Tensor& output : made.outputs) {
    if (NumElements(strategies::ShapeOf(output)) > 16 * kMaxElements)
      throw InvalidArgument("the result is too large to check");
    if (output.op()->is_placeholder()) throw InvalidArgument("nothing is computed");
  }
  if (TermsOf(made.outputs) > kMaxTerms)
    throw InvalidArgument("the result takes too long to check");
  return {{.inputs = made.params, .outputs = made.outputs, .values = std::move(drawn.values)},
          module,
          text};
}

}  // namespace

attrs::Attrs DrawAttributes(const ops::OpDef& op, Random& random, int extreme_percent) {
  if (op.schema == nullptr) return {};
  const Values drawn{random, extreme_percent};
  attrs::FieldValues values;
  for (const attrs::FieldInfo& field : op.schema->fields) {
    if (!field.is_required && !random.Chance(30)) continue;
    if (auto value = DrawAcceptedValue(op, field, drawn)) values[field.name] = *std::move(value);
  }
  return attrs::Attrs::FromFields(*op.schema, values);
}

attrs::Attrs WithOtherField(const ops::OpDef& op, const attrs::Attrs& attributes, Random& random) {
  if (!attributes.defined() || attributes.schema()->fields.empty()) return attributes;
  const attrs::FieldInfo& field = random.Of(attributes.schema()->fields);
  const auto value = DrawAcceptedValue(op, field, Values{random});
  return value ? attributes.With(field.name, *value) : attributes;
}

ir::Module AnyCall(const std::string& name, Random& random) {
  const ir::Expr& callee = ops::OpRegistry::Global().Get(name);
  const ops::OpDef& op = *ops::OpOf(callee);
  Drawn drawn = DrawArguments(op, false, random);
  // Of a count, as operators want that cut or index.
  if (drawn.args.size() > 1 && random.Chance(20)) drawn.args.back() = drawn.Add({1}, Int64);
  if (random.Chance(5)) drawn.args.push_back(drawn.Add({}, Float32));
  if (!drawn.args.empty() && random.Chance(5)) drawn.args.pop_back();
  const ir::Expr call =
      ir::Call::Make(callee, drawn.args, DrawAttributes(op, random, /*extreme_percent=*/25));
  return ir::Module::FromExpr(ir::Function::Make(drawn.params, call));
}

std::optional<OperatorCall> MakeRandomCall(const std::string& name, Random& random,
                                           std::string* refusal) {
  ops::OpRegistry& registry = ops::OpRegistry::Global();
  strategies::RegisterStrategies(registry);
  const ir::Expr& callee = registry.Get(name);
  const ops::OpDef& op = *ops::OpOf(callee);
  for (int draw = 0; draw < kDraws; ++draw) {
    absl::StatusOr<OperatorCall> call =
        CatchErrors([&] { return Draw(callee, op, draw % 4 == 1, random); });
    if (call.ok()) return *std::move(call);
    if (call.status().code() == absl::StatusCode::kInternal) throw FromStatus(call.status());
    *refusal = FromStatus(call.status()).message();
  }
  return std::nullopt;
}

}  // namespace tenon::verify
