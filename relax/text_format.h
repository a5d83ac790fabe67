// Relax text, TVM's script form: print and parse.
//
// The text is a module of functions of operators, in Python's syntax:
//
//   @I.ir_module
//   class Module:
//       @R.function
//       def main(x: R.Tensor((1, 64), dtype="float32")) -> R.Tensor((1, 64), dtype="float32"):
//           with R.dataflow():
//               gv: R.Tensor((1, 64), dtype="float32") = R.nn.relu(x)
//               R.output(gv)
//           return gv
//
// A binding is an expression of the graph, so bindings that nothing reads are gone after reading,
// and printing gives the names. An if gives the variable that both of its branches bind last.
// Variables may stand for shapes and numbers, which are no expressions; s[0] is an extent of s.
// Types are inferred as the text is read. Attributes get Relax's normal form: strides for each
// axis, padding for each side. A function other than @main is public when its global_symbol is its
// name. Constants that are no numbers are metadata. I.module_attrs are Module::attrs.
//
//   ir::Module module = relax::ParseRelax(text, "module.py").value();
//   std::string same = relax::PrintRelax(module);
#ifndef TENON_RELAX_TEXT_FORMAT_H_
#define TENON_RELAX_TEXT_FORMAT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tenon/ir/module.h"
#include "tenon/ir/text_format.h"

namespace tenon::relax {

// A module with types, whose operators have Relax's names (Module::operator_names). Errors:
// InvalidArgument with the span and, as a note, the line with a caret; NotFound for names;
// Unimplemented for what Relax has and Tenon does not compute.
absl::StatusOr<ir::Module> ParseRelax(std::string_view text, const std::string& source = "text");

// The text of a module, whose types are inferred first. Reading it gives an equal module, apart
// from the normal form of attributes and from lets, which are bindings like others. Throws
// InvalidArgument for names and types that the text cannot express, and for types that contradict
// each other.
std::string PrintRelax(const ir::Module& module, const ir::PrintOptions& options = {});

// Whether a text, by its first lines, is Relax text rather than Relay text.
bool LooksLikeRelax(std::string_view text);

}  // namespace tenon::relax

#endif  // TENON_RELAX_TEXT_FORMAT_H_
