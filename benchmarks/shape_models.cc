// Models whose inputs have open extents, as people export them: shape_models FOLDER writes
//
//   resnet50.onnx, mobilenet_v2.onnx   data (batch, 3, 224, 224)
//   encoder.onnx                       tokens (batch, length, 256): 4 layers, 8 heads, 1024 hidden
//   lstm.onnx                          steps (length, 1, 128) -> 256 hidden, ONNX's own operator
//
// Weights are generated (models/weights.h). scripts/bench-shapes measures them.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "onnx/onnx_pb.h"
#include "tenon/benchmarks/onnx_graph.h"
#include "tenon/models/mobilenet.h"
#include "tenon/models/resnet.h"
#include "tenon/onnx/export.h"
#include "tenon/ops/ints.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/support/write_file.h"

namespace tenon::benchmarks {
namespace {

using ops::Ints;

constexpr std::int64_t kFeatures = 256, kHeads = 8, kHidden = 1024, kLayers = 4;

std::string Dense(OnnxGraph& w, const std::string& x, std::int64_t in, std::int64_t out) {
  // Kernel's variance is that of a weight whose second axis is summed, so both are of `in`.
  const std::string weight = w.Transpose(w.Kernel({out, in}), {1, 0});
  return w.Call("Add", {w.Call("MatMul", {x, weight}), w.Vector(out, -0.1, 0.1)});
}

std::string Norm(OnnxGraph& w, const std::string& x) {
  return w.Call("LayerNormalization",
                {x, w.Vector(kFeatures, 0.5, 1.5), w.Vector(kFeatures, -0.2, 0.2)});
}

std::string Attention(OnnxGraph& w, const std::string& x) {
  const auto heads = [&](const Ints& order) {
    const std::string projected = Dense(w, x, kFeatures, kFeatures);
    return w.Transpose(w.Reshape(projected, {0, 0, kHeads, kFeatures / kHeads}), order);
  };
  const std::string query = heads({0, 2, 1, 3}), key = heads({0, 2, 3, 1}),
                    value = heads({0, 2, 1, 3});
  const auto scale = static_cast<float>(1 / std::sqrt(double{kFeatures} / kHeads));
  const std::string scores = w.Call(
      "Mul", {w.Call("MatMul", {query, key}), w.Constant(NDArray::FromVector<float>({}, {scale}))});
  const std::string sums = w.Call("MatMul", {w.Call("Softmax", {scores}), value});
  return Dense(w, w.Reshape(w.Transpose(sums, {0, 2, 1, 3}), {0, 0, kFeatures}), kFeatures,
               kFeatures);
}

std::string Encoder() {
  OnnxGraph w;
  std::string x = w.Input("tokens", {"batch", "length", StrCat(kFeatures)});
  for (std::int64_t i = 0; i < kLayers; ++i) {
    x = Norm(w, w.Call("Add", {x, Attention(w, x)}));
    const std::string hidden = w.Call("Relu", {Dense(w, x, kFeatures, kHidden)});
    x = Norm(w, w.Call("Add", {x, Dense(w, hidden, kHidden, kFeatures)}));
  }
  return w.Write(x, {"batch", "length", StrCat(kFeatures)});
}

std::string Lstm() {
  constexpr std::int64_t kInputs = 128, kStates = 256;
  OnnxGraph w;
  const std::string steps = w.Input("steps", {"length", "1", StrCat(kInputs)});
  // Kernel's variance is that of sums over all axes but the first.
  const std::string input = w.Reshape(w.Kernel({4 * kStates, kInputs}), {1, 4 * kStates, kInputs});
  const std::string state = w.Reshape(w.Kernel({4 * kStates, kStates}), {1, 4 * kStates, kStates});
  const std::string bias = w.Reshape(w.Vector(8 * kStates, -0.1, 0.1), {1, 8 * kStates});
  const std::string states =
      w.Call("LSTM", {steps, input, state, bias}, {{"hidden_size", kStates}});
  return w.Write(states, {"length", "1", "1", StrCat(kStates)});
}

// With any number of images. The layers of the models are such that no other extent depends on it.
std::string WithBatch(const ir::Module& module) {
  onnx::ModelProto model;
  if (!model.ParseFromString(ValueOrThrow(onnx_export::ExportOnnx(module))))
    throw DataLoss("the exporter wrote no model");
  for (auto* values :
       {model.mutable_graph()->mutable_input(), model.mutable_graph()->mutable_output()}) {
    for (auto& value : *values)
      value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param(
          "batch");
  }
  model.mutable_graph()->clear_value_info();
  return model.SerializeAsString();
}

void WriteAll(const std::string& folder) {
  WriteFile(folder + "/resnet50.onnx", {WithBatch(models::ResNet(50))});
  WriteFile(folder + "/mobilenet_v2.onnx", {WithBatch(models::MobileNetV2())});
  WriteFile(folder + "/encoder.onnx", {Encoder()});
  WriteFile(folder + "/lstm.onnx", {Lstm()});
}

}  // namespace
}  // namespace tenon::benchmarks

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: shape_models FOLDER\n", stderr);
    return 2;
  }
  try {
    tenon::benchmarks::WriteAll(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "shape_models: %s\n", error.what());
    return 1;
  }
}
