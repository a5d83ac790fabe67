#include "tenon/verify/draw/stored_onnx.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::verify {
namespace {

namespace fs = std::filesystem;

std::string Bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The model files below a folder, without large ones, sorted.
const std::vector<fs::path>& ModelsIn(const std::string& folder) {
  static const std::vector<fs::path>& files = *[&] {
    auto* found = new std::vector<fs::path>;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      constexpr std::uintmax_t kMaxFileBytes = 1 << 16;
      if (entry.path().extension() == ".onnx" && entry.file_size() <= kMaxFileBytes)
        found->push_back(entry.path());
    }
    std::sort(found->begin(), found->end());
    return found;
  }();
  if (files.empty()) throw NotFound(StrCat("fuzz: no models lie in ", folder));
  return files;
}

}  // namespace

onnx::ModelProto StoredOnnx(const std::string& folder, Random& random) {
  const fs::path& path = random.Of(ModelsIn(folder));
  onnx::ModelProto model;
  if (!model.ParseFromString(Bytes(path))) return model;
  const fs::path data = path.parent_path() / "test_data_set_0";
  for (int i = 0; i < model.graph().input_size(); ++i) {
    onnx::TensorProto tensor;
    const fs::path file = data / StrCat("input_", i, ".pb");
    if (!fs::exists(file) || random.Chance(40) || !tensor.ParseFromString(Bytes(file))) continue;
    tensor.set_name(model.graph().input(i).name());
    *model.mutable_graph()->add_initializer() = tensor;
  }
  return model;
}

}  // namespace tenon::verify
