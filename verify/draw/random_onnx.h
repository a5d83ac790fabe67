// Random ONNX models: chains of one to six nodes of every operator that can be imported. Most are
// valid; some are changed until they are only nearly valid. Everything depends only on the seed.
//
//   onnx::ModelProto model = RandomOnnx(7);
#ifndef TENON_VERIFY_DRAW_RANDOM_ONNX_H_
#define TENON_VERIFY_DRAW_RANDOM_ONNX_H_

#include <functional>
#include <string>
#include <vector>

#include "onnx/onnx_pb.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {

struct RandomOnnxOptions {
  // Only draws these operators ("Relu", "com.microsoft.Gelu", and "tenon.NAME" for a registered
  // one); empty: all.
  std::vector<std::string> ops;
  int opset = 0;       // 0: any that can be imported
  bool mutate = true;  // false: only draws valid models
  // Integers of shapes are mostly computed from the shapes of other values (onnx_draft.h).
  bool computes_shapes = false;
  // Gets each model, serialised, before it is imported, even an unfinished one.
  std::function<void(const std::string&)> before_import;
};

// Throws InvalidArgument for an operator that cannot be drawn.
void RequireDrawable(const std::vector<std::string>& ops);
// Throws in the same cases as RequireDrawable.
onnx::ModelProto RandomOnnx(Random& random, const RandomOnnxOptions& options);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_RANDOM_ONNX_H_
