// One walk over the graph, producers first. A node becomes a line of its place (places.h), so the
// lines of an inner function are complete when the walk reaches it.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tenon/ir/metadata.h"
#include "tenon/passes/infer_type.h"
#include "tenon/relax/call_text.h"
#include "tenon/relax/places.h"
#include "tenon/relax/scalar_text.h"
#include "tenon/relax/string_text.h"
#include "tenon/relax/text_format.h"
#include "tenon/relax/type_text.h"
#include "tenon/relax/value_text.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::relax {
namespace {

using ir::Expr;
using ir::ExprKind;
using ir::FunctionNode;

constexpr const char* kSymbol = "global_symbol";
constexpr const char* kIndent = "    ";

using Lines = std::vector<std::string>;
void AddIndented(const Lines& lines, Lines* to) {
  for (const std::string& line : lines) to->push_back(line.empty() ? line : kIndent + line);
}

// {"name": value}
std::string AttributesText(const ir::FunctionAttrs& attrs) {
  return StrCat("{",
                StrJoin(attrs, ", ",
                        [](std::string* text, const auto& attr) {
                          StrAppend(text, QuotedString(attr.first), ": ", ValueText(attr.second));
                        }),
                "}");
}

class FunctionPrinter {
 public:
  FunctionPrinter(const Expr& root, std::vector<NDArray>* constants)
      : root_(root), constants_(constants), places_(root) {}

  // The decorator, the header and the body.
  Lines Definition(const std::string& name) {
    if (!IsName(name))
      throw InvalidArgument(StrCat("@", name, " is no name in Relax text; rename the function"));
    const auto& attrs = root_.As<FunctionNode>()->attrs;
    const auto symbol = attrs.find(kSymbol);
    const bool is_public = symbol != attrs.end() && symbol->second == attrs::Value(name);
    taken_.insert(name);
    CollectSymbols();
    for (const Expr& e : places_.order()) Node(e);
    Lines lines = {name == "main" || is_public ? "@R.function" : "@R.function(private=True)"};
    Lines body;
    for (const std::string& variable : symbols_) body.push_back(StrCat(variable, " = T.int64()"));
    FunctionLines(root_, name, name != "main" && is_public, std::move(body), &lines);
    return lines;
  }

 private:
  using Scope = Places::Scope;

  // The variables of extents take their names before anything else does.
  void CollectSymbols() {
    const TypeText text(Where::kBody, &symbols_);
    for (const Expr& e : places_.order()) {
      if (e.kind() == ExprKind::kCall || e.kind() == ExprKind::kVar ||
          e.kind() == ExprKind::kTupleGetItem)
        text.Of(e.checked_type());
    }
    taken_.insert(symbols_.begin(), symbols_.end());
  }

  Lines& LinesOf(const Expr& e) {
    const Scope scope = places_.ScopeOf(e);
    if (lines_.size() <= scope) lines_.resize(scope + 1);
    return lines_[scope];
  }

  void Node(const Expr& e) {
    switch (e.kind()) {
      case ExprKind::kVar:
        names_[e] = NameOf(e.As<ir::VarNode>()->name);
        return;
      case ExprKind::kConstant:
        names_[e] = ConstantText(e.As<ir::ConstantNode>()->data);
        return;
      case ExprKind::kGlobalVar:
        uses_module_ = true;
        if (!IsName(e.As<ir::GlobalVarNode>()->name))
          throw InvalidArgument(StrCat("@", e.As<ir::GlobalVarNode>()->name,
                                       " is no name in Relax text; rename the function"));
        names_[e] = StrCat("cls.", e.As<ir::GlobalVarNode>()->name);
        return;
      case ExprKind::kOp:
        return;
      case ExprKind::kFunction:
        if (!(e == root_)) LocalFunction(e);
        return;
      case ExprKind::kTuple: {
        std::string text = TupleText(*e.As<ir::TupleNode>());
        if (!places_.IsInPlace(e)) return Line(e, text);
        names_[e] = std::move(text);
        return;
      }
      case ExprKind::kTupleGetItem: {
        const auto& item = *e.As<ir::TupleGetItemNode>();
        return Line(e, StrCat(Use(item.tuple), "[", item.index, "]"));
      }
      case ExprKind::kCall:
        return Call(e, *e.As<ir::CallNode>());
      case ExprKind::kIf:
        return If(e, *e.As<ir::IfNode>());
      case ExprKind::kLet:
        break;
    }
    Unreachable("lets are left out of the order");
  }

  void Call(const Expr& e, const ir::CallNode& call) {
    if (call.op() == nullptr) return Line(e, StrCat(Use(call.callee), "(", Joined(call.args), ")"));
    Line(e, CallText(call, [&](const Expr& arg) { return Use(arg); }));
  }

  void Line(const Expr& e, const std::string& text) {
    const Expr choice = places_.IfThatGets(e);
    const std::string name = choice ? NameOfIf(choice) : NewName(e);
    LinesOf(e).push_back(Binding(name, e, text));
    names_[e] = name;
  }
  std::string NewName(const Expr& e) { return NameOf(places_.IsResult(e) ? "gv" : "lv"); }
  std::string Binding(const std::string& name, const Expr& e, const std::string& text) {
    return StrCat(name, ": ", TypeText(Where::kBody, &symbols_).Of(e.checked_type()), " = ", text);
  }

  // An if has the name that its branches bind last. Where it is the last one of a branch itself,
  // that is the name of the if around it.
  std::string NameOfIf(const Expr& choice) {
    std::vector<Expr> unnamed;
    Expr e = choice;
    while (e && !names_.contains(e)) {
      unnamed.push_back(e);
      e = places_.IfThatGets(e);
    }
    const std::string name = e ? names_.at(e) : NewName(unnamed.back());
    for (const Expr& inner : unnamed) names_[inner] = name;
    return name;
  }

  void If(const Expr& e, const ir::IfNode& choice) {
    const std::string name = NameOfIf(e);
    const Places::Branches& branches = places_.BranchesOf(e);
    Lines lines = {StrCat("if ", Use(choice.condition), ":")};
    AddIndented(BranchLines(choice.then_branch, branches.yes, name), &lines);
    lines.emplace_back("else:");
    AddIndented(BranchLines(choice.else_branch, branches.no, name), &lines);
    Lines& outer = LinesOf(e);
    outer.insert(outer.end(), lines.begin(), lines.end());
    without_dataflow_.insert(places_.ScopeOf(e));
  }

  Lines BranchLines(const Expr& branch, Scope scope, const std::string& name) {
    Lines lines = TakeLines(scope);
    const Expr value = places_.Meant(branch);
    // A value whose line is in this branch has the name already.
    if (Use(value) != name) lines.push_back(Binding(name, value, Use(value)));
    return lines;
  }
  Lines TakeLines(Scope scope) {
    return scope < lines_.size() ? std::exchange(lines_[scope], {}) : Lines();
  }

  const std::string& Use(const Expr& e) const { return names_.at(places_.Meant(e)); }

  std::string Joined(const std::vector<Expr>& exprs) const {
    return StrJoin(exprs, ", ", [&](std::string* text, const Expr& e) { *text += Use(e); });
  }
  std::string TupleText(const ir::TupleNode& tuple) const {
    if (tuple.fields.empty()) return "R.tuple()";
    return StrCat("(", Joined(tuple.fields), tuple.fields.size() == 1 ? ",)" : ")");
  }

  std::string ConstantText(const NDArray& data) {
    if (const auto scalar = ScalarText(data)) return *scalar;
    constants_->push_back(data);
    return StrCat("metadata[\"", ir::kRelaxConstants, "\"][", constants_->size() - 1, "]");
  }

  void LocalFunction(const Expr& e) {
    const std::string name = NameOf("local_func");
    Lines lines = {"", "@R.function"};
    FunctionLines(e, name, false, {}, &lines);
    lines.emplace_back();
    Lines& outer = LinesOf(e);
    outer.insert(outer.end(), lines.begin(), lines.end());
    names_[e] = name;
    without_dataflow_.insert(places_.ScopeOf(e));
  }

  // "def name(...):" and the body, of which `begin` is the start.
  void FunctionLines(const Expr& e, const std::string& name, bool is_public, Lines begin,
                     Lines* out) {
    const auto& function = *e.As<FunctionNode>();
    const TypeText signature(Where::kSignature, &symbols_);
    const std::string params =
        StrJoin(function.params, ", ", [&](std::string* text, const Expr& param) {
          StrAppend(text, names_.at(param), ": ", signature.Of(param.checked_type()));
        });
    // A result of which some extents are known is left to be inferred.
    const std::string result_type =
        TypeText::Says(function.ret_type) ? StrCat(" -> ", signature.Of(function.ret_type)) : "";
    out->push_back(StrCat("def ", name, "(", params, ")", result_type, ":"));
    ir::FunctionAttrs attrs = function.attrs;
    if (is_public) attrs.erase(kSymbol);
    Lines body;
    if (!attrs.empty()) body.push_back(StrCat("R.func_attr(", AttributesText(attrs), ")"));
    body.insert(body.end(), begin.begin(), begin.end());
    if (e == root_ && uses_module_) body.emplace_back("cls = Module");
    const Scope scope = places_.InsideOf(e);
    const Lines bindings = TakeLines(scope);
    const std::string& result = Use(function.body);
    if (bindings.empty() || without_dataflow_.contains(scope)) {
      body.insert(body.end(), bindings.begin(), bindings.end());
    } else {
      // What is computed here is the result, or computes it.
      body.emplace_back("with R.dataflow():");
      AddIndented(bindings, &body);
      body.push_back(StrCat(kIndent, "R.output(", result, ")"));
    }
    body.push_back(StrCat("return ", result));
    AddIndented(body, out);
  }

  // A unique name in the alphabet of Python.
  std::string NameOf(std::string hint) {
    for (char& c : hint) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') c = '_';
    }
    if (hint.empty() || std::isdigit(static_cast<unsigned char>(hint[0])) != 0) hint = "v" + hint;
    if (!IsName(hint)) hint += "_";
    std::string name = hint;
    while (!taken_.insert(name).second) name = StrCat(hint, ++suffixes_[hint]);
    return name;
  }

  const Expr root_;
  std::vector<NDArray>* const constants_;
  const Places places_;
  std::vector<Lines> lines_;                    // of each scope
  std::unordered_set<Scope> without_dataflow_;  // scopes with a function or an if among their lines
  std::unordered_map<Expr, std::string, ir::ExprHash> names_;  // what stands in a consumer
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> suffixes_;
  Symbols symbols_;
  bool uses_module_ = false;
};

// The metadata, in a string of Python's with three quotes.
std::string MetadataText(const std::vector<NDArray>& constants) {
  std::string text = "metadata = tvm.ir.load_json(\"\"\"";
  for (const char c : ir::WriteMetadata(constants, {}, ir::kRelaxConstants)) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"\"\")\n";
}

}  // namespace

std::string PrintRelax(const ir::Module& module, const ir::PrintOptions& options) {
  const ir::Module typed = passes::InferType(module);
  std::vector<NDArray> constants;
  Lines lines = {"@I.ir_module", "class Module:"};
  if (!typed.attrs().empty())
    lines.push_back(StrCat(kIndent, "I.module_attrs(", AttributesText(typed.attrs()), ")"));
  bool first = true;
  for (const auto& [name, function] : typed.functions()) {
    if (!std::exchange(first, false)) lines.emplace_back();
    AddIndented(FunctionPrinter(function, &constants).Definition(name), &lines);
  }
  std::string text = "# from tvm.script import ir as I\n# from tvm.script import relax as R\n\n";
  if (!constants.empty())
    text += options.metadata ? MetadataText(constants)
                             : "# The metadata, which holds the constants, is left out.\n";
  for (const std::string& line : lines) StrAppend(&text, line, "\n");
  return text;
}

}  // namespace tenon::relax
