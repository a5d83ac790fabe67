// Relay text, version 0.0.5: print and parse.
//
// Printing numbers a temporary when the text of its first consumer is formed, forms texts in
// depth-first post-order (a call's callee before its arguments) and writes a callee that is a
// function literal after the arguments; numbers and names start anew in each definition. Variables
// of one name get suffixes 1, 2, ... The line of a value stands in the innermost scope (function,
// or let in parentheses) that holds all its uses. Types are comments where they are known, those of
// constants only in a typed text. Attributes print when they differ from their default. Scalars
// print in place; other constants as meta[relay.Constant][i], whose bytes follow in a metadata
// section, so that parsing the text gives an equal module. Text that the reference system (v0.18)
// prints is read, and what is printed here is text that it reads.
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
// A function as a literal; any other expression as the lines that compute it, after a line
// "free_var %x: type;" for each free variable.
std::string PrintExpr(const Expr& expr, const PrintOptions& options = {.metadata = false});

// How a parser finds operators: the operator of that name or null, and all names for suggestions.
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
