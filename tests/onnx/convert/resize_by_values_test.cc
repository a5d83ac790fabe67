// A size that a run gives picks the elements that the same size picks where it is known.
#include "tenon/support/strings.h"
#include "tenon/tests/onnx/written_model.h"

namespace tenon::onnx_import {
namespace {

NodeProto& Nearest(Model& model, const std::string& rounding) {
  NodeProto& node = model.Node("Resize", {"x", "", "", "sizes"}, {"y"});
  SetString(node, "mode", "nearest");
  SetString(node, "coordinate_transformation_mode", "asymmetric");
  SetString(node, "nearest_mode", rounding);
  SetString(node, "keep_aspect_ratio_policy", "not_larger");
  SetInts(node, "axes", {2, 3});
  return node;
}

// Element 9 of 18 lies at 9 / (18 / 14), which is 7 or, in float64, just below.
TEST(ResizeByValuesTest, PlacesJustBesideAWholeNumberAreThatNumber) {
  std::vector<float> columns;
  for (int i = 0; i < 14 * 14; ++i) columns.push_back(static_cast<float>(i % 14));
  const NDArray x = NDArray::FromVector<float>({1, 1, 14, 14}, columns);
  for (const char* rounding : {"floor", "ceil"}) {
    for (const std::int64_t size : {1, 9, 18, 34, 36, 43}) {
      const NDArray sizes = NDArray::FromVector<std::int64_t>({2}, {size, size});
      Model known(18), of_run(18);
      known.Input("x", {1, 1, 14, 14}).Output("y").Initializer("sizes", sizes);
      of_run.Input("x", {1, 1, 14, 14}).Output("y").InputLike("sizes", sizes);
      Nearest(known, rounding);
      Nearest(of_run, rounding);
      const NDArray wanted = Computed(known, {{"x", x}})[0],
                    got = Computed(of_run, {{"x", x}, {"sizes", sizes}})[0];
      ASSERT_EQ(got.ToVector<float>(), wanted.ToVector<float>()) << size << " " << rounding;
    }
  }
}

// The picture is the one of the standard's test of Resize in opset 10.
TEST(ResizeByValuesTest, InOpset10AnAxisThatShrinksTakesTheNextElement) {
  const NDArray x = NDArray::FromVector<float>({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const std::pair<std::vector<float>, std::vector<float>> cases[] = {
      {{1, 1, 0.6F, 0.6F}, {1, 3}},
      {{1, 1, 1.5F, 0.6F}, {1, 3, 1, 3, 5, 7}},
      {{1, 1, 0.5F, 1.5F}, {1, 1, 2, 3, 3, 4}}};
  for (const auto& [scales, wanted] : cases) {
    const NDArray given = NDArray::FromVector<float>({4}, scales);
    Model known(10), of_run(10);
    known.Input("x", {1, 1, 2, 4}).Output("y").Constant("scales", given);
    of_run.Input("x", {1, 1, 2, 4}).Output("y").InputLike("scales", given);
    for (Model* model : {&known, &of_run}) model->Node("Resize", {"x", "scales"}, {"y"});
    EXPECT_EQ(Computed(known, {{"x", x}})[0].ToVector<float>(), wanted);
    EXPECT_EQ(Computed(of_run, {{"x", x}, {"scales", given}})[0].ToVector<float>(), wanted);
  }
}

}  // namespace
}  // namespace tenon::onnx_import
