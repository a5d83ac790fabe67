#include "tenon/tools/input_files.h"

#include <optional>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "tenon/runtime/npy.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::tools {
namespace {

NDArray ReadArray(const std::string& path) {
  absl::StatusOr<NDArray> array = runtime::ReadNpy(path);
  if (array.ok()) return *std::move(array);
  Error error = FromStatus(array.status());
  if (!path.ends_with(".npy")) error.AddNote(StrCat("pictures may be ", PictureEndings()));
  throw error;
}

}  // namespace

void AddPictureOptions(CLI::App* command, PictureOptions* options) {
  command->add_option("--mean", options->mean, "subtracted from picture bytes / 255")
      ->capture_default_str();
  command->add_option("--deviation", options->deviation, "divides them then")
      ->capture_default_str();
  command->add_flag("--stretch", options->stretch, "do not keep a picture's aspect");
  command->add_flag("--bgr", options->bgr, "blue first");
}

ir::InputSpec InputNamed(const std::vector<runtime::InputInfo>& inputs, const std::string& name) {
  std::vector<std::string> known;
  for (const runtime::InputInfo& input : inputs) {
    if (input.name == name) return {input.name, input.dtype, input.extents};
    known.push_back(input.name);
  }
  throw InvalidArgument(StrCat("the model has no input ", name, "; it has ", StrJoin(known, ", ")));
}

NDArray ReadInputFile(const std::string& path, const ir::InputSpec& input,
                      const PictureOptions& picture) {
  if (!IsPictureName(path)) return ReadArray(path);
  const std::optional<Shape> fixed = input.Fixed();
  return ValueOrThrow(
      LoadPicture(path, fixed ? *fixed : ValueOrThrow(ShapeForPicture(path, input)), picture));
}

Shape ShapeOfInputFile(const std::string& path, const ir::InputSpec& input) {
  return IsPictureName(path) ? ValueOrThrow(ShapeForPicture(path, input)) : ReadArray(path).shape();
}

}  // namespace tenon::tools
