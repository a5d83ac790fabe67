#include "tenon/onnx/import.h"

#include <limits>

#include "onnx/onnx_pb.h"
#include "tenon/onnx/model.h"
#include "tenon/ops/ints.h"
#include "tenon/strategies/register_op.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"
#include "tenon/tests/onnx/written_model.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing_graphs::ExpectClose;
using testing_graphs::Outcome;
using testing_graphs::Random;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;
constexpr auto kDataLoss = absl::StatusCode::kDataLoss;

Model Exponential(const Shape& shape, int opset = 13) {
  Model model(opset);
  model.Input("x", shape).Output("y").Node("Exp", {"x"}, {"y"}, "the_exp");
  return model;
}

// --- what becomes of names

TEST(OnnxNamesTest, KernelsKnowTheNodesThatTheyCompute) {
  const std::string deep = std::string(100, 'a') + "/last";
  Model model;
  model.Input("x", {1, 2, 3, 3}).Output("y").Constant("w", Random({2, 2, 1, 1}, 1));
  model.Node("Conv", {"x", "w"}, {"t"}, "conv");
  model.Node("Relu", {"t"}, {"u"});
  model.Node("Sigmoid", {"u"}, {"y"}, deep);
  const Executable exe =
      ValueOrThrow(Compile(Imported(model).value(), {.library = LibraryChoice::kTe}));
  std::vector<std::string> origins;
  for (const runtime::Node& node : exe.plan().nodes)
    origins.insert(origins.end(), node.origins.begin(), node.origins.end());
  EXPECT_THAT(origins, ElementsAre("conv (Conv)", "making u (Relu)",
                                   StrCat("...", std::string(75, 'a'), "/last (Sigmoid)")));
}

// --- what a model must be

TEST(OnnxErrorTest, AllMissingOperatorsAreListedWithTheirNodes) {
  Model model;
  model.Input("x", {3}).Output("z");
  model.Node("Wibble", {"x"}, {"a"}, "first");
  model.Node("Relu", {"a"}, {"b"}, "fine");
  model.Node("Wibble", {"b"}, {"c"}, "second");
  model.Node("Wobble", {"c"}, {"d"});
  model.Node("Warble", {"d"}, {"z"}, "last", "acme.ai");
  const std::string message = MessageOf(Imported(model), kUnimplemented);
  EXPECT_THAT(message, AllOf(HasSubstr("3 operators"), HasSubstr("Wibble (first, second)"),
                             HasSubstr("Wobble (making d)"), HasSubstr("acme.ai.Warble (last)"),
                             Not(HasSubstr("Relu"))));
}

TEST(OnnxErrorTest, UnknownExtentsAskForTheShapeOption) {
  EXPECT_THAT(MessageOf(Imported(Exponential({-1, 3, -1, 8})), kInvalid),
              AllOf(HasSubstr("(?, 3, ?, 8)"), HasSubstr("--shape x=1,3,1,8")));
  EXPECT_TRUE(Imported(Exponential({-1, 3, -1, 8}), {{"x", {2, 3, 5, 8}}}).ok());
}

TEST(OnnxErrorTest, AShapeThatContradictsTheModelIsRefused) {
  for (const Shape& shape : {Shape{1, 4, 1, 8}, Shape{3}, Shape{1, 3, 1, 8, 1}, Shape{}})
    EXPECT_THAT(MessageOf(Imported(Exponential({-1, 3, -1, 8}), {{"x", shape}}), kInvalid),
                AllOf(HasSubstr(ShapeToString(shape)), HasSubstr("does not fit")));
  EXPECT_THAT(MessageOf(Imported(Exponential({3}), {{"z", {3}}}), kInvalid),
              AllOf(HasSubstr("z"), HasSubstr("inputs are x")));
}

TEST(OnnxErrorTest, EveryPrefixOfAModelIsAnError) {
  Model model;
  model.Input("x", {1, 2, 3, 3}).Output("y").Constant("w", Random({2, 2, 1, 1}, 1));
  SetInts(model.Node("Conv", {"x", "w"}, {"t"}, "conv"), "pads", {0, 0, 0, 0});
  model.Node("Relu", {"t"}, {"y"}, "relu");
  const std::string bytes = model.Bytes();
  ASSERT_GT(bytes.size(), 100U);
  ASSERT_TRUE(Imported(bytes).ok());
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(Imported(bytes.substr(0, length)).ok()) << length;
}

TEST(OnnxErrorTest, NoChangedByteIsAnInternalError) {
  Model model(11);
  model.Input("x", {1, 2, 3, 3}).Output("y").Constant("w", Random({2, 2, 1, 1}, 1));
  model.Integers("shape", {2, -1}).Integers("axes", {0});
  SetInts(model.Node("Conv", {"x", "w"}, {"t"}, "conv"), "strides", {1, 1});
  model.Node("Reshape", {"t", "shape"}, {"u"}, "reshape");
  SetInt(model.Node("Softmax", {"u"}, {"v"}, "softmax"), "axis", 1);
  model.Node("Slice", {"v", "axes", "shape", "axes"}, {"y"}, "slice");
  const std::string bytes = model.Bytes();
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (const int change : {1, 2, 4, 16, 64, 128, 255}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ change);
      const absl::Status status = Imported(changed).status();
      EXPECT_NE(status.code(), absl::StatusCode::kInternal) << at << ": " << status;
      EXPECT_NE(status.code(), absl::StatusCode::kUnknown) << at << ": " << status;
    }
}

TEST(OnnxErrorTest, WhatIsNoModelIsDataLoss) {
  EXPECT_THAT(MessageOf(Imported(std::string()), kDataLoss),
              HasSubstr("not a complete ONNX model"));
  MessageOf(Imported(std::string("certainly no protobuf")), kDataLoss);
  onnx::ModelProto empty;
  empty.add_opset_import()->set_version(13);
  EXPECT_THAT(MessageOf(Imported(empty.SerializeAsString()), kDataLoss), HasSubstr("no graph"));
  const auto missing = LoadOnnx("/nowhere/model.onnx", {});
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.status().message()), HasSubstr("/nowhere/model.onnx"));
}

TEST(OnnxErrorTest, NodesInACycleAreRefused) {
  Model cyclic;
  cyclic.Input("x", {3}).Output("a");
  cyclic.Node("Add", {"x", "b"}, {"a"}, "one");
  cyclic.Node("Exp", {"a"}, {"b"}, "two");
  EXPECT_THAT(MessageOf(Imported(cyclic), kInvalid),
              AllOf(HasSubstr(" (Exp)"), HasSubstr("by one that needs this one")));
}

TEST(OnnxErrorTest, OpsetsFromSevenToTwentySevenAreSupported) {
  for (const int opset : {7, 12, 17, 21, 22, 27})
    EXPECT_TRUE(Imported(Exponential({3}, opset)).ok());
  for (const int opset : {0, 1, 6, 28, 100})
    EXPECT_THAT(MessageOf(Imported(Exponential({3}, opset)), kUnimplemented),
                HasSubstr(StrCat("opset ", opset, ";")));
}

TEST(OnnxErrorTest, AnAttributeThatIsNotSupportedIsNamedWithItsNode) {
  Model model = Exponential({3});
  SetInt(*model.proto.mutable_graph()->mutable_node(0), "wibble", 1);
  EXPECT_THAT(MessageOf(Imported(model), kUnimplemented),
              AllOf(HasSubstr("the_exp (Exp)"), HasSubstr("attribute wibble")));
}

TEST(OnnxErrorTest, AnAttributeOfAnotherTypeIsRefused) {
  Model model;
  model.Input("x", {3, 4}).Output("y");
  SetString(model.Node("Softmax", {"x"}, {"y"}, "soft"), "axis", "one");
  EXPECT_THAT(MessageOf(Imported(model), kInvalid),
              AllOf(HasSubstr("soft"), HasSubstr("axis must be an integer")));
}

TEST(OnnxErrorTest, ValuesMustBeMadeOnceAndOutputsAtAll) {
  Model twice = Exponential({3});
  twice.Node("Relu", {"x"}, {"y"}, "again");
  EXPECT_THAT(MessageOf(Imported(twice), kInvalid), HasSubstr("y is made twice"));
  EXPECT_THAT(MessageOf(Imported(Exponential({3}).Output("z")), kInvalid),
              HasSubstr("output z is made by no node"));
  Model none;
  none.Input("x", {3}).Node("Exp", {"x"}, {"y"});
  EXPECT_THAT(MessageOf(Imported(none), kInvalid), HasSubstr("no outputs"));
}

TEST(OnnxErrorTest, DataMustFitTheShapeOfItsTensor) {
  const auto with = [](const std::function<void(TensorProto&)>& change) {
    Model model;
    model.Input("x", {4}).Output("y").Constant("w", Random({4}, 1)).Node("Add", {"x", "w"}, {"y"});
    change(*model.proto.mutable_graph()->mutable_initializer(0));
    return Imported(model);
  };
  EXPECT_TRUE(with([](TensorProto&) {}).ok());
  EXPECT_THAT(MessageOf(with([](TensorProto& t) { t.set_raw_data("short"); }), kInvalid),
              AllOf(HasSubstr("initializer w"), HasSubstr("needs 16")));
  EXPECT_THAT(MessageOf(with([](TensorProto& t) { t.set_dims(0, -4); }), kInvalid),
              HasSubstr("initializer w"));
  EXPECT_THAT(
      MessageOf(with([](TensorProto& t) { t.set_dims(0, std::int64_t{1} << 61); }), kInvalid),
      HasSubstr("initializer w"));
  EXPECT_THAT(
      MessageOf(with([](TensorProto& t) { t.set_data_type(TensorProto::STRING); }), kUnimplemented),
      HasSubstr("element type 8"));
  EXPECT_THAT(MessageOf(with([](TensorProto& t) { t.set_data_location(TensorProto::EXTERNAL); }),
                        kUnimplemented),
              HasSubstr("another file"));
}

TEST(OnnxErrorTest, AMissingInputOfANodeIsNamed) {
  Model model;
  model.Input("x", {3}).Output("y");
  model.Node("Add", {"x"}, {"y"}, "half");
  EXPECT_THAT(MessageOf(Imported(model), kInvalid),
              AllOf(HasSubstr("half"), HasSubstr("input 1 is missing")));
}

TEST(OnnxErrorTest, AnAxisThatDependsOnAnInputIsRefusedByName) {
  Model model(20);
  model.Input("x", {1, 4, 1}).Input("s", {}, TensorProto::INT64).Output("y");
  model.Node("DFT", {"x", "", "s"}, {"y"}, "shaped");
  EXPECT_THAT(MessageOf(Imported(model), kUnimplemented),
              AllOf(HasSubstr("shaped"), HasSubstr("must be known when the model is imported")));
}

TEST(OnnxErrorTest, ATypeErrorNamesTheNode) {
  Model model;
  model.Input("a", {2, 3}).Input("b", {4, 5}).Output("y");
  model.Node("Add", {"a", "b"}, {"y"}, "the_sum");
  EXPECT_THAT(MessageOf(Imported(model), kInvalid), HasSubstr("the_sum (Add)"));
}

TEST(OnnxErrorTest, TrainingIsRefusedRatherThanLeftOut) {
  for (const bool training : {false, true}) {
    Model model;
    model.Input("x", {3}).Output("y").Constant("ratio", NDArray::Scalar<float>(0.5F));
    TensorProto* mode = model.proto.mutable_graph()->add_initializer();
    mode->set_name("mode");
    mode->set_data_type(TensorProto::BOOL);
    mode->add_int32_data(training ? 1 : 0);
    model.Node("Dropout", {"x", "ratio", "mode"}, {"y"}, "drop");
    if (training) {
      EXPECT_THAT(MessageOf(Imported(model), kUnimplemented), HasSubstr("drop (Dropout)"));
    } else {
      EXPECT_TRUE(Imported(model).ok());
    }
  }
}

// --- what a model becomes

TEST(OnnxImportTest, InputsKeepTheirNamesAndSeveralOutputsAreATuple) {
  Model model;
  model.Input("first", {3}).Input("second", {3}).Output("q").Output("p");
  model.Node("Sub", {"first", "second"}, {"p"});
  model.Node("Add", {"p", "second"}, {"q"});
  const NDArray a = Random({3}, 1), b = Random({3}, 2);
  const auto results = Computed(model, {{"first", a}, {"second", b}});
  ASSERT_EQ(results.size(), 2U);
  ExpectClose(results[0], a);
  for (int i = 0; i < 3; ++i)
    EXPECT_FLOAT_EQ(results[1].data<float>()[i], a.data<float>()[i] - b.data<float>()[i]);
}

TEST(OnnxImportTest, AnInputWithAnInitializerIsNoParameter) {
  Model model(8);
  model.Input("x", {4}).Input("w", {4}).Output("y").Constant("w", Random({4}, 1));
  model.Node("Add", {"x", "w"}, {"y"});
  const ir::Module module = ValueOrThrow(Imported(model));
  ASSERT_EQ(module.Main().params.size(), 1U);
  EXPECT_EQ(ir::Var(module.Main().params[0]).name(), "x");
}

TEST(OnnxImportTest, AnInitializerIsTheDefaultOfAnInputThatOptionsMayName) {
  Model model(8);
  const NDArray w = Random({4}, 1), other = Random({4}, 2), x = Random({4}, 3);
  model.Input("x", {4}).Input("w", {4}).Output("y").Constant("w", w);
  model.Node("Add", {"x", "w"}, {"y"});
  const auto result = [&](const ImportOptions& options, const runtime::Inputs& inputs) {
    const OnnxModel read = ValueOrThrow(OnnxModel::Parse(model.proto.SerializeAsString(), "test"));
    EXPECT_EQ(read.initialized_inputs().size(), 1U);
    return Outcome(ValueOrThrow(read.Import(options)), inputs)[0];
  };
  const NDArray by_default = result({}, {{"x", x}});
  const NDArray by_constant = result({.constants = {{"w", other}}}, {{"x", x}});
  const NDArray by_input = result({.shapes = {{"w", {4}}}}, {{"x", x}, {"w", other}});
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(by_default.data<float>()[i], x.data<float>()[i] + w.data<float>()[i]);
    EXPECT_EQ(by_constant.data<float>()[i], x.data<float>()[i] + other.data<float>()[i]);
    EXPECT_EQ(by_input.data<float>()[i], x.data<float>()[i] + other.data<float>()[i]);
  }
}

TEST(OnnxImportTest, ShapesComputedByTheModelFoldAway) {
  Model model;
  model.Input("x", {2, 3, 4}).Output("y").Integers("zero", {0}).Integers("rest", {-1});
  model.Node("Shape", {"x"}, {"shape"});
  model.Node("Gather", {"shape", "zero"}, {"batch"});
  SetInt(model.Node("Concat", {"batch", "rest"}, {"target"}), "axis", 0);
  model.Node("Reshape", {"x", "target"}, {"y"});
  const ir::Module module = ValueOrThrow(Imported(model));
  EXPECT_THAT(ir::PrintModule(module), Not(HasSubstr("concatenate")));
  EXPECT_EQ(Outcome(module, {{"x", Random({2, 3, 4}, 1)}}).at(0).shape(), (Shape{2, 12}));
}

TEST(OnnxImportTest, AnOptionalInputMayBeLeftOut) {
  Model model(13);
  model.Input("x", {4}).Output("y").Constant("most", NDArray::Scalar<float>(0.5F));
  model.Node("Clip", {"x", "", "most"}, {"y"});
  const auto y = Computed(model, {{"x", NDArray::FromVector<float>({4}, {-9, 0, 0.5, 7})}});
  EXPECT_EQ(y.at(0).ToVector<float>(), (std::vector<float>{-9, 0, 0.5, 0.5}));
}

TEST(OnnxImportTest, AutoPadComputesThePadsOfItsMode) {
  struct Case {
    const char* mode;
    Ints pads;  // what it must come to
  };
  // 7 x 8 image, 4 x 3 kernel, strides 2 and 1: 4 x 8 outputs need 3 rows and 2 columns.
  for (const Case& c : {Case{"SAME_UPPER", {1, 1, 2, 1}}, Case{"SAME_LOWER", {2, 1, 1, 1}},
                        Case{"VALID", {0, 0, 0, 0}}})
    for (const char* type : {"Conv", "MaxPool", "AveragePool"}) {
      SCOPED_TRACE(StrCat(type, " ", c.mode));
      const auto build = [&](bool automatic) {
        Model model(11);
        model.Input("x", {1, 2, 7, 8}).Output("y").Constant("w", Random({2, 2, 4, 3}, 1));
        const bool is_conv = std::string(type) == "Conv";
        NodeProto& node = model.Node(type, is_conv ? Names{"x", "w"} : Names{"x"}, {"y"});
        SetInts(node, "kernel_shape", {4, 3});
        SetInts(node, "strides", {2, 1});
        if (automatic) {
          SetString(node, "auto_pad", c.mode);
        } else {
          SetInts(node, "pads", c.pads);
        }
        return model;
      };
      const runtime::Inputs inputs = {{"x", Random({1, 2, 7, 8}, 2)}};
      const auto expected = Computed(build(false), inputs);
      ExpectClose(Computed(build(true), inputs), expected);
    }
  Model wrong(11);
  wrong.Input("x", {1, 2, 7, 8}).Output("y").Constant("w", Random({2, 2, 4, 3}, 1));
  SetString(wrong.Node("Conv", {"x", "w"}, {"y"}, "conv"), "auto_pad", "SAME");
  EXPECT_THAT(MessageOf(Imported(wrong), kInvalid),
              AllOf(HasSubstr("conv"), HasSubstr("auto_pad is SAME;")));
}

TEST(OnnxImportTest, SoftmaxNormalisesTheAxesFromTheGivenOneOnUpToOpset12) {
  const NDArray x = Random({2, 3, 4}, 1);
  const auto sum_over = [&](int opset, int axis, bool given) {
    Model model(opset);
    model.Input("x", {2, 3, 4}).Output("y");
    NodeProto& node = model.Node("Softmax", {"x"}, {"y"});
    if (given) SetInt(node, "axis", axis);
    const NDArray y = Computed(model, {{"x", x}}).at(0);
    EXPECT_EQ(y.shape(), (Shape{2, 3, 4}));
    // How many elements sum to 1.
    double all = 0, line = 0, strided = 0;
    for (int i = 0; i < 12; ++i) all += y.data<float>()[i];
    for (int i = 0; i < 4; ++i) line += y.data<float>()[i];
    for (int i = 0; i < 3; ++i) strided += y.data<float>()[4 * i];
    return std::vector<double>{all, line, strided};
  };
  EXPECT_NEAR(sum_over(9, 1, true)[0], 1, 1e-5);
  EXPECT_NEAR(sum_over(9, 0, false)[0], 1, 1e-5);  // the default is 1
  EXPECT_NEAR(sum_over(12, -2, true)[0], 1, 1e-5);
  EXPECT_NEAR(sum_over(9, 2, true)[1], 1, 1e-5);
  EXPECT_NEAR(sum_over(13, 1, true)[2], 1, 1e-5);
  EXPECT_NEAR(sum_over(13, 0, false)[1], 1, 1e-5);  // the default is -1
}

TEST(OnnxImportTest, SliceReadsAttributesBeforeOpset10AndInputsSince) {
  const NDArray x = NDArray::FromVector<float>({2, 5}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  Model old(9);
  old.Input("x", {2, 5}).Output("y");
  NodeProto& node = old.Node("Slice", {"x"}, {"y"});
  SetInts(node, "starts", {1, -4});
  SetInts(node, "ends", {1000, -1});
  SetInts(node, "axes", {0, 1});
  EXPECT_EQ(Computed(old, {{"x", x}}).at(0).ToVector<float>(), (std::vector<float>{6, 7, 8}));

  Model fresh(10);
  fresh.Input("x", {2, 5}).Output("y").Integers("starts", {-1, 0}).Integers("axes", {1, 0});
  fresh.Integers("ends", {std::numeric_limits<std::int64_t>::min(), 1}).Integers("steps", {-2, 1});
  fresh.Node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"y"});
  EXPECT_EQ(Computed(fresh, {{"x", x}}).at(0).ToVector<float>(), (std::vector<float>{4, 2, 0}));

  Model wrong(10);
  wrong.Input("x", {2, 5}).Output("y").Integers("starts", {0, 0}).Integers("ends", {1});
  wrong.Node("Slice", {"x", "starts", "ends"}, {"y"}, "cut");
  EXPECT_THAT(MessageOf(Imported(wrong), kInvalid), HasSubstr("cut (Slice)"));
}

TEST(OnnxImportTest, SplitIsEqualOrByLengths) {
  const NDArray x = NDArray::FromVector<float>({6}, {0, 1, 2, 3, 4, 5});
  const auto parts = [&](int opset, const Ints& lengths, const Names& outputs) {
    Model model(opset);
    model.Input("x", {6});
    if (opset >= 13 && !lengths.empty()) model.Integers("lengths", lengths);
    NodeProto& node =
        model.Node("Split", opset >= 13 && !lengths.empty() ? Names{"x", "lengths"} : Names{"x"},
                   outputs, "cut");
    if (opset < 13 && !lengths.empty()) SetInts(node, "split", lengths);
    for (const std::string& output : outputs) model.Output(output);
    return model;
  };
  for (const int opset : {11, 13}) {
    const auto equal = Computed(parts(opset, {}, {"a", "b", "c"}), {{"x", x}});
    ASSERT_EQ(equal.size(), 3U);
    EXPECT_EQ(equal[2].ToVector<float>(), (std::vector<float>{4, 5}));
    const auto given = Computed(parts(opset, {1, 0, 5}, {"a", "b", "c"}), {{"x", x}});
    ASSERT_EQ(given.size(), 3U);
    EXPECT_EQ(given[0].ToVector<float>(), (std::vector<float>{0}));
    EXPECT_EQ(given[1].shape(), (Shape{0}));
    EXPECT_EQ(given[2].ToVector<float>(), (std::vector<float>{1, 2, 3, 4, 5}));
    EXPECT_THAT(MessageOf(Imported(parts(opset, {1, 2, 5}, {"a", "b", "c"})), kInvalid),
                AllOf(HasSubstr("cut"), HasSubstr("[1, 2, 5]")));
    EXPECT_THAT(MessageOf(Imported(parts(opset, {1, 5}, {"a", "b", "c"})), kInvalid),
                HasSubstr("3 outputs"));
    EXPECT_FALSE(Imported(parts(opset, {-1, 7}, {"a", "b"})).ok());
  }
}

struct ScaleAttrs {
  static constexpr const char* kTypeKey = "test.attrs.ScaleAttrs";
  double factor = 1.0;
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("factor", &ScaleAttrs::factor, "the scale"));
  }
};
TENON_REGISTER_OP("acme.ai.Scale")
    .Attrs<ScaleAttrs>()
    .Argument("data", "Tensor", "input")
    .TypeRelation(ops::Identity)
    .Elementwise([](const ScaleAttrs& attrs, te::Expr x) {
      return x * te::Cast(x.dtype(), attrs.factor);
    });

TEST(OnnxImportTest, NodesOfOtherDomainsAreRegisteredOperators) {
  Model model;
  model.Input("x", {3}).Output("y");
  SetFloat(model.Node("Scale", {"x"}, {"y"}, "scale", "acme.ai"), "factor", 2.5F);
  EXPECT_EQ(
      Computed(model, {{"x", NDArray::FromVector<float>({3}, {1, -2, 4})}}).at(0).ToVector<float>(),
      (std::vector<float>{2.5, -5, 10}));
}

TEST(OnnxImportTest, AnAttributeThatTheRegisteredOperatorHasNotIsAnErrorOfItsNode) {
  Model model;
  model.Input("x", {3}).Output("y");
  SetFloat(model.Node("Scale", {"x"}, {"y"}, "scale", "acme.ai"), "facto", 2.5F);
  const auto module = Imported(model);
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(std::string(module.status().message()),
              AllOf(HasSubstr("scale (Scale)"), HasSubstr("facto")));
}

TEST(OnnxImportTest, AnUnknownOperatorOfAnotherDomainIsComparedWithThoseOfPlugIns) {
  Model model;
  model.Input("x", {3}).Output("y").Node("Scal", {"x"}, {"y"}, "scale", "acme.ai");
  EXPECT_THAT(std::string(Imported(model).status().message()),
              AllOf(HasSubstr("acme.ai.Scal (scale); did you mean acme.ai.Scale?"),
                    HasSubstr("registered by plug-ins, under DOMAIN.TYPE")));
}

TEST(OnnxImportTest, SupportedOperatorsAreSortedAndEachIsAConverter) {
  const Names names = SupportedOnnxOps();
  EXPECT_GT(names.size(), 60U);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_THAT(names, ::testing::IsSupersetOf(Names{"Conv", "Gemm", "MatMul", "Softmax", "Split"}));
}

}  // namespace
}  // namespace tenon::onnx_import
