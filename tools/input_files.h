// Inputs of a model from files: .npy arrays and pictures.
//
//   NDArray x = ReadInputFile("line.png", InputNamed(exe.inputs(), "x"), arguments.picture);
#ifndef TENON_TOOLS_INPUT_FILES_H_
#define TENON_TOOLS_INPUT_FILES_H_

#include <string>

#include "tenon/ir/input_spec.h"
#include "tenon/runtime/executable.h"
#include "tenon/tools/picture.h"

namespace CLI {
class App;
}

namespace tenon::tools {

// --mean, --deviation, --stretch and --bgr.
void AddPictureOptions(CLI::App* command, PictureOptions* options);

// Throws InvalidArgument that lists the inputs where there is none of this name.
ir::InputSpec InputNamed(const std::vector<runtime::InputInfo>& inputs, const std::string& name);

// Throws what ReadNpy, LoadPicture and ShapeForPicture return.
NDArray ReadInputFile(const std::string& path, const ir::InputSpec& input,
                      const PictureOptions& picture);
// The shape that an input that the model leaves open has by this file.
Shape ShapeOfInputFile(const std::string& path, const ir::InputSpec& input);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_INPUT_FILES_H_
