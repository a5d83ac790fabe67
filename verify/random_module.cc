#include "tenon/verify/random_module.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tenon/ir/visit.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/layout.h"
#include "tenon/ops/layout_attrs.h"
#include "tenon/ops/qnn_builders.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/infer_type.h"
#include "tenon/strategies/strategy.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/interpret.h"
#include "tenon/verify/random_layout.h"
#include "tenon/verify/random_operator.h"

namespace tenon::verify {
namespace {

using ir::Expr;

constexpr std::int64_t kMaxElements = 3000;
constexpr double kMaxValue = 1e4;
constexpr int kDrawsACall = 30;

// Kinds of single calls that are built with care, since random arguments rarely fit.
enum class Idiom {
  kConv2D,
  kDense,
  kBatchMatmul,
  kBiasAdd,
  kBatchNorm,
  kScale,  // by a constant with one value per channel
  kActivation,
  kPool,
  kLayout,  // to another one, also with blocks of channels
  kConcatenate,
  kReshape,
  kTranspose,
  kBinary,
  kScalar,
  kReduce,
  kCast,
  kQuantized,
};
constexpr std::array kIdioms = {
    Idiom::kConv2D,      Idiom::kConv2D,  Idiom::kDense,     Idiom::kBatchMatmul, Idiom::kBiasAdd,
    Idiom::kBatchNorm,   Idiom::kScale,   Idiom::kScale,     Idiom::kActivation,  Idiom::kPool,
    Idiom::kConcatenate, Idiom::kReshape, Idiom::kTranspose, Idiom::kBinary,      Idiom::kBinary,
    Idiom::kScalar,      Idiom::kReduce,  Idiom::kCast,      Idiom::kQuantized,   Idiom::kLayout,
};
// Kinds that networks for images use, where layouts matter.
constexpr std::array kImageIdioms = {
    Idiom::kConv2D, Idiom::kConv2D, Idiom::kBiasAdd,     Idiom::kBatchNorm, Idiom::kScale,
    Idiom::kPool,   Idiom::kLayout, Idiom::kConcatenate, Idiom::kBinary,    Idiom::kActivation,
};

class Builder {
 public:
  explicit Builder(std::uint64_t seed)
      : random_(seed),
        of_images_(random_.Chance(30)),
        of_edges_(!of_images_ && random_.Chance(40)) {}

  RandomModule Build() {
    AddFirstInputs();
    const std::int64_t calls = 2 + random_.Below(9);
    for (std::int64_t call = 0; call < calls; ++call) AddCall();
    std::vector<Expr> results = {values_.back()};
    while (random_.Chance(30)) results.push_back(random_.Of(values_));
    const Expr body = BodyOf(results);
    // A module may also have parameters that nothing reads.
    const Expr main = ir::Function::Make(params_, body);
    return {passes::InferType(ir::Module().With("main", main)), inputs_};
  }

 private:
  // The results in a tuple where there are several; one tuple may stand in another.
  Expr BodyOf(const std::vector<Expr>& results) {
    if (results.size() == 1) return results[0];
    if (results.size() == 2 || random_.Chance(60)) return ir::Tuple::Make(results);
    return ir::Tuple::Make({results[0], ir::Tuple::Make({results.begin() + 1, results.end()})});
  }

  const Shape& ShapeOf(const Expr& e) {
    return shapes_.emplace(e, ir::StaticShape(e.checked_type(), "a value")).first->second;
  }
  static DataType TypeOf(const Expr& e) { return e.checked_type().As<ir::TensorTypeNode>()->dtype; }

  NDArray Draw(const Shape& shape, DataType type, bool positive) {
    NDArray array = RandomArray(shape, type, random_);
    if (of_edges_ && random_.Chance(60)) array = WithEnds(array, random_);
    if (positive && type == Float32) {
      for (std::int64_t i = 0; i < array.size(); ++i) {
        float& value = array.data<float>()[i];
        value = std::abs(value) + 0.25F;
      }
    }
    return array;
  }
  // A new parameter or constant.
  Expr Leaf(const Shape& shape, DataType type, bool positive = false) {
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
  // Around nothing, and around the widths of vectors.
  Shape EdgeShape() {
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
  void AddFirstInputs() {
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
      const Shape shape = of_edges_ ? EdgeShape() : random_.Of(of_images_ ? images : shapes);
      const DataType type = of_images_ ? Float32 : random_.Of(of_edges_ ? edge_types : types);
      const Expr var =
          ir::Var::MakeChecked(StrCat("x", params_.size()), ir::TensorTypeOf(shape, type), {});
      params_.push_back(var);
      inputs_.push_back(Draw(shape, type, false));
      values_.push_back(var);
      known_.emplace(var, GraphValue{inputs_.back()});
    }
  }

  // A value; the last one more often than those before it.
  const Expr& Some() { return random_.Chance(50) ? values_.back() : random_.Of(values_); }
  const Expr& SomeOf(std::size_t rank, DataType type) {
    for (int draw = 0; draw < 10; ++draw) {
      const Expr& e = Some();
      if (ShapeOf(e).size() == rank && TypeOf(e) == type) return e;
    }
    throw InvalidArgument("no such value");
  }
  Expr OfShape(const Shape& shape, DataType type) {
    for (int draw = 0; draw < 4; ++draw) {
      const Expr& e = random_.Of(values_);
      if (ShapeOf(e) == shape && TypeOf(e) == type) return e;
    }
    return Leaf(shape, type);
  }

  void AddCall() {
    for (int draw = 0; draw < kDrawsACall; ++draw) {
      const std::size_t params = params_.size(), values = values_.size();
      const absl::Status status =
          CatchErrors([&] { Keep(random_.Chance(70) ? DrawIdiom() : DrawOperator()); });
      if (status.ok()) return;
      if (status.code() == absl::StatusCode::kInternal) throw FromStatus(status);
      params_.resize(params);
      inputs_.resize(params);
      values_.resize(values);
    }
  }

  // Adds a call if it has a type and valid values.
  void Keep(const Expr& call) {
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
  // The values of the graph that a call reads.
  std::vector<Expr> ValuesIn(const Expr& call) {
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
  static Expr WithTypes(const Expr& body, const ir::ExprMap& values) {
    return ir::RewritePostOrder(body, [&](const Expr& original, const Expr& rewritten) {
      const auto found = values.find(original);
      return found != values.end() ? found->second : ir::KeepType(original, rewritten);
    });
  }
  GraphValue ValueOf(const Expr& typed) {
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
  // Shifts and powers of integers have results for some values only. Passes may divide in other
  // ways, and cast in other places, than the interpreter, except where only edges are drawn.
  void CheckDefined(const Expr& typed) {
    static const std::vector<std::string>& undefined =
        *new std::vector<std::string>{"left_shift", "power", "right_shift"};
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
          (!of_edges_ && is_one_of(divisions, call->op()->name)))
        throw InvalidArgument("not defined for all integers");
      return;
    }
    if (of_edges_) return;
    constexpr double kMaxInt8 = 127;
    const auto known = known_.find(call->args[0]);
    if (call->callee == ops::Known().cast && known != known_.end() &&
        LargestMagnitude(known->second[0]) > kMaxInt8)
      throw InvalidArgument("an element may not fit the integer");
  }
  static void CheckFits(const NDArray& array) {
    if (array.size() > kMaxElements) throw InvalidArgument("the value is too large");
    if (!IsFinite(array)) throw InvalidArgument("the value is not finite");
    if (LargestMagnitude(array) > kMaxValue) throw InvalidArgument("an element is too large");
  }

  // Any operator with a compute. Its arguments are values of the graph or new ones.
  Expr DrawOperator() {
    static const std::vector<std::string>& names =
        *new std::vector<std::string>(OperatorsWithCompute());
    const Expr& callee = ops::OpRegistry::Global().Get(random_.Of(names));
    const ops::OpDef& op = *ops::OpOf(callee);
    std::vector<Expr> args;
    const Expr first = Some();
    for (std::size_t i = 0; i < op.arguments.size(); ++i) {
      if (op.arguments[i].type.starts_with("Tuple")) {
        args.push_back(ir::Tuple::Make({first, OfShape(ShapeOf(first), TypeOf(first))}));
      } else if (i == 0) {
        args.push_back(first);
      } else {
        args.push_back(random_.Chance(50) ? OfShape(ShapeOf(first), TypeOf(first)) : Some());
      }
    }
    return ir::Call::Make(callee, std::move(args), DrawAttributes(op, random_));
  }
  static std::vector<std::string> OperatorsWithCompute() {
    strategies::RegisterStrategies(ops::OpRegistry::Global());
    std::vector<std::string> names;
    for (const std::string& name : ops::OpRegistry::Global().Names()) {
      const ops::OpDef& op = *ops::OpOf(ops::OpRegistry::Global().Get(name));
      if (op.Column<strategies::TeCompute>() != nullptr && !op.stateful) names.push_back(name);
    }
    return names;
  }

  std::int64_t SomeAxis(const Expr& e) {
    const auto rank = static_cast<std::int64_t>(ShapeOf(e).size());
    if (rank == 0) throw InvalidArgument("a scalar has no axis");
    return random_.Below(rank);
  }

  Expr DrawIdiom() {
    const Idiom idiom =
        of_images_ ? kImageIdioms[static_cast<std::size_t>(random_.Below(kImageIdioms.size()))]
                   : kIdioms[static_cast<std::size_t>(random_.Below(kIdioms.size()))];
    switch (idiom) {
      case Idiom::kConv2D:
        return DrawConv2D();
      case Idiom::kDense: {
        const Expr x = SomeOf(2, Float32);
        return ops::Dense(x, Leaf({1 + random_.Below(9), ShapeOf(x)[1]}, Float32));
      }
      case Idiom::kBatchMatmul: {
        const Expr x = SomeOf(3, Float32);
        const Shape shape = ShapeOf(x);
        return ops::BatchMatmul(x, Leaf({shape[0], 1 + random_.Below(6), shape[2]}, Float32),
                                {.transpose_b = true});
      }
      case Idiom::kBiasAdd: {
        const Expr x = Some();
        const std::int64_t axis = SomeAxis(x);
        return ops::BiasAdd(x, Leaf({ShapeOf(x)[static_cast<std::size_t>(axis)]}, TypeOf(x)),
                            {.axis = axis});
      }
      case Idiom::kBatchNorm: {
        const Expr x = SomeOf(4, Float32);
        const std::int64_t axis = random_.Chance(30) ? 3 : 1;
        const Shape channels = {ShapeOf(x)[static_cast<std::size_t>(axis)]};
        const auto statistic = [&](bool positive) {
          return ir::Constant::Make(Draw(channels, Float32, positive));
        };
        return ir::TupleGetItem::Make(
            ops::BatchNorm(x, statistic(false), statistic(false), statistic(false), statistic(true),
                           {.axis = axis}),
            0);
      }
      case Idiom::kScale:
        return DrawScale();
      case Idiom::kActivation: {
        const Expr x = Some();
        switch (random_.Below(5)) {
          case 0:
          case 1:
            return ops::Relu(x);
          case 2:
            return ops::Sigmoid(x);
          case 3:
            return ops::Clip(x, 0, 6);
          default:
            return ops::LeakyRelu(x, 0.125);
        }
      }
      case Idiom::kPool:
        return DrawPool();
      case Idiom::kLayout:
        return DrawLayout();
      case Idiom::kConcatenate: {
        const Expr x = Some();
        const std::int64_t axis = SomeAxis(x);
        return ops::Concatenate({x, OfShape(ShapeOf(x), TypeOf(x)), x}, axis);
      }
      case Idiom::kReshape: {
        const Expr x = Some();
        const Shape shape = ShapeOf(x);
        if (random_.Chance(30)) return ops::ExpandDims(x, 0);
        if (random_.Chance(40)) return ops::Reshape(x, {-1});
        if (shape.size() < 2) throw InvalidArgument("nothing to join");
        Shape joined(shape.begin() + 1, shape.end());
        joined[0] *= shape[0];
        return ops::Reshape(x, joined);
      }
      case Idiom::kTranspose: {
        const Expr x = Some();
        ops::Ints axes(ShapeOf(x).size());
        for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<std::int64_t>(i);
        for (std::size_t i = axes.size(); i > 1; --i)
          std::swap(axes[i - 1],
                    axes[static_cast<std::size_t>(random_.Below(static_cast<std::int64_t>(i)))]);
        return ops::Transpose(x, axes);
      }
      case Idiom::kBinary: {
        const Expr x = Some();
        const Expr y = OfShape(ShapeOf(x), TypeOf(x));
        return Binary(random_.Chance(50) ? x : y, random_.Chance(50) ? x : y);
      }
      case Idiom::kScalar: {
        const Expr x = Some();
        if (TypeOf(x).is_bool()) throw InvalidArgument("no arithmetic on bool");
        const Expr c = ops::Scalar(static_cast<double>(random_.Below(4)), TypeOf(x));
        return random_.Chance(50) ? Binary(x, c) : Binary(c, x);
      }
      case Idiom::kReduce: {
        const Expr x = Some();
        const ops::Ints axis = {SomeAxis(x)};
        const bool keepdims = random_.Chance(50);
        switch (random_.Below(3)) {
          case 0:
            return ops::Sum(x, {.axis = axis, .keepdims = keepdims});
          case 1:
            return ops::Max(x, {.axis = axis, .keepdims = keepdims});
          default:
            return ops::Mean(x, {.axis = axis, .keepdims = keepdims});
        }
      }
      case Idiom::kCast: {
        static const std::vector<DataType>& types =
            *new std::vector<DataType>{Float32, Float64, Int32, Int8};
        static const std::vector<DataType>& edge_types = *new std::vector<DataType>{
            Int8, UInt8, Int16, UInt16, Int32, UInt32, Int64, UInt64, Float32, Float64, Bool};
        return ops::Cast(Some(), random_.Of(of_edges_ ? edge_types : types));
      }
      case Idiom::kQuantized:
        return DrawQuantized();
    }
    Unreachable("the switch over idioms is exhaustive");
  }

  // Floats become bytes. Bytes stay, become floats or are summed in products.
  Expr DrawQuantized() {
    const Expr x = Some();
    const DataType type = TypeOf(x);
    const Expr scale = ops::Scalar(0.25 * static_cast<double>(1 + random_.Below(4)));
    const Expr zero_point = ops::Scalar(static_cast<double>(random_.Below(8)), Int32);
    if (type == Float32)
      return ops::QnnQuantize(x, scale, zero_point,
                              {.out_dtype = random_.Chance(50) ? Int8 : UInt8});
    if (type == Int32)
      return ops::QnnRequantize(x, ops::Scalar(0.01), ops::Scalar(0, Int32), scale, zero_point);
    if (type != Int8 && type != UInt8) throw InvalidArgument("no quantised type");
    const Shape shape = ShapeOf(x);
    const Expr one = ops::Scalar(1);
    const Expr zero = ops::Scalar(0, Int32);
    const ops::QnnParameters parameters{scale, zero_point};
    switch (random_.Below(5)) {
      case 0:
        return ops::QnnRequantize(x, scale, zero_point, ops::Scalar(0.5), zero);
      case 1:
        return ops::QnnAdd(x, OfShape(shape, type), parameters, {one, zero}, parameters);
      case 2:
        if (shape.size() == 2)
          return ops::QnnDense(x, Leaf({1 + random_.Below(9), shape[1]}, Int8), zero_point, zero,
                               scale, one);
        [[fallthrough]];
      case 3:
        if (shape.size() == 4)
          return ops::QnnConv2D(x, Leaf({1 + random_.Below(5), shape[1], 1, 1}, Int8), zero_point,
                                zero, scale, one, {.padding = {random_.Below(2), 0}});
        [[fallthrough]];
      default:
        return ops::QnnDequantize(x, scale, zero_point);
    }
  }

  Expr Binary(const Expr& a, const Expr& b) {
    switch (random_.Below(6)) {
      case 0:
      case 1:
        return ops::Add(a, b);
      case 2:
      case 3:
        return ops::Multiply(a, b);
      case 4:
        return ops::Subtract(a, b);
      default:
        return ops::Maximum(a, b);
    }
  }

  Expr DrawConv2D() {
    if (random_.Chance(30)) return DrawBlockedConv2D();
    const Expr x = SomeOf(4, Float32);
    const std::string layout = RandomOrder("NCHW", random_);
    const std::int64_t channels = ShapeOf(x)[layout.find('C')];
    const bool depthwise = random_.Chance(25);
    const std::int64_t kernel = random_.Chance(50) ? 1 : 3;
    const std::int64_t outputs = depthwise ? channels : 1 + random_.Below(8);
    const std::string kernel_layout = RandomOrder("OIHW", random_);
    const Shape extents = {outputs, depthwise ? 1 : channels, kernel, kernel};
    const Expr weight = Leaf(InOrder(extents, "OIHW", kernel_layout), Float32);
    ops::Conv2DAttrs attrs{.padding = {random_.Below(2), random_.Below(2)},
                           .groups = depthwise ? channels : 1,
                           .channels = outputs,
                           .kernel_size = ops::Ints{kernel, kernel},
                           .data_layout = layout,
                           .kernel_layout = kernel_layout};
    if (random_.Chance(20)) attrs.out_layout = RandomOrder("NCHW", random_);
    if (random_.Chance(20)) attrs.strides = {2, 1};
    return ops::Conv2D(x, weight, attrs);
  }

  // A convolution of a value of rank 5, whose last axis counts as a block of channels, or of a
  // value that is brought to this form.
  Expr DrawBlockedConv2D() {
    const bool is_blocked = random_.Chance(50);
    Expr x = SomeOf(is_blocked ? 5 : 4, Float32);
    Shape shape = ShapeOf(x);
    if (!is_blocked) {
      const std::int64_t block = std::int64_t{1} << (1 + random_.Below(4));
      if (shape[1] % block != 0) throw InvalidArgument("the block does not divide the channels");
      x = ops::CallOp(
          "layout_transform", {x},
          attrs::Attrs::Make(ops::LayoutTransformAttrs{"NCHW", StrCat("NCHW", block, "c")}));
      shape = {shape[0], shape[1] / block, shape[2], shape[3], block};
    }
    const std::int64_t block = shape[4];
    const std::int64_t channels = shape[1] * block;
    const bool depthwise = random_.Chance(25);
    const std::int64_t kernel = random_.Chance(50) ? 1 : 3;
    const std::int64_t out_block = depthwise ? block : 1 + random_.Below(8);
    const std::int64_t out_blocks = depthwise ? shape[1] : 1 + random_.Below(2);
    const std::int64_t in_block = depthwise ? 1 : block;
    const Expr weight =
        Leaf({out_blocks, depthwise ? 1 : shape[1], kernel, kernel, in_block, out_block}, Float32);
    const ops::Conv2DAttrs attrs{.padding = {random_.Below(2), random_.Below(2)},
                                 .groups = depthwise ? channels : 1,
                                 .channels = out_blocks * out_block,
                                 .kernel_size = ops::Ints{kernel, kernel},
                                 .data_layout = StrCat("NCHW", block, "c"),
                                 .kernel_layout = StrCat("OIHW", in_block, "i", out_block, "o")};
    return ops::CallOp(depthwise ? "nn.contrib_depthwise_conv2d_NCHWc" : "nn.contrib_conv2d_NCHWc",
                       {x, weight}, attrs::Attrs::Make(attrs));
  }

  Expr DrawPool() {
    const bool blocked = random_.Chance(20);
    const Expr x = SomeOf(blocked ? 5 : 4, Float32);
    const std::string layout =
        blocked ? StrCat("NCHW", ShapeOf(x)[4], "c") : RandomOrder("NCHW", random_);
    const ops::Ints size = {1 + random_.Below(3), 1 + random_.Below(3)};
    if (random_.Chance(30)) return ops::GlobalAvgPool2D(x, {.layout = layout});
    if (random_.Chance(50)) return ops::MaxPool2D(x, {.pool_size = size, .layout = layout});
    return ops::AvgPool2D(x, {.pool_size = size, .layout = layout});
  }

  Expr DrawLayout() {
    const bool blocked = random_.Chance(40);
    const Expr x = SomeOf(blocked ? 5 : 4, Float32);
    ops::LayoutTransformAttrs attrs;
    attrs.src_layout = blocked ? StrCat("NCHW", ShapeOf(x)[4], "c") : RandomOrder("NCHW", random_);
    attrs.dst_layout = RandomOrder("NCHW", random_);
    if (random_.Chance(50)) {
      attrs.dst_layout = StrCat("NCHW", std::int64_t{1} << (1 + random_.Below(4)), "c");
      const std::int64_t channels =
          blocked ? ShapeOf(x)[1] * ShapeOf(x)[4] : ShapeOf(x)[attrs.src_layout.find('C')];
      // Filling with zeros would add channels.
      if (channels % ops::Layout::Parse(attrs.dst_layout, "layout").BlockOf('C') != 0)
        throw InvalidArgument("the block does not divide the channels");
    }
    return ops::CallOp("layout_transform", {x}, attrs::Attrs::Make(attrs));
  }

  Expr DrawScale() {
    const Expr x = Some();
    if (TypeOf(x).is_bool()) throw InvalidArgument("no arithmetic on bool");
    const Shape shape = ShapeOf(x);
    // Along the channel axis of an image; along the last axis of any other value.
    Shape scale;
    if (shape.size() == 4) {
      scale = {shape[1], 1, 1};
    } else if (!shape.empty()) {
      scale = {shape.back()};
    }
    const Expr c = Leaf(scale, TypeOf(x), random_.Chance(60));
    return random_.Chance(60) ? ops::Multiply(x, c) : ops::Add(c, x);
  }

  Random random_;
  const bool of_images_;
  const bool of_edges_;  // extents of 0 and around vectors, integers near the ends of their types
  std::vector<Expr> params_;
  std::vector<NDArray> inputs_;
  std::vector<Expr> values_;  // of the graph; all are tensors
  GraphValues known_;
  std::unordered_map<Expr, Shape, ir::ExprHash> shapes_;
};

}  // namespace

RandomModule MakeRandomModule(std::uint64_t seed) { return Builder(seed).Build(); }

}  // namespace tenon::verify
