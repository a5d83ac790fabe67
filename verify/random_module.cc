#include "tenon/verify/random_module.h"

#include <algorithm>
#include <array>

#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/layout.h"
#include "tenon/ops/layout_attrs.h"
#include "tenon/ops/qnn_builders.h"
#include "tenon/ops/registry.h"
#include "tenon/strategies/strategy.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/module_draft.h"
#include "tenon/verify/random_layout.h"
#include "tenon/verify/random_operator.h"

namespace tenon::verify {
namespace {

using ir::Expr;

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
  explicit Builder(std::uint64_t seed) : draft_(seed), random_(draft_.random()) {}

  RandomModule Build() {
    const std::int64_t calls = 2 + random_.Below(9);
    for (std::int64_t call = 0; call < calls; ++call) AddCall();
    return draft_.Finish();
  }

 private:
  void AddCall() {
    const auto draw = [this] { return random_.Chance(70) ? DrawIdiom() : DrawOperator(); };
    for (int attempt = 0; attempt < kDrawsACall && !draft_.TryToKeep(draw); ++attempt) {
    }
  }

  // Any operator with a compute. Its arguments are values of the graph or new ones.
  Expr DrawOperator() {
    static const std::vector<std::string>& names =
        *new std::vector<std::string>(OperatorsWithCompute());
    const Expr& callee = ops::OpRegistry::Global().Get(random_.Of(names));
    const ops::OpDef& op = *ops::OpOf(callee);
    std::vector<Expr> args;
    const Expr first = draft_.Some();
    for (std::size_t i = 0; i < op.arguments.size(); ++i) {
      if (op.arguments[i].type.starts_with("Tuple")) {
        args.push_back(
            ir::Tuple::Make({first, draft_.OfShape(draft_.ShapeOf(first), draft_.TypeOf(first))}));
      } else if (i == 0) {
        args.push_back(first);
      } else {
        args.push_back(random_.Chance(50)
                           ? draft_.OfShape(draft_.ShapeOf(first), draft_.TypeOf(first))
                           : draft_.Some());
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

  Expr DrawIdiom() {
    const Idiom idiom =
        draft_.is_of_images()
            ? kImageIdioms[static_cast<std::size_t>(random_.Below(kImageIdioms.size()))]
            : kIdioms[static_cast<std::size_t>(random_.Below(kIdioms.size()))];
    switch (idiom) {
      case Idiom::kConv2D:
        return DrawConv2D();
      case Idiom::kDense: {
        const Expr x = draft_.SomeOf(2, Float32);
        return ops::Dense(x, draft_.Leaf({1 + random_.Below(9), draft_.ShapeOf(x)[1]}, Float32));
      }
      case Idiom::kBatchMatmul: {
        const Expr x = draft_.SomeOf(3, Float32);
        const Shape shape = draft_.ShapeOf(x);
        return ops::BatchMatmul(x, draft_.Leaf({shape[0], 1 + random_.Below(6), shape[2]}, Float32),
                                {.transpose_b = true});
      }
      case Idiom::kBiasAdd: {
        const Expr x = draft_.Some();
        const std::int64_t axis = draft_.SomeAxis(x);
        return ops::BiasAdd(
            x, draft_.Leaf({draft_.ShapeOf(x)[static_cast<std::size_t>(axis)]}, draft_.TypeOf(x)),
            {.axis = axis});
      }
      case Idiom::kBatchNorm: {
        const Expr x = draft_.SomeOf(4, Float32);
        const std::int64_t axis = random_.Chance(30) ? 3 : 1;
        const Shape channels = {draft_.ShapeOf(x)[static_cast<std::size_t>(axis)]};
        const auto statistic = [&](bool positive) {
          return ir::Constant::Make(draft_.Draw(channels, Float32, positive));
        };
        return ir::TupleGetItem::Make(
            ops::BatchNorm(x, statistic(false), statistic(false), statistic(false), statistic(true),
                           {.axis = axis}),
            0);
      }
      case Idiom::kScale:
        return DrawScale();
      case Idiom::kActivation: {
        const Expr x = draft_.Some();
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
        const Expr x = draft_.Some();
        const std::int64_t axis = draft_.SomeAxis(x);
        return ops::Concatenate({x, draft_.OfShape(draft_.ShapeOf(x), draft_.TypeOf(x)), x}, axis);
      }
      case Idiom::kReshape: {
        const Expr x = draft_.Some();
        const Shape shape = draft_.ShapeOf(x);
        if (random_.Chance(30)) return ops::ExpandDims(x, 0);
        if (random_.Chance(40)) return ops::Reshape(x, {-1});
        if (shape.size() < 2) throw InvalidArgument("nothing to join");
        Shape joined(shape.begin() + 1, shape.end());
        joined[0] *= shape[0];
        return ops::Reshape(x, joined);
      }
      case Idiom::kTranspose: {
        const Expr x = draft_.Some();
        ops::Ints axes(draft_.ShapeOf(x).size());
        for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<std::int64_t>(i);
        for (std::size_t i = axes.size(); i > 1; --i)
          std::swap(axes[i - 1],
                    axes[static_cast<std::size_t>(random_.Below(static_cast<std::int64_t>(i)))]);
        return ops::Transpose(x, axes);
      }
      case Idiom::kBinary: {
        const Expr x = draft_.Some();
        const Expr y = draft_.OfShape(draft_.ShapeOf(x), draft_.TypeOf(x));
        return Binary(random_.Chance(50) ? x : y, random_.Chance(50) ? x : y);
      }
      case Idiom::kScalar: {
        const Expr x = draft_.Some();
        if (draft_.TypeOf(x).is_bool()) throw InvalidArgument("no arithmetic on bool");
        const Expr c = ops::Scalar(static_cast<double>(random_.Below(4)), draft_.TypeOf(x));
        return random_.Chance(50) ? Binary(x, c) : Binary(c, x);
      }
      case Idiom::kReduce: {
        const Expr x = draft_.Some();
        const ops::Ints axis = {draft_.SomeAxis(x)};
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
        return ops::Cast(draft_.Some(), random_.Of(draft_.is_of_edges() ? edge_types : types));
      }
      case Idiom::kQuantized:
        return DrawQuantized();
    }
    Unreachable("the switch over idioms is exhaustive");
  }

  // Floats become bytes. Bytes stay, become floats or are summed in products.
  Expr DrawQuantized() {
    const Expr x = draft_.Some();
    const DataType type = draft_.TypeOf(x);
    const Expr scale = ops::Scalar(0.25 * static_cast<double>(1 + random_.Below(4)));
    const Expr zero_point = ops::Scalar(static_cast<double>(random_.Below(8)), Int32);
    if (type == Float32)
      return ops::QnnQuantize(x, scale, zero_point,
                              {.out_dtype = random_.Chance(50) ? Int8 : UInt8});
    if (type == Int32)
      return ops::QnnRequantize(x, ops::Scalar(0.01), ops::Scalar(0, Int32), scale, zero_point);
    if (type != Int8 && type != UInt8) throw InvalidArgument("no quantised type");
    const Shape shape = draft_.ShapeOf(x);
    const Expr one = ops::Scalar(1);
    const Expr zero = ops::Scalar(0, Int32);
    const ops::QnnParameters parameters{scale, zero_point};
    switch (random_.Below(5)) {
      case 0:
        return ops::QnnRequantize(x, scale, zero_point, ops::Scalar(0.5), zero);
      case 1:
        return ops::QnnAdd(x, draft_.OfShape(shape, type), parameters, {one, zero}, parameters);
      case 2:
        if (shape.size() == 2)
          return ops::QnnDense(x, draft_.Leaf({1 + random_.Below(9), shape[1]}, Int8), zero_point,
                               zero, scale, one);
        [[fallthrough]];
      case 3:
        if (shape.size() == 4)
          return ops::QnnConv2D(x, draft_.Leaf({1 + random_.Below(5), shape[1], 1, 1}, Int8),
                                zero_point, zero, scale, one, {.padding = {random_.Below(2), 0}});
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
    const Expr x = draft_.SomeOf(4, Float32);
    const std::string layout = RandomOrder("NCHW", random_);
    const std::int64_t channels = draft_.ShapeOf(x)[layout.find('C')];
    const bool depthwise = random_.Chance(25);
    const std::int64_t kernel = random_.Chance(50) ? 1 : 3;
    const std::int64_t outputs = depthwise ? channels : 1 + random_.Below(8);
    const std::string kernel_layout = RandomOrder("OIHW", random_);
    const Shape extents = {outputs, depthwise ? 1 : channels, kernel, kernel};
    const Expr weight = draft_.Leaf(InOrder(extents, "OIHW", kernel_layout), Float32);
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
    Expr x = draft_.SomeOf(is_blocked ? 5 : 4, Float32);
    Shape shape = draft_.ShapeOf(x);
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
    const Expr weight = draft_.Leaf(
        {out_blocks, depthwise ? 1 : shape[1], kernel, kernel, in_block, out_block}, Float32);
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
    const Expr x = draft_.SomeOf(blocked ? 5 : 4, Float32);
    const std::string layout =
        blocked ? StrCat("NCHW", draft_.ShapeOf(x)[4], "c") : RandomOrder("NCHW", random_);
    const ops::Ints size = {1 + random_.Below(3), 1 + random_.Below(3)};
    if (random_.Chance(30)) return ops::GlobalAvgPool2D(x, {.layout = layout});
    if (random_.Chance(50)) return ops::MaxPool2D(x, {.pool_size = size, .layout = layout});
    return ops::AvgPool2D(x, {.pool_size = size, .layout = layout});
  }

  Expr DrawLayout() {
    const bool blocked = random_.Chance(40);
    const Expr x = draft_.SomeOf(blocked ? 5 : 4, Float32);
    ops::LayoutTransformAttrs attrs;
    attrs.src_layout =
        blocked ? StrCat("NCHW", draft_.ShapeOf(x)[4], "c") : RandomOrder("NCHW", random_);
    attrs.dst_layout = RandomOrder("NCHW", random_);
    if (random_.Chance(50)) {
      attrs.dst_layout = StrCat("NCHW", std::int64_t{1} << (1 + random_.Below(4)), "c");
      const std::int64_t channels = blocked ? draft_.ShapeOf(x)[1] * draft_.ShapeOf(x)[4]
                                            : draft_.ShapeOf(x)[attrs.src_layout.find('C')];
      // Filling with zeros would add channels.
      if (channels % ops::Layout::Parse(attrs.dst_layout, "layout").BlockOf('C') != 0)
        throw InvalidArgument("the block does not divide the channels");
    }
    return ops::CallOp("layout_transform", {x}, attrs::Attrs::Make(attrs));
  }

  Expr DrawScale() {
    const Expr x = draft_.Some();
    if (draft_.TypeOf(x).is_bool()) throw InvalidArgument("no arithmetic on bool");
    const Shape shape = draft_.ShapeOf(x);
    // Along the channel axis of an image; along the last axis of any other value.
    Shape scale;
    if (shape.size() == 4) {
      scale = {shape[1], 1, 1};
    } else if (!shape.empty()) {
      scale = {shape.back()};
    }
    const Expr c = draft_.Leaf(scale, draft_.TypeOf(x), random_.Chance(60));
    return random_.Chance(60) ? ops::Multiply(x, c) : ops::Add(c, x);
  }

  ModuleDraft draft_;
  Random& random_;
};

}  // namespace

RandomModule MakeRandomModule(std::uint64_t seed) { return Builder(seed).Build(); }

}  // namespace tenon::verify
