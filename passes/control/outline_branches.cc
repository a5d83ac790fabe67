// Inner ifs come first, so that a branch is walked without what is inside the ifs in it. Each
// expression is looked at only in its own branch, however deep ifs nest.
#include "tenon/passes/control/outline_branches.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tenon/ir/module_builder.h"
#include "tenon/ir/node_table.h"
#include "tenon/ir/parse_extents.h"
#include "tenon/ir/visit.h"
#include "tenon/passes/control/branch_homes.h"
#include "tenon/passes/fusion/outline_groups.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::Expr;
using ir::ExprKind;
using ir::FunctionNode;
using ir::IfNode;

// Whether the function is an if over calls of functions, as made here.
bool IsDispatch(const Expr& function) {
  const auto& node = *function.As<FunctionNode>();
  const auto is_param = [&](const Expr& e) {
    return std::find(node.params.begin(), node.params.end(), e) != node.params.end();
  };
  const auto is_call = [&](const Expr& e) {
    const auto* call = e.As<ir::CallNode>();
    return call != nullptr && call->callee.kind() == ExprKind::kGlobalVar &&
           std::all_of(call->args.begin(), call->args.end(), is_param);
  };
  const auto* branches = node.body.As<IfNode>();
  return branches != nullptr && is_param(branches->condition) && is_call(branches->then_branch) &&
         is_call(branches->else_branch);
}

bool HasIf(const Expr& function) {
  bool found = false;
  ir::VisitPostOrder(function, [&](const Expr& e) { found = found || e.kind() == ExprKind::kIf; });
  return found;
}

using Place = BranchHomes::Place;

// Outlines the ifs of one function, inner ones first.
class Outliner {
 public:
  Outliner(const std::string& name, const Expr& function, ir::ModuleBuilder* module)
      : name_(name), function_(function), homes_(function), module_(*module) {}

  Expr Run() {
    Walk(
        function_,
        [](const Expr& e) {
          return ChosenBranch(e) ? std::vector<Expr>{ChosenBranch(e)} : ir::Children(e);
        },
        [&](const Expr& e) {
          if (e.kind() == ExprKind::kIf && !ChosenBranch(e)) Outline(e, *e.As<IfNode>());
        });
    return Rewritten(function_, {});
  }

 private:
  // What is left of an if: the call of a function over values around it.
  struct Dispatch {
    std::string name;
    std::vector<Expr> arguments;  // the condition first
  };

  // The branch that is taken of an if whose condition is a constant. Null for all else.
  static Expr ChosenBranch(const Expr& e) {
    const auto* branches = e.As<IfNode>();
    const auto* constant =
        branches == nullptr ? nullptr : branches->condition.As<ir::ConstantNode>();
    if (constant == nullptr) return Expr();
    return *constant->data.data<bool>() ? branches->then_branch : branches->else_branch;
  }

  // Visits each node once, producers first. `before` gives the producers of a node.
  template <typename Before, typename Visit>
  static void Walk(const Expr& root, const Before& before, const Visit& visit) {
    struct Frame {
      Expr expr;
      std::vector<Expr> before;
      std::size_t next = 0;
    };
    ir::NodeTable<bool> seen;
    std::vector<Frame> stack;
    const auto push = [&](const Expr& e) {
      if (seen.TryEmplace(e, true).second) stack.push_back({e, before(e), 0});
    };
    push(root);
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next < top.before.size()) {
        push(Expr(top.before[top.next++]));
        continue;
      }
      const Expr e = std::move(top.expr);
      stack.pop_back();
      visit(e);
    }
  }

  // What a node reads in its own branch.
  std::vector<Expr> Read(const Expr& e) const {
    if (e.kind() != ExprKind::kIf) return ir::Children(e);
    const Expr chosen = ChosenBranch(e);
    return chosen ? std::vector<Expr>{chosen} : dispatches_.at(e).arguments;
  }

  // An expression with calls in place of its ifs, and with `values` in place of their keys.
  Expr Rewritten(const Expr& root, const ir::ExprMap& values) const {
    ir::NodeTable<Expr> memo;
    Walk(
        root, [&](const Expr& e) { return values.contains(e) ? std::vector<Expr>() : Read(e); },
        [&](const Expr& e) {
          const auto value = values.find(e);
          memo.TryEmplace(e, value != values.end() ? value->second : Rebuilt(e, memo));
        });
    return memo.at(root);
  }

  Expr Rebuilt(const Expr& e, const ir::NodeTable<Expr>& memo) const {
    if (const Expr chosen = ChosenBranch(e)) return memo.at(chosen);
    std::vector<Expr> read = Read(e);
    bool changed = false;
    for (Expr& child : read) {
      const Expr& made = memo.at(child);
      changed = changed || !(made == child);
      child = made;
    }
    if (e.kind() == ExprKind::kIf)
      return CallOf(dispatches_.at(e).name, std::move(read), e.checked_type(), e.span());
    return changed ? ir::WithChildren(e, std::move(read), e.checked_type()) : e;
  }

  void Outline(const Expr& e, const IfNode& branches) {
    const auto [yes, no] = homes_.BranchesOf(e);
    Dispatch dispatch{Unique("if"), {branches.condition}};
    std::vector<Expr> params = {Param("condition", branches.condition)};
    ir::ExprMap param_of;
    const auto call_of = [&](const Expr& branch, BranchHomes::Scope scope, const char* kind) {
      const std::string name = Unique(kind);
      std::vector<Expr> passed;
      for (const Expr& value : AddBranch(name, branch, scope)) {
        const auto [param, added] = param_of.try_emplace(value);
        if (added) {
          param->second = Param(NameFor(value, params.size()), value);
          params.push_back(param->second);
          dispatch.arguments.push_back(value);
        }
        passed.push_back(param->second);
      }
      return CallOf(name, std::move(passed), e.checked_type(), branch.span());
    };
    const Expr yes_call = call_of(branches.then_branch, yes, "then");
    const Expr no_call = call_of(branches.else_branch, no, "else");
    const Expr condition = params[0];
    AddFunction(dispatch.name, std::move(params),
                ir::If::Make(condition, yes_call, no_call, e.span(), e.checked_type()), e);
    dispatches_.emplace(e, std::move(dispatch));
  }

  // Adds the function of a branch. Its arguments are the values around it that are returned.
  std::vector<Expr> AddBranch(const std::string& name, const Expr& branch,
                              BranchHomes::Scope scope) {
    std::vector<Expr> around, params;
    ir::ExprMap values;
    Walk(
        branch,
        [&](const Expr& e) {
          return homes_.PlaceOf(e, scope) == Place::kInside ? Read(e) : std::vector<Expr>();
        },
        [&](const Expr& e) {
          const Place place = homes_.PlaceOf(e, scope);
          if (place == Place::kAround) {
            around.push_back(e);
            params.push_back(Param(NameFor(e, params.size()), e));
            values.emplace(e, params.back());
          } else if (place == Place::kAnywhere && e.kind() == ExprKind::kFunction) {
            values.emplace(e, WithFreshVariables(e));
          }
        });
    AddFunction(name, std::move(params), Rewritten(branch, values), branch);
    return around;
  }

  void AddFunction(const std::string& name, std::vector<Expr> params, const Expr& body,
                   const Expr& at) {
    module_.Set(name, ir::Function::Make(std::move(params), body, at.checked_type(),
                                         {{kOutlined, attrs::Value(name_)}}, at.span()));
  }

  static Expr CallOf(const std::string& name, std::vector<Expr> arguments, const ir::Type& type,
                     const Span& span) {
    return ir::Call::Make(ir::GlobalVar::Make(name, span), std::move(arguments), {}, span, type);
  }
  static Expr Param(const std::string& name, const Expr& value) {
    return ir::Var::MakeChecked(name, value.checked_type(), value.span());
  }
  static std::string NameFor(const Expr& value, std::size_t number) {
    return value.kind() == ExprKind::kVar ? ir::Var(value).name() : StrCat("x", number);
  }

  // "f_then0"
  std::string Unique(const char* kind) {
    std::string name;
    do {
      name = StrCat(name_, "_", kind, numbers_[kind]++);
    } while (module_.Find(name) || !taken_.insert(name).second);
    return name;
  }

  const std::string& name_;
  const Expr function_;
  const BranchHomes homes_;
  ir::ModuleBuilder& module_;
  std::unordered_map<Expr, Dispatch, ir::ExprHash> dispatches_;
  std::unordered_map<std::string, int> numbers_;
  std::unordered_set<std::string> taken_;
};

constexpr char kEqualText[] = "=", kAtMostText[] = "<=";

}  // namespace

Expr WithNeeds(const Expr& function, const std::vector<ExtentCondition>& conditions) {
  const auto& node = *function.As<FunctionNode>();
  if (conditions.empty() || node.HasAttr(kNeeds)) return function;
  attrs::List needs;
  for (const ExtentCondition& condition : conditions) {
    needs.emplace_back(condition.a.ToString());
    needs.emplace_back(condition.kind == ExtentCondition::Kind::kEqual ? kEqualText : kAtMostText);
    needs.emplace_back(condition.b.ToString());
    needs.emplace_back(condition.needed_by);
  }
  auto attributes = node.attrs;
  attributes.emplace(kNeeds, attrs::Value(std::move(needs)));
  return ir::Function::Make(node.params, node.body, node.ret_type, std::move(attributes), node.span,
                            function.checked_type());
}

std::vector<ExtentCondition> NeedsOf(const FunctionNode& function) {
  const auto found = function.attrs.find(kNeeds);
  if (found == function.attrs.end()) return {};
  const auto refuse = [&](const std::string& what) {
    return InvalidArgument(StrCat("the attribute ", kNeeds, " of a function ", what,
                                  "; it is a list of four texts a condition, such as \"n\", "
                                  "\"=\" or \"<=\", \"16\", \"nn.batch_norm\""))
        .At(function.span);
  };
  const auto* texts = found->second.As<attrs::List>();
  if (texts == nullptr || texts->size() % 4 != 0) throw refuse("is no such list");
  const auto text = [&](std::size_t i) -> const std::string& {
    const auto* value = texts->at(i).As<std::string>();
    if (value == nullptr) throw refuse(StrCat("has the value ", i, ", which is no text"));
    return *value;
  };
  const auto extent = [&](std::size_t i) {
    const std::vector<Dim> dims = ir::ParseExtents(StrCat("(", text(i), ")"));
    if (dims.size() != 1) throw refuse(StrCat("has \"", text(i), "\" where one extent stands"));
    return dims[0];
  };
  const auto kind = [&](std::size_t i) {
    if (text(i) == kEqualText) return ExtentCondition::Kind::kEqual;
    if (text(i) == kAtMostText) return ExtentCondition::Kind::kAtMost;
    throw refuse(StrCat("compares by \"", text(i), "\""));
  };
  std::vector<ExtentCondition> needs;
  for (std::size_t i = 0; i < texts->size(); i += 4)
    needs.push_back({extent(i), kind(i + 1), extent(i + 2), text(i + 3)});
  return needs;
}

bool HasBranches(const ir::Module& module) {
  for (const auto& [name, function] : module.functions()) {
    if (HasIf(function) && !IsDispatch(function)) return true;
  }
  return false;
}

ir::Module OutlineBranches(const ir::Module& module) {
  if (!HasBranches(module)) return module;
  ir::ModuleBuilder result(module);
  for (const auto& [name, function] : module.functions()) {
    if (HasIf(function) && !IsDispatch(function))
      result.Set(name, Outliner(name, function, &result).Run());
  }
  const ir::Module outlined = InferType(result.Build());
  ir::ModuleBuilder with_needs(outlined);
  for (const auto& [name, function] : outlined.functions()) {
    const auto& node = *function.As<FunctionNode>();
    if (node.HasAttr(kOutlined)) with_needs.Set(name, WithNeeds(function, ConditionsOf(node.body)));
  }
  return with_needs.Build();
}

}  // namespace tenon::passes
