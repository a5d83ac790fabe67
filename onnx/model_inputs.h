// What the inputs of a model become: parameters of the module, with numbers or variables for
// extents, or constants.
#ifndef TENON_ONNX_MODEL_INPUTS_H_
#define TENON_ONNX_MODEL_INPUTS_H_

#include <string>
#include <vector>

#include "onnx/onnx_pb.h"
#include "tenon/ir/input_spec.h"
#include "tenon/onnx/convert/graph_importer.h"
#include "tenon/onnx/import.h"

namespace tenon::onnx_import {

struct ModelInputs {
  std::vector<Expr> params;
  NamedValues values;  // parameters and constants
};
// Of `inputs`, which `graph` declares. Throws InvalidArgument for options that name no input or no
// extent, that do not fit what the model says, or that leave open what must be known.
ModelInputs InputsOf(const onnx::GraphProto& graph, const std::vector<ir::InputSpec>& inputs,
                     const ImportOptions& options, const std::string& source);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_MODEL_INPUTS_H_
