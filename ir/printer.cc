// A text is formed for every node in dataflow post-order. When a consumer first needs a name for
// it, the text becomes a line "%n = text;" of the innermost scope that holds all its consumers. The
// last expression of a scope stays in place.
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "tenon/ir/lexer.h"
#include "tenon/ir/print_metadata.h"
#include "tenon/ir/print_places.h"
#include "tenon/ir/text_format.h"
#include "tenon/ir/visit.h"
#include "tenon/support/strings.h"

namespace tenon::ir {
namespace {

std::string Indented(const std::string& lines) {
  std::string out = "  ";
  out.reserve(lines.size() + lines.size() / 16 + 8);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out += lines[i];
    if (lines[i] == '\n' && i + 1 < lines.size()) out += "  ";
  }
  return out;
}

// Prints one function or one expression.
class Printer {
 public:
  Printer(const Expr& root, PrintMetadata* metadata)
      : root_(root), metadata_(*metadata), typed_(root.checked_type()), places_(root) {}

  std::string Definition(const std::string& name) {
    return StrCat("def ", Lexer::GlobalText(name), FunctionText(root_), "\n");
  }

  std::string FreeExpr() {
    std::string text;
    for (const Var& var : FreeVars(root_)) StrAppend(&text, "free_var ", Parameter(var), ";\n");
    return text + ScopeText(root_, ScopeTree::kRoot) + "\n";
  }

 private:
  using Scope = PrintPlaces::Scope;

  std::string& LinesOf(Scope scope) {
    if (lines_.size() <= scope) lines_.resize(scope + 1);
    return lines_[scope];
  }

  // The lines of `scope`, which compute `result`; the result comes last.
  std::string ScopeText(const Expr& result, Scope scope) {
    Expr e = result;
    while (const auto* let = e.As<LetNode>()) {
      const auto inner = places_.inner.find(e);
      if (inner != places_.inner.end() && inner->second != scope) break;
      const std::string value = InPlace(let->value);
      StrAppend(&LinesOf(scope), "let ", Parameter(let->var), " = ", value, ";\n");
      e = let->body;
    }
    const std::string last = InPlace(e);
    return std::exchange(LinesOf(scope), "") + last;
  }

  std::string InPlace(const Expr& e) {
    FormTexts(e);
    // An expression that is used again needs its name.
    return names_.contains(e) || places_.of.at(e).uses > 1 ? Use(e) : texts_.at(e);
  }

  // The text that stands for `e` in a consumer.
  std::string Use(const Expr& e) {
    const auto named = names_.find(e);
    if (named != names_.end()) return named->second;
    const auto text = texts_.find(e);
    switch (e.kind()) {
      case ExprKind::kVar:
      case ExprKind::kGlobalVar:
      case ExprKind::kOp:
      case ExprKind::kConstant:
        return text->second;
      default:
        break;
    }
    std::string name = StrCat("%", next_temporary_++);
    StrAppend(&LinesOf(places_.of.at(e).home), name, " = ", text->second, ";\n");
    text->second.clear();
    names_.emplace(e, name);
    return name;
  }

  static std::vector<Expr> DataflowChildren(const Expr& e) {
    if (const auto* branches = e.As<IfNode>()) return {branches->condition};
    return e.kind() == ExprKind::kLet || e.kind() == ExprKind::kFunction ? std::vector<Expr>()
                                                                         : Children(e);
  }

  void FormTexts(const Expr& root) {
    struct Frame {
      Expr expr;
      std::vector<Expr> children;
      std::size_t next = 0;
    };
    std::vector<Frame> stack;
    const auto push = [&](const Expr& e) {
      if (!texts_.contains(e) && !names_.contains(e)) stack.push_back({e, DataflowChildren(e), 0});
    };
    push(root);
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next < top.children.size()) {
        push(Expr(top.children[top.next++]));
        continue;
      }
      const Expr e = top.expr;
      stack.pop_back();
      if (!texts_.contains(e)) texts_.emplace(e, TextOf(e));
    }
  }

  std::string TextOf(const Expr& e) {
    switch (e.kind()) {
      case ExprKind::kVar:
        return NameOf(e);
      case ExprKind::kGlobalVar:
        return Lexer::GlobalText(e.As<GlobalVarNode>()->name);
      case ExprKind::kOp:
        return e.As<OpNode>()->name;
      case ExprKind::kConstant:
        // A constant always has its type, which is written only in a typed text.
        return metadata_.ConstantText(e.As<ConstantNode>()->data) + (typed_ ? TypeComment(e) : "");
      case ExprKind::kCall:
        return CallText(e, *e.As<CallNode>());
      case ExprKind::kTuple: {
        const auto& fields = e.As<TupleNode>()->fields;
        std::string text =
            StrJoin(fields, ", ", [&](std::string* out, const Expr& field) { *out += Use(field); });
        return StrCat("(", text, fields.size() == 1 ? ",)" : ")");
      }
      case ExprKind::kTupleGetItem: {
        const auto* item = e.As<TupleGetItemNode>();
        const std::string tuple = Use(item->tuple);
        // "3.0" would be a number.
        const bool number = item->tuple.kind() == ExprKind::kConstant;
        return number ? StrCat("(", tuple, ").", item->index) : StrCat(tuple, ".", item->index);
      }
      case ExprKind::kLet:
        return StrCat("(\n", Indented(ScopeText(e, places_.inner.at(e))), "\n)");
      case ExprKind::kFunction:
        return "fn " + FunctionText(e);
      case ExprKind::kIf: {
        const auto& branches = *e.As<IfNode>();
        const PrintPlaces::Branches& scopes = places_.branches.at(e);
        const std::string condition = Use(branches.condition);
        const std::string yes = ScopeText(branches.then_branch, scopes.yes);
        const std::string no = ScopeText(branches.else_branch, scopes.no);
        return StrCat("if (", condition, ") {\n", Indented(yes), "\n} else {\n", Indented(no),
                      "\n}");
      }
    }
    Unreachable("the switch over expression kinds is exhaustive");
  }

  std::string CallText(const Expr& e, const CallNode& call) {
    // Arguments first: a function literal that is called gets its number after them.
    std::string args =
        StrJoin(call.args, ", ", [&](std::string* out, const Expr& arg) { *out += Use(arg); });
    if (call.attrs.defined()) {
      const std::string attrs = AttrsText(call.attrs);
      if (!attrs.empty() && !args.empty()) args += ", ";
      args += attrs;
    }
    return StrCat(Use(call.callee), "(", args, ")", TypeComment(e));
  }

  std::string FunctionText(const Expr& e) {
    const auto& function = *e.As<FunctionNode>();
    const std::vector<std::string> devices = metadata_.ParameterDevices(function);
    std::string params;
    for (std::size_t i = 0; i < function.params.size(); ++i) {
      if (!params.empty()) params += ", ";
      params += Parameter(Var(function.params[i]), devices.empty() ? "" : devices[i]);
    }
    std::string result_device;
    for (const auto& [name, value] : function.attrs) {
      if (name == kParamDevices && !devices.empty()) continue;
      if (name == kResultDevice) result_device = metadata_.DeviceReference(value);
      if (name == kResultDevice && !result_device.empty()) continue;
      StrAppend(&params, params.empty() ? "" : ", ", Lexer::NameText(name), "=",
                AttributeText(value));
    }
    if (!result_device.empty())
      StrAppend(&params, params.empty() ? "" : ", ", kVirtualDevice, "=", result_device);
    std::string text = StrCat("(", params, ")");
    if (function.ret_type) StrAppend(&text, " -> ", ToString(function.ret_type));
    return StrCat(text, " {\n", Indented(ScopeText(function.body, places_.inner.at(e))), "\n}");
  }

  // Attributes of a function have no schema that says that a text is a type.
  static std::string AttributeText(const attrs::Value& value) {
    const auto* type = value.As<DataType>();
    return type == nullptr || type->is_void() ? attrs::ToText(value) : type->ToString();
  }

  std::string AttrsText(const attrs::Attrs& attrs) {
    std::string text;
    for (const attrs::FieldInfo& field : attrs.schema()->fields) {
      const attrs::Value value = attrs.Get(field.name);
      if (!field.always_printed && value == field.default_value) continue;
      const std::string device =
          field.name.ends_with(kVirtualDevice) ? metadata_.DeviceReference(value) : std::string();
      StrAppend(&text, text.empty() ? "" : ", ", field.name, "=",
                device.empty() ? attrs::ToText(value) : device);
    }
    return text;
  }

  std::string Parameter(const Expr& var, const std::string& device = "") {
    const Type& type = var.As<VarNode>()->type_annotation;
    std::string text = NameOf(var);
    if (!device.empty()) StrAppend(&text, " {", kVirtualDevice, "=", device, "}");
    if (type) StrAppend(&text, ": ", ToString(type));
    return text;
  }

  // A unique name in the alphabet of the format.
  std::string NameOf(const Expr& var) {
    const auto found = names_.find(var);
    if (found != names_.end()) return found->second;
    std::string hint = var.As<VarNode>()->name;
    for (char& c : hint) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') c = '_';
    }
    if (hint.empty() || std::isdigit(static_cast<unsigned char>(hint[0])) != 0) hint = "v" + hint;
    std::string name = hint;
    while (!taken_.insert(name).second) name = StrCat(hint, ++suffixes_[hint]);
    return names_.emplace(var, "%" + name).first->second;
  }

  static std::string TypeComment(const Expr& e) {
    if (!e.checked_type()) return "";
    const std::string type = ToString(e.checked_type());
    // The name of an extent may end a comment.
    return type.find("*/") == std::string::npos ? StrCat(" /* ty=", type, " */") : "";
  }

  const Expr root_;
  PrintMetadata& metadata_;
  const bool typed_;
  const PrintPlaces places_;
  std::vector<std::string> lines_;  // of each scope that is open
  std::unordered_map<Expr, std::string, ExprHash> texts_, names_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> suffixes_;
  int next_temporary_ = 0;
};

}  // namespace

std::string PrintModule(const Module& module, const PrintOptions& options) {
  PrintMetadata metadata(options);
  std::string text = "#[version = \"0.0.5\"]\n";
  bool first = true;
  for (const auto& [name, function] : module.functions()) {
    if (!first) text += "\n";
    first = false;
    text += Printer(function, &metadata).Definition(name);
  }
  return metadata.AppendedTo(std::move(text));
}

std::string PrintExpr(const Expr& expr, const PrintOptions& options) {
  PrintMetadata metadata(options);
  std::string text = Printer(expr, &metadata).FreeExpr();
  return metadata.AppendedTo(std::move(text));
}

}  // namespace tenon::ir
