// Step 2: the type relation. It learns the kernels' type and the result's from the data's.
#include "involution.h"

namespace involution {

namespace ir = tenon::ir;

void Types(tenon::ops::TypeCall& call) {
  const auto& attrs = call.attrs<Attrs>();
  if (attrs.kernel_size % 2 == 0)
    call.Refuse("kernel_size must be odd, so that windows have a centre");
  const ir::TensorTypeNode* data = call.tensor(0);
  if (data == nullptr) return;  // comes again when it is known
  if (data->shape.size() != 4) call.Refuse("data must have the four axes of " + attrs.layout);
  if (!data->dtype.is_float()) call.Refuse("data must hold floating-point numbers");
  const ir::Dim& channels = data->shape[attrs.Axis('C')];
  if (call.HasRest(channels, attrs.groups))
    call.Refuse("the channels must be a multiple of groups");
  std::vector<ir::Dim> result = data->shape;
  for (const char letter : {'H', 'W'}) {
    ir::Dim& extent = result[attrs.Axis(letter)];
    if (extent.is_static())
      extent = extent.value() == 0 ? 0 : (extent.value() - 1) / attrs.stride + 1;
    else if (attrs.stride != 1)
      extent = ir::Dim();
  }
  std::vector<ir::Dim> kernels = result;
  kernels[attrs.Axis('C')] = attrs.groups * attrs.kernel_size * attrs.kernel_size;
  call.LearnInput(1, ir::TensorType(kernels, data->dtype));
  call.LearnResult(ir::TensorType(result, data->dtype));
}

}  // namespace involution
