// Writes each ONNX model of a folder that can be imported as a Relay text into another folder.
//
//   write_text_seeds ONNX_FOLDER TEXT_FOLDER
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>

#include "tenon/ir/text_format.h"
#include "tenon/onnx/import.h"

namespace {

void WriteTextSeeds(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::filesystem::create_directories(to);
  for (const auto& file : std::filesystem::directory_iterator(from)) {
    const auto module = tenon::onnx_import::LoadOnnx(file.path(), {});
    if (!module.ok()) continue;
    std::ofstream(to / file.path().filename().replace_extension("relay"))
        << tenon::ir::PrintModule(*module);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("write_text_seeds ONNX_FOLDER TEXT_FOLDER\n", stderr);
    return 2;
  }
  try {
    WriteTextSeeds(argv[1], argv[2]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "write_text_seeds: %s\n", error.what());
    return 1;
  }
}
