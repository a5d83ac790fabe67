// A model whose shapes are known when it runs: an ONNX file with open extents, compiled once and
// run on pictures of two sizes.
//
//   dynamic_model MODEL.onnx    a model of one input (n, 3, h, w)
#include <cstdio>
#include <string>
#include <vector>

#include "tenon/tenon.h"

namespace onnx_import = tenon::onnx_import;
namespace strategies = tenon::strategies;
using tenon::DynamicModel;
using tenon::Float32;
using tenon::Shape;
using tenon::ShapeToString;
using tenon::Tensor;

namespace {

Tensor Run(const DynamicModel& model, const std::string& input, const Shape& shape) {
  const std::vector<Tensor> y = model.Run({{input, Tensor::Zeros(shape, Float32)}}).value();
  std::printf("%s gives %s\n", ShapeToString(shape).c_str(), ShapeToString(y[0].shape()).c_str());
  return y[0];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: dynamic_model MODEL.onnx\n", stderr);
    return 1;
  }
  const auto onnx = onnx_import::OnnxModel::Load(argv[1]).value();
  const DynamicModel model =
      DynamicModel::Make(
          onnx.Import({.symbolic = true, .evaluate = strategies::EvaluateCall}).value())
          .value();
  const std::string& x = onnx.inputs()[0].name;
  const Tensor one = Run(model, x, {1, 3, 48, 192});
  const Tensor two = Run(model, x, {2, 3, 48, 192});
  const bool is_right = one.shape()[0] == 1 && two.shape()[0] == 2;
  // One compile served both.
  return is_right && model.statistics().common == 2 ? 0 : 1;
}
