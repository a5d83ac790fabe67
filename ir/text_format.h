// Relay text, version 0.0.5: print and parse.
//
// Printing numbers a temporary when it forms the text of its first consumer. It forms texts in
// depth-first post-order (a call's callee before its arguments), but writes a callee that is a
// function literal after the arguments. Numbers and names start again in each definition. Variables
// with the same name get suffixes 1, 2, ... The line of a value stands in the innermost scope
// (function, or let in parentheses) that holds all its uses. Known types are printed as comments,
// those of constants only in a typed text. Attributes print when they differ from their default.
// Scalars print in place. Other constants print as meta[relay.Constant][i], and their bytes follow
// in a metadata section, so that parsing the text gives an equal module. The parser reads what the
// reference system (v0.18) prints, and that system reads what is printed here.
//
//   std::string text = PrintModule(module);
//   Module same = ParseModule(text, ops::Resolver(), "file.relay").value();
#ifndef TENON_IR_TEXT_FORMAT_H_
#define TENON_IR_TEXT_FORMAT_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tenon/ir/module.h"

namespace tenon::ir {

struct PrintOptions {
  bool metadata = true;  // write the bytes of the constants
};

std::string PrintModule(const Module& module, const PrintOptions& options = {});
// A function prints as a literal. Any other expression prints as the lines that compute it, after a
// line "free_var %x: type;" for each free variable.
std::string PrintExpr(const Expr& expr, const PrintOptions& options = {.metadata = false});

// How a parser finds operators: `find` gives the operator of a name or null, `names` gives all
// names for suggestions.
struct OpResolver {
  std::function<Expr(const std::string& name)> find;
  std::function<std::vector<std::string>()> names;
};

// Parses definitions ("def @f(...) {...}"), or a single expression, which becomes @main. Comments
// are skipped. Errors: InvalidArgument with the span and, as a note, the line with a caret.
// `source` names the text in errors.
absl::StatusOr<Module> ParseModule(std::string_view text, const OpResolver& ops,
                                   const std::string& source = "text");

}  // namespace tenon::ir

#endif  // TENON_IR_TEXT_FORMAT_H_
