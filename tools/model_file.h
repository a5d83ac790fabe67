// Reads a model's file and tells its format by its content.
#ifndef TENON_TOOLS_MODEL_FILE_H_
#define TENON_TOOLS_MODEL_FILE_H_

#include <string>
#include <string_view>

namespace tenon::tools {

// The bytes of a file, a pipe, or of standard input for "-". Throws NotFound with the reason when
// it cannot be read.
std::string ReadWhole(const std::string& path);

// Whether the bytes begin like an ONNX model. Relay text never does.
bool LooksLikeOnnx(std::string_view bytes);

// Throws InvalidArgument for bytes that are neither ONNX nor text, saying what they may be.
void RequireText(std::string_view bytes, const std::string& path);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_MODEL_FILE_H_
