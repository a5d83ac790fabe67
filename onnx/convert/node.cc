#include "tenon/onnx/convert/node.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tenon/ir/visit.h"
#include "tenon/onnx/convert/moved_elements.h"
#include "tenon/onnx/tensor.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index_builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {

namespace {

// A few bytes of a file can ask for a constant of any size. A larger one is made when the model
// runs.
constexpr std::int64_t kMaxFoldedBytes = std::int64_t{1} << 28;

bool MayFold(const ir::Type& type) {
  if (!ir::IsStaticTensor(type)) return true;
  const auto* tensor = type.As<ir::TensorTypeNode>();
  return NumElements(ir::StaticShape(type, "a constant")) <=
         kMaxFoldedBytes / static_cast<std::int64_t>(tensor->dtype.bytes());
}

attrs::Value ToValue(const onnx::AttributeProto& attribute) {
  switch (attribute.type()) {
    case onnx::AttributeProto::INT:
      return attrs::Value(static_cast<std::int64_t>(attribute.i()));
    case onnx::AttributeProto::FLOAT:
      return attrs::Value(static_cast<double>(attribute.f()));
    case onnx::AttributeProto::STRING:
      return attrs::Value(attribute.s());
    case onnx::AttributeProto::INTS: {
      attrs::List list;
      for (const std::int64_t i : attribute.ints()) list.push_back(attrs::Value(i));
      return attrs::Value(std::move(list));
    }
    case onnx::AttributeProto::FLOATS: {
      attrs::List list;
      for (const float f : attribute.floats()) list.push_back(attrs::Value(static_cast<double>(f)));
      return attrs::Value(std::move(list));
    }
    default:
      throw Unimplemented(StrCat("the attribute ", attribute.name(), " has no supported type"));
  }
}

}  // namespace

attrs::FieldValues Node::AllAttributes() {
  attrs::FieldValues fields;
  for (const onnx::AttributeProto& attribute : proto_.attribute()) {
    fields.emplace(attribute.name(), ToValue(attribute));
    Ignore(attribute.name().c_str());
  }
  return fields;
}

void RequireConstantSize(double elements) {
  constexpr double max_elements = static_cast<double>(kMaxFoldedBytes) / sizeof(double);
  if (!(elements <= max_elements))
    throw InvalidArgument(StrCat("a constant of ", elements, " elements; at most ", max_elements,
                                 " are made when a model is imported"));
}

Expr ZerosOf(const Shape& shape, DataType dtype) {
  double elements = 1;
  for (const std::int64_t extent : shape) elements *= static_cast<double>(extent);
  RequireConstantSize(elements);
  return ir::Constant::Make(NDArray::Zeros(shape, dtype));
}

Expr Integer(std::int64_t value) {
  return ir::Constant::Make(NDArray::Scalar<std::int64_t>(value));
}

Expr NumberOf(const char* attribute, double value, DataType type) {
  if (!type.is_float() && value != std::trunc(value))
    throw InvalidArgument(StrCat("the attribute ", attribute, " is ", value, "; of ",
                                 type.ToString(), " it must be a whole number"));
  if (type.is_uint() && !(value >= 0 && value < std::ldexp(1.0, type.bits())))
    throw InvalidArgument(StrCat("the attribute ", attribute, " is ", value,
                                 ", which is not a value of ", type.ToString()));
  return ops::Scalar(value, type);
}

std::string NameOf(const onnx::NodeProto& node) {
  if (!node.name().empty()) return node.name();
  return node.output_size() > 0 ? StrCat("making ", node.output(0)) : std::string("without a name");
}

Span SpanOf(const onnx::NodeProto& node) {
  // The end tells nodes apart. Unrolled loops have as many copies as they have calls.
  constexpr std::size_t kMaxName = 80;
  std::string name = NameOf(node);
  if (name.size() > kMaxName) name = StrCat("...", name.substr(name.size() - kMaxName));
  return {.source = StrCat(name, " (", node.op_type(), ")")};
}

const Expr& Node::input(std::size_t i) const {
  if (!has_input(i)) throw InvalidArgument(StrCat("input ", i, " is missing"));
  return inputs_[i];
}

const std::vector<Expr>& Node::all_inputs() const {
  for (std::size_t i = 0; i < inputs_.size(); ++i) (void)input(i);
  return inputs_;
}

std::string Node::WhyUnknown(const Expr& value) const {
  constexpr std::size_t kMaxNames = 5;
  std::vector<std::string> names;
  ir::VisitPostOrder(value, [&](const Expr& e) {
    if (e.kind() == ir::ExprKind::kVar) names.push_back(ir::Var(e).name());
  });
  if (names.empty())
    return evaluate_ ? "it takes more time or memory than an import may use (docs/limits.md)"
                     : "no evaluator is given (ImportOptions::evaluate)";
  const std::string more = names.size() > kMaxNames ? ", ..." : "";
  const std::string inputs = names.size() == 1 ? "the input " : "the inputs ";
  names.resize(std::min(names.size(), kMaxNames));
  return StrCat("it depends on ", inputs, StrJoin(names, ", "), more,
                " of the model; an input that decides can be fixed at import "
                "(ImportOptions::constants, --constant ",
                names[0], "=VALUE)");
}

NDArray Node::Constant(std::size_t i) const {
  const Expr& value = input(i);
  const auto* constant = value.As<ir::ConstantNode>();
  if (constant == nullptr)
    throw Unimplemented(StrCat("input ", i, " (", proto_.input(static_cast<int>(i)),
                               ") must be known when the model is imported; ", WhyUnknown(value)));
  return constant->data;
}

Ints Node::ConstantInts(std::size_t i) const {
  const NDArray data = Constant(i);
  if (data.dtype() == Int64) return data.ToVector<std::int64_t>();
  if (data.dtype() == Int32) {
    const auto narrow = data.ToVector<std::int32_t>();
    return {narrow.begin(), narrow.end()};
  }
  throw InvalidArgument(StrCat("input ", i, " must hold integers, not ", data.dtype().ToString()));
}

const NarrowType* Node::NarrowTypeOf(std::size_t i) const {
  return has_input(i) ? NarrowTypeOf(inputs_[i]) : nullptr;
}

const NarrowType* Node::NarrowTypeOf(const Expr& value) const {
  if (narrow() == nullptr) return nullptr;
  const auto found = narrow()->find(value);
  return found == narrow()->end() ? nullptr : found->second;
}

Expr Node::OfNarrowType(const Expr& value, const NarrowType& type) const {
  if (narrow() != nullptr) narrow()->insert_or_assign(value, &type);
  return value;
}

std::vector<double> Node::ConstantNumbers(std::size_t i) const { return NumbersOf(Constant(i)); }

std::int64_t Node::ConstantInt(std::size_t i) const {
  const NDArray data = Constant(i);
  if (data.dtype() == Int64 && data.size() == 1) return *data.data<std::int64_t>();
  const double value = ConstantScalar(i);
  if (value != std::trunc(value) || std::fabs(value) >= 0x1p63)
    throw InvalidArgument(StrCat("input ", i, " must be an integer, not ", value));
  return static_cast<std::int64_t>(value);
}

double Node::ConstantScalar(std::size_t i) const {
  const NDArray data = Constant(i);
  if (data.size() != 1) throw InvalidArgument(StrCat("input ", i, " must have one element"));
  return NumbersOf(data)[0];
}

const onnx::AttributeProto* Node::Find(const char* name) {
  handled_.insert(name);
  for (const onnx::AttributeProto& attribute : proto_.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

namespace {

void RequireType(const onnx::AttributeProto& attribute, onnx::AttributeProto::AttributeType type,
                 const char* what) {
  // Files of the first versions leave the type out.
  if (attribute.type() != type && attribute.type() != onnx::AttributeProto::UNDEFINED)
    throw InvalidArgument(StrCat("the attribute ", attribute.name(), " must be ", what));
}

}  // namespace

bool Node::Has(const char* name) { return Find(name) != nullptr; }

std::int64_t Node::Int(const char* name, std::int64_t otherwise) {
  const auto* attribute = Find(name);
  if (attribute == nullptr) return otherwise;
  RequireType(*attribute, onnx::AttributeProto::INT, "an integer");
  return attribute->i();
}
double Node::Float(const char* name, double otherwise) {
  const auto* attribute = Find(name);
  if (attribute == nullptr) return otherwise;
  RequireType(*attribute, onnx::AttributeProto::FLOAT, "a number");
  return attribute->f();
}
std::string Node::String(const char* name, const std::string& otherwise) {
  const auto* attribute = Find(name);
  if (attribute == nullptr) return otherwise;
  RequireType(*attribute, onnx::AttributeProto::STRING, "a string");
  return attribute->s();
}
std::optional<Ints> Node::OptionalInts(const char* name) {
  const auto* attribute = Find(name);
  if (attribute == nullptr) return std::nullopt;
  RequireType(*attribute, onnx::AttributeProto::INTS, "a list of integers");
  return Ints(attribute->ints().begin(), attribute->ints().end());
}
Ints Node::IntsOr(const char* name, Ints otherwise) {
  return OptionalInts(name).value_or(std::move(otherwise));
}
std::optional<NDArray> Node::TensorValue(const char* name) {
  const auto* attribute = Find(name);
  if (attribute == nullptr) return std::nullopt;
  RequireType(*attribute, onnx::AttributeProto::TENSOR, "a tensor");
  return ToNDArray(attribute->t(), StrCat("the attribute ", name));
}

const onnx::GraphProto& Node::Graph(const char* name) {
  const auto* attribute = Find(name);
  if (attribute == nullptr || !attribute->has_g())
    throw InvalidArgument(StrCat("the attribute ", name, " must be a graph"));
  return attribute->g();
}

void Node::RequireAllHandled() const {
  for (const onnx::AttributeProto& attribute : proto_.attribute()) {
    if (!handled_.contains(attribute.name()))
      throw Unimplemented(StrCat("the attribute ", attribute.name(), " is not supported"));
  }
}

std::vector<Dim> Node::ShapeValue(std::size_t i) const {
  if (const auto dims = DimsOfValue(input(i))) return *dims;
  const Ints numbers = ConstantInts(i);
  return {numbers.begin(), numbers.end()};
}

Expr Node::Typed(const Expr& expr) const {
  const auto untyped = [](const Expr& e) { return !e.checked_type(); };
  const auto type = [&](const Expr& original, const Expr& e) -> Expr {
    if (original.checked_type() || e.kind() == ir::ExprKind::kOp) return original;
    if (--budget_->expressions < 0)
      throw Unimplemented(StrCat("the model becomes more than ", ImportBudget::kMaxExpressions,
                                 " expressions; its loops and recurrent layers are unrolled"));
    Expr typed;
    if (const auto* tuple = e.As<ir::TupleNode>()) {
      std::vector<ir::Type> types;
      for (const Expr& field : tuple->fields) types.push_back(field.checked_type());
      typed = ir::Tuple::Make(tuple->fields, e.span(), ir::TupleType(std::move(types)));
    } else if (const auto* item = e.As<ir::TupleGetItemNode>()) {
      const auto* types = item->tuple.checked_type().As<ir::TupleTypeNode>();
      const std::size_t count = types == nullptr ? 1 : types->fields.size();
      if (types == nullptr || static_cast<std::size_t>(item->index) >= count)
        throw InvalidArgument(StrCat("output ", item->index, " of an operator with ", count,
                                     count == 1 ? " result" : " results"));
      typed = ir::TupleGetItem::Make(item->tuple, item->index, e.span(),
                                     types->fields.at(static_cast<std::size_t>(item->index)));
    } else {
      const auto& call = *e.As<ir::CallNode>();
      typed = passes::InferCall(
          call.span.known() ? e : ir::Call::Make(call.callee, call.args, call.attrs, span_));
    }
    return evaluate_ && MayFold(typed.checked_type())
               ? passes::FoldNode(typed, evaluate_, &budget_->folding)
               : typed;
  };
  return ir::RewritePostOrder(expr, type, untyped);
}

Shape ShapeOf(const Expr& e) {
  if (ir::IsStaticTensor(e.checked_type())) return ir::StaticShape(e.checked_type(), "an input");
  throw Unimplemented(StrCat("an input has the type ", ir::ToString(e.checked_type()),
                             "; its extents must be known when the model is imported"));
}
std::int64_t RankOf(const Expr& e) {
  const auto* tensor = e.checked_type().As<ir::TensorTypeNode>();
  if (tensor == nullptr)
    throw InvalidArgument("an input is a sequence or has no element; it must be a tensor");
  return static_cast<std::int64_t>(tensor->shape.size());
}
DataType DataTypeOf(const Expr& e) {
  const auto* tensor = e.checked_type().As<ir::TensorTypeNode>();
  if (tensor == nullptr)
    throw InvalidArgument("an input is a sequence or has no element; it must be a tensor");
  return tensor->dtype;
}
Expr ElementAlong(const Expr& x, std::int64_t index, std::int64_t axis) {
  return ops::Take(x, ops::Scalar(static_cast<double>(index), Int64), {.axis = axis});
}

Expr FirstAlong(const Node& node, const Expr& x, const Expr& count, std::int64_t axis) {
  const auto* known = count.As<ir::ConstantNode>();
  if (known == nullptr) {
    const std::string extent = node.extents().names().NameFor(
        count, DimsOf(x)[static_cast<std::size_t>(axis)], node.proto().op_type());
    const Expr first = node.Typed(ops::TakeFirst(x, count, {.axis = axis, .extent = extent}));
    node.extents().Add(first);
    return MadeOf(node, first, {x});
  }
  const std::int64_t first = known->data.ToVector<std::int64_t>().at(0);
  const Expr slice = node.Typed(
      ops::StridedSlice(x, {.begin = {0}, .end = {first}, .strides = {1}, .axes = Ints{axis}}));
  return MadeOf(node, slice, {x});
}

// By a stable sort.
PlacedFlags PlacedFirst(const Node& node, const Expr& flags) {
  const Expr is_false =
      node.Typed(ops::Cast(ir::Call::Make(ops::Known().logical_not, {flags}), Int64));
  return {node.Typed(ops::Argsort(is_false, {.axis = 0, .dtype = Int64})),
          node.Typed(
              ops::Sum(node.Typed(ops::Cast(flags, Int64)), {.axis = Ints{0}, .keepdims = true}))};
}

std::vector<Expr> PartsAlong(const Node& node, const Expr& x, const Ints& places,
                             std::int64_t axis) {
  const Expr parts = node.Typed(ops::Split(x, {.indices_or_sections = places, .axis = axis}));
  std::vector<Expr> fields;
  for (std::size_t i = 0; i <= places.size(); ++i)
    fields.push_back(node.Typed(ir::TupleGetItem::Make(parts, static_cast<int>(i))));
  return fields;
}

Expr PlacesAlong(std::size_t rank, std::size_t axis, std::int64_t extent) {
  RequireConstantSize(static_cast<double>(extent));
  std::vector<std::int64_t> places(static_cast<std::size_t>(extent));
  std::iota(places.begin(), places.end(), 0);
  Shape shape(rank, 1);
  shape[axis] = extent;
  return ir::Constant::Make(NDArray::FromVector(shape, places));
}

Expr PlacesAlong(const Node& node, std::size_t rank, std::size_t axis, const Dim& extent) {
  if (extent.is_static()) return PlacesAlong(rank, axis, extent.value());
  Ints shape(rank, 1);
  shape[axis] = -1;
  return node.Typed(ops::Reshape(node.Typed(Places(node.extents(), extent)), shape));
}

std::int64_t AxisOf(Node& node, std::int64_t otherwise) {
  return ops::NormalAxis(node.Int("axis", otherwise),
                         static_cast<std::size_t>(RankOf(node.input(0))));
}

}  // namespace tenon::onnx_import
