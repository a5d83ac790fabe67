// A module in the words of Relax: what its importers write where Tenon's, as Relay's, have an
// operator that Relax lacks.
//
// nn.bias_add becomes an addition of the bias, which is reshaped to have the axes of the data, as
// in conv2d, reshape, add; one of an extent that is no number stays. The module's operators have
// Relax's names (Module::operator_names), so that fused functions are called after them. Needs no
// types and leaves them.
//
//   ir::Module module = relax::InRelaxForm(onnx_import::LoadOnnx("model.onnx", options).value());
#ifndef TENON_RELAX_RELAX_FORM_H_
#define TENON_RELAX_RELAX_FORM_H_

#include "tenon/ir/module.h"

namespace tenon::relax {

// Throws InvalidArgument for a module with contradictory types.
ir::Module InRelaxForm(const ir::Module& module);

}  // namespace tenon::relax

#endif  // TENON_RELAX_RELAX_FORM_H_
