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

}  // namespace
}  // namespace tenon::onnx_import
