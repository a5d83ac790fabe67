// One of the three networks: an ONNX model, compiled once for all shapes or for its only one.
#ifndef TENON_EXAMPLES_OCR_NETWORK_H_
#define TENON_EXAMPLES_OCR_NETWORK_H_

#include <functional>
#include <optional>
#include <string>

#include "tenon/compiler/dynamic_model.h"
#include "tenon/onnx/model.h"

namespace ocr {

// Sees what goes into a network and what comes out.
using Observer = std::function<void(const std::string& network, const tenon::NDArray& x,
                                    const tenon::NDArray& y)>;

class Network {
 public:
  // Compiles it. With a shape it takes that alone. Throws what OnnxModel::Load, Import and Compile
  // report.
  Network(std::string name, const std::string& path, const tenon::CompileOptions& options,
          const std::optional<tenon::Shape>& shape = std::nullopt);

  // Throws what DynamicModel::Run reports.
  tenon::NDArray operator()(const tenon::NDArray& x, const Observer& observer) const;

 private:
  Network(std::string name, const tenon::onnx_import::OnnxModel& model,
          const tenon::CompileOptions& options, const std::optional<tenon::Shape>& shape);

  std::string name_, input_;
  tenon::DynamicModel model_;
};

}  // namespace ocr

#endif  // TENON_EXAMPLES_OCR_NETWORK_H_
