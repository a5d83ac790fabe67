#include "tenon/verify/draw/move_data_out.h"

#include <fstream>
#include <string>
#include <vector>

#include "tenon/support/strings.h"

namespace tenon::verify {
namespace {

// A tensor of one axis that has the same number of bytes modulo 2^64.
void WrapAround(onnx::TensorProto* tensor) {
  if (tensor->dims_size() != 1 || tensor->dims(0) == 0) return;
  const std::size_t bytes = tensor->raw_data().size() / static_cast<std::size_t>(tensor->dims(0));
  if (bytes == 4 || bytes == 8)
    tensor->set_dims(0, tensor->dims(0) + (std::int64_t{1} << 61) * (bytes == 4 ? 2 : 1));
}

}  // namespace

void MoveDataOut(onnx::ModelProto* model, const std::filesystem::path& folder, Random& random) {
  std::ofstream file(folder / "data.bin", std::ios::binary);
  std::size_t offset = 0;
  for (onnx::TensorProto& tensor : *model->mutable_graph()->mutable_initializer()) {
    if (!tensor.has_raw_data() || random.Chance(30)) continue;
    if (random.Chance(5)) WrapAround(&tensor);
    const std::string padding(random.Chance(50) ? (64 - offset % 64) % 64 : 0, '\0');
    file << padding << tensor.raw_data();
    offset += padding.size();
    const auto add = [&](const char* key, const std::string& value) {
      auto* entry = tensor.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    };
    add("location", random.Chance(97) ? "data.bin"
                                      : random.Of(std::vector<std::string>{
                                            "", "/dev/zero", "../data.bin", ".", "nowhere.bin",
                                            std::string("\0a", 2)}));
    add("offset", random.Chance(95)
                      ? StrCat(offset)
                      : random.Of(std::vector<std::string>{"-1", "18446744073709551615", "x", ""}));
    if (random.Chance(80))
      add("length", StrCat(tensor.raw_data().size() + (random.Chance(5) ? 4 : 0)));
    offset += tensor.raw_data().size();
    tensor.clear_raw_data();
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  }
}

}  // namespace tenon::verify
