// One walk over the graph, producers first. A node becomes a line of the innermost function that
// holds all its uses, so the lines of an inner function are complete when the walk reaches it.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tenon/ir/metadata.h"
#include "tenon/ir/scope_tree.h"
#include "tenon/ir/visit.h"
#include "tenon/passes/infer_type.h"
#include "tenon/relax/scalar_text.h"
#include "tenon/relax/signature.h"
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

// The value of an attribute of a call: types are their names.
std::string CallValueText(const attrs::Value& value) {
  if (const auto* dtype = value.As<DataType>()) return QuotedString(dtype->ToString());
  return ValueText(value);
}

class FunctionPrinter {
 public:
  FunctionPrinter(const Expr& root, std::vector<NDArray>* constants)
      : root_(root), constants_(constants) {
    ir::VisitPostOrder(root_, [&](const Expr& e) { nodes_.push_back(e); });
    FindLets();
    FindHomes();
  }

  // The decorator, the header and the body.
  Lines Definition(const std::string& name) {
    if (!IsName(name))
      throw InvalidArgument(StrCat("@", name, " is no name in Relax text; rename the function"));
    const auto& attrs = root_.As<FunctionNode>()->attrs;
    const auto symbol = attrs.find(kSymbol);
    const bool is_public = symbol != attrs.end() && symbol->second == attrs::Value(name);
    taken_.insert(name);
    CollectSymbols();
    for (const Expr& e : nodes_) Node(e);
    Lines lines = {name == "main" || is_public ? "@R.function" : "@R.function(private=True)"};
    Lines body;
    for (const std::string& variable : symbols_)
      body.push_back(StrCat(variable, " = T.int64()"));
    FunctionLines(root_, name, name != "main" && is_public, std::move(body), &lines);
    return lines;
  }

 private:
  using Scope = ir::ScopeTree::Scope;
  struct Home {
    Scope scope = ir::ScopeTree::kRoot;
    int uses = 0;
  };

  // A let is its body, and its variable is its value.
  Expr Meant(Expr e) const {
    while (true) {
      if (const auto* let = e.As<ir::LetNode>()) {
        e = let->body;
        continue;
      }
      const auto value = lets_.find(e);
      if (value == lets_.end()) return e;
      e = value->second;
    }
  }
  void FindLets() {
    for (const Expr& e : nodes_) {
      if (const auto* let = e.As<ir::LetNode>()) lets_.emplace(let->var, let->value);
    }
  }

  // Consumers first, so that all uses of an expression are known before its own children's are.
  void FindHomes() {
    const auto use = [&](const Expr& e, Scope scope) {
      Home& home = homes_[Meant(e)];
      home.scope = home.uses == 0 ? scope : tree_.Common(home.scope, scope);
      ++home.uses;
    };
    homes_[root_].uses = 1;
    // With lets a value may stand before what it reads, so order comes from the walk of meanings.
    std::vector<Expr> order;
    OrderOfMeanings(&order);
    nodes_ = order;
    for (auto node = order.rbegin(); node != order.rend(); ++node) {
      const auto found = homes_.find(*node);
      if (found == homes_.end()) continue;  // a parameter that is not used
      const Home home = found->second;
      if (const auto* function = node->As<FunctionNode>()) {
        const Scope inner = inner_[*node] = tree_.Open(home.scope);
        use(function->body, inner);
        used_by_return_.insert(Meant(function->body));
      } else {
        for (const Expr& child : ir::Children(*node)) use(child, home.scope);
      }
    }
  }

  // Producers first, lets aside.
  void OrderOfMeanings(std::vector<Expr>* order) const {
    struct Frame {
      Expr expr;
      std::vector<Expr> children;
      std::size_t next = 0;
    };
    std::unordered_set<Expr, ir::ExprHash> seen;
    std::vector<Frame> stack;
    const auto push = [&](const Expr& e) {
      if (seen.insert(e).second) stack.push_back({e, ir::Children(e)});
    };
    push(root_);
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next < top.children.size()) {
        push(Meant(top.children[top.next++]));
        continue;
      }
      order->push_back(top.expr);
      stack.pop_back();
    }
  }

  // The variables of extents take their names before anything else does.
  void CollectSymbols() {
    const TypeText text(Where::kBody, &symbols_);
    for (const Expr& e : nodes_) {
      if (e.kind() == ExprKind::kCall || e.kind() == ExprKind::kVar ||
          e.kind() == ExprKind::kTupleGetItem)
        text.Of(e.checked_type());
    }
    taken_.insert(symbols_.begin(), symbols_.end());
  }

  Lines& LinesOf(const Expr& e) {
    const Scope scope = homes_.at(e).scope;
    if (lines_.size() <= scope) lines_.resize(scope + 1);
    return lines_[scope];
  }

  void Node(const Expr& e) {
    if (!homes_.contains(e)) {
      if (e.kind() == ExprKind::kVar) names_[e] = NameOf(e.As<ir::VarNode>()->name);
      return;
    }
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
        // Inside one consumer, unless it is the result or a part of a tuple.
        const std::string text = TupleText(*e.As<ir::TupleNode>());
        if (homes_.at(e).uses > 1 || used_by_return_.contains(e) || in_tuple_.contains(e)) {
          Line(e, text);
        } else {
          names_[e] = text;
        }
        return;
      }
      case ExprKind::kTupleGetItem: {
        const auto& item = *e.As<ir::TupleGetItemNode>();
        return Line(e, StrCat(Use(item.tuple), "[", item.index, "]"));
      }
      case ExprKind::kCall:
        return Line(e, CallText(*e.As<ir::CallNode>()));
      case ExprKind::kLet:
        break;
    }
    Unreachable("lets are left out of the order");
  }

  void Line(const Expr& e, const std::string& text) {
    const std::string name = NameOf(used_by_return_.contains(e) ? "gv" : "lv");
    const std::string type = TypeText(Where::kBody, &symbols_).Of(e.checked_type());
    LinesOf(e).push_back(StrCat(name, ": ", type, " = ", text));
    names_[e] = name;
  }

  const std::string& Use(const Expr& e) const { return names_.at(Meant(e)); }

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

  std::string CallText(const ir::CallNode& call) {
    if (call.op() == nullptr) return StrCat(Use(call.callee), "(", Joined(call.args), ")");
    const Signature signature = SignatureFor(*ops::OpOf(call), call.attrs);
    std::string args;
    const auto add = [&](std::string_view name, const std::string& value) {
      StrAppend(&args, args.empty() ? "" : ", ", name, name.empty() ? "" : "=", value);
    };
    if (signature.op->variadic) {
      for (const Expr& arg : call.args) add("", Use(arg));
    }
    std::size_t input = 0;
    bool named = false;
    for (const Parameter& parameter : signature.parameters) {
      if (parameter.is_input()) {
        if (signature.op->variadic) continue;
        add(named ? parameter.name : "", Use(call.args[input++]));
      } else {
        // What is before an input that has a place stands in its place, too.
        named = true;
        add(parameter.name, ParameterText(parameter, call.attrs));
      }
    }
    for (const attrs::FieldInfo* field : signature.further) {
      const attrs::Value value = call.attrs.Get(field->name);
      if (!(value == field->default_value)) add(field->name, CallValueText(value));
    }
    return StrCat("R.", signature.name, "(", args, ")");
  }

  static std::string ParameterText(const Parameter& parameter, const attrs::Attrs& attrs) {
    if (parameter.form == Form::kFixed || parameter.form == Form::kIgnored)
      return std::string(parameter.default_value);
    const attrs::Value value = attrs.Get(std::string(parameter.attribute()));
    switch (parameter.form) {
      case Form::kOneAxis:
        return ValueText(attrs::Value(attrs::List{value}));
      case Form::kReversed:
        return *value.As<bool>() ? "False" : "True";
      case Form::kOutLayout:
        if (value == attrs::Value("")) return CallValueText(DataLayout(attrs));
        return ValueText(value);
      default:
        return CallValueText(value);
    }
  }
  static attrs::Value DataLayout(const attrs::Attrs& attrs) {
    return attrs.Get(attrs.schema()->Find("data_layout") != nullptr ? "data_layout" : "layout");
  }

  void LocalFunction(const Expr& e) {
    const std::string name = NameOf("local_func");
    Lines lines = {"", "@R.function"};
    FunctionLines(e, name, false, {}, &lines);
    lines.emplace_back();
    Lines& outer = LinesOf(e);
    outer.insert(outer.end(), lines.begin(), lines.end());
    names_[e] = name;
    with_functions_.insert(homes_.at(e).scope);
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
    out->push_back(StrCat("def ", name, "(", params, ") -> ",
                          signature.Of(function.ret_type), ":"));
    std::string attrs;
    for (const auto& [key, value] : function.attrs) {
      if (is_public && key == kSymbol) continue;
      StrAppend(&attrs, attrs.empty() ? "" : ", ", QuotedString(key), ": ", ValueText(value));
    }
    Lines body;
    if (!attrs.empty()) body.push_back(StrCat("R.func_attr({", attrs, "})"));
    body.insert(body.end(), begin.begin(), begin.end());
    if (e == root_ && uses_module_) body.emplace_back("cls = Module");
    const Scope scope = inner_.at(e);
    Lines bindings;
    if (scope < lines_.size()) bindings = std::exchange(lines_[scope], {});
    const std::string& result = Use(function.body);
    const Expr body_node = Meant(function.body);
    const bool is_bound = homes_.at(body_node).scope == scope && IsLine(body_node);
    if (bindings.empty()) {
    } else if (with_functions_.contains(scope) || !is_bound) {
      AddPlain(bindings, &body);
    } else {
      body.emplace_back("with R.dataflow():");
      AddIndented(bindings, &body);
      body.push_back(StrCat(kIndent, "R.output(", result, ")"));
    }
    body.push_back(StrCat("return ", result));
    AddIndented(body, out);
  }
  static void AddPlain(const Lines& lines, Lines* to) {
    to->insert(to->end(), lines.begin(), lines.end());
  }
  static bool IsLine(const Expr& e) {
    return e.kind() == ExprKind::kCall || e.kind() == ExprKind::kTuple ||
           e.kind() == ExprKind::kTupleGetItem;
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
  std::vector<Expr> nodes_;  // producers first
  ir::ExprMap lets_;         // values, by their variables
  ir::ScopeTree tree_;
  std::unordered_map<Expr, Home, ir::ExprHash> homes_;
  std::unordered_map<Expr, Scope, ir::ExprHash> inner_;  // of functions
  std::unordered_set<Expr, ir::ExprHash> used_by_return_, in_tuple_;
  std::vector<Lines> lines_;                    // of each scope
  std::unordered_set<Scope> with_functions_;    // scopes with a function among their lines
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
