// ONNX operators that are imported as compositions, beyond what the standard's node tests cover:
// every form of an equation, directions of recurrences, opsets after the node tests, refusals.
#include <numeric>

#include "onnx/onnx_pb.h"
#include "tenon/onnx/import.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::onnx_import {
namespace {

using ::testing::HasSubstr;
using testing_graphs::ExpectClose;

// A model of one node, some of whose inputs are constants.
class OneNode {
 public:
  explicit OneNode(const char* type, int opset = 17) {
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(opset);
    model_.mutable_graph()->set_name("graph");
    node_ = model_.mutable_graph()->add_node();
    node_->set_op_type(type);
  }
  OneNode& Input(const NDArray& value) { return Given(value, false); }
  OneNode& Constant(const NDArray& value) { return Given(value, true); }
  OneNode& NoInput() {
    node_->add_input("");
    return *this;
  }
  OneNode& Int(const char* name, std::int64_t value) {
    auto* a = Attribute(name, onnx::AttributeProto::INT);
    a->set_i(value);
    return *this;
  }
  OneNode& Float(const char* name, float value) {
    Attribute(name, onnx::AttributeProto::FLOAT)->set_f(value);
    return *this;
  }
  OneNode& Text(const char* name, const std::string& value) {
    Attribute(name, onnx::AttributeProto::STRING)->set_s(value);
    return *this;
  }
  OneNode& Texts(const char* name, const std::vector<std::string>& values) {
    auto* a = Attribute(name, onnx::AttributeProto::STRINGS);
    for (const std::string& value : values) a->add_strings(value);
    return *this;
  }
  OneNode& Ints(const char* name, const std::vector<std::int64_t>& values) {
    auto* a = Attribute(name, onnx::AttributeProto::INTS);
    for (const std::int64_t value : values) a->add_ints(value);
    return *this;
  }

  absl::StatusOr<ir::Module> Imported(int outputs = 1) {
    strategies::RegisterStrategies(ops::OpRegistry::Global());
    for (int i = 0; i < outputs; ++i) {
      node_->add_output(StrCat("y", i));
      model_.mutable_graph()->add_output()->set_name(StrCat("y", i));
    }
    return ImportOnnx(model_.SerializeAsString(), {.evaluate = strategies::EvaluateCall});
  }
  std::vector<NDArray> Results(int outputs = 1) {
    return testing_graphs::Outcome(ValueOrThrow(Imported(outputs)), values_);
  }
  std::string Refusal(int outputs = 1) { return std::string(Imported(outputs).status().message()); }

 private:
  onnx::AttributeProto* Attribute(const char* name, onnx::AttributeProto::AttributeType type) {
    auto* attribute = node_->add_attribute();
    attribute->set_name(name);
    attribute->set_type(type);
    return attribute;
  }
  OneNode& Given(const NDArray& value, bool is_constant) {
    const std::string name = StrCat("x", node_->input_size());
    const int type = value.dtype() == Float32 ? onnx::TensorProto::FLOAT : onnx::TensorProto::INT64;
    node_->add_input(name);
    if (is_constant) {
      auto* tensor = model_.mutable_graph()->add_initializer();
      tensor->set_name(name);
      tensor->set_data_type(type);
      for (const std::int64_t extent : value.shape()) tensor->add_dims(extent);
      tensor->set_raw_data(value.raw(), static_cast<std::size_t>(value.size()) *
                                            static_cast<std::size_t>(value.dtype().bytes()));
      return *this;
    }
    auto* info = model_.mutable_graph()->add_input();
    info->set_name(name);
    info->mutable_type()->mutable_tensor_type()->set_elem_type(type);
    auto* shape = info->mutable_type()->mutable_tensor_type()->mutable_shape();
    for (const std::int64_t extent : value.shape()) shape->add_dim()->set_dim_value(extent);
    values_[name] = value;
    return *this;
  }

  onnx::ModelProto model_;
  onnx::NodeProto* node_;
  runtime::Inputs values_;
};

// Values that differ everywhere and are exact in sums.
NDArray Counting(const Shape& shape, int step = 7) {
  std::vector<float> values(static_cast<std::size_t>(NumElements(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(static_cast<int>(i) * step % 11 - 5);
  return NDArray::FromVector(shape, values);
}
NDArray Numbers(const std::vector<std::int64_t>& values) {
  return NDArray::FromVector({static_cast<std::int64_t>(values.size())}, values);
}
NDArray Floats(const Shape& shape, const std::vector<float>& values) {
  return NDArray::FromVector(shape, values);
}

TEST(EinsumTest, SumsWhatTheResultLacks) {
  const NDArray x = Counting({2, 3});
  const auto* v = x.data<float>();
  const NDArray columns = OneNode("Einsum").Input(x).Text("equation", "ij->j").Results()[0];
  ExpectClose(columns, Floats({3}, {v[0] + v[3], v[1] + v[4], v[2] + v[5]}));
}

TEST(EinsumTest, ImpliesTheLabelsThatOccurOnceInOrder) {
  const NDArray a = Counting({2, 3}), b = Counting({3, 4}, 5);
  // "ba,ac" gives "bc".
  const NDArray y = OneNode("Einsum").Input(a).Input(b).Text("equation", "ba, ac").Results()[0];
  ASSERT_EQ(y.shape(), (Shape{2, 4}));
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 4; ++j) {
      float sum = 0;
      for (int k = 0; k < 3; ++k) sum += a.data<float>()[i * 3 + k] * b.data<float>()[k * 4 + j];
      EXPECT_EQ(y.data<float>()[i * 4 + j], sum);
    }
  }
}

TEST(EinsumTest, AnEllipsisBroadcasts) {
  const NDArray a = Counting({5, 1, 2, 3}), b = Counting({4, 3, 2}, 5);
  const NDArray y =
      OneNode("Einsum").Input(a).Input(b).Text("equation", "...ij,...jk->...ik").Results()[0];
  ASSERT_EQ(y.shape(), (Shape{5, 4, 2, 2}));
  const auto at = [&](int n, int m, int i, int k) {
    float sum = 0;
    for (int j = 0; j < 3; ++j)
      sum += a.data<float>()[n * 6 + i * 3 + j] * b.data<float>()[m * 6 + j * 2 + k];
    return sum;
  };
  EXPECT_EQ(y.data<float>()[((3 * 4 + 2) * 2 + 1) * 2], at(3, 2, 1, 0));
  EXPECT_EQ(y.data<float>()[((4 * 4 + 3) * 2 + 0) * 2 + 1], at(4, 3, 0, 1));
}

TEST(EinsumTest, TakesTracesAndThreeOperands) {
  const NDArray x = Counting({3, 3});
  const auto* v = x.data<float>();
  ExpectClose(OneNode("Einsum").Input(x).Text("equation", "ii").Results()[0],
              Floats({}, {v[0] + v[4] + v[8]}));
  const NDArray a = Counting({2}), b = Counting({2, 3}, 5), c = Counting({3}, 3);
  float sum = 0;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      sum += a.data<float>()[i] * b.data<float>()[i * 3 + j] * c.data<float>()[j];
  ExpectClose(
      OneNode("Einsum").Input(a).Input(b).Input(c).Text("equation", "i,ij,j->").Results()[0],
      Floats({}, {sum}));
}

TEST(EinsumTest, RefusesBadEquations) {
  const NDArray x = Counting({2, 3});
  const auto refusal = [&](const char* equation) {
    return OneNode("Einsum").Input(x).Text("equation", equation).Refusal();
  };
  EXPECT_THAT(refusal("ij,jk->ik"), HasSubstr("for 2 operands; there are 1"));
  EXPECT_THAT(refusal("ijk->i"),
              HasSubstr("operand 0 has rank 2 and the term \"ijk\" names 3 axes"));
  EXPECT_THAT(refusal("i1->i"), HasSubstr("letters and at most one ellipsis"));
  EXPECT_THAT(refusal("ij->k"), HasSubstr("must occur in an operand"));
  EXPECT_THAT(refusal("ii->i"), HasSubstr("a label stands for the extents 2 and 3"));
}

TEST(TopKTest, EqualElementsKeepTheirOrder) {
  const NDArray x = Floats({2, 5}, {1, 3, 3, 2, 3, -1, -1, -2, 0, 0});
  const auto y = OneNode("TopK").Input(x).Constant(Numbers({3})).Results(2);
  ExpectClose(y[0], Floats({2, 3}, {3, 3, 3, 0, 0, -1}));
  ExpectClose(y[1], NDArray::FromVector<std::int64_t>({2, 3}, {1, 2, 4, 3, 4, 0}));
  EXPECT_THAT(OneNode("TopK").Input(x).Constant(Numbers({6})).Refusal(2),
              HasSubstr("k is 6 for an axis of 5 elements"));
}

// The second direction reads the sequence backwards and writes its results where it read.
TEST(RecurrentTest, BothDirectionsAreOneEach) {
  for (const char* type : {"RNN", "GRU", "LSTM"}) {
    const std::int64_t gates = std::string(type) == "RNN" ? 1 : std::string(type) == "GRU" ? 3 : 4;
    const NDArray x = testing_graphs::Random({4, 2, 3}, 1),
                  w = testing_graphs::Random({2, gates * 5, 3}, 2),
                  r = testing_graphs::Random({2, gates * 5, 5}, 3);
    const auto part = [&](const NDArray& both, std::int64_t k) {
      const std::int64_t each = both.size() / 2;
      const float* from = both.data<float>() + k * each;
      return Floats({1, both.shape()[1], both.shape()[2]}, {from, from + each});
    };
    const NDArray both = OneNode(type)
                             .Input(x)
                             .Input(w)
                             .Input(r)
                             .Int("hidden_size", 5)
                             .Text("direction", "bidirectional")
                             .Results()[0];
    ASSERT_EQ(both.shape(), (Shape{4, 2, 2, 5}));
    for (const std::int64_t k : {0, 1}) {
      const NDArray one = OneNode(type)
                              .Input(x)
                              .Input(part(w, k))
                              .Input(part(r, k))
                              .Int("hidden_size", 5)
                              .Text("direction", k == 0 ? "forward" : "reverse")
                              .Results()[0];
      for (std::int64_t t = 0; t < 4; ++t)
        for (std::int64_t i = 0; i < 10; ++i)
          EXPECT_NEAR(both.data<float>()[(t * 2 + k) * 10 + i], one.data<float>()[t * 10 + i], 1e-5)
              << type;
    }
  }
}

TEST(RecurrentTest, WhatIsNotSupportedIsNamed) {
  const NDArray x = Counting({4, 2, 3}), w = Counting({1, 20, 3}), r = Counting({1, 20, 5});
  const auto lstm = [&] {
    OneNode node("LSTM");
    node.Input(x).Input(w).Input(r);
    return node;
  };
  EXPECT_THAT(lstm().Float("clip", -1).Refusal(), HasSubstr("clip is -1"));
  EXPECT_THAT(lstm().Texts("activations", {"Wobble", "Tanh", "Tanh"}).Refusal(),
              HasSubstr("the activation Wobble is not supported"));
  EXPECT_THAT(lstm().Text("direction", "both").Refusal(), HasSubstr("direction is both"));
  EXPECT_THAT(lstm().NoInput().Constant(Numbers({4, 5})).Refusal(),
              HasSubstr("sequence_lens, has 5 for 4 steps"));
}

// As pack_padded_sequence is exported: each sequence is what it would be alone, followed by zeros.
TEST(RecurrentTest, SequencesOfSeveralLengthsAreOneLayer) {
  const std::vector<std::int64_t> lengths = {4, 1, 3};
  const NDArray x = testing_graphs::Random({4, 3, 2}, 1), w = testing_graphs::Random({1, 20, 2}, 2),
                r = testing_graphs::Random({1, 20, 5}, 3);
  for (const char* direction : {"forward", "reverse"}) {
    const std::vector<NDArray> all = OneNode("LSTM")
                                         .Input(x)
                                         .Input(w)
                                         .Input(r)
                                         .NoInput()
                                         .Input(Numbers(lengths))
                                         .Text("direction", direction)
                                         .Results(3);
    for (std::size_t b = 0; b < 3; ++b) {
      const std::int64_t steps = lengths[b];
      std::vector<float> own;
      for (std::int64_t t = 0; t < steps; ++t) {
        const float* from = x.data<float>() + (t * 3 + static_cast<std::int64_t>(b)) * 2;
        own.insert(own.end(), from, from + 2);
      }
      const std::vector<NDArray> one = OneNode("LSTM")
                                           .Input(Floats({steps, 1, 2}, own))
                                           .Input(w)
                                           .Input(r)
                                           .Text("direction", direction)
                                           .Results(3);
      for (std::int64_t j = 0; j < 5; ++j) {
        for (std::int64_t t = 0; t < 4; ++t)
          EXPECT_NEAR(all[0].data<float>()[(t * 3 + static_cast<std::int64_t>(b)) * 5 + j],
                      t < steps ? one[0].data<float>()[t * 5 + j] : 0, 1e-5);
        for (std::size_t state : {1U, 2U})
          EXPECT_NEAR(all[state].data<float>()[static_cast<std::int64_t>(b) * 5 + j],
                      one[state].data<float>()[j], 1e-5);
      }
    }
  }
}

TEST(RecurrentTest, ALongSequenceIsOneKernel) {
  OneNode node("GRU");
  node.Input(testing_graphs::Random({10000, 1, 2}, 1))
      .Constant(testing_graphs::Random({1, 9, 2}, 2))
      .Constant(testing_graphs::Random({1, 9, 3}, 3));
  const auto module = node.Imported();
  ASSERT_EQ(module.status(), absl::OkStatus());
  EXPECT_LE(ValueOrThrow(Compile(*module)).num_kernel_calls(), 5);
}

TEST(ResizeTest, Opset18TakesAxesAndKeepsTheAspectRatio) {
  const NDArray x = Counting({1, 1, 4, 6});
  const auto sized = [&](const char* policy) {
    return OneNode("Resize", 18)
        .Input(x)
        .NoInput()
        .NoInput()
        .Constant(Numbers({7, 7}))
        .Ints("axes", {2, 3})
        .Text("keep_aspect_ratio_policy", policy)
        .Results()[0]
        .shape();
  };
  EXPECT_EQ(sized("stretch"), (Shape{1, 1, 7, 7}));
  EXPECT_EQ(sized("not_larger"), (Shape{1, 1, 5, 7}));
  EXPECT_EQ(sized("not_smaller"), (Shape{1, 1, 7, 11}));
}

TEST(ResizeTest, Opset10IsAsymmetricAndRoundsDown) {
  const NDArray x = Floats({1, 1, 1, 3}, {1, 2, 3});
  ExpectClose(OneNode("Resize", 10).Input(x).Constant(Floats({4}, {1, 1, 1, 1.5F})).Results()[0],
              Floats({1, 1, 1, 4}, {1, 1, 2, 3}));
}

TEST(ResizeTest, WhatIsNotSupportedIsNamed) {
  const NDArray x = Counting({1, 1, 4, 6});
  const auto node = [&] {
    OneNode made("Resize", 18);
    made.Input(x).NoInput().Constant(Floats({4}, {1, 1, 2, 2}));
    return made;
  };
  EXPECT_THAT(node()
                  .Int("antialias", 1)
                  .Text("mode", "linear")
                  .Text("coordinate_transformation_mode", "wide")
                  .Refusal(),
              HasSubstr("antialias with coordinate_transformation_mode wide"));
  EXPECT_THAT(node().Text("mode", "area").Refusal(), HasSubstr("the mode area"));
  EXPECT_THAT(OneNode("Pad", 19)
                  .Input(x)
                  .Constant(Numbers({0, 0, 1, 1, 0, 0, 1, 1}))
                  .Text("mode", "warp")
                  .Refusal(),
              HasSubstr("the mode warp is not supported"));
}

TEST(PadTest, Opset18TakesAxes) {
  EXPECT_EQ(OneNode("Pad", 18)
                .Input(Counting({2, 3}))
                .Constant(Numbers({1, 2}))
                .NoInput()
                .Constant(Numbers({-1}))
                .Results()[0]
                .shape(),
            (Shape{2, 6}));
}

}  // namespace
}  // namespace tenon::onnx_import
