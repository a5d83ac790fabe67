// Models whose extents stay variables: what they compute from shapes becomes expressions.
#include "tenon/onnx/convert/symbolic_shapes.h"

#include "tenon/ir/parse_extents.h"
#include "tenon/onnx/convert/reshape_to.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index/index_attrs.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/op.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tests/onnx/any_shapes.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const Dim n = Dim::Symbol("n"), w = Dim::Symbol("w"), h = Dim::Symbol("h");

ir::Expr Input(std::vector<Dim> shape) {
  return ir::Var::MakeChecked("x", ir::TensorType(std::move(shape), Float32), {});
}
ir::Expr Typed(const ir::Expr& e) { return passes::InferType(e); }
ir::Expr ShapeExpr(const ir::Expr& x) {
  return Typed(
      ir::Call::Make(ops::Known().shape_of, {x}, attrs::Attrs::Make(ops::ShapeOfAttrs{Int64})));
}
ir::Expr Numbers(const std::vector<std::int64_t>& values) {
  return ir::Constant::Make(
      NDArray::FromVector({static_cast<std::int64_t>(values.size())}, values));
}
std::vector<Dim> TypeOf(const ir::Expr& e) { return DimsOf(Typed(e)); }

AttributeProto Axis(std::int64_t axis) {
  AttributeProto attribute;
  attribute.set_name("axis");
  attribute.set_type(AttributeProto::INT);
  attribute.set_i(axis);
  return attribute;
}
AttributeProto Perm(const Ints& order) {
  AttributeProto attribute;
  attribute.set_name("perm");
  attribute.set_type(AttributeProto::INTS);
  for (const std::int64_t axis : order) attribute.add_ints(axis);
  return attribute;
}

TEST(SymbolicShapesTest, WhatIsComputedFromExtentsIsAnExpression) {
  const ir::Expr shape = ShapeExpr(Input({n, 3, w}));
  EXPECT_EQ(DimsOfValue(shape), (std::vector<Dim>{n, 3, w}));
  const ir::Expr last = Typed(ops::Take(shape, Numbers({2}), {.axis = 0}));
  EXPECT_EQ(DimsOfValue(last), std::vector<Dim>{w});
  const ir::Expr sum = Typed(ops::Add(ops::Multiply(last, Numbers({2})), Numbers({1})));
  EXPECT_EQ(DimsOfValue(sum), std::vector<Dim>{w * 2 + 1});
  const ir::Expr joined = Typed(ops::Concatenate({last, Numbers({-1})}, 0));
  EXPECT_EQ(DimsOfValue(joined), (std::vector<Dim>{w, -1}));
}

TEST(SymbolicShapesTest, DataIsNone) {
  EXPECT_EQ(DimsOfValue(Input({n})), std::nullopt);
  EXPECT_EQ(DimsOfValue(Typed(ops::Exp(Input({3})))), std::nullopt);
}

// Some have codes, others name the extents of an input.
TEST(SymbolicShapesTest, ReshapesAreFoundForTheirTargets) {
  struct Case {
    std::vector<Dim> from, to;
    const char* op;
  };
  const Case cases[] = {
      {{n, w, 256}, {n, w, 8, 32}, "reshape"},
      {{n, 8, w, 32}, {n * 8, w, 32}, "reshape"},
      {{n * 8, w, 32}, {n, 8, w, 32}, "reshape"},
      {{n, w, 8, 32}, {n, w, 256}, "reshape"},
      {{n, 3, w}, {n * w * 3}, "reshape"},
      {{n, 6}, {n * 2, 3}, "reshape"},
      {{1, n, 6}, {n, 6}, "reshape"},
      {{n * w, 16}, {n, w, 16}, "reshape_to_extents"},
      {{n, 4, h * w * 2}, {n, 8, h, w}, "reshape_to_extents"},
      {{n * h * w, 6}, {n, h * w, 6}, "reshape_to_extents"},
      {{n * h * w, 6}, {n, h, w, 6}, "reshape_to_extents"},
      {{n, 4, 6, h, w}, {n * 24, h, w}, "reshape_to_extents"},
      {{n, w}, {n, n}, "reshape_to_extents"},
  };
  KnownExtents extents;
  extents.Add(Input({n, h, w}));
  for (const Case& c : cases) {
    SCOPED_TRACE(StrCat(ir::ToText(c.from), " to ", ir::ToText(c.to)));
    const ir::Expr reshape = ReshapeTo(extents, Input(c.from), c.to);
    EXPECT_EQ(TypeOf(reshape), c.to);
    EXPECT_EQ(ops::OpOf(*reshape.As<ir::CallNode>())->name, c.op);
  }
}

TEST(SymbolicShapesTest, OtherReshapesAreRefused) {
  struct Case {
    std::vector<Dim> from, to;
    const char* message;
  };
  const Case cases[] = {
      {{n, w},
       {n, w * 2},
       "a reshape from (n, w) to (n, 2*w) does not keep the number of elements"},
      {{n}, {n + 1}, "a reshape from (n) to (n + 1) does not keep the number of elements"},
      {{n * h, 4}, {n, h, 4}, "and no value has the extent h alone"},
  };
  KnownExtents extents;
  extents.Add(Input({n, w}));
  for (const Case& c : cases) {
    try {
      (void)ReshapeTo(extents, Input(c.from), c.to);
      ADD_FAILURE() << c.message;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), absl::StatusCode::kUnimplemented);
      EXPECT_THAT(error.message(), HasSubstr(c.message));
    }
  }
}

// A name that is an expression of names of other extents is that expression.
TEST(SymbolicImportTest, ExtentsAreNamedByExpressions) {
  Model model;
  NamedInput(NamedInput(model, "past", {"batch size", "p"}), "now", {"batch size", "t"});
  NamedInput(NamedInput(model, "mask", {"batch size", "p + t"}), "twice", {"2*t"});
  NamedInput(NamedInput(model, "other", {"q + t", "p + "}), "both", {"max(p, t)", "p, t"});
  model.Output("y").Node("Concat", {"past", "now"}, {"all"}).add_attribute()->CopyFrom(Axis(1));
  model.Node("Add", {"all", "mask"}, {"y"});
  const auto types = [&](const ImportOptions& options) {
    const ir::Module module = passes::InferType(ValueOrThrow(ImportOnnx(model.Bytes(), options)));
    std::string text;
    for (const ir::Expr& param : module.Main().params)
      StrAppend(&text, ir::ToText(DimsOf(param)), " ");
    return text + ir::ToText(DimsOf(module.Main().body));
  };
  ImportOptions options = {.symbolic = true, .evaluate = strategies::EvaluateCall};
  EXPECT_EQ(types(options),
            "(\"batch size\", p) (\"batch size\", t) (\"batch size\", p + t) (2*t) "
            "(\"q + t\", \"p + \") (max(p, t), \"p, t\") (\"batch size\", p + t)");
  // Without t alone, the names that have it are variables.
  options.shapes = {{"now", {1, 4}}};
  options.extents = {{"past", {Dim(1), Dim::Symbol("p")}},
                     {"mask", {Dim(1), Dim::Symbol("p") + 4}}};
  EXPECT_EQ(types(options),
            "(1, p) (1, 4) (1, p + 4) (\"2*t\") (\"q + t\", \"p + \") "
            "(\"max(p, t)\", \"p, t\") (1, p + 4)");
}

// Both directions of a layer over sequences of any length.
TEST(SymbolicImportTest, ARecurrentLayerTakesAnyNumberOfSteps) {
  for (const auto& [type, gates] : {std::pair("LSTM", 4), std::pair("GRU", 3)}) {
    Model model;
    model.Input("x", {-1, 2, 3}).Output("y").Output("h");
    model.Constant("w", testing_graphs::Random({2, gates * 5, 3}, 1))
        .Constant("r", testing_graphs::Random({2, gates * 5, 5}, 2))
        .Constant("b", testing_graphs::Random({2, gates * 10}, 3));
    NodeProto& node = model.Node(type, {"x", "w", "r", "b"}, {"y", "h"});
    SetInt(node, "hidden_size", 5);
    SetString(node, "direction", "bidirectional");
    const auto import = [&](const ImportOptions& options) {
      return ValueOrThrow(ImportOnnx(model.Bytes(), options));
    };
    const Executable exe =
        ValueOrThrow(Compile(import({.symbolic = true, .evaluate = strategies::EvaluateCall})));
    for (const std::int64_t steps : {1, 7, 40}) {
      const runtime::Inputs inputs = {{"x", testing_graphs::Random({steps, 2, 3}, 4)}};
      testing_graphs::ExpectClose(
          ValueOrThrow(exe.Run(inputs)),
          testing_graphs::Outcome(
              import({.shapes = {{"x", {steps, 2, 3}}}, .evaluate = strategies::EvaluateCall}),
              inputs));
    }
  }
}

struct ResizeCase {
  const char *mode, *coordinates, *rounding;
  std::vector<float> scales;
};

// A whole scale repeats elements where it may, others take their coordinates from the scale.
TEST(SymbolicImportTest, ImagesOfAnySizeAreResizedByTheirScales) {
  const ResizeCase cases[] = {
      {"nearest", "asymmetric", "floor", {1, 1, 2, 4}},
      {"nearest", "half_pixel", "round_prefer_floor", {1, 1, 3, 2}},
      {"nearest", "half_pixel", "round_prefer_ceil", {1, 1, 3, 1}},
      {"nearest", "tf_half_pixel_for_nn", "floor", {1, 1, 2, 2}},
      {"nearest", "asymmetric", "round_prefer_ceil", {1, 1, 2, 3}},
      {"nearest", "half_pixel", "ceil", {1, 1, 2, 2}},
      {"nearest", "asymmetric", "floor", {1, 1, 0.5, 1.5}},
      {"linear", "half_pixel", "floor", {1, 1, 2, 1.3333334F}},
      {"linear", "align_corners", "floor", {1, 1, 2, 3}},
      {"cubic", "pytorch_half_pixel", "floor", {1, 1, 1.5, 0.75}},
  };
  for (const ResizeCase& c : cases) {
    SCOPED_TRACE(
        StrCat(c.mode, " ", c.coordinates, " ", c.rounding, " ", c.scales[2], " ", c.scales[3]));
    Model model;
    model.Input("x", {-1, 3, -1, -1}).Output("y");
    model.Constant("scales", NDArray::FromVector<float>({4}, c.scales));
    NodeProto& node = model.Node("Resize", {"x", "", "scales"}, {"y"});
    SetString(node, "mode", c.mode);
    SetString(node, "coordinate_transformation_mode", c.coordinates);
    SetString(node, "nearest_mode", c.rounding);
    const auto import = [&](const ImportOptions& options) {
      return ValueOrThrow(ImportOnnx(model.Bytes(), options));
    };
    const Executable exe =
        ValueOrThrow(Compile(import({.symbolic = true, .evaluate = strategies::EvaluateCall})));
    ASSERT_TRUE(exe.is_symbolic());
    for (const Shape& shape : {Shape{1, 3, 2, 3}, Shape{2, 3, 7, 16}, Shape{1, 3, 17, 5}}) {
      const NDArray x = testing_graphs::Random(shape, 1);
      const ir::Module fixed =
          import({.shapes = {{"x", shape}}, .evaluate = strategies::EvaluateCall});
      testing_graphs::ExpectClose(ValueOrThrow(exe.Run({{"x", x}})),
                                  testing_graphs::Interpreted(fixed, {{"x", x}}));
    }
  }
}

// As exporters write an image that becomes as large as another.
TEST(SymbolicImportTest, SizesThatAreComputedFromExtentsGiveTheirScale) {
  Model model;
  model.Input("x", {-1, 3, -1, 5}).Output("y").Integers("two", {1, 1, 2, 3});
  model.Node("Shape", {"x"}, {"shape"});
  model.Node("Mul", {"shape", "two"}, {"sizes"});
  SetString(model.Node("Resize", {"x", "", "", "sizes"}, {"y"}), "coordinate_transformation_mode",
            "asymmetric");
  SetString(*model.proto.mutable_graph()->mutable_node(2), "nearest_mode", "floor");
  const ir::Module module = ValueOrThrow(
      ImportOnnx(model.Bytes(), {.symbolic = true, .evaluate = strategies::EvaluateCall}));
  EXPECT_EQ(ir::ToString(module.Main().body.checked_type()),
            "Tensor[(x_0, 3, 2*x_2, 15), float32]");
  EXPECT_THAT(ir::PrintModule(module), HasSubstr("repeat("));
}

// Heads are split off and joined again by shapes that the model computes, as exporters write it.
TEST(SymbolicImportTest, AModelThatComputesShapesRunsForAllOfThem) {
  Model model;
  model.Input("x", {-1, -1, 8}).Output("y");
  model.Node("Shape", {"x"}, {"shape"});
  model.Integers("i0", {0}).Integers("i1", {1}).Integers("heads", {2, 4}).Integers("all", {-1});
  model.Node("Gather", {"shape", "i0"}, {"batch"});
  model.Node("Gather", {"shape", "i1"}, {"length"});
  model.Node("Concat", {"batch", "length", "heads"}, {"split"}).add_attribute()->CopyFrom(Axis(0));
  model.Node("Reshape", {"x", "split"}, {"parted"});
  model.Node("Transpose", {"parted"}, {"q"}).add_attribute()->CopyFrom(Perm({0, 2, 1, 3}));
  model.Node("Transpose", {"parted"}, {"k"}).add_attribute()->CopyFrom(Perm({0, 2, 3, 1}));
  model.Node("MatMul", {"q", "k"}, {"scores"});
  model.Node("Softmax", {"scores"}, {"weights"});
  model.Node("MatMul", {"weights", "q"}, {"mixed"});
  model.Node("Transpose", {"mixed"}, {"back"}).add_attribute()->CopyFrom(Perm({0, 2, 1, 3}));
  model.Node("Concat", {"batch", "length", "all"}, {"joined"}).add_attribute()->CopyFrom(Axis(0));
  model.Node("Reshape", {"back", "joined"}, {"y"});
  const auto import = [&](const ImportOptions& options) {
    return ValueOrThrow(ImportOnnx(model.Bytes(), options));
  };
  const Executable exe =
      ValueOrThrow(Compile(import({.symbolic = true, .evaluate = strategies::EvaluateCall})));
  ASSERT_TRUE(exe.is_symbolic());
  EXPECT_EQ(exe.inputs()[0].extents, (std::vector<Dim>{Dim::Symbol("x_0"), Dim::Symbol("x_1"), 8}));
  for (const Shape& shape : {Shape{1, 1, 8}, Shape{2, 7, 8}, Shape{3, 33, 8}}) {
    const NDArray x = testing_graphs::Random(shape, 1);
    const ir::Module fixed =
        import({.shapes = {{"x", shape}}, .evaluate = strategies::EvaluateCall});
    testing_graphs::ExpectClose(ValueOrThrow(exe.Run({{"x", x}})),
                                testing_graphs::Interpreted(fixed, {{"x", x}}));
  }
}

}  // namespace
}  // namespace tenon::onnx_import
