// Writes each ONNX model of a folder that can be imported as a Relay text into another folder, and
// as a Relax text into a third one.
//
//   write_text_seeds ONNX_FOLDER RELAY_FOLDER RELAX_FOLDER
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>

#include "tenon/ir/text_format.h"
#include "tenon/onnx/import.h"
#include "tenon/relax/text_format.h"
#include "tenon/support/error.h"

namespace {

// Ifs inside each other and a function that calls itself in one.
constexpr const char* kIf =
    "@I.ir_module\n"
    "class Module:\n"
    "    @R.function\n"
    "    def main(c: R.Tensor((), dtype=\"bool\"), x: R.Tensor((3, 4), dtype=\"float32\")):\n"
    "        cls = Module\n"
    "        if c:\n"
    "            if R.logical_not(c):\n"
    "                y = R.exp(x)\n"
    "            else:\n"
    "                y = cls.f(c, x)\n"
    "        else:\n"
    "            lv = R.add(x, x)\n"
    "            y = R.nn.relu(lv)\n"
    "        return y\n"
    "    @R.function(private=True)\n"
    "    def f(c: R.Tensor((), dtype=\"bool\"), x: R.Tensor((3, 4), dtype=\"float32\")) -> "
    "R.Tensor((3, 4), dtype=\"float32\"):\n"
    "        if c:\n"
    "            y = cls.f(c, x)\n"
    "        else:\n"
    "            y = x\n"
    "        return y\n";

void WriteTextSeeds(const std::filesystem::path& from, const std::filesystem::path& to,
                    const std::filesystem::path& relax) {
  std::filesystem::create_directories(to);
  std::filesystem::create_directories(relax);
  std::ofstream(relax / "if.py") << kIf;
  for (const auto& file : std::filesystem::directory_iterator(from)) {
    const auto module = tenon::onnx_import::LoadOnnx(file.path(), {});
    if (!module.ok()) continue;
    std::ofstream(to / file.path().filename().replace_extension("relay"))
        << tenon::ir::PrintModule(*module);
    const auto text = tenon::CatchErrors([&] { return tenon::relax::PrintRelax(*module); });
    // Not every type and name has a Relax text.
    if (text.ok()) std::ofstream(relax / file.path().filename().replace_extension("py")) << *text;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("write_text_seeds ONNX_FOLDER RELAY_FOLDER RELAX_FOLDER\n", stderr);
    return 2;
  }
  try {
    WriteTextSeeds(argv[1], argv[2], argv[3]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "write_text_seeds: %s\n", error.what());
    return 1;
  }
}
