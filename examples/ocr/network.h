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

// What inputs come.
enum class Shapes {
  kFew,   // of the same shapes: each is compiled for itself
  kMany,  // of any shape: one compile takes all, and those that come often get one of their own
};

class Network {
 public:
  // Throws what OnnxModel::Load reports.
  Network(std::string name, const std::string& path, Shapes shapes,
          const tenon::CompileOptions& options);

  // Throws what DynamicModel::Run reports.
  tenon::NDArray operator()(const tenon::NDArray& x, const Observer& observer) const;
  // For a shape, and for all.
  std::size_t compiles() const {
    const tenon::DynamicModel::Statistics statistics = model_.statistics();
    return statistics.compiled + (statistics.symbolic > 0 ? 1 : 0);
  }

 private:
  std::string name_;
  tenon::onnx_import::OnnxModel onnx_;
  tenon::DynamicModel model_;
};

}  // namespace ocr

#endif  // TENON_EXAMPLES_OCR_NETWORK_H_
