// Random ONNX models: chains of one to six nodes of every operator that can be imported, mostly
// valid, some of them changed until they nearly are. All comes of the seed.
//
//   onnx::ModelProto model = RandomOnnx(7);
#ifndef TENON_VERIFY_RANDOM_ONNX_H_
#define TENON_VERIFY_RANDOM_ONNX_H_

#include <functional>
#include <string>
#include <vector>

#include "onnx/onnx_pb.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {

struct RandomOnnxOptions {
  // Draw of these operators alone ("Relu", "com.microsoft.Gelu", and "tenon.NAME" of a registered
  // one); empty: of all.
  std::vector<std::string> ops;
  int opset = 0;       // 0: any from 7 to 21
  bool mutate = true;  // false: only what is drawn as the standard has it
  // Sees each model, the unfinished ones too, before it is imported.
  std::function<void(const onnx::ModelProto&)> before_import;
};

// Throws InvalidArgument for an operator that cannot be drawn.
void RequireDrawable(const std::vector<std::string>& ops);
// Throws as RequireDrawable does.
onnx::ModelProto RandomOnnx(Random& random, const RandomOnnxOptions& options);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_RANDOM_ONNX_H_
