// One depth-first walk in which a group is a single node: its inputs are rewritten, then its
// function is made. A group that is reached while its own inputs are being rewritten lies on a
// cycle.
#include "tenon/passes/fusion/outline_groups.h"

#include <algorithm>
#include <unordered_set>

#include "tenon/ir/structural.h"
#include "tenon/ir/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::Expr;
using ir::ExprKind;
using ExprSet = std::unordered_set<Expr, ir::ExprHash>;

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

std::string OperatorOf(const Expr& e) {
  const auto* call = e.As<ir::CallNode>();
  if (call != nullptr && call->op() != nullptr) return call->op()->name;
  if (call != nullptr && call->callee.kind() == ExprKind::kGlobalVar)
    return "@" + call->callee.As<ir::GlobalVarNode>()->name;
  return e.kind() == ExprKind::kTuple ? "a tuple" : "a projection";
}

class Outliner {
 public:
  Outliner(const Expr& root, const OutlineRequest& request) : request_(request) {
    for (std::size_t g = 0; g < request.groups.size(); ++g) {
      for (const Expr& member : request.groups[g]) group_of_.emplace(member, g);
    }
    groups_.resize(request.groups.size());
    for (std::size_t g = 0; g < groups_.size(); ++g) ReadGroup(g);
    FindOutputs(root);
  }

  Expr Rewrite(const Expr& root) {
    Push(root);
    while (!stack_.empty()) {
      Frame& top = stack_.back();
      if (top.next < top.inputs.size()) {
        const Expr input = top.inputs[top.next++];
        if (!memo_.contains(input)) Push(input);
        continue;
      }
      const Frame frame = std::move(top);
      stack_.pop_back();
      if (frame.group == kNone) {
        memo_.emplace(frame.expr, Rebuild(frame.expr, memo_));
      } else {
        FinishGroup(frame.group);
      }
    }
    return memo_.at(root);
  }

 private:
  struct Group {
    std::vector<Expr> inputs;   // in order of first use
    std::vector<Expr> outputs;  // the last member's value first
    bool is_open = false;
  };
  struct Frame {
    Expr expr;
    std::vector<Expr> inputs;
    std::size_t next = 0;
    std::size_t group = kNone;
  };

  std::size_t GroupOf(const Expr& e) const {
    const auto found = group_of_.find(e);
    return found == group_of_.end() ? kNone : found->second;
  }

  // Whether a value is read in place: a callee, or a constant that belongs to the code.
  bool StaysInside(const Expr& e) const {
    if (e.kind() == ExprKind::kOp || e.kind() == ExprKind::kGlobalVar ||
        e.kind() == ExprKind::kFunction)
      return true;
    const auto* constant = e.As<ir::ConstantNode>();
    return constant != nullptr && (request_.bind_constants || constant->data.shape().empty());
  }

  void ReadGroup(std::size_t g) {
    ExprSet seen;
    for (const Expr& member : request_.groups[g]) {
      for (const Expr& child : ir::Children(member)) {
        if (GroupOf(child) != g && !StaysInside(child) && seen.insert(child).second)
          groups_[g].inputs.push_back(child);
      }
    }
  }

  void FindOutputs(const Expr& root) {
    ExprSet used_outside;
    if (GroupOf(root) != kNone) used_outside.insert(root);
    ir::VisitPostOrder(root, [&](const Expr& e) {
      for (const Expr& child : ir::Children(e)) {
        if (GroupOf(child) != kNone && GroupOf(child) != GroupOf(e)) used_outside.insert(child);
      }
    });
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const auto& members = request_.groups[g];
      for (const Expr& member : members) {
        if (used_outside.contains(member)) groups_[g].outputs.push_back(member);
      }
      auto& outputs = groups_[g].outputs;
      CheckInvariant(!outputs.empty(), "some value of a group is used");
      std::rotate(outputs.begin(), outputs.end() - 1, outputs.end());
    }
  }

  void Push(const Expr& e) {
    const std::size_t g = GroupOf(e);
    if (g == kNone) {
      stack_.push_back({e, ir::Children(e), 0, kNone});
      return;
    }
    if (groups_[g].is_open) RefuseCycle(g);
    groups_[g].is_open = true;
    stack_.push_back({e, groups_[g].inputs, 0, g});
  }

  [[noreturn]] void RefuseCycle(std::size_t g) const {
    std::vector<std::string> members, between;
    for (const Expr& member : request_.groups[g]) members.push_back(OperatorOf(member));
    for (auto frame = stack_.rbegin(); frame != stack_.rend() && frame->group != g; ++frame)
      between.push_back(OperatorOf(frame->expr));
    throw InvalidArgument(StrCat("the group of ", StrJoin(members, ", "),
                                 " reads what depends on its own result, through ",
                                 StrJoin(between, ", ")))
        .At(request_.groups[g].back().span());
  }

  static Expr Rebuild(const Expr& e, const ir::ExprMap& values) {
    std::vector<Expr> children = ir::Children(e);
    bool changed = false;
    for (Expr& child : children) {
      const auto found = values.find(child);
      if (found == values.end() || found->second == child) continue;
      child = found->second;
      changed = true;
    }
    return changed ? ir::WithChildren(e, std::move(children), e.checked_type()) : e;
  }

  void FinishGroup(std::size_t g) {
    Group& group = groups_[g];
    group.is_open = false;
    std::vector<Expr> params, args;
    std::vector<ir::Type> types;
    ir::ExprMap values;
    int constants = 0;
    for (const Expr& input : group.inputs) {
      const std::string name = input.kind() == ExprKind::kVar        ? ir::Var(input).name()
                               : input.kind() == ExprKind::kConstant ? StrCat("param_", constants++)
                                                                     : StrCat("p", params.size());
      params.push_back(ir::Var::MakeChecked(name, input.checked_type(), input.span()));
      args.push_back(memo_.at(input));
      types.push_back(input.checked_type());
      values.emplace(input, params.back());
    }
    for (const Expr& member : request_.groups[g]) {
      const Expr rebuilt = Rebuild(member, values);
      values[member] = request_.rewrite_member ? request_.rewrite_member(rebuilt) : rebuilt;
    }
    const std::vector<Expr>& outputs = group.outputs;
    Expr body = values.at(outputs[0]);
    if (outputs.size() > 1) {
      std::vector<Expr> fields;
      std::vector<ir::Type> field_types;
      for (const Expr& output : outputs) {
        fields.push_back(values.at(output));
        field_types.push_back(output.checked_type());
      }
      body = ir::Tuple::Make(std::move(fields), outputs[0].span(), ir::TupleType(field_types));
    }
    const ir::Type& result = body.checked_type();
    const Expr function = ir::Function::Make(params, body, result, {}, body.span(),
                                             ir::FuncType(std::move(types), result));
    const Expr call =
        ir::Call::Make(request_.callee(g, function), std::move(args), {}, body.span(), result);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      memo_.emplace(outputs[i],
                    outputs.size() == 1
                        ? call
                        : ir::TupleGetItem::Make(call, static_cast<int>(i), outputs[i].span(),
                                                 outputs[i].checked_type()));
    }
  }

  const OutlineRequest& request_;
  std::unordered_map<Expr, std::size_t, ir::ExprHash> group_of_;
  std::vector<Group> groups_;
  ir::ExprMap memo_;
  std::vector<Frame> stack_;
};

}  // namespace

Expr OutlineGroups(const Expr& expr, const OutlineRequest& request) {
  return Outliner(expr, request).Rewrite(expr);
}

std::vector<std::string> OperatorsOf(const Expr& body) {
  std::vector<std::string> names;
  ir::VisitPostOrder(body, [&](const Expr& e) {
    const auto* call = e.As<ir::CallNode>();
    if (call != nullptr && call->op() != nullptr) names.push_back(call->op()->name);
  });
  return names;
}

std::string NameOfOperators(const std::vector<std::string>& operators, ops::OperatorNames names) {
  std::string name = "fused";
  for (const std::string& op : operators)
    name += "_" + (names == ops::OperatorNames::kRelax ? ops::RelaxNameOf(op) : op);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

Expr WithAttrs(const Expr& function, ir::FunctionAttrs attrs) {
  const auto& node = *function.As<ir::FunctionNode>();
  return ir::Function::Make(node.params, node.body, node.ret_type, std::move(attrs),
                            function.span(), function.checked_type());
}

Expr WithFreshVariables(const Expr& function) {
  return ir::RewritePostOrder(function, [](const Expr& original, const Expr& rewritten) -> Expr {
    if (original.kind() != ExprKind::kVar) return ir::KeepType(original, rewritten);
    const ir::Var var(original);
    return original.checked_type()
               ? ir::Var::MakeChecked(var.name(), original.checked_type(), original.span())
               : ir::Var::Make(var.name(), var.type_annotation(), original.span());
  });
}

Expr CompositeOf(const ir::Module& module, const Expr& callee) {
  Expr function = callee;
  if (const auto* global = callee.As<ir::GlobalVarNode>()) function = module.Find(global->name);
  const auto* node = function.As<ir::FunctionNode>();
  return node != nullptr && node->HasAttr("Composite") ? function : Expr();
}

std::string CodegenOf(const Expr& composite) {
  const auto* name = composite.As<ir::FunctionNode>()->attrs.at("Composite").As<std::string>();
  return name == nullptr ? std::string() : name->substr(0, name->find('.'));
}

Expr CallAsLiteral(const ir::Module& module, const Expr& e) {
  const auto* call = e.As<ir::CallNode>();
  const Expr composite = call == nullptr ? Expr() : CompositeOf(module, call->callee);
  if (!composite) return e;
  ir::FunctionAttrs attrs = composite.As<ir::FunctionNode>()->attrs;
  attrs.erase("Primitive");
  return ir::Call::Make(WithFreshVariables(WithAttrs(composite, std::move(attrs))), call->args,
                        call->attrs, e.span(), e.checked_type());
}

ir::Module WithoutUnnamedComposites(const ir::Module& module) {
  std::unordered_set<std::string> named;
  for (const auto& [name, function] : module.functions()) {
    ir::VisitPostOrder(function, [&](const Expr& e) {
      if (const auto* global = e.As<ir::GlobalVarNode>()) named.insert(global->name);
    });
  }
  return module.Keep([&](const std::string& name, const Expr& function) {
    return !function.As<ir::FunctionNode>()->HasAttr("Composite") || named.contains(name);
  });
}

std::string FunctionAdder::Unique(const std::string& name, const std::string& suffix) {
  int& number = next_number_[{name, suffix}];
  const auto numbered = [&] { return number == 0 ? name + suffix : StrCat(name, number, suffix); };
  while (module_.Find(numbered())) ++number;
  return numbered();
}

std::string FunctionAdder::Add(const std::string& name, const Expr& function) {
  auto& equal = added_[ir::StructuralHash(function)];
  for (const auto& [known, known_name] : equal) {
    if (ir::StructuralEqual(known, function)) return known_name;
  }
  const std::string unique = Unique(name);
  module_.Set(unique, function);
  equal.emplace_back(function, unique);
  return unique;
}

}  // namespace tenon::passes
