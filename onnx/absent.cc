// In place of import and export where Tenon is built with -DTENON_ONNX=OFF.
#include "tenon/onnx/export.h"
#include "tenon/onnx/import.h"
#include "tenon/onnx/model.h"
#include "tenon/onnx/register_onnx.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon {
namespace {

absl::Status Absent(const std::string& what) {
  return absl::UnimplementedError(StrCat(
      what, ": this Tenon was built without ONNX; build it with -DTENON_ONNX=ON to use models"));
}

}  // namespace

namespace onnx_import {

struct OnnxModel::State {
  std::vector<ir::InputSpec> inputs;
};

absl::StatusOr<OnnxModel> OnnxModel::Load(const std::string& path) { return Absent(path); }
absl::StatusOr<OnnxModel> OnnxModel::Parse(std::string_view, const std::string& source) {
  return Absent(source);
}
// There is no model to call these of.
const std::vector<ir::InputSpec>& OnnxModel::inputs() const { return state_->inputs; }
const std::vector<ir::InputSpec>& OnnxModel::initialized_inputs() const { return state_->inputs; }
std::vector<std::string> OnnxModel::results() const { return {}; }
absl::StatusOr<ir::Module> OnnxModel::Import(const ImportOptions&) const {
  return Absent("the model");
}

absl::StatusOr<ir::Module> LoadOnnx(const std::string& path, const ImportOptions&) {
  return Absent(path);
}
absl::StatusOr<ir::Module> ImportOnnx(std::string_view, const ImportOptions&,
                                      const std::string& source) {
  return Absent(source);
}
std::vector<std::string> SupportedOnnxOps() { return {}; }
std::string OnnxOpsMarkdown() { return {}; }

}  // namespace onnx_import

namespace onnx_export {

absl::StatusOr<std::string> ExportOnnx(const ir::Module&) { return Absent("the module"); }
bool IsExportable(const std::string&) { return false; }
std::vector<std::string> ExportableOps() { return {}; }

}  // namespace onnx_export

// Plug-ins load as they do elsewhere; their conversions wait for a model in vain.
bool RegisterOnnxConverter(const std::string&, const std::string&, OnnxConverter,
                           std::source_location, std::uint64_t) {
  return true;
}
bool RegisterOnnxExporter(const std::string&, OnnxExporter, std::source_location, std::uint64_t) {
  return true;
}

}  // namespace tenon
