#include "tenon/relax/read_body.h"

#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "tenon/relax/branches.h"
#include "tenon/relax/read_binding.h"
#include "tenon/relax/read_expr.h"
#include "tenon/relax/read_function.h"
#include "tenon/support/strings.h"

namespace tenon::relax {
namespace {

using ir::Expr;

// Statements of Python that Relax text may have, but Tenon does not compute.
bool IsRefusedStatement(const Cursor& text) {
  for (const char* word : {"for", "while", "assert", "del", "raise", "try", "lambda", "class",
                           "import", "from", "global", "yield"}) {
    if (text.IsName(word)) return true;
  }
  return false;
}

class BodyReader {
 public:
  BodyReader(Cursor* text, Scope* scope, Surroundings* module, ir::FunctionAttrs* attrs)
      : text_(text),
        scope_(scope),
        module_(module),
        attrs_(attrs),
        exprs_(text, scope, module),
        bindings_(text, scope, module, &exprs_) {}

  // To the end of the block. The result of "return" is the function's.
  Expr Read() {
    while (!result_) {
      if (text_->Is(TokenKind::kDedent) || text_->Is(TokenKind::kEnd))
        text_->Fail(text_->token(), "the function ends without \"return\"");
      Statement();
    }
    if (!text_->Is(TokenKind::kDedent))
      text_->FailExpected("the end of the function after \"return\"");
    text_->Advance();
    return result_;
  }

 private:
  // The variable that was bound last, which is what a branch gives.
  struct Bound {
    Token name;
    bool is_known = true;  // false where it ended with its dataflow block
  };
  void Statement() {
    if (text_->IsPunct("@")) return LocalFunction();
    if (text_->IsName("with")) return Dataflow();
    if (text_->IsName("if")) return If();
    if (text_->IsName("return")) {
      if (in_branch_)
        text_->Fail(text_->token(),
                    "\"return\" cannot stand in a branch of an if; the last variable of both "
                    "branches is what the if gives, and \"return\" comes after it");
      text_->Advance();
      result_ = exprs_.Read();
      text_->ExpectLineEnd("the result");
      return;
    }
    if (text_->AcceptName("pass")) return text_->ExpectLineEnd("\"pass\"");
    if (text_->Is(TokenKind::kString)) {  // a comment
      text_->Advance();
      return text_->ExpectLineEnd("a string");
    }
    SimpleStatement();
  }

  void If() {
    const Nested nested(*text_);
    const Token at = text_->Advance();
    const Span span = text_->SpanOf(at);  // places are found in their order in the text
    if (text_->source()->ifs >= kMaxIfs)
      text_->Fail(at, StrCat("an if inside ", kMaxIfs, " others; a text may have no more"));
    ++text_->source()->ifs;
    const Token condition_at = text_->token();
    const Expr condition = exprs_.Read();
    RequireCondition(*text_, condition_at, condition);
    text_->Expect(":", "after the condition of an if");
    const Branch yes = ReadBranch("the condition of an if");
    if (text_->IsName("elif"))
      text_->Fail(text_->token(),
                  "\"elif\" is not supported; write \"else:\" and an if inside of it");
    if (!text_->IsName("else"))
      text_->FailExpected(
          "\"else:\" after the first branch of an if, which has a value and so needs both "
          "branches");
    text_->Advance();
    text_->Expect(":", "after \"else\"");
    const Branch no = ReadBranch("\"else:\"");
    scope_->Bind(yes.name.text, MakeIf(*text_, condition, yes, no, span));
    last_ = Bound{yes.name};
    --text_->source()->ifs;
  }

  // The block after the ":".
  Branch ReadBranch(std::string_view what) {
    OpenBlock(what);
    scope_->Open();
    const std::optional<Bound> around = std::exchange(last_, std::nullopt);
    const bool was_in_branch = std::exchange(in_branch_, true);
    const Token start = text_->token();
    while (!text_->Is(TokenKind::kDedent)) Statement();
    if (!last_)
      text_->Fail(start,
                  "this branch of an if binds no variable; the last one that both branches bind is "
                  "what the if gives");
    const Token name = last_->name;
    if (!last_->is_known)
      text_->Fail(name, StrCat(name.text,
                               " is what this branch gives, but it ends with its block; "
                               "R.output(",
                               name.text, ") makes it known"));
    if (const PlainValue* plain = scope_->FindPlain(name.text))
      text_->Fail(name, StrCat(name.text, " is ", plain->ToString(), ", and an if gives tensors"));
    Branch branch{name, scope_->Find(name.text)};
    text_->Advance();
    scope_->Close(BlockKind::kBranch);
    in_branch_ = was_in_branch;
    last_ = around;
    return branch;
  }

  // What may stand in a dataflow block, too.
  void SimpleStatement() {
    if (IsRefusedStatement(*text_))
      text_->Fail(text_->token(), StrCat("\"", text_->token().text, "\" is not supported here"));
    if (text_->IsName("else") || text_->IsName("elif"))
      text_->Fail(text_->token(), StrCat("\"", text_->token().text, "\" has no if before it"));
    if (text_->IsName("R") && text_->ahead().text == "." && AfterR("func_attr")) return;
    if (const std::optional<Token> name = bindings_.Read()) last_ = Bound{*name};
  }

  // "R.NAME(...)" as a statement; false, with nothing taken, for another name.
  bool AfterR(std::string_view wanted) {
    Cursor look = *text_;
    look.Advance();
    look.Advance();
    if (!look.IsName(wanted)) return false;
    if (in_branch_)
      text_->Fail(look.token(), StrCat("R.", wanted,
                                       " cannot stand in a branch of an if; it is of the "
                                       "whole function"));
    look.Advance();
    *text_ = look;
    ReadAttributes(text_, "R.func_attr", attrs_);
    return true;
  }

  void Dataflow() {
    text_->Advance();
    const Token at = text_->token();
    if (!text_->AcceptName("R")) text_->FailExpected("R.dataflow()");
    text_->Expect(".", "in R.dataflow()");
    if (!text_->AcceptName("dataflow"))
      text_->Fail(at, "only R.dataflow() can stand after \"with\"");
    text_->Expect("(", "in R.dataflow()");
    text_->Expect(")", "in R.dataflow()");
    text_->Expect(":", "after R.dataflow()");
    OpenBlock("R.dataflow()");
    scope_->Open();
    while (!text_->Is(TokenKind::kDedent)) {
      if (IsOutput()) {
        Output();
        if (!text_->Is(TokenKind::kDedent))
          text_->FailExpected("the end of the block after R.output");
      } else if (text_->IsPunct("@")) {
        LocalFunction();
      } else if (text_->IsName("if")) {
        text_->Fail(text_->token(),
                    "\"if\" cannot stand in a dataflow block; end the block before it, with "
                    "R.output of what the if reads");
      } else if (text_->IsName("return") || text_->IsName("with")) {
        text_->Fail(text_->token(),
                    StrCat("\"", text_->token().text, "\" cannot stand in a dataflow block"));
      } else {
        SimpleStatement();
      }
    }
    text_->Advance();
    if (last_ && scope_->Binds(last_->name.text)) last_->is_known = false;
    scope_->Close(BlockKind::kDataflow);
  }

  void OpenBlock(std::string_view what) {
    text_->ExpectLineEnd("':'");
    if (!text_->Is(TokenKind::kIndent))
      text_->Fail(text_->token(), StrCat("expected an indented block after ", what));
    text_->Advance();
  }

  bool IsOutput() {
    if (!text_->IsName("R") || text_->ahead().text != ".") return false;
    Cursor look = *text_;
    look.Advance();
    look.Advance();
    return look.IsName("output");
  }

  void Output() {
    for (int i = 0; i < 3; ++i) text_->Advance();
    text_->Expect("(", "after R.output");
    std::set<std::string_view> exported;  // a name may be there twice
    while (!text_->IsPunct(")")) {
      const Token name = text_->ExpectName("the name of a variable");
      const bool is_new = exported.insert(name.text).second;
      if (is_new && !scope_->Binds(name.text))
        text_->Fail(name, StrCat("the variable ", name.text, " is not defined in this block",
                                 DidYouMean("; ", name.text, scope_->Names())));
      if (is_new) scope_->Export(name.text);
      if (!text_->Accept(",")) break;
    }
    text_->Expect(")", "after the variables of R.output");
    text_->ExpectLineEnd("R.output");
  }

  void LocalFunction() {
    const Nested nested(*text_);
    const FunctionHeader header = ReadHeader(text_, scope_->symbols);
    const Expr function = ReadFunction(text_, header, scope_, module_);
    scope_->Bind(header.name.text, function);
    last_ = Bound{header.name};
  }

  Cursor* const text_;
  Scope* const scope_;
  Surroundings* const module_;
  ir::FunctionAttrs* const attrs_;
  ExprReader exprs_;
  BindingReader bindings_;
  Expr result_;
  std::optional<Bound> last_;
  bool in_branch_ = false;
};

}  // namespace

Expr ReadBody(Cursor* text, Scope* scope, Surroundings* module, ir::FunctionAttrs* attrs) {
  return BodyReader(text, scope, module, attrs).Read();
}

}  // namespace tenon::relax
