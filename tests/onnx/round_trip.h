// A module as ONNX and back.
#ifndef TENON_TESTS_ONNX_ROUND_TRIP_H_
#define TENON_TESTS_ONNX_ROUND_TRIP_H_

#include <map>
#include <string>

#include "tenon/onnx/export.h"
#include "tenon/onnx/import.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::onnx_export {

inline ir::Module RoundTrip(const ir::Module& module) {
  const std::string bytes = ValueOrThrow(ExportOnnx(module));
  // An extent of zero means an open one to the importer.
  std::map<std::string, Shape> shapes;
  for (const auto& [name, array] : testing_graphs::RandomInputs(module, 0))
    shapes[name] = array.shape();
  return ValueOrThrow(
      onnx_import::ImportOnnx(bytes, {.shapes = shapes, .evaluate = strategies::EvaluateCall}));
}

}  // namespace tenon::onnx_export

#endif  // TENON_TESTS_ONNX_ROUND_TRIP_H_
