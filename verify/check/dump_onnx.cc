#include "tenon/verify/check/dump_onnx.h"

#include <filesystem>

#include "tenon/onnx/tensor.h"
#include "tenon/support/strings.h"
#include "tenon/support/write_file.h"

namespace tenon::verify {

void DumpOnnx(const std::string& folder, const onnx::ModelProto& model, const ir::Module& module,
              const std::vector<NDArray>& inputs, const std::vector<NDArray>& results) {
  const std::filesystem::path path = folder, data = path / "test_data_set_0";
  std::filesystem::create_directories(data);
  const auto write = [](const std::filesystem::path& file,
                        const google::protobuf::MessageLite& message) {
    WriteFile(file.string(), {message.SerializeAsString()});
  };
  const auto write_tensor = [&](const std::string& name, const NDArray& array,
                                const std::string& of) {
    onnx::TensorProto tensor;
    onnx_import::ToTensorProto(array, of, &tensor);
    write(data / name, tensor);
  };
  write(path / "model.onnx", model);
  const auto& params = module.Main().params;
  for (std::size_t i = 0; i < params.size(); ++i)
    write_tensor(StrCat("input_", i, ".pb"), inputs[i], ir::Var(params[i]).name());
  for (std::size_t i = 0; i < results.size(); ++i)
    write_tensor(StrCat("output_", i, ".pb"), results[i],
                 model.graph().output(static_cast<int>(i)).name());
}

}  // namespace tenon::verify
