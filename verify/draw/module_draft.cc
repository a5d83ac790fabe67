#include "tenon/verify/draw/module_draft.h"

#include <algorithm>
#include <cmath>

#include "tenon/ir/flatten.h"
#include "tenon/ops/known_ops.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/draw/module_measures.h"

namespace tenon::verify {

using ir::Expr;

namespace {

constexpr std::int64_t kMaxElements = 3000;
// Kernels of rows are joined where these are many and long.
constexpr std::int64_t kMaxRowElements = 1 << 15;
constexpr double kMaxValue = 1e4;
// So that modules of usual floats stay what they were.
constexpr std::uint64_t kSpecial = 0x5BEC;

ModuleKind DrawKind(Random& random, Random& special_random, FloatValues floats) {
  const bool of_images = random.Chance(30), of_edges = !of_images && random.Chance(40);
  // Libraries, which compute products, have their own ways with NaN.
  if (special_random.Chance(floats == FloatValues::kAll ? 60 : 35))
    return special_random.Chance(60) ? ModuleKind::kProducts : ModuleKind::kStatistics;
  return of_images ? ModuleKind::kImages : of_edges ? ModuleKind::kEdges : ModuleKind::kAny;
}

FloatValues DrawFloats(Random& random) {
  if (random.Chance(75)) return FloatValues::kUsual;
  return random.Chance(50) ? FloatValues::kTiny : FloatValues::kAll;
}

}  // namespace

ModuleDraft::ModuleDraft(std::uint64_t seed)
    : random_(seed),
      special_random_(seed ^ kSpecial),
      floats_(DrawFloats(special_random_)),
      kind_(DrawKind(random_, special_random_, floats_)) {
  AddFirstInputs();
}

RandomModule ModuleDraft::Finish() {
  std::vector<Expr> results = {values_.back()};
  const int percent = kind_ == ModuleKind::kStatistics ? 70 : 30;
  while (random_.Chance(percent)) results.push_back(random_.Of(values_));
  Expr body = BodyOf(results);
  if (special_random_.Chance(kind_ == ModuleKind::kProducts ? 50 : 10)) {
    if (const Expr twin = TwinOf(body)) body = ir::Tuple::Make({body, twin});
  }
  // A module may also have parameters that nothing reads.
  const Expr main = ir::Function::Make(params_, body);
  return {passes::InferType(ir::Module().With("main", main)), inputs_, floats_};
}

bool ModuleDraft::TryToKeep(const std::function<Expr()>& draw) {
  const std::size_t params = params_.size(), values = values_.size();
  const absl::Status status = CatchErrors([&] { Keep(draw()); });
  if (status.ok()) return true;
  if (status.code() == absl::StatusCode::kInternal || ReadsNoElements(status))
    throw FromStatus(status);
  params_.resize(params);
  inputs_.resize(params);
  values_.resize(values);
  return false;
}

Expr ModuleDraft::BodyOf(const std::vector<Expr>& results) {
  if (results.size() == 1) return results[0];
  if (results.size() == 2 || random_.Chance(60)) return ir::Tuple::Make(results);
  return ir::Tuple::Make({results[0], ir::Tuple::Make({results.begin() + 1, results.end()})});
}

Expr ModuleDraft::TwinOf(const Expr& body) {
  ir::ExprMap others;
  ir::VisitPostOrder(body, [&](const Expr& e) {
    const auto* constant = e.As<ir::ConstantNode>();
    if (constant == nullptr || constant->data.shape().empty()) return;
    // Variances, say, stay above zero.
    const bool positive = constant->data.dtype() == Float32 && LeastMagnitude(constant->data) > 0;
    others.emplace(
        e, ir::Constant::Make(Draw(constant->data.shape(), constant->data.dtype(), positive)));
  });
  if (others.empty()) return {};
  const Expr twin = WithTypes(body, others);
  const absl::Status status = CatchErrors([&] {
    const Expr main = ir::Function::Make(params_, twin);
    for (const auto& [e, value] :
         InterpretEach(ir::Module(), *main.As<ir::FunctionNode>(), inputs_)) {
      for (const NDArray& array : value) CheckFits(array);
    }
  });
  return status.ok() ? twin : Expr();
}

const Shape& ModuleDraft::ShapeOf(const Expr& e) {
  return shapes_.emplace(e, ir::StaticShape(e.checked_type(), "a value")).first->second;
}

NDArray ModuleDraft::Draw(const Shape& shape, DataType type, bool positive) {
  NDArray array = RandomArray(shape, type, random_);
  if (kind_ == ModuleKind::kEdges && random_.Chance(60)) array = WithEnds(array, random_);
  if (positive && type == Float32) {
    for (std::int64_t i = 0; i < array.size(); ++i) {
      float& value = array.data<float>()[i];
      value = std::abs(value) + 0.25F;
    }
  }
  if (positive || floats_ == FloatValues::kUsual || !special_random_.Chance(60)) return array;
  array = WithTinyValues(array, special_random_);
  const bool is_infinite = floats_ == FloatValues::kAll && type.is_float();
  return is_infinite ? WithSpecialValues(array, special_random_) : array;
}

Expr ModuleDraft::Leaf(const Shape& shape, DataType type, bool positive) {
  NDArray array = Draw(shape, type, positive || random_.Chance(20));
  Expr leaf;
  if (random_.Chance(50)) {
    leaf = ir::Constant::Make(array);
  } else {
    leaf = ir::Var::MakeChecked(StrCat("x", params_.size()), ir::TensorTypeOf(shape, type), {});
    params_.push_back(leaf);
    inputs_.push_back(array);
  }
  // A weight, say, that later calls read as well.
  if (random_.Chance(15)) {
    known_.emplace(leaf, GraphValue{array});
    values_.push_back(leaf);
  }
  return leaf;
}

Expr ModuleDraft::LargeIntegers(DataType type) {
  const Shape shape = {1 + special_random_.Below(9)};
  params_.push_back(
      ir::Var::MakeChecked(StrCat("x", params_.size()), ir::TensorTypeOf(shape, type), {}));
  inputs_.push_back(WithEnds(RandomArray(shape, type, special_random_), special_random_));
  return params_.back();
}

Expr ModuleDraft::Weight(const Shape& shape) {
  const NDArray array = Draw(shape, Float32, false);
  Expr weight;
  if (random_.Chance(80)) {
    weight = ir::Constant::Make(array);
  } else {
    weight =
        ir::Var::MakeChecked(StrCat("x", params_.size()), ir::TensorTypeOf(shape, Float32), {});
    params_.push_back(weight);
    inputs_.push_back(array);
  }
  if (random_.Chance(50)) {
    known_.emplace(weight, GraphValue{array});
    values_.push_back(weight);
  }
  return weight;
}

Shape ModuleDraft::EdgeShape() {
  static const std::vector<std::int64_t>& extents =
      *new std::vector<std::int64_t>{0, 1, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33};
  Shape shape(static_cast<std::size_t>(random_.Below(5)));
  for (std::int64_t& extent : shape) {
    do {
      extent = random_.Of(extents);
    } while (NumElements(shape) > kMaxElements);
  }
  return shape;
}

void ModuleDraft::AddFirstInputs() {
  static const std::vector<Shape>& shapes =
      *new std::vector<Shape>{{1, 4, 6, 6}, {2, 3, 5, 7}, {1, 8, 4, 4}, {1, 5, 5, 16}, {3, 5},
                              {4, 16},      {2, 3, 4},    {7},          {1, 16},       {}};
  static const std::vector<DataType>& types = *new std::vector<DataType>{
      Float32, Float32, Float32, Float32, Float32, Float32, Int32, Int8, Float64, Bool};
  static const std::vector<DataType>& edge_types = *new std::vector<DataType>{
      Int8, UInt8, Int16, UInt16, Int32, Int32, UInt32, Int64, Int64, UInt64, Float32, Float64};
  for (std::int64_t i = 1 + random_.Below(2); i > 0; --i) {
    static const std::vector<Shape>& images =
        *new std::vector<Shape>{{1, 8, 5, 5}, {1, 16, 4, 3}, {2, 4, 5, 4}, {1, 6, 5, 16}};
    static const std::vector<std::int64_t>& sides = *new std::vector<std::int64_t>{24, 48, 48, 53};
    static const std::vector<Shape>& rows = *new std::vector<Shape>{
        {5, 33}, {1, 17, 24}, {2, 3, 48}, {9, 16}, {1, 197, 8}, {3, 128}, {2, 64, 4}, {40, 768}};
    const std::int64_t side = random_.Of(sides);
    const bool is_of_edges = kind_ == ModuleKind::kEdges;
    const Shape shape = is_of_edges                        ? EdgeShape()
                        : kind_ == ModuleKind::kImages     ? random_.Of(images)
                        : kind_ == ModuleKind::kProducts   ? Shape{side, side}
                        : kind_ == ModuleKind::kStatistics ? random_.Of(rows)
                                                           : random_.Of(shapes);
    const DataType type = is_of_edges                 ? random_.Of(edge_types)
                          : kind_ == ModuleKind::kAny ? random_.Of(types)
                                                      : Float32;
    const Expr var =
        ir::Var::MakeChecked(StrCat("x", params_.size()), ir::TensorTypeOf(shape, type), {});
    params_.push_back(var);
    inputs_.push_back(Draw(shape, type, false));
    values_.push_back(var);
    known_.emplace(var, GraphValue{inputs_.back()});
  }
}

const Expr& ModuleDraft::SomeOf(std::size_t rank, DataType type) {
  for (int draw = 0; draw < 10; ++draw) {
    const Expr& e = Some();
    if (ShapeOf(e).size() == rank && TypeOf(e) == type) return e;
  }
  throw InvalidArgument("no such value");
}

const Expr& ModuleDraft::SomeWithin(const Shape& shape, DataType type) {
  for (int draw = 0; draw < 20; ++draw) {
    const Expr& e = random_.Of(values_);
    const Shape& own = ShapeOf(e);
    bool fits = own != shape && own.size() <= shape.size() && TypeOf(e) == type;
    for (std::size_t d = 0; fits && d < own.size(); ++d)
      fits = own[own.size() - 1 - d] == 1 || own[own.size() - 1 - d] == shape[shape.size() - 1 - d];
    if (fits) return e;
  }
  throw InvalidArgument("no such value");
}

Expr ModuleDraft::OfShape(const Shape& shape, DataType type) {
  for (int draw = 0; draw < 4; ++draw) {
    const Expr& e = random_.Of(values_);
    if (ShapeOf(e) == shape && TypeOf(e) == type) return e;
  }
  return Leaf(shape, type);
}

void ModuleDraft::Keep(const Expr& call) {
  Expr typed = call;
  {
    // Types are inferred over fresh variables, so the depth of the arguments does not matter.
    std::vector<Expr> vars;
    ir::ExprMap stand_ins;
    for (const Expr& leaf : ValuesIn(call)) {
      vars.push_back(ir::Var::Make("v", leaf.checked_type()));
      stand_ins.emplace(leaf, vars.back());
    }
    const Expr inferred =
        passes::InferType(ir::Function::Make(vars, ir::Substitute(call, stand_ins)));
    ir::ExprMap back;
    for (const auto& [value, var] : stand_ins) back.emplace(var, value);
    const auto& function = *inferred.As<ir::FunctionNode>();
    // The parameters of the typed function are other variables.
    ir::ExprMap values;
    for (std::size_t i = 0; i < vars.size(); ++i)
      values.emplace(function.params[i], back.at(vars[i]));
    typed = WithTypes(function.body, values);
  }
  CheckDefined(typed);
  // What is too large may take minutes to compute, and more memory than there is.
  for (const ir::Type& part : ir::Flatten(typed.checked_type())) {
    if (ir::IsStaticTensor(part)) CheckSize(NumElements(ir::StaticShape(part, "a value")));
  }
  const GraphValue value = ValueOf(typed);
  const auto* tuple = typed.checked_type().As<ir::TupleTypeNode>();
  for (std::size_t i = 0; i < value.size(); ++i) {
    CheckFits(value[i]);
    const Expr e = tuple == nullptr
                       ? typed
                       : ir::TupleGetItem::Make(typed, static_cast<int>(i), {}, tuple->fields[i]);
    known_.emplace(e, GraphValue{value[i]});
    values_.push_back(e);
  }
}

std::vector<Expr> ModuleDraft::ValuesIn(const Expr& call) {
  std::vector<Expr> found;
  const auto is_leaf = [&](const Expr& e) {
    return known_.contains(e) || e.kind() == ir::ExprKind::kVar;
  };
  ir::VisitPostOrder(
      call,
      [&](const Expr& e) {
        if (is_leaf(e)) found.push_back(e);
      },
      [&](const Expr& e) { return !is_leaf(e); });
  return found;
}

Expr ModuleDraft::WithTypes(const Expr& body, const ir::ExprMap& values) {
  return ir::RewritePostOrder(body, [&](const Expr& original, const Expr& rewritten) {
    const auto found = values.find(original);
    return found != values.end() ? found->second : ir::KeepType(original, rewritten);
  });
}

GraphValue ModuleDraft::ValueOf(const Expr& typed) {
  std::vector<Expr> params;
  std::vector<NDArray> inputs;
  ir::ExprMap stand_ins;
  for (const Expr& leaf : ValuesIn(typed)) {
    const Expr var = ir::Var::MakeChecked("v", leaf.checked_type(), {});
    stand_ins.emplace(leaf, var);
    params.push_back(var);
    const auto known = known_.find(leaf);
    if (known != known_.end()) {
      inputs.push_back(known->second.at(0));
      continue;
    }
    const auto at = std::find(params_.begin(), params_.end(), leaf) - params_.begin();
    inputs.push_back(inputs_.at(static_cast<std::size_t>(at)));
  }
  const Expr body = WithTypes(typed, stand_ins);
  const Expr main = ir::Function::Make(params, body);
  return InterpretEach(ir::Module(), *main.As<ir::FunctionNode>(), inputs).at(body);
}

void ModuleDraft::CheckDefined(const Expr& typed) {
  static const std::vector<std::string>& undefined =
      *new std::vector<std::string>{"left_shift", "right_shift"};
  static const std::vector<std::string>& divisions =
      *new std::vector<std::string>{"divide", "floor_divide", "floor_mod", "mod"};
  const auto is_one_of = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const auto* call = typed.As<ir::CallNode>();
  if (call == nullptr || call->op() == nullptr || call->args.empty()) return;
  const auto* type = call->args[0].checked_type().As<ir::TensorTypeNode>();
  if (type == nullptr) return;
  if (!type->dtype.is_float()) {
    if (is_one_of(undefined, call->op()->name) ||
        (kind_ != ModuleKind::kEdges && is_one_of(divisions, call->op()->name)))
      throw InvalidArgument("not defined for all integers");
    return;
  }
  if (kind_ == ModuleKind::kEdges) return;
  constexpr double kMaxInt8 = 127;
  const auto known = known_.find(call->args[0]);
  if (call->callee == ops::Known().cast && known != known_.end() &&
      LargestMagnitude(known->second[0]) > kMaxInt8)
    throw InvalidArgument("an element may not fit the integer");
}

void ModuleDraft::CheckSize(std::int64_t elements) const {
  const bool is_of_rows = kind_ == ModuleKind::kStatistics;
  if (elements > (is_of_rows ? kMaxRowElements : kMaxElements))
    throw InvalidArgument("the value is too large");
}

void ModuleDraft::CheckFits(const NDArray& array) const {
  CheckSize(array.size());
  if (floats_ != FloatValues::kAll && !IsFinite(array))
    throw InvalidArgument("the value is not finite");
  if (LargestMagnitude(array) > kMaxValue) throw InvalidArgument("an element is too large");
}

std::int64_t ModuleDraft::SomeAxis(const Expr& e) {
  const auto rank = static_cast<std::int64_t>(ShapeOf(e).size());
  if (rank == 0) throw InvalidArgument("a scalar has no axis");
  return random_.Below(rank);
}

}  // namespace tenon::verify
