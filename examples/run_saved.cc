// Runs a saved executable on inputs that are all ones. Links tenon::runtime alone: nothing is
// compiled here, and LLVM is not part of the program.
//
//   tenon compile model.onnx --emit=executable -o saved
//   example_run_saved saved
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "tenon/runtime/saved_executable.h"
#include "tenon/support/error.h"

namespace {

tenon::NDArray Ones(const tenon::runtime::Entry& entry) {
  tenon::NDArray array = tenon::NDArray::Zeros(entry.shape, entry.dtype);
  if (entry.dtype == tenon::Float32) std::fill_n(array.data<float>(), array.size(), 1.0F);
  return array;
}

void Run(const std::string& folder) {
  const tenon::runtime::SavedExecutable saved =
      tenon::ValueOrThrow(tenon::runtime::LoadExecutable(folder));
  tenon::runtime::Inputs inputs;
  for (const tenon::runtime::Node& node : saved.executable.plan().nodes) {
    if (node.kind == tenon::runtime::NodeKind::kInput) inputs[node.name] = Ones(node.outputs[0]);
  }
  for (const tenon::NDArray& result : tenon::ValueOrThrow(saved.executable.Run(inputs)))
    std::printf("%s %s\n", result.dtype().ToString().c_str(),
                tenon::ShapeToString(result.shape()).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("example_run_saved FOLDER\n", stderr);
    return 2;
  }
  try {
    Run(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "example_run_saved: %s\n", error.what());
    return 1;
  }
}
