// The names that operators have in Relax: "relax." and the operator's own name, or another word for
// the few that Relax calls differently.
//
//   RelaxNameOf("nn.conv2d") == "relax.nn.conv2d";  RelaxNameOf("transpose") ==
//   "relax.permute_dims" FromRelaxName("relax.permute_dims") == "transpose";
//   FromRelaxName("nn.conv2d") == "nn.conv2d"
//
// Safe from any thread. Nothing is looked up in the registry, so nothing is refused here.
#ifndef TENON_OPS_RELAX_NAMES_H_
#define TENON_OPS_RELAX_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

#include "tenon/ir/module.h"

namespace tenon::ops {

using ir::OperatorNames;

std::string RelaxNameOf(std::string_view op);
// The operator's own name; a name without the prefix stays.
std::string FromRelaxName(std::string_view name);
// The places of arguments that are expressions in Relax - shapes and numbers - and attributes here:
// of "relax.reshape" {1}.
std::vector<std::size_t> RelaxAttributeArguments(std::string_view relax_name);

}  // namespace tenon::ops

#endif  // TENON_OPS_RELAX_NAMES_H_
