// Recursive descent. Sequences (definitions, lines of a body, let chains) are loops, so a long text
// never deepens the stack. Nesting does, and is bounded.
#include "tenon/ir/parser.h"

#include <utility>

#include "tenon/ir/generic_functions.h"
#include "tenon/ir/source_text.h"
#include "tenon/ir/text_format.h"

namespace tenon::ir {
namespace {

constexpr std::string_view kMetadataMark = "#[metadata]";
constexpr std::string_view kVersion = "0.0.5";

// The metadata section after `mark`; its errors have a place in `text`.
Metadata MetadataAfter(std::string_view text, std::size_t mark, const std::string& source) {
  try {
    return ReadMetadata(text.substr(mark + kMetadataMark.size()));
  } catch (const Error& error) {
    std::size_t start = text.find_first_not_of(" \t\r\n", mark + kMetadataMark.size());
    if (start == std::string_view::npos) start = mark;
    const Error place = Lexer(text, source).ErrorAt({TokenKind::kEnd, "", start, 1}, "");
    Error placed(error.code(), error.message());
    placed.At(place.span()).AddNote(place.notes().front());
    for (const std::string& note : error.notes()) placed.AddNote(note);
    throw placed;
  }
}

}  // namespace

Module Parser::Parse() {
  Header();
  Module module;
  RefuseDataType();
  if (IsName("def")) {
    ModuleBuilder builder;
    while (IsName("def")) {
      Definition(&builder);
      RefuseDataType();
    }
    module = builder.Build();
    if (token_.kind != TokenKind::kEnd)
      Fail(token_, StrCat("expected \"def\" or the end, found ", Shown(token_)));
  } else {
    module = SingleExpr();
  }
  for (const auto& [name, use] : global_uses_) {
    if (!module.Find(name)) Fail(use, StrCat("@", name, " is used but not defined"));
  }
  return generics_.empty() ? module : WithInstances(module, generics_);
}

void Parser::Header() {
  if (!IsPunct("#")) return;
  Advance();
  Expect("[", "in the version line");
  if (!IsName("version")) Fail(token_, StrCat("expected \"version\", found ", Shown(token_)));
  Advance();
  Expect("=", "in the version line");
  const Token version = ExpectKind(TokenKind::kString, "a version in quotes");
  if (version.text != kVersion)
    Fail(version,
         StrCat("text of version ", version.text, " cannot be read; version ", kVersion, " can"));
  Expect("]", "after the version");
}

void Parser::Definition(ModuleBuilder* module) {
  Advance();
  const Token name = ExpectKind(TokenKind::kGlobal, "the name of a function (@name)");
  if (module->Find(name.text)) Fail(name, StrCat("@", name.text, " is defined twice"));
  if (IsPunct("[")) generics_.insert(name.text);
  module->Set(name.text, FunctionAfter(name));
}

Module Parser::SingleExpr() {
  scopes_.emplace_back();
  std::vector<Expr> params;
  while (IsName("free_var")) {
    Advance();
    params.push_back(Declare());
    Expect(";", "after a free variable");
  }
  const Expr expr = Body();
  if (token_.kind != TokenKind::kEnd)
    Fail(token_, StrCat("expected the end of the text, found ", Shown(token_)));
  if (!params.empty()) return Module().With("main", Function::Make(params, expr));
  return Module::FromExpr(expr);
}

Expr Parser::FunctionAfter(const Token& at) {
  const Nested nested(this);
  const Span span = lexer_.SpanOf(at);
  const bool is_generic = TypeParameters();
  Expect("(", "before the parameters");
  scopes_.emplace_back();
  std::vector<Expr> params;
  attrs::List devices;  // of the parameters, empty for any
  bool has_devices = false;
  FunctionAttrs attrs;
  while (!IsPunct(")")) {
    if (token_.kind == TokenKind::kLocal) {
      std::string device;
      params.push_back(Declare(&device));
      has_devices = has_devices || !device.empty();
      devices.emplace_back(std::move(device));
    } else {
      const Token name = token_.kind == TokenKind::kString
                             ? Advance()
                             : ExpectKind(TokenKind::kName, "a parameter (%name) or an attribute");
      Expect("=", "after the name of an attribute");
      attrs[name.text == kVirtualDevice ? "result_device" : name.text] = AttributeValue();
    }
    if (!Accept(",")) break;
  }
  Expect(")", "after the parameters");
  if (has_devices) attrs["param_devices"] = attrs::Value(std::move(devices));
  const Type result = Accept("->") ? ParseType() : Type();
  Expect("{", "before the body of a function");
  Expr body = Body();
  Expect("}", "after the body of a function");
  scopes_.pop_back();
  if (is_generic) type_parameters_.pop_back();
  return Function::Make(std::move(params), std::move(body), result, std::move(attrs), span);
}

// "%x" or "%x: type", newly bound. Parameters may name a device.
Expr Parser::Declare(std::string* device) {
  const Token name = ExpectKind(TokenKind::kLocal, "a variable (%name)");
  if (device != nullptr && Accept("{")) *device = DeviceInBraces();
  const Type type = Accept(":") ? ParseType() : Type();
  const Expr var = Var::Make(name.text, type, lexer_.SpanOf(name));
  Bind(name, var);
  return var;
}
void Parser::Bind(const Token& name, const Expr& value) {
  if (!scopes_.back().emplace(name.text, value).second)
    Fail(name, StrCat("%", name.text, " is defined twice in one scope"));
}

Expr Parser::Body() {
  struct Binding {
    Var var;
    Expr value;
    Span span;
  };
  std::vector<Binding> lets;
  while (true) {
    if (IsName("let")) {
      const Span span = lexer_.SpanOf(Advance());
      const Token name = ExpectKind(TokenKind::kLocal, "a variable (%name) after \"let\"");
      const Type type = Accept(":") ? ParseType() : Type();
      Expect("=", "in a let");
      Expr value = ParseExpr();
      Expect(";", "after a let");
      const Var var = Var::Make(name.text, type, lexer_.SpanOf(name));
      scopes_.back().insert_or_assign(name.text, var);
      lets.push_back({var, std::move(value), span});
    } else if (IsLine()) {
      const Token name = Advance();
      Advance();
      const Expr value = ParseExpr();
      Expect(";", "after a line");
      Bind(name, value);
    } else {
      break;
    }
  }
  Expr result = ParseExpr();
  for (auto it = lets.rbegin(); it != lets.rend(); ++it)
    result = Let::Make(it->var, it->value, result, it->span);
  return result;
}

Expr Parser::ParseExpr() {
  const Nested nested(this);
  const Token start = token_;
  Expr e = Primary();
  while (true) {
    if (IsPunct("(")) {
      e = CallOf(e, start);
    } else if (IsPunct(".")) {
      Advance();
      const Token index = ExpectKind(TokenKind::kNumber, "the number of a field");
      const auto value = ParseNumber<int>(index.text);
      if (!value) Fail(index, StrCat("'", index.text, "' is not the number of a field"));
      e = Placed(index, [&] { return TupleGetItem::Make(e, *value, lexer_.SpanOf(start)); });
    } else {
      break;
    }
  }
  if (e.kind() == ExprKind::kOp)
    Fail(start, StrCat("the operator ", start.text, " is named but not called"));
  return e;
}

Expr Parser::Primary() {
  switch (token_.kind) {
    case TokenKind::kLocal:
      return Lookup(Advance());
    case TokenKind::kGlobal: {
      const Token name = Advance();
      global_uses_.emplace(name.text, name);
      const auto [it, added] = globals_.try_emplace(name.text);
      if (added) it->second = GlobalVar::Make(name.text, lexer_.SpanOf(name));
      return it->second;
    }
    case TokenKind::kNumber:
      return NumberConstant(Advance());
    case TokenKind::kName:
      return Named(Advance());
    case TokenKind::kPunctuation:
      if (IsPunct("(")) return Parenthesised();
      break;
    case TokenKind::kString:
    case TokenKind::kEnd:
      break;
  }
  Fail(token_, StrCat("expected an expression, found ", Shown(token_)));
}

Expr Parser::Lookup(const Token& name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->find(name.text);
    if (found != scope->end()) return found->second;
  }
  std::vector<std::string> known;
  for (const auto& scope : scopes_) {
    for (const auto& entry : scope) known.push_back(entry.first);
  }
  Fail(name, StrCat("%", name.text, " is not defined here (a line can use only lines before it)",
                    DidYouMean("; ", name.text, known, "%")));
}

Expr Parser::Named(const Token& name) {
  if (name.text == "fn") return FunctionAfter(name);
  if (name.text == "True" || name.text == "False")
    return Constant::Make(NDArray::Scalar<bool>(name.text == "True"), lexer_.SpanOf(name));
  if (name.text == "meta") return MetaConstant(name);
  if (name.text == "if") return IfAfter(name);
  if (name.text == "match") return MatchAfter(name);
  const Expr op = ops_.find(name.text);
  if (op) return op;
  Fail(name,
       StrCat("there is no operator named ", name.text, DidYouMean("; ", name.text, ops_.names())));
}

Expr Parser::Parenthesised() {
  const Span place = lexer_.SpanOf(token_);
  Advance();
  if (IsName("let") || IsLine()) {
    scopes_.emplace_back();
    const Expr body = Body();
    scopes_.pop_back();
    Expect(")", "after a body in parentheses");
    return body;
  }
  std::vector<Expr> fields;
  bool is_tuple = IsPunct(")");
  while (!IsPunct(")")) {
    fields.push_back(ParseExpr());
    if (!Accept(",")) break;
    is_tuple = true;
  }
  Expect(")", "after a tuple");
  return is_tuple ? Tuple::Make(std::move(fields), place) : fields[0];
}

Expr Parser::CallOf(const Expr& callee, const Token& at) {
  // Taken before the arguments, which may stand on later lines: the lexer counts lines forwards.
  const Span place = lexer_.SpanOf(at);
  Advance();
  std::vector<Expr> args;
  attrs::FieldValues fields;
  while (!IsPunct(")")) {
    if (token_.kind == TokenKind::kName && ahead_.kind == TokenKind::kPunctuation &&
        ahead_.text == "=") {
      const Token name = Advance();
      Advance();
      if (!fields.emplace(name.text, AttributeValue()).second)
        Fail(name, StrCat("the attribute ", name.text, " is given twice"));
    } else {
      if (!fields.empty()) Fail(token_, "arguments come before attributes");
      args.push_back(ParseExpr());
    }
    if (!Accept(",")) break;
  }
  Expect(")", "after the arguments");
  const auto* op = callee.As<OpNode>();
  if (op == nullptr) {
    if (!fields.empty()) Fail(at, "only operators take attributes");
    return Call::Make(callee, std::move(args), {}, place);
  }
  if (op->num_inputs() >= 0 && static_cast<int>(args.size()) != op->num_inputs())
    Fail(at, StrCat(op->name, " takes ", op->num_inputs(),
                    op->num_inputs() == 1 ? " argument" : " arguments", ", not ", args.size()));
  return Placed(at, [&] {
    attrs::Attrs attrs;
    if (op->attrs_schema() != nullptr) {
      attrs = attrs::Attrs::FromFields(*op->attrs_schema(), fields);
    } else if (!fields.empty()) {
      throw InvalidArgument(
          StrCat(op->name, " takes no attributes, so not ", fields.begin()->first));
    }
    return Call::Make(callee, std::move(args), std::move(attrs), place);
  });
}

absl::StatusOr<Module> ParseModule(std::string_view bytes, const OpResolver& ops,
                                   const std::string& source) {
  return CatchErrors([&] {
    const std::string_view text = WithoutByteOrderMark(bytes);
    Metadata metadata;
    std::string_view program = text;
    // The mark stands at the start of a line. No string of the program can contain that.
    std::size_t mark = text.rfind(kMetadataMark);
    if (mark != std::string_view::npos && (mark == 0 || text[mark - 1] == '\n')) {
      metadata = MetadataAfter(text, mark, source);
      program = text.substr(0, mark);
    }
    return Parser(program, ops, source, std::move(metadata)).Parse();
  });
}

}  // namespace tenon::ir
