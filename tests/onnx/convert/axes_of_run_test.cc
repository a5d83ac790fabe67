// Squeeze, Unsqueeze, Slice and Pad along axes that only a run knows. Models are compiled once;
// loops of the tests say what is right.
#include <algorithm>
#include <functional>

#include "tenon/tests/onnx/any_shapes.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::Random;

constexpr auto kInt64 = TensorProto::INT64;

NDArray Vector(const Ints& values) {
  return NDArray::FromVector({static_cast<std::int64_t>(values.size())}, values);
}

Executable CompiledFor(const Model& model) {
  return ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes())),
                              {.verify = true, .check_bounds = true}));
}

std::string Refusal(const Executable& exe, const runtime::Inputs& inputs) {
  const auto result = exe.Run(inputs);
  return result.ok() ? "it was taken" : std::string(result.status().message());
}

// An array of the shape whose element at each place is what `at` says.
NDArray Filled(const Shape& shape, const std::function<float(const Shape& at)>& at) {
  NDArray array = NDArray::Empty(shape, Float32);
  Shape place(shape.size(), 0);
  for (std::int64_t i = 0; i < array.size(); ++i) {
    array.data<float>()[i] = at(place);
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++place[d] < shape[d]) break;
      place[d] = 0;
    }
  }
  return array;
}
float At(const NDArray& x, const Shape& place) {
  std::int64_t flat = 0;
  for (std::size_t d = 0; d < place.size(); ++d) flat = flat * x.shape()[d] + place[d];
  return x.data<float>()[flat];
}

void ExpectSame(const NDArray& got, const NDArray& wanted) {
  ASSERT_EQ(got.shape(), wanted.shape());
  EXPECT_EQ(got.ToVector<float>(), wanted.ToVector<float>());
}

TEST(AxesOfRunTest, UnsqueezePutsAxesOfOneElementAnywhere) {
  Model model(13);
  NamedInput(model, "x", {"n", "3"});
  NamedInput(model, "axes", {"2"}, kInt64);
  model.Output("y").Output("doubled");
  model.Node("Unsqueeze", {"x", "axes"}, {"y"}, "wider");
  model.Node("Add", {"y", "y"}, {"doubled"});
  const Executable exe = CompiledFor(model);
  const std::vector<std::pair<Ints, std::function<Shape(std::int64_t n)>>> cases = {
      {{0, 1},
       [](std::int64_t n) {
         return Shape{1, 1, n, 3};
       }},
      {{1, 0},
       [](std::int64_t n) {
         return Shape{1, 1, n, 3};
       }},
      {{3, 1},
       [](std::int64_t n) {
         return Shape{n, 1, 3, 1};
       }},
      {{-1, -2},
       [](std::int64_t n) {
         return Shape{n, 3, 1, 1};
       }},
      {{-4, 2}, [](std::int64_t n) {
         return Shape{1, n, 1, 3};
       }}};
  for (const std::int64_t n : {1, 5}) {
    const NDArray x = Random({n, 3}, 1);
    for (const auto& [axes, shape] : cases) {
      const auto results = ValueOrThrow(exe.Run({{"x", x}, {"axes", Vector(axes)}}));
      ExpectSame(results[0], x.Reshape(shape(n)));
      EXPECT_EQ(results[1].shape(), shape(n));
    }
  }
  for (const Ints& wrong : {Ints{0, 0}, {1, -3}, {4, 0}, {-5, 0}})
    EXPECT_THAT(Refusal(exe, {{"x", Random({5, 3}, 1)}, {"axes", Vector(wrong)}}),
                AllOf(HasSubstr("the node wider"), HasSubstr("different ones, at least -4")));
}

TEST(AxesOfRunTest, SqueezeDropsTheAxesThatAreNamed) {
  Model model(13);
  NamedInput(model, "x", {"1", "n", "1", "m"});
  NamedInput(model, "axes", {"2"}, kInt64);
  model.Output("y");
  model.Node("Squeeze", {"x", "axes"}, {"y"}, "narrower");
  const Executable exe = CompiledFor(model);
  const auto expect = [&](const Shape& shape, const Ints& axes, const Shape& left) {
    const NDArray x = Random(shape, 2);
    ExpectSame(ValueOrThrow(exe.Run({{"x", x}, {"axes", Vector(axes)}}))[0], x.Reshape(left));
  };
  expect({1, 4, 1, 3}, {0, 2}, {4, 3});
  expect({1, 4, 1, 3}, {-2, -4}, {4, 3});
  expect({1, 1, 1, 3}, {1, 2}, {1, 3});
  expect({1, 7, 1, 1}, {3, 0}, {7, 1});
  const auto refusal = [&](const Shape& shape, const Ints& axes) {
    return Refusal(exe, {{"x", Random(shape, 2)}, {"axes", Vector(axes)}});
  };
  EXPECT_THAT(refusal({1, 4, 1, 3}, {0, 1}), HasSubstr("the node narrower"));
  EXPECT_THAT(refusal({1, 4, 1, 3}, {0, 0}), HasSubstr("the node narrower"));
  EXPECT_THAT(refusal({1, 4, 1, 3}, {0, 4}), HasSubstr("the node narrower"));
}

TEST(AxesOfRunTest, SliceCutsTheAxesThatAreNamed) {
  Model model(13);
  NamedInput(model, "x", {"n", "5", "4"});
  for (const char* name : {"starts", "ends", "axes"}) NamedInput(model, name, {"2"}, kInt64);
  model.Output("y");
  model.Node("Slice", {"x", "starts", "ends", "axes"}, {"y"}, "some");
  const Executable exe = CompiledFor(model);
  const Shape shape = {6, 5, 4};
  const NDArray x = Random(shape, 3);
  struct Bounds {
    Ints starts, ends, axes;
  };
  for (const Bounds& b : {Bounds{{1, 0}, {3, 2}, {0, 2}}, Bounds{{-3, 1}, {-1, 100}, {1, -3}},
                          Bounds{{2, 3}, {2, 100}, {2, 1}}, Bounds{{-100, 0}, {4, 1}, {-1, 0}}}) {
    Shape first(3, 0), count = shape;
    for (std::size_t i = 0; i < 2; ++i) {
      const auto axis = static_cast<std::size_t>((b.axes[i] + 3) % 3);
      const auto in_range = [&](std::int64_t bound) {
        return std::clamp<std::int64_t>(bound < 0 ? bound + shape[axis] : bound, 0, shape[axis]);
      };
      first[axis] = in_range(b.starts[i]);
      count[axis] = std::max<std::int64_t>(in_range(b.ends[i]) - first[axis], 0);
    }
    const auto results = ValueOrThrow(exe.Run({{"x", x},
                                               {"starts", Vector(b.starts)},
                                               {"ends", Vector(b.ends)},
                                               {"axes", Vector(b.axes)}}));
    ExpectSame(results[0], Filled(count, [&](Shape at) {
                 for (std::size_t d = 0; d < 3; ++d) at[d] += first[d];
                 return At(x, at);
               }));
  }
  EXPECT_THAT(Refusal(exe, {{"x", x},
                            {"starts", Vector({0, 0})},
                            {"ends", Vector({1, 1})},
                            {"axes", Vector({1, -2})}}),
              HasSubstr("the node some"));
}

TEST(AxesOfRunTest, PadPutsElementsAroundTheAxesThatAreNamed) {
  Model model(18);
  NamedInput(model, "x", {"n", "3"});
  NamedInput(model, "pads", {"2"}, kInt64);
  NamedInput(model, "axes", {"1"}, kInt64);
  model.Input("value", {}).Output("y");
  model.Node("Pad", {"x", "pads", "value", "axes"}, {"y"}, "wider");
  const Executable exe = CompiledFor(model);
  const NDArray x = Random({5, 3}, 4);
  for (const std::int64_t axis : {0, 1, -1, -2}) {
    for (const Ints& pads : {Ints{0, 0}, {2, 1}, {0, 7}, {-1, 2}, {3, -2}, {-1, -1}}) {
      const auto at = static_cast<std::size_t>((axis + 2) % 2);
      Shape shape = x.shape();
      shape[at] += pads[0] + pads[1];
      const auto results = ValueOrThrow(exe.Run({{"x", x},
                                                 {"pads", Vector(pads)},
                                                 {"axes", Vector({axis})},
                                                 {"value", NDArray::Scalar(2.5F)}}));
      ExpectSame(results[0], Filled(shape, [&](Shape place) {
                   place[at] -= pads[0];
                   const bool is_inside = place[at] >= 0 && place[at] < x.shape()[at];
                   return is_inside ? At(x, place) : 2.5F;
                 }));
    }
  }
  EXPECT_THAT(Refusal(exe, {{"x", x},
                            {"pads", Vector({1, 1})},
                            {"axes", Vector({2})},
                            {"value", NDArray::Scalar(2.5F)}}),
              HasSubstr("the node wider"));
}

TEST(AxesOfRunTest, ANumberOfAxesThatARunDecidesIsRefused) {
  Model model(13);
  NamedInput(model, "x", {"n", "3"});
  NamedInput(model, "axes", {"k"}, kInt64);
  model.Output("y");
  model.Node("Unsqueeze", {"x", "axes"}, {"y"}, "wider");
  EXPECT_THAT(MessageOf(ImportOnnx(model.Bytes(), AnyShapes()), absl::StatusCode::kUnimplemented),
              AllOf(HasSubstr("wider (Unsqueeze)"), HasSubstr("their number")));
}

TEST(AxesOfRunTest, MoreAxesThanATensorMayHaveAreRefusedAtOnce) {
  Model model(13);
  NamedInput(model, "x", {"n", "3"});
  NamedInput(model, "axes", {"1000000000"}, kInt64);
  model.Output("y");
  model.Node("Unsqueeze", {"x", "axes"}, {"y"}, "wider");
  EXPECT_THAT(MessageOf(ImportOnnx(model.Bytes(), AnyShapes()), absl::StatusCode::kInvalidArgument),
              AllOf(HasSubstr("wider (Unsqueeze)"), HasSubstr("1000000002 axes")));
}

TEST(AxesOfRunTest, AnAxisThatTheModelNamesTwiceIsRefused) {
  Model model(13);
  NamedInput(model, "x", {"n", "3"});
  model.Integers("axes", {1, -3}).Output("y");
  model.Node("Unsqueeze", {"x", "axes"}, {"y"}, "wider");
  EXPECT_THAT(MessageOf(ImportOnnx(model.Bytes(), AnyShapes()), absl::StatusCode::kInvalidArgument),
              HasSubstr("axes name the axis 1 twice"));
}

}  // namespace
}  // namespace tenon::onnx_import
