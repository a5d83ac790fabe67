// The parser of Relay text: definitions, bodies and expressions. Only the files parser.cc and
// parse_*.cc include this header; ParseModule (text_format.h) is its entry.
#ifndef TENON_IR_PARSER_H_
#define TENON_IR_PARSER_H_

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tenon/ir/metadata.h"
#include "tenon/ir/module_builder.h"
#include "tenon/ir/scalar_text.h"
#include "tenon/ir/text_format.h"
#include "tenon/ir/type_reader.h"

namespace tenon::ir {

// The attribute of a parameter or, among a function's attributes, of its result.
inline constexpr const char* kVirtualDevice = "virtual_device";

class Parser : public TypeReader {
 public:
  Parser(std::string_view text, const OpResolver& ops, const std::string& source, Metadata metadata)
      : TypeReader(text, source), ops_(ops), metadata_(std::move(metadata)) {}

  Module Parse();

 private:
  // --- module
  void Header();
  void Definition(ModuleBuilder* module);
  Module SingleExpr();

  // --- functions and bodies
  Expr FunctionAfter(const Token& at);
  // "%x" or "%x: type", newly bound. Parameters may name a device.
  Expr Declare(std::string* device = nullptr);
  void Bind(const Token& name, const Expr& value);
  Expr Body();

  // --- expressions
  Expr ParseExpr();
  Expr Primary();
  Expr Lookup(const Token& name);
  Expr Named(const Token& name);
  Expr Parenthesised();
  Expr CallOf(const Expr& callee, const Token& at);

  // --- control flow and what depends on types (parse_control.cc)
  Expr IfAfter(const Token& at);
  Expr MatchAfter(const Token& at);
  void Pattern(const Expr& value);
  Expr BodyInBraces(const char* of_what);
  // "[A, B]"; false when there are none. They hold until the caller ends them.
  bool TypeParameters();
  void RefuseDataType();

  // --- values (parse_values.cc)
  NumberText Split(const Token& token);
  Expr NumberConstant(const Token& token);
  attrs::Value AttributeValue();
  struct MetaReference {
    Token kind;
    Token number;
    std::size_t index;
  };
  MetaReference MetaAfter();
  Expr MetaConstant(const Token& at);
  attrs::Value MetaValue();
  std::string DeviceInBraces();

  const OpResolver& ops_;
  const Metadata metadata_;
  std::vector<std::unordered_map<std::string, Expr>> scopes_;
  std::unordered_map<std::string, Expr> globals_;
  std::unordered_map<std::string, Token> global_uses_;
  std::unordered_map<std::size_t, Expr> meta_;
  std::set<std::string> generics_;  // functions with type parameters
};

}  // namespace tenon::ir

#endif  // TENON_IR_PARSER_H_
