// An ONNX model that is read once and imported for any number of input shapes. Its weights are
// stored once and shared by all modules made from it. Immutable; any number of threads may import
// from it.
//
//   OnnxModel model = OnnxModel::Load("recogniser.onnx").value();
//   model.inputs()[0].ExtentsToString();  // "(?, 3, 48, ?)"
//   ir::Module m = model.Import({.shapes = {{"x", {1, 3, 48, 320}}}}).value();
#ifndef TENON_ONNX_MODEL_H_
#define TENON_ONNX_MODEL_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tenon/ir/input_spec.h"
#include "tenon/onnx/import.h"
#include "tenon/support/mapped_file.h"

namespace tenon::onnx_import {

class OnnxModel {
 public:
  // Errors: NotFound for a missing file; DataLoss for a file that is not a complete model;
  // Unimplemented for an opset out of range; InvalidArgument, naming the initializer or input, for
  // everything else.
  //
  // The file is mapped, not read, and its weights are copied once. Aligned weights in separate
  // files ("external data", only from the model's folder) are used in place: these files must not
  // be truncated or written to until the model, its modules and everything compiled from them are
  // gone.
  static absl::StatusOr<OnnxModel> Load(const std::string& path);
  // `bytes` is a serialised ModelProto.
  static absl::StatusOr<OnnxModel> Parse(std::string_view bytes, const std::string& source);

  // Without the inputs that have an initializer.
  const std::vector<ir::InputSpec>& inputs() const;
  // Those: an import takes the initializer, unless its options name the input.
  const std::vector<ir::InputSpec>& initialized_inputs() const;
  // The names of the results, in the order of those of @main's body.
  std::vector<std::string> results() const;
  // Errors: Unimplemented for operators that are not known, listing each with its nodes;
  // InvalidArgument, naming the input, for shapes that are missing or do not fit; naming the node
  // for everything else. One error names all operators and nodes.
  absl::StatusOr<ir::Module> Import(const ImportOptions& options) const;

 private:
  struct State;
  explicit OnnxModel(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  // `file` holds the bytes; null when no file does. `folder` holds the files of external data.
  static OnnxModel Make(std::string_view bytes, const std::string& source,
                        const std::shared_ptr<const MappedFile>& file,
                        const std::optional<std::string>& folder);
  std::shared_ptr<const State> state_;
};

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_MODEL_H_
