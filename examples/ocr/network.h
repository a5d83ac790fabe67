// One of the three networks: an ONNX model that is compiled again for every shape it meets.
#ifndef TENON_EXAMPLES_OCR_NETWORK_H_
#define TENON_EXAMPLES_OCR_NETWORK_H_

#include <functional>
#include <string>

#include "tenon/compiler/dynamic_model.h"
#include "tenon/onnx/model.h"

namespace ocr {

// Sees what goes into a network and what comes out.
using Observer = std::function<void(const std::string& network, const tenon::NDArray& x,
                                    const tenon::NDArray& y)>;

class Network {
 public:
  // Throws what OnnxModel::Load reports.
  Network(std::string name, const std::string& path, const tenon::CompileOptions& options);

  // Throws what DynamicModel::Run reports.
  tenon::NDArray operator()(const tenon::NDArray& x, const Observer& observer) const;
  std::size_t shapes_compiled() const { return model_.statistics().compiled; }

 private:
  std::string name_;
  tenon::onnx_import::OnnxModel onnx_;
  tenon::DynamicModel model_;
};

}  // namespace ocr

#endif  // TENON_EXAMPLES_OCR_NETWORK_H_
