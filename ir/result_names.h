// The names that a model gives its results: the attribute "result_names" of a module. Passes keep
// it, Relax text shows it, and Relay text has no place for it.
//
//   module = WithResultNames(module, {"boxes", "scores"});
//   ResultNamesOf(module);  // {"boxes", "scores"}
#ifndef TENON_IR_RESULT_NAMES_H_
#define TENON_IR_RESULT_NAMES_H_

#include <string>
#include <vector>

#include "tenon/ir/module.h"

namespace tenon::ir {

// In the order of @main's results; empty where they have none.
std::vector<std::string> ResultNamesOf(const Module& module);
// Without names there is no attribute.
Module WithResultNames(const Module& module, const std::vector<std::string>& names);

}  // namespace tenon::ir

#endif  // TENON_IR_RESULT_NAMES_H_
