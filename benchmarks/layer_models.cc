// Layers in which ONNX Runtime was once the faster one, each as a model of its own:
// layer_models FOLDER writes an ONNX file for each, and layers.json, a list of {name, file}.
//
// They are dilated and grouped convolutions (DeepLab v3, RegNet), recurrent layers, 1-D
// convolutions on samples of sound, 3-D convolutions on video, products of a few rows, and softmax.
// Weights are generated. scripts/bench-models measures them.
#include <cstdio>
#include <string>
#include <vector>

#include "tenon/benchmarks/onnx_graph.h"
#include "tenon/support/strings.h"
#include "tenon/support/write_file.h"

namespace tenon::benchmarks {
namespace {

using ops::Ints;

struct Layer {
  std::string name;
  std::string model;  // serialised
};

// Weights are those of `kernel`, whose first two axes are result channels and channels of a group.
Layer Convolution(const std::string& name, const Shape& input, const Shape& kernel,
                  const OnnxGraph::Attributes& attributes, const std::string& activation = "Relu") {
  OnnxGraph graph;
  OnnxGraph::Extents extents;
  for (const std::int64_t extent : input) extents.push_back(StrCat(extent));
  const std::string x = graph.Input("x", extents);
  const std::string sums =
      graph.Call("Conv", {x, graph.Kernel(kernel), graph.Vector(kernel[0], -0.1, 0.1)}, attributes);
  const OnnxGraph::Extents open(input.size(), "");
  return {name, graph.Write(graph.Call(activation, {sums}), open)};
}

Layer Dilated(std::int64_t dilation) {
  return Convolution(StrCat("3x3, 960 to 256 channels of 12 x 12, dilation ", dilation),
                     {1, 960, 12, 12}, {256, 960, 3, 3},
                     {{"dilations", Ints{dilation, dilation}},
                      {"pads", Ints{dilation, dilation, dilation, dilation}}});
}

Layer Grouped(std::int64_t groups, std::int64_t size) {
  return Convolution(StrCat("3x3, ", groups, " groups of 8 channels of ", size, " x ", size),
                     {1, groups * 8, size, size}, {groups * 8, 8, 3, 3},
                     {{"group", groups}, {"pads", Ints{1, 1, 1, 1}}});
}

// A recurrent layer's `gates` are 4 for LSTM and 3 for GRU.
std::string Recurrent(OnnxGraph& graph, const std::string& type, std::int64_t gates,
                      const std::string& x, std::int64_t inputs, std::int64_t states,
                      std::int64_t directions) {
  const auto weight = [&](std::int64_t columns) {
    return graph.Reshape(graph.Kernel({directions * gates * states, columns}),
                         {directions, gates * states, columns});
  };
  const std::string bias = graph.Reshape(graph.Vector(directions * 2 * gates * states, -0.1, 0.1),
                                         {directions, 2 * gates * states});
  return graph.Call(type, {x, weight(inputs), weight(states), bias},
                    {{"hidden_size", states},
                     {"direction", std::string(directions == 2 ? "bidirectional" : "forward")}});
}

Layer Steps(const std::string& type, std::int64_t gates, std::int64_t steps, std::int64_t inputs,
            std::int64_t states) {
  OnnxGraph graph;
  const std::string x = graph.Input("x", {StrCat(steps), "1", StrCat(inputs)});
  const std::string y = Recurrent(graph, type, gates, x, inputs, states, 1);
  return {StrCat(type, ", ", steps, " steps of ", inputs, " to ", states), graph.Write(y, {})};
}

// Two layers in both directions, as torch.nn writes them.
Layer TwoLayers(const std::string& type, std::int64_t gates) {
  constexpr std::int64_t kSteps = 20, kBatch = 2, kInputs = 64, kStates = 64;
  OnnxGraph graph;
  std::string x = graph.Input("x", {StrCat(kSteps), StrCat(kBatch), StrCat(kInputs)});
  std::int64_t inputs = kInputs;
  for (int layer = 0; layer < 2; ++layer) {
    const std::string states = Recurrent(graph, type, gates, x, inputs, kStates, 2);
    x = graph.Reshape(graph.Transpose(states, {0, 2, 1, 3}), {kSteps, kBatch, 2 * kStates});
    inputs = 2 * kStates;
  }
  return {StrCat(type, ", 2 layers, both directions, 20 steps, batch 2"), graph.Write(x, {})};
}

Layer Perceptron(std::int64_t rows) {
  const std::vector<std::int64_t> widths = {784, 512, 512, 10};
  OnnxGraph graph;
  std::string x = graph.Input("x", {StrCat(rows), StrCat(widths[0])});
  for (std::size_t i = 1; i < widths.size(); ++i) {
    x = graph.Call(
        "Gemm", {x, graph.Kernel({widths[i], widths[i - 1]}), graph.Vector(widths[i], -0.1, 0.1)},
        {{"transB", 1}});
    if (i + 1 < widths.size()) x = graph.Call("Relu", {x});
  }
  return {StrCat("784-512-512-10, ", rows, " rows"), graph.Write(x, {})};
}

Layer Softmax(std::int64_t rows, std::int64_t columns) {
  OnnxGraph graph;
  const std::string x = graph.Input("x", {StrCat(rows), StrCat(columns)});
  return {StrCat("softmax of ", rows, " x ", columns), graph.Write(graph.Call("Softmax", {x}), {})};
}

std::vector<Layer> Layers() {
  std::vector<Layer> layers;
  for (const std::int64_t dilation : {2, 6, 12, 24, 36}) layers.push_back(Dilated(dilation));
  layers.push_back(Grouped(13, 28));
  layers.push_back(Grouped(26, 14));
  layers.push_back(Grouped(55, 7));
  layers.push_back(Convolution("11x1, 32 to 64 channels of 8000 samples", {1, 32, 8000},
                               {64, 32, 11}, {{"pads", Ints{5, 5}}}));
  layers.push_back(Convolution("80x1 stride 4, 1 to 128 channels of 16000 samples", {1, 1, 16000},
                               {128, 1, 80}, {{"strides", Ints{4}}}));
  layers.push_back(Convolution("10x1 stride 5, 1 to 512 channels of 16000 samples", {1, 1, 16000},
                               {512, 1, 10}, {{"strides", Ints{5}}}));
  layers.push_back(Convolution("3x1 stride 2, 512 channels of 3199 samples", {1, 512, 3199},
                               {512, 512, 3}, {{"strides", Ints{2}}}));
  layers.push_back(Convolution("3x3x3, 64 channels of 8 x 28 x 28", {1, 64, 8, 28, 28},
                               {64, 64, 3, 3, 3}, {{"pads", Ints{1, 1, 1, 1, 1, 1}}}));
  layers.push_back(Convolution("3x7x7 stride 1, 2, 2, 3 to 64 channels of 8 x 112 x 112",
                               {1, 3, 8, 112, 112}, {64, 3, 3, 7, 7},
                               {{"pads", Ints{1, 3, 3, 1, 3, 3}}, {"strides", Ints{1, 2, 2}}}));
  layers.push_back(Steps("LSTM", 4, 800, 16, 32));
  layers.push_back(Steps("LSTM", 4, 100, 128, 256));
  layers.push_back(Steps("GRU", 3, 100, 128, 256));
  layers.push_back(TwoLayers("LSTM", 4));
  layers.push_back(TwoLayers("GRU", 3));
  for (const std::int64_t rows : {1, 4, 16}) layers.push_back(Perceptron(rows));
  layers.push_back(Softmax(333, 333));
  layers.push_back(Softmax(4096, 1000));
  return layers;
}

void WriteAll(const std::string& folder) {
  std::string list;
  int number = 0;
  for (const Layer& layer : Layers()) {
    const std::string file = StrCat("layer_", ++number, ".onnx");
    WriteFile(StrCat(folder, "/", file), {layer.model});
    list += StrCat(list.empty() ? "[" : ",\n ", "{\"name\": \"", layer.name, "\", \"file\": \"",
                   file, "\"}");
  }
  WriteFile(folder + "/layers.json", {list + "]\n"});
}

}  // namespace
}  // namespace tenon::benchmarks

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: layer_models FOLDER\n", stderr);
    return 2;
  }
  try {
    tenon::benchmarks::WriteAll(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "layer_models: %s\n", error.what());
    return 1;
  }
}
