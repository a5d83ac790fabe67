// A text is formed for every node in dataflow post-order. When a consumer first needs a name for
// it, the text becomes a line "%n = text;" of the innermost scope that holds all its consumers. The
// last expression of a scope stays in place.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "tenon/ir/metadata.h"
#include "tenon/ir/scalar_text.h"
#include "tenon/ir/scope_tree.h"
#include "tenon/ir/text_format.h"
#include "tenon/ir/visit.h"
#include "tenon/support/device.h"
#include "tenon/support/strings.h"

namespace tenon::ir {
namespace {

// Attributes of a function that say where its parameters and its result are (PlanDevices), and the
// name of such an attribute in the reference system.
constexpr const char* kParamDevices = "param_devices";
constexpr const char* kResultDevice = "result_device";
constexpr const char* kVirtualDevice = "virtual_device";

// The metadata that texts refer to.
struct MetadataEntries {
  std::vector<NDArray> constants;
  std::vector<Device> devices;
};

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
  // Devices are written as references into the metadata section when there will be one.
  Printer(const Expr& root, MetadataEntries* entries, bool refer_to_devices)
      : root_(root),
        entries_(entries),
        refer_to_devices_(refer_to_devices),
        typed_(root.checked_type()) {
    FindPlaces();
  }

  std::string Definition(const std::string& name) {
    return StrCat("def @", name, FunctionText(root_), "\n");
  }

  std::string FreeExpr() {
    std::string text;
    for (const Var& var : FreeVars(root_)) StrAppend(&text, "free_var ", Parameter(var), ";\n");
    return text + ScopeText(root_, ScopeTree::kRoot) + "\n";
  }

 private:
  using Scope = ScopeTree::Scope;
  // The place of the line of an expression.
  struct Place {
    Scope home = ScopeTree::kRoot;
    int uses = 0;
    bool ends_a_scope = false;  // the last use was as the body of a function or let
  };

  struct Branches {
    Scope yes, no;
  };

  // Consumers first, so that all uses of an expression are known before its own children's are.
  void FindPlaces() {
    std::vector<Expr> nodes;
    VisitPostOrder(root_, [&](const Expr& e) { nodes.push_back(e); });
    const auto use = [&](const Expr& e, Scope scope, bool ends_a_scope) {
      Place& place = places_[e];
      place.home = place.uses == 0 ? scope : tree_.Common(place.home, scope);
      ++place.uses;
      place.ends_a_scope = ends_a_scope;
    };
    use(root_, ScopeTree::kRoot, true);
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
      const auto found = places_.find(*node);
      if (found == places_.end()) continue;  // a variable that is bound but not used
      const Place place = found->second;
      if (const auto* function = node->As<FunctionNode>()) {
        const Scope body = inner_[*node] = tree_.Open(place.home);
        use(function->body, body, true);
      } else if (const auto* let = node->As<LetNode>()) {
        const bool continues = place.ends_a_scope && place.uses == 1;
        const Scope body = continues ? place.home : inner_[*node] = tree_.Open(place.home);
        use(let->value, body, false);
        use(let->body, body, true);
      } else if (const auto* branches = node->As<IfNode>()) {
        use(branches->condition, place.home, false);
        const Branches scopes{tree_.Open(place.home), tree_.Open(place.home)};
        branches_.emplace(*node, scopes);
        use(branches->then_branch, scopes.yes, true);
        use(branches->else_branch, scopes.no, true);
      } else {
        for (const Expr& child : Children(*node)) use(child, place.home, false);
      }
    }
  }

  std::string& LinesOf(Scope scope) {
    if (lines_.size() <= scope) lines_.resize(scope + 1);
    return lines_[scope];
  }

  // The lines of `scope`, which compute `result`; the result comes last.
  std::string ScopeText(const Expr& result, Scope scope) {
    Expr e = result;
    while (const auto* let = e.As<LetNode>()) {
      const auto inner = inner_.find(e);
      if (inner != inner_.end() && inner->second != scope) break;
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
    return names_.contains(e) || places_.at(e).uses > 1 ? Use(e) : texts_.at(e);
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
    StrAppend(&LinesOf(places_.at(e).home), name, " = ", text->second, ";\n");
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
        return "@" + e.As<GlobalVarNode>()->name;
      case ExprKind::kOp:
        return e.As<OpNode>()->name;
      case ExprKind::kConstant:
        // A constant always has its type, which is written only in a typed text.
        return ConstantText(e.As<ConstantNode>()->data) + (typed_ ? TypeComment(e) : "");
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
        return StrCat("(\n", Indented(ScopeText(e, inner_.at(e))), "\n)");
      case ExprKind::kFunction:
        return "fn " + FunctionText(e);
      case ExprKind::kIf: {
        const auto& branches = *e.As<IfNode>();
        const Branches& scopes = branches_.at(e);
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
    const std::vector<std::string> devices = ParameterDevices(function);
    std::string params;
    for (std::size_t i = 0; i < function.params.size(); ++i) {
      if (!params.empty()) params += ", ";
      params += Parameter(Var(function.params[i]), devices.empty() ? "" : devices[i]);
    }
    std::string result_device;
    for (const auto& [name, value] : function.attrs) {
      if (name == kParamDevices && !devices.empty()) continue;
      if (name == kResultDevice) result_device = DeviceReference(value);
      if (name == kResultDevice && !result_device.empty()) continue;
      StrAppend(&params, params.empty() ? "" : ", ", name, "=", attrs::ToText(value));
    }
    if (!result_device.empty())
      StrAppend(&params, params.empty() ? "" : ", ", kVirtualDevice, "=", result_device);
    std::string text = StrCat("(", params, ")");
    if (function.ret_type) StrAppend(&text, " -> ", ToString(function.ret_type));
    return StrCat(text, " {\n", Indented(ScopeText(function.body, inner_.at(e))), "\n}");
  }

  // "meta[VirtualDevice][0]" for a device's text; empty when it is to stay text.
  std::string DeviceReference(const attrs::Value& value) {
    const auto* text = value.As<std::string>();
    if (!refer_to_devices_ || text == nullptr) return "";
    const std::optional<Device> device = Device::Parse(*text);
    if (!device || device->ToString() != *text) return "";
    std::vector<Device>& devices = entries_->devices;
    const auto at = std::find(devices.begin(), devices.end(), *device);
    const auto index = at - devices.begin();
    if (at == devices.end()) devices.push_back(*device);
    return StrCat("meta[VirtualDevice][", index, "]");
  }

  std::string AttrsText(const attrs::Attrs& attrs) {
    std::string text;
    for (const attrs::FieldInfo& field : attrs.schema()->fields) {
      const attrs::Value value = attrs.Get(field.name);
      if (!field.always_printed && value == field.default_value) continue;
      const std::string device =
          field.name.ends_with(kVirtualDevice) ? DeviceReference(value) : std::string();
      StrAppend(&text, text.empty() ? "" : ", ", field.name, "=",
                device.empty() ? attrs::ToText(value) : device);
    }
    return text;
  }

  // References for all parameters, some of them empty; no list when param_devices stays an
  // attribute.
  std::vector<std::string> ParameterDevices(const FunctionNode& function) {
    const auto found = function.attrs.find(kParamDevices);
    const auto* list = found == function.attrs.end() ? nullptr : found->second.As<attrs::List>();
    if (list == nullptr || list->size() != function.params.size()) return {};
    std::vector<std::string> references;
    bool any = false;
    for (const attrs::Value& value : *list) {
      references.push_back(DeviceReference(value));
      any = any || !references.back().empty();
      if (references.back().empty() && !(value == attrs::Value(std::string()))) return {};
    }
    return any ? references : std::vector<std::string>();
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

  std::string ConstantText(const NDArray& data) {
    if (const auto scalar = ScalarText(data)) return *scalar;
    entries_->constants.push_back(data);
    return StrCat("meta[relay.Constant][", entries_->constants.size() - 1, "]");
  }

  static std::string TypeComment(const Expr& e) {
    return e.checked_type() ? StrCat(" /* ty=", ToString(e.checked_type()), " */") : "";
  }

  const Expr root_;
  MetadataEntries* const entries_;
  const bool refer_to_devices_;
  const bool typed_;
  ScopeTree tree_;
  std::unordered_map<Expr, Place, ExprHash> places_;
  std::unordered_map<Expr, Scope, ExprHash> inner_;  // of functions, and of lets in parentheses
  std::unordered_map<Expr, Branches, ExprHash> branches_;
  std::vector<std::string> lines_;  // of each scope that is open
  std::unordered_map<Expr, std::string, ExprHash> texts_, names_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> suffixes_;
  int next_temporary_ = 0;
};

std::string WithMetadata(std::string text, const MetadataEntries& entries,
                         const PrintOptions& options) {
  if (options.metadata && !(entries.constants.empty() && entries.devices.empty()))
    StrAppend(&text, "\n#[metadata]\n", WriteMetadata(entries.constants, entries.devices), "\n");
  return text;
}

}  // namespace

std::string PrintModule(const Module& module, const PrintOptions& options) {
  MetadataEntries entries;
  std::string text = "#[version = \"0.0.5\"]\n";
  bool first = true;
  for (const auto& [name, function] : module.functions()) {
    if (!first) text += "\n";
    first = false;
    text += Printer(function, &entries, options.metadata).Definition(name);
  }
  return WithMetadata(std::move(text), entries, options);
}

std::string PrintExpr(const Expr& expr, const PrintOptions& options) {
  MetadataEntries entries;
  std::string text = Printer(expr, &entries, options.metadata).FreeExpr();
  return WithMetadata(std::move(text), entries, options);
}

}  // namespace tenon::ir
