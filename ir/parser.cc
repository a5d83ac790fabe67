// Recursive descent. Sequences (definitions, lines of a body, let chains) are loops, so a long text
// never deepens the stack. Nesting does, and is bounded.
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>

#include "tenon/ir/lexer.h"
#include "tenon/ir/metadata.h"
#include "tenon/ir/module_builder.h"
#include "tenon/ir/scalar_text.h"
#include "tenon/ir/text_format.h"
#include "tenon/support/strings.h"

namespace tenon::ir {
namespace {

constexpr int kMaxNesting = 400;
constexpr std::string_view kMetadataMark = "#[metadata]";
// The attribute of a parameter or, among a function's attributes, of its result.
constexpr const char* kVirtualDevice = "virtual_device";
constexpr std::string_view kVersion = "0.0.5";

class Parser {
 public:
  Parser(std::string_view text, const OpResolver& ops, const std::string& source, Metadata metadata)
      : lexer_(text, source), ops_(ops), metadata_(std::move(metadata)) {
    token_ = lexer_.Next();
    ahead_ = lexer_.Next();
  }

  Module Parse() {
    Header();
    Module module;
    if (IsName("def")) {
      ModuleBuilder builder;
      while (IsName("def")) Definition(&builder);
      module = builder.Build();
      if (token_.kind != TokenKind::kEnd)
        Fail(token_, StrCat("expected \"def\" or the end, found ", Shown(token_)));
    } else {
      module = SingleExpr();
    }
    for (const auto& [name, use] : global_uses_) {
      if (!module.Find(name)) Fail(use, StrCat("@", name, " is used but not defined"));
    }
    return module;
  }

 private:
  struct Nested {
    Parser* parser;
    explicit Nested(Parser* p) : parser(p) {
      if (++p->nesting_ > kMaxNesting)
        p->Fail(p->token_, StrCat("nested more than ", kMaxNesting,
                                  " deep; give inner results a name (%0 = ...)"));
    }
    ~Nested() { --parser->nesting_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;
  };

  // --- tokens
  [[noreturn]] void Fail(const Token& at, const std::string& message) {
    throw lexer_.ErrorAt(at, message);
  }
  static std::string Shown(const Token& t) {
    if (t.kind == TokenKind::kEnd) return "the end of the text";
    const char* sign = t.kind == TokenKind::kLocal ? "%" : t.kind == TokenKind::kGlobal ? "@" : "";
    return StrCat("'", sign, t.text, "'");
  }
  Token Advance() {
    Token taken = std::move(token_);
    token_ = std::move(ahead_);
    ahead_ = lexer_.Next();
    return taken;
  }
  bool IsPunct(std::string_view text) const {
    return token_.kind == TokenKind::kPunctuation && token_.text == text;
  }
  bool IsName(std::string_view text) const {
    return token_.kind == TokenKind::kName && token_.text == text;
  }
  // "%0 = ..." begins here.
  bool IsLine() const {
    return token_.kind == TokenKind::kLocal && ahead_.kind == TokenKind::kPunctuation &&
           ahead_.text == "=";
  }
  bool Accept(std::string_view punctuation) {
    if (!IsPunct(punctuation)) return false;
    Advance();
    return true;
  }
  Token Expect(std::string_view punctuation, const char* where) {
    if (!IsPunct(punctuation))
      Fail(token_, StrCat("expected '", punctuation, "' ", where, ", found ", Shown(token_)));
    return Advance();
  }
  Token ExpectKind(TokenKind kind, const char* what) {
    if (token_.kind != kind) Fail(token_, StrCat("expected ", what, ", found ", Shown(token_)));
    return Advance();
  }
  // Runs `make`; a user error that it throws is shown at `at`.
  template <typename Make>
  auto Placed(const Token& at, Make make) {
    try {
      return make();
    } catch (const Error& error) {
      if (error.code() == absl::StatusCode::kInternal) throw;
      Error placed = lexer_.ErrorAt(at, error.message());
      for (const std::string& note : error.notes()) placed.AddNote(note);
      throw placed;
    }
  }

  // --- module
  void Header() {
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

  void Definition(ModuleBuilder* module) {
    Advance();
    const Token name = ExpectKind(TokenKind::kGlobal, "the name of a function (@name)");
    if (module->Find(name.text)) Fail(name, StrCat("@", name.text, " is defined twice"));
    module->Set(name.text, FunctionAfter(name));
  }

  Module SingleExpr() {
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

  // --- functions and bodies
  Expr FunctionAfter(const Token& at) {
    const Nested nested(this);
    const Span span = lexer_.SpanOf(at);
    if (IsPunct("[")) Fail(token_, "type parameters are not supported");
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
        const Token name = ExpectKind(TokenKind::kName, "a parameter (%name) or an attribute");
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
    return Function::Make(std::move(params), std::move(body), result, std::move(attrs), span);
  }

  // "{virtual_device=...}", as the text of the device.
  std::string DeviceInBraces() {
    const Token name = ExpectKind(TokenKind::kName, "virtual_device=, the device of a variable");
    if (name.text != kVirtualDevice)
      Fail(name,
           StrCat("a variable has no attribute ", name.text, "; it can have ", kVirtualDevice));
    Expect("=", "after the name of an attribute");
    const Token at = token_;
    const attrs::Value value = AttributeValue();
    const auto* device = value.As<std::string>();
    if (device == nullptr)
      Fail(at, StrCat("the device of a variable is ", attrs::ToText(value),
                      "; it must be meta[VirtualDevice][number] or text such as \"cpu:1\""));
    Expect("}", "after the device of a variable");
    return *device;
  }

  // "%x" or "%x: type", newly bound. Parameters may name a device.
  Expr Declare(std::string* device = nullptr) {
    const Token name = ExpectKind(TokenKind::kLocal, "a variable (%name)");
    if (device != nullptr && Accept("{")) *device = DeviceInBraces();
    const Type type = Accept(":") ? ParseType() : Type();
    const Expr var = Var::Make(name.text, type, lexer_.SpanOf(name));
    Bind(name, var);
    return var;
  }
  void Bind(const Token& name, const Expr& value) {
    if (!scopes_.back().emplace(name.text, value).second)
      Fail(name, StrCat("%", name.text, " is defined twice in one scope"));
  }

  Expr Body() {
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

  // --- expressions
  Expr ParseExpr() {
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

  Expr Primary() {
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

  Expr Lookup(const Token& name) {
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

  Expr Named(const Token& name) {
    if (name.text == "fn") return FunctionAfter(name);
    if (name.text == "True" || name.text == "False")
      return Constant::Make(NDArray::Scalar<bool>(name.text == "True"), lexer_.SpanOf(name));
    if (name.text == "meta") return MetaConstant(name);
    if (name.text == "if" || name.text == "match" || name.text == "ref")
      Fail(name, StrCat("\"", name.text, "\" is not supported"));
    const Expr op = ops_.find(name.text);
    if (op) return op;
    Fail(name, StrCat("there is no operator named ", name.text,
                      DidYouMean("; ", name.text, ops_.names())));
  }

  struct MetaReference {
    Token kind;
    Token number;
    std::size_t index;
  };
  // After "meta".
  MetaReference MetaAfter() {
    Expect("[", "after \"meta\"");
    const Token kind = ExpectKind(TokenKind::kName, "the kind of a metadata entry");
    Expect("]", "in a metadata reference");
    Expect("[", "in a metadata reference");
    const Token number = ExpectKind(TokenKind::kNumber, "the number of a metadata entry");
    Expect("]", "in a metadata reference");
    const auto index = ParseNumber<std::size_t>(number.text);
    if (!index) Fail(number, StrCat("'", number.text, "' is not the number of a metadata entry"));
    return {kind, number, *index};
  }

  Expr MetaConstant(const Token& at) {
    const MetaReference meta = MetaAfter();
    if (meta.kind.text != "relay.Constant")
      Fail(meta.kind,
           StrCat("metadata of kind ", meta.kind.text, " cannot stand here; relay.Constant can"));
    const std::vector<NDArray>& constants = metadata_.constants;
    if (meta.index >= constants.size())
      Fail(meta.number, StrCat("the metadata section has ", constants.size(),
                               " constants; there is no ", meta.number.text));
    // One node per constant, so that sharing survives.
    auto [it, added] = meta_.try_emplace(meta.index);
    if (added) it->second = Constant::Make(constants[meta.index], lexer_.SpanOf(at));
    return it->second;
  }

  attrs::Value MetaValue() {
    const MetaReference meta = MetaAfter();
    const auto entries = metadata_.values.find(meta.kind.text);
    const std::size_t count = entries == metadata_.values.end() ? 0 : entries->second.size();
    if (meta.index >= count)
      Fail(meta.number, StrCat("the metadata section has ", count, " entries of kind ",
                               meta.kind.text, "; there is no ", meta.number.text));
    if (!entries->second[meta.index])
      Fail(meta.kind, StrCat("metadata of kind ", meta.kind.text,
                             " cannot stand here; boxed numbers, strings and devices can"));
    return *entries->second[meta.index];
  }

  Expr Parenthesised() {
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

  Expr CallOf(const Expr& callee, const Token& at) {
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

  // --- values
  NumberText Split(const Token& token) {
    const auto number = ParseNumberText(token.text);
    if (!number) Fail(token, StrCat("'", token.text, "' is not a number that can be read"));
    return *number;
  }

  Expr NumberConstant(const Token& token) {
    const auto scalar = ParseScalar(Split(token));
    if (!scalar)
      Fail(token, StrCat("'", token.text,
                         "' is not a constant; constants are 1 (int32), 1i64, 1i16, 1f (float32), "
                         "1f64, 1f16"));
    return Constant::Make(*scalar, lexer_.SpanOf(token));
  }

  attrs::Value AttributeValue() {
    const Nested nested(this);
    if (token_.kind == TokenKind::kString) return attrs::Value(Advance().text);
    if (token_.kind == TokenKind::kNumber) {
      const Token token = Advance();
      const NumberText number = Split(token);
      if (number.integer && (number.suffix.empty() || number.suffix[0] == 'i'))
        return attrs::Value(*number.integer);
      // Rounding to a float would change an integer silently.
      if (!number.is_fraction && (number.suffix.empty() || number.suffix[0] == 'i'))
        Fail(token, StrCat("'", token.text, "' does not fit 64 bits"));
      return attrs::Value(number.real);
    }
    if (IsPunct("[") || IsPunct("(")) {
      const bool square = Advance().text == "[";
      const char* close = square ? "]" : ")";
      attrs::List list;
      while (!IsPunct(close)) {
        list.push_back(AttributeValue());
        if (!Accept(",")) break;
      }
      Expect(close, "after a list");
      return attrs::Value(std::move(list));
    }
    const bool negative = Accept("-");
    const Token name = ExpectKind(TokenKind::kName, "the value of an attribute");
    if (name.text == "inf" || name.text == "inff")
      return attrs::Value(negative ? -HUGE_VAL : HUGE_VAL);
    if (name.text == "nan" || name.text == "nanf") return attrs::Value(std::nan(""));
    if (name.text == "None") return attrs::Value();
    if (name.text == "meta") return MetaValue();
    if (name.text == "True" || name.text == "False") return attrs::Value(name.text == "True");
    if (const auto dtype = DataType::Parse(name.text)) return attrs::Value(*dtype);
    Fail(name,
         StrCat("'", name.text,
                "' is not a value; values are numbers, strings, lists, True, False and None"));
  }

  // --- types
  Type ParseType() {
    const Nested nested(this);
    if (Accept("?")) return Type();
    if (Accept("(")) {
      std::vector<Type> fields = TypesUntilClose();
      return TupleType(std::move(fields));
    }
    const Token name = ExpectKind(TokenKind::kName, "a type");
    if (name.text == "fn") {
      Expect("(", "after \"fn\"");
      std::vector<Type> params = TypesUntilClose();
      Expect("->", "in a function type");
      return FuncType(std::move(params), ParseType());
    }
    if (name.text != "Tensor") return TensorType({}, ElementType(name));
    Expect("[", "after \"Tensor\"");
    Expect("(", "before the extents of a tensor");
    std::vector<Dim> shape;
    while (!IsPunct(")")) {
      const Token first = token_;
      shape.push_back(Extent());
      if (shape.back().is_static() && shape.back().value() < 0)
        Fail(first, StrCat("'", shape.back().ToString(),
                           "' is not an extent; extents are integers from 0 on"));
      if (!Accept(",")) break;
    }
    Expect(")", "after the extents of a tensor");
    Expect(",", "before the element type");
    const DataType dtype = ElementType(ExpectKind(TokenKind::kName, "an element type"));
    Expect("]", "after a tensor type");
    return TensorType(std::move(shape), dtype);
  }
  std::vector<Type> TypesUntilClose() {
    std::vector<Type> types;
    while (!IsPunct(")")) {
      types.push_back(ParseType());
      if (!Accept(",")) break;
    }
    Expect(")", "after a list of types");
    return types;
  }
  // Sums of products of numbers, names, calls of floordiv, ceildiv, max and min, and what stands in
  // parentheses. The lexer takes a minus before digits for part of the number.
  Dim Extent() {
    const Nested nested(this);
    Dim sum = Product();
    while (true) {
      if (Accept("+")) {
        sum = sum + Product();
      } else if (Accept("-")) {
        sum = sum - Product();
      } else if (token_.kind == TokenKind::kNumber && token_.text.starts_with('-')) {
        sum = sum + Product();
      } else {
        return sum;
      }
    }
  }
  Dim Product() {
    Dim product = Factor();
    while (Accept("*")) product = product * Factor();
    return product;
  }
  Dim Factor() {
    if (Accept("?")) return Dim();
    if (Accept("-")) return Factor() * -1;
    if (Accept("(")) {
      Dim inner = Extent();
      Expect(")", "after an extent's expression");
      return inner;
    }
    if (token_.kind == TokenKind::kName) {
      const Token name = Advance();
      return IsPunct("(") ? ExtentCall(name) : Dim::Symbol(name.text);
    }
    return Number();
  }
  Dim ExtentCall(const Token& name) {
    Expect("(", "after the name of a function");
    const Dim a = Extent();
    Expect(",", "between the arguments of a function of extents");
    const Token second = token_;
    const Dim b = Extent();
    Expect(")", "after the arguments of a function of extents");
    if (name.text == "max") return Max(a, b);
    if (name.text == "min") return Min(a, b);
    if (name.text != "floordiv" && name.text != "ceildiv")
      Fail(name,
           StrCat("'", name.text,
                  "' is not a function of extents; these are floordiv, ceildiv, max and min"));
    if (!b.is_static() || b.value() < 1) Fail(second, "extents are divided by numbers from 1 on");
    return name.text == "floordiv" ? FloorDiv(a, b.value()) : CeilDiv(a, b.value());
  }
  Dim Number() {
    const Token number = ExpectKind(TokenKind::kNumber, "an extent (a number, a name or ?)");
    const auto value = ParseNumber<std::int64_t>(number.text);
    if (!value) Fail(number, StrCat("'", number.text, "' is not an integer, as extents are"));
    return Dim(*value);
  }
  DataType ElementType(const Token& name) {
    const auto dtype = DataType::Parse(name.text);
    if (!dtype || dtype->is_void() || dtype->is_vector())
      Fail(name, StrCat("'", name.text,
                        "' is not an element type; types are bool, int8 to int64, uint8 to uint64, "
                        "float16, float32, float64 and bfloat16"));
    return *dtype;
  }

  Lexer lexer_;
  const OpResolver& ops_;
  const Metadata metadata_;
  Token token_, ahead_;
  int nesting_ = 0;
  std::vector<std::unordered_map<std::string, Expr>> scopes_;
  std::unordered_map<std::string, Expr> globals_;
  std::unordered_map<std::string, Token> global_uses_;
  std::unordered_map<std::size_t, Expr> meta_;
};

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

absl::StatusOr<Module> ParseModule(std::string_view text, const OpResolver& ops,
                                   const std::string& source) {
  return CatchErrors([&] {
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
