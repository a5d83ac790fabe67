// Slices by steps that a run gives, of either sign, and places in sequences, against loops.
#include <algorithm>

#include "tenon/compiler/compile.h"
#include "tenon/tests/onnx/any_shapes.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing_graphs::Random;

constexpr auto kInt64 = TensorProto::INT64;

NDArray Vector(const Ints& values) {
  return NDArray::FromVector({static_cast<std::int64_t>(values.size())}, values);
}

// A model compiled once for all extents.
class Compiled {
 public:
  explicit Compiled(const Model& model)
      : exe_(ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes())),
                                  {.verify = true, .check_bounds = true}))) {}
  NDArray Result(const runtime::Inputs& inputs) const { return ValueOrThrow(exe_.Run(inputs))[0]; }
  std::string Refusal(const runtime::Inputs& inputs) const {
    const auto result = exe_.Run(inputs);
    return result.ok() ? "it was taken" : std::string(result.status().message());
  }

 private:
  const Executable exe_;
};

// The places of a slice, as numpy has them.
Ints PlacesOf(std::int64_t extent, std::int64_t start, std::int64_t end, std::int64_t step) {
  const auto counted = [&](std::int64_t bound) { return bound < 0 ? bound + extent : bound; };
  Ints places;
  if (step > 0) {
    for (std::int64_t i = std::clamp<std::int64_t>(counted(start), 0, extent);
         i < std::min(counted(end), extent); i += step) {
      places.push_back(i);
      if (step > extent) break;
    }
  } else {
    // The standard begins at an element.
    for (std::int64_t i = std::min(std::max<std::int64_t>(counted(start), 0), extent - 1);
         i >= 0 && i > counted(end); i += step) {
      places.push_back(i);
      if (step < -extent) break;
    }
  }
  return places;
}

constexpr std::int64_t kFar = std::int64_t{1} << 62;

struct Cut {
  std::int64_t start, end, step;
};
const Cut kCuts[] = {{0, 5, 1},    {0, kFar, 2},    {-1, -kFar, -1}, {3, 1, -1},   {4, 0, -3},
                     {-2, -9, -2}, {9, 1, 1},       {-7, 99, 3},     {0, 9, kFar}, {8, -9, -kFar},
                     {2, 2, -1},   {-99, -100, -1}, {1, -1, 2},      {5, -8, -1}};

Model StepsOfRun(const Names& extents, std::int64_t axis, bool knows_step, std::int64_t step = 0) {
  Model model(17);
  NamedInput(model, "x", extents).Output("y");
  model.Input("start", {1}, kInt64).Input("end", {1}, kInt64).Integers("axes", {axis});
  if (knows_step) {
    model.Integers("step", {step});
  } else {
    model.Input("step", {1}, kInt64);
  }
  model.Node("Slice", {"x", "start", "end", "axes", "step"}, {"y"}, "cut");
  return model;
}

void ExpectRows(const NDArray& x, const NDArray& y, const Cut& c) {
  const std::int64_t width = x.shape()[1];
  const Ints places = PlacesOf(x.shape()[0], c.start, c.end, c.step);
  ASSERT_EQ(y.shape(), (Shape{static_cast<std::int64_t>(places.size()), width}))
      << c.start << ":" << c.end << ":" << c.step << " of " << x.shape()[0];
  for (std::size_t i = 0; i < places.size(); ++i)
    for (std::int64_t j = 0; j < width; ++j)
      EXPECT_EQ(y.data<float>()[static_cast<std::int64_t>(i) * width + j],
                x.data<float>()[places[i] * width + j]);
}

TEST(SliceStepsTest, StepsOfARunGoEitherWay) {
  for (const Names& extents : {Names{"n", "3"}, {"7", "m"}, {"#n", "2"}}) {
    const Compiled compiled(StepsOfRun(extents, 0, false));
    for (const std::int64_t n : {7, 1, 2, 0}) {
      if ((extents[0] == "7" && n != 7) || (extents[0] == "n" && n == 0)) continue;
      const NDArray x = Random({n, extents[1] == "2" ? 2 : 3}, 1);
      for (const Cut& c : kCuts)
        ExpectRows(x,
                   compiled.Result({{"x", x},
                                    {"start", Vector({c.start})},
                                    {"end", Vector({c.end})},
                                    {"step", Vector({c.step})}}),
                   c);
    }
    EXPECT_THAT(compiled.Refusal({{"x", Random({7, extents[1] == "2" ? 2 : 3}, 1)},
                                  {"start", Vector({0})},
                                  {"end", Vector({3})},
                                  {"step", Vector({0})}}),
                AllOf(HasSubstr("cut (Slice), whose steps must not be 0"), HasSubstr("-1")));
  }
}

TEST(SliceStepsTest, BoundsOfARunTakeStepsThatGoDown) {
  for (const std::int64_t step : {std::int64_t{-1}, std::int64_t{-3}, -kFar}) {
    const Compiled compiled(StepsOfRun({"n", "3"}, 0, true, step));
    for (const std::int64_t n : {7, 1, 4}) {
      const NDArray x = Random({n, 3}, 1);
      for (const Cut& c : kCuts)
        ExpectRows(
            x, compiled.Result({{"x", x}, {"start", Vector({c.start})}, {"end", Vector({c.end})}}),
            {c.start, c.end, step});
    }
  }
}

// An extent may be shorter than the number that a slice counts from its end.
TEST(SliceStepsTest, OnTheWayDownAStartMayLieBeforeTheFirst) {
  Model model(17);
  NamedInput(model, "x", {"n", "2"}).Output("y");
  model.Integers("start", {-5})
      .Integers("end", {-100})
      .Integers("axes", {0})
      .Integers("step", {-1});
  model.Node("Slice", {"x", "start", "end", "axes", "step"}, {"y"}, "cut");
  const Compiled compiled(model);
  for (const std::int64_t n : {9, 5, 3, 1}) {
    const NDArray x = Random({n, 2}, 1);
    ExpectRows(x, compiled.Result({{"x", x}}), {-5, -100, -1});
  }
}

// As where a run gives them. The standard leaves open what this would mean.
TEST(SliceStepsTest, AnAxisIsNamedOnce) {
  Model model(17);
  NamedInput(model, "x", {"n", "2"}).Output("y");
  model.Integers("start", {0, 1}).Integers("end", {9, 9}).Integers("axes", {0, -2});
  model.Node("Slice", {"x", "start", "end", "axes"}, {"y"}, "cut");
  EXPECT_THAT(MessageOf(ImportOnnx(model.Bytes(), AnyShapes()), absl::StatusCode::kInvalidArgument),
              AllOf(HasSubstr("cut (Slice)"), HasSubstr("axes names the axis 0 twice")));
}

TEST(SliceStepsTest, AxesOfARunTakeSteps) {
  Model model(17);
  NamedInput(model, "x", {"n", "m"}).Output("y");
  for (const char* name : {"start", "end", "axes", "step"}) model.Input(name, {1}, kInt64);
  model.Node("Slice", {"x", "start", "end", "axes", "step"}, {"y"}, "cut");
  const Compiled compiled(model);
  const NDArray x = Random({5, 4}, 1);
  for (const Cut& c : kCuts) {
    const auto inputs = [&](std::int64_t axis) {
      return runtime::Inputs{{"x", x},
                             {"start", Vector({c.start})},
                             {"end", Vector({c.end})},
                             {"axes", Vector({axis})},
                             {"step", Vector({c.step})}};
    };
    ExpectRows(x, compiled.Result(inputs(-2)), c);
    const Ints places = PlacesOf(4, c.start, c.end, c.step);
    const NDArray y = compiled.Result(inputs(1));
    ASSERT_EQ(y.shape(), (Shape{5, static_cast<std::int64_t>(places.size())}));
    for (std::int64_t i = 0; i < 5; ++i)
      for (std::size_t j = 0; j < places.size(); ++j)
        EXPECT_EQ(y.data<float>()[i * y.shape()[1] + static_cast<std::int64_t>(j)],
                  x.data<float>()[i * 4 + places[j]]);
  }
}

// --- sequences

// Rows of one number each.
NDArray Row(float value) { return NDArray::FromVector<float>({1, 2}, {value, value}); }

Model PlaceOfRun(const std::string& type, const Names& extents) {
  Model model(17);
  for (const char* name : {"a", "b", "c"}) NamedInput(model, name, extents);
  model.Input("place", {}, kInt64).Output("y");
  model.Node("SequenceConstruct", {"a", "b"}, {"s"});
  if (type == "SequenceInsert") {
    model.Node(type, {"s", "c", "place"}, {"t"}, "moves");
  } else {
    model.Node("SequenceInsert", {"s", "c"}, {"longer"});
    model.Node(type, {"longer", "place"}, {"t"}, "moves");
  }
  SetInt(model.Node("ConcatFromSequence", {"t"}, {"y"}), "axis", 0);
  return model;
}

TEST(PlaceOfRunTest, AnElementIsInsertedOrErasedWhereARunSays) {
  for (const std::string type : {"SequenceInsert", "SequenceErase"}) {
    for (const Names& extents : {Names{"n", "2"}, {"1", "2"}}) {
      const Compiled compiled(PlaceOfRun(type, extents));
      const bool inserts = type == "SequenceInsert";
      const std::int64_t size = inserts ? 2 : 3;
      const auto inputs = [&](std::int64_t place) {
        return runtime::Inputs{{"a", Row(1)},
                               {"b", Row(2)},
                               {"c", Row(3)},
                               {"place", NDArray::Scalar<std::int64_t>(place)}};
      };
      for (std::int64_t place = -size; place < (inserts ? size + 1 : size); ++place) {
        std::vector<float> expected =
            inserts ? std::vector<float>{1, 2} : std::vector<float>{1, 2, 3};
        const auto at = expected.begin() + (place < 0 ? place + size : place);
        if (inserts) {
          expected.insert(at, 3);
        } else {
          expected.erase(at);
        }
        std::vector<float> rows;
        for (const float value : expected) rows.insert(rows.end(), 2, value);
        EXPECT_EQ(compiled.Result(inputs(place)).ToVector<float>(), rows) << type << place;
      }
      for (const std::int64_t place : {-size - 1, inserts ? size + 1 : size})
        EXPECT_THAT(compiled.Refusal(inputs(place)),
                    AllOf(HasSubstr(StrCat("moves (", type, "), whose position must be at least ",
                                           -size, " and below "))));
    }
  }
}

TEST(PlaceOfRunTest, ElementsOfTwoTypesAreRefused) {
  Model model(17);
  NamedInput(NamedInput(model, "a", {"n", "2"}), "b", {"m", "2"});
  model.Input("place", {}, kInt64).Output("y").Node("SequenceConstruct", {"a", "b"}, {"s"});
  model.Node("SequenceErase", {"s", "place"}, {"t"}, "moves");
  SetInt(model.Node("ConcatFromSequence", {"t"}, {"y"}), "axis", 0);
  EXPECT_THAT(MessageOf(ImportOnnx(model.Bytes(), AnyShapes()), absl::StatusCode::kUnimplemented),
              AllOf(HasSubstr("moves (SequenceErase)"), HasSubstr("the position must be known")));
}

// --- what has no plan

TEST(OnePlanTest, ARefusalNamesTheNodeThatValuesDecide) {
  Model model(17);
  model.Input("x", {4}).Output("y");
  model.Node("NonZero", {"x"}, {"at"}, "finds");
  model.Node("Neg", {"at"}, {"y"});
  const auto lowered = Lower(ValueOrThrow(Imported(model)));
  ASSERT_FALSE(lowered.ok());
  EXPECT_THAT(std::string(lowered.status().message()),
              AllOf(HasSubstr("the node finds (NonZero): values of a run decide an extent here"),
                    HasSubstr("end the model here"), Not(HasSubstr("take_first"))));
}

}  // namespace
}  // namespace tenon::onnx_import
