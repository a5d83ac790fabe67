// Two walks over the tokens. The first finds the functions and reads their headers, so that calls
// know the results of functions that come later. The second reads the bodies. A function whose
// result type is not written is read when a call needs it.
#include <optional>
#include <unordered_map>
#include <utility>

#include "tenon/ir/metadata.h"
#include "tenon/ir/module_builder.h"
#include "tenon/ir/source_text.h"
#include "tenon/ir/verify.h"
#include "tenon/passes/infer_type.h"
#include "tenon/relax/read_function.h"
#include "tenon/relax/text_format.h"
#include "tenon/support/strings.h"

namespace tenon::relax {
namespace {

using ir::Expr;

constexpr const char* kSymbol = "global_symbol";

class ModuleReader : public Surroundings {
 public:
  explicit ModuleReader(Source* source) : source_(source), text_(source) {}

  ir::Module Read() {
    while (!text_.Is(TokenKind::kEnd)) TopLevel();
    if (functions_.empty())
      text_.Fail(text_.token(), "the text has no function; one begins with @R.function");
    ir::ModuleBuilder builder;
    for (const std::string& name : order_) builder.Set(name, FunctionOf(name));
    const ir::Module module = passes::InferType(builder.Build())
                                  .WithOperatorNames(ir::OperatorNames::kRelax)
                                  .WithAttrs(std::move(attrs_));
    ir::VerifyModule(module);
    return module;
  }

  bool IsModule(std::string_view name) const override {
    return !name.empty() && (name == module_name_ || names_of_module_.contains(name));
  }
  void AddModuleName(std::string_view name) override { names_of_module_.emplace(name); }

  ir::Type ResultOf(const Token& name) override {
    const std::string key(name.text);
    const auto found = functions_.find(key);
    if (found == functions_.end())
      text_.Fail(name, StrCat("the module has no function ", key, DidYouMean("; ", key, order_)));
    const Entry& entry = found->second;
    if (entry.header.result && entry.header.result->is_complete())
      return entry.header.result->ToType(text_);
    if (entry.reading)
      text_.Fail(name, StrCat(key, " is called while its result is not known; write it: def ", key,
                              "(...) -> R.Tensor(...)"));
    const Nested nested(text_);
    return FunctionOf(key).As<ir::FunctionNode>()->ret_type;
  }

  const std::vector<Expr>& ParametersOf(const Token& name) override {
    return functions_.at(std::string(name.text)).header.params;
  }

  Expr ConstantOf(std::size_t index, const Token& at) override {
    if (!metadata_)
      text_.Fail(at, "the text has no metadata; print it with the bytes of the constants");
    const auto& constants = metadata_->constants;
    if (index >= constants.size())
      text_.Fail(at,
                 StrCat("the metadata has ", constants.size(), " constants; there is no ", index));
    // One node per constant, so that sharing survives.
    auto [node, is_new] = constants_.try_emplace(index);
    if (is_new) node->second = ir::Constant::Make(constants[index], text_.SpanOf(at));
    return node->second;
  }

 private:
  struct Entry {
    FunctionHeader header;
    bool reading = false;
    Expr function = {};
  };

  void TopLevel() {
    if (text_.IsName("from") || text_.IsName("import")) return SkipLine();
    if (text_.IsName("metadata")) return ReadMetadata();
    if (text_.IsPunct("@")) return Definition();
    if (text_.Is(TokenKind::kString)) return SkipLine();  // a comment
    text_.FailExpected("@I.ir_module or @R.function");
  }

  void SkipLine() {
    while (!text_.Is(TokenKind::kLineEnd) && !text_.Is(TokenKind::kEnd)) text_.Advance();
    text_.Advance();
  }

  // metadata = tvm.ir.load_json("""...""")
  void ReadMetadata() {
    text_.Advance();
    text_.Expect("=", "after metadata");
    while (text_.Is(TokenKind::kName)) {
      text_.Advance();
      text_.Accept(".");
    }
    text_.Expect("(", "before the metadata");
    const Token at = text_.token();
    const std::string json = text_.String();
    text_.Expect(")", "after the metadata");
    text_.ExpectLineEnd("the metadata");
    if (metadata_) text_.Fail(at, "the text has metadata twice");
    // Shown without its text, which is long.
    Token start = at;
    start.text = start.text.substr(0, 3);
    metadata_ = text_.Placed(start, [&] { return ir::ReadMetadata(json, ir::kRelaxConstants); });
  }

  // A module, or a function without one.
  void Definition() {
    Cursor look = text_;
    look.Advance();
    const Token at = look.token();
    std::string decorator;
    while (look.Is(TokenKind::kName)) {
      StrAppend(&decorator, look.Advance().text);
      if (look.Accept(".")) decorator += '.';
    }
    if (!decorator.ends_with("ir_module")) return Function();
    if (!module_name_.empty()) text_.Fail(at, "the text has two modules; read one at a time");
    text_ = look;
    // Options of the decorator say what the reference system checks.
    if (text_.IsPunct("(")) SkipBrackets();
    text_.ExpectLineEnd("@I.ir_module");
    if (!text_.AcceptName("class")) text_.FailExpected("\"class\" after @I.ir_module");
    module_name_ = text_.ExpectName("the name of the module").text;
    text_.Expect(":", "after the name of the module");
    text_.ExpectLineEnd("':'");
    if (!text_.Is(TokenKind::kIndent))
      text_.Fail(text_.token(),
                 StrCat("expected an indented block after \"class ", module_name_, "\""));
    text_.Advance();
    while (!text_.Is(TokenKind::kDedent)) Member();
    text_.Advance();
  }

  void SkipBrackets() {
    int depth = 0;
    do {
      if (text_.IsPunct("(")) ++depth;
      if (text_.IsPunct(")")) --depth;
      text_.Advance();
    } while (depth > 0 && !text_.Is(TokenKind::kEnd));
  }

  void Member() {
    if (text_.IsPunct("@")) return Function();
    if (text_.AcceptName("pass")) return text_.ExpectLineEnd("\"pass\"");
    if (text_.Is(TokenKind::kString)) return SkipLine();
    if (text_.IsName("I")) return Attributes();
    text_.FailExpected("@R.function");
  }

  // I.module_attrs({"name": value})
  void Attributes() {
    const Token at = text_.Advance();
    text_.Expect(".", "after I");
    if (!text_.AcceptName("module_attrs"))
      text_.Fail(at,
                 StrCat("I.", text_.token().text,
                        " is not supported; a module may have I.module_attrs({\"name\": value})"));
    ReadAttributes(&text_, "I.module_attrs", &attrs_);
  }

  // The header; the body is skipped.
  void Function() {
    FunctionHeader header = ReadHeader(&text_);
    const std::string name(header.name.text);
    text_.ExpectLineEnd("':'");
    if (!text_.Is(TokenKind::kIndent))
      text_.Fail(text_.token(), StrCat("expected an indented block after \"def ", name, "\""));
    int depth = 0;
    do {
      if (text_.Is(TokenKind::kIndent)) ++depth;
      if (text_.Is(TokenKind::kDedent)) --depth;
      text_.Advance();
    } while (depth > 0 && !text_.Is(TokenKind::kEnd));
    const Token at = header.name;
    if (name == "main" && header.is_private)
      text_.Fail(at, "main is what runs, and so public; give a private function another name");
    if (!functions_.emplace(name, Entry{std::move(header)}).second)
      text_.Fail(at, StrCat("the function ", name, " is defined twice"));
    order_.push_back(name);
  }

  Expr FunctionOf(const std::string& name) {
    Entry& entry = functions_.at(name);
    if (entry.function) return entry.function;
    entry.reading = true;
    const int ifs_around_call = std::exchange(source_->ifs, 0);
    Cursor cursor(source_, entry.header.body);
    Scope scope;
    const Expr function = ReadFunction(&cursor, entry.header, &scope, this);
    entry.function = WithVisibility(name, function, entry.header.is_private);
    entry.reading = false;
    source_->ifs = ifs_around_call;
    return entry.function;
  }

  // @main is public without a mark.
  static Expr WithVisibility(const std::string& name, const Expr& function, bool is_private) {
    const auto& node = *function.As<ir::FunctionNode>();
    if (is_private || name == "main" || node.HasAttr(kSymbol)) return function;
    ir::FunctionAttrs attrs = node.attrs;
    attrs[kSymbol] = attrs::Value(name);
    return ir::Function::Make(node.params, node.body, node.ret_type, std::move(attrs),
                              function.span(), function.checked_type());
  }

  Source* const source_;
  Cursor text_;
  std::string_view module_name_;
  Symbols names_of_module_;
  std::unordered_map<std::string, Entry> functions_;
  std::vector<std::string> order_;
  ir::FunctionAttrs attrs_;
  std::optional<ir::Metadata> metadata_;
  std::unordered_map<std::size_t, Expr> constants_;
};

}  // namespace

absl::StatusOr<ir::Module> ParseRelax(std::string_view text, const std::string& source) {
  return CatchErrors([&] {
    Source tokens(ir::WithoutByteOrderMark(text), source);
    return ModuleReader(&tokens).Read();
  });
}

bool LooksLikeRelax(std::string_view bytes) {
  std::string_view text = ir::WithoutByteOrderMark(bytes);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    if (line.starts_with("#[")) return false;  // the version of Relay text
    if (line.empty() || line.starts_with("#")) continue;
    for (const std::string_view start :
         {"@I.", "@R.", "@T.", "@tvm.", "from ", "import ", "metadata ", "class "}) {
      if (line.starts_with(start)) return true;
    }
    return false;
  }
  return false;
}

}  // namespace tenon::relax
