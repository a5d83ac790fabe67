// What texts refer to in the metadata section: constants and devices. Only files inside ir/ include
// this header.
//
//   PrintMetadata metadata(options);
//   metadata.ConstantText(data);  // "meta[relay.Constant][0]", or the number of a scalar
//   text = metadata.AppendedTo(text);
#ifndef TENON_IR_PRINT_METADATA_H_
#define TENON_IR_PRINT_METADATA_H_

#include <string>
#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/ir/text_format.h"
#include "tenon/support/device.h"

namespace tenon::ir {

class PrintMetadata {
 public:
  explicit PrintMetadata(const PrintOptions& options) : options_(options) {}

  std::string ConstantText(const NDArray& data);
  // "meta[VirtualDevice][0]" for a device's text; empty when it is to stay text, as it is without a
  // metadata section.
  std::string DeviceReference(const attrs::Value& value);
  // References for all parameters, some of them empty; no list when param_devices stays an
  // attribute.
  std::vector<std::string> ParameterDevices(const FunctionNode& function);

  // The text with the section, where there is one.
  std::string AppendedTo(std::string text) const;

 private:
  const PrintOptions& options_;
  std::vector<NDArray> constants_;
  std::vector<Device> devices_;
};

// Attributes of a function that say where its parameters and its result are (PlanDevices), and the
// name of such an attribute in the reference system.
inline constexpr const char* kParamDevices = "param_devices";
inline constexpr const char* kResultDevice = "result_device";
inline constexpr const char* kVirtualDevice = "virtual_device";

}  // namespace tenon::ir

#endif  // TENON_IR_PRINT_METADATA_H_
