// The rules are those of Relax's FuseOpsByPattern. Patterns are applied one after the other, each
// to the module that the earlier ones left. Within one pattern, expressions are visited producers
// first. A match may have members that belong to earlier matches. It replaces those matches if they
// all lie wholly in it, and is dropped if one does not: the largest match wins. A match that gives
// several values has all members in one body of a let or branch of an if.
#include "tenon/passes/pattern/fuse_ops_by_pattern.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "tenon/ir/visit.h"
#include "tenon/passes/fusion/groups.h"
#include "tenon/passes/fusion/let_homes.h"
#include "tenon/passes/fusion/outline_groups.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/pattern/pattern_match.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::Expr;
using ir::FunctionNode;
using ExprSet = std::unordered_set<Expr, ir::ExprHash>;

bool CanBeRoot(const Expr& e) {
  const auto* call = e.As<ir::CallNode>();
  return (call != nullptr && call->op() != nullptr) || e.kind() == ir::ExprKind::kTupleGetItem;
}

struct Match {
  std::vector<Expr> members;  // producers first
  ir::FunctionAttrs attrs;
};

// The groups of one pattern in one function.
class MatchFinder {
 public:
  MatchFinder(const Expr& function, const FusionPattern& pattern)
      : function_(function),
        pattern_(pattern),
        matcher_(function),
        uses_(UsesInside(function)),
        homes_(LetHomesOf(function)) {}

  std::vector<Match> Find() {
    std::vector<Expr> order;
    ir::VisitPostOrder(
        function_,
        [&](const Expr& e) {
          position_.emplace(e, order.size());
          order.push_back(e);
        },
        ir::OutsideLiterals(function_));
    for (const Expr& e : order) {
      if (CanBeRoot(e)) Visit(e);
    }
    std::vector<Match> found;
    for (std::optional<Match>& match : matches_) {
      if (match) found.push_back(std::move(*match));
    }
    return found;
  }

 private:
  void Visit(const Expr& root) {
    const auto bindings = matcher_.Match(pattern_.pattern, root);
    if (!bindings || bindings->matched().empty()) return;
    PatternCheckContext context{root, {}, Members(*bindings), {}, {}};
    const ExprSet members(context.matched.begin(), context.matched.end());
    std::unordered_set<std::size_t> replaced;
    for (const Expr& member : context.matched) {
      // A value that another function computes, or that is bound elsewhere, belongs to no group.
      if (!position_.contains(member)) return;
      const auto earlier = match_of_.find(member);
      if (earlier != match_of_.end()) replaced.insert(earlier->second);
    }
    for (const std::size_t earlier : replaced) {
      for (const Expr& member : matches_[earlier]->members) {
        if (!members.contains(member)) return;
      }
    }
    FillContext(*bindings, members, &context);
    if (!context.escaping.empty() && !AreInOneScope(context.matched)) return;
    if (pattern_.check && !pattern_.check(context)) return;
    ir::FunctionAttrs attrs = pattern_.attrs ? pattern_.attrs(context) : ir::FunctionAttrs();
    attrs["Composite"] = attrs::Value(pattern_.name);
    for (const std::size_t earlier : replaced) matches_[earlier].reset();
    for (const Expr& member : context.matched) match_of_[member] = matches_.size();
    matches_.push_back(Match{std::move(context.matched), std::move(attrs)});
  }

  std::vector<Expr> Members(const Bindings& bindings) const {
    std::vector<Expr> members = bindings.matched();
    const auto place = [&](const Expr& e) {
      const auto found = position_.find(e);
      return found == position_.end() ? 0 : found->second;
    };
    std::sort(members.begin(), members.end(),
              [&](const Expr& a, const Expr& b) { return place(a) < place(b); });
    members.erase(std::unique(members.begin(), members.end()), members.end());
    return members;
  }

  bool AreInOneScope(const std::vector<Expr>& members) const {
    return std::all_of(members.begin(), members.end(), [&](const Expr& member) {
      return homes_.at(member) == homes_.at(members[0]);
    });
  }

  void FillContext(const Bindings& bindings, const ExprSet& members,
                   PatternCheckContext* context) const {
    for (const auto& [name, part] : pattern_.annotations) {
      if (const Expr bound = bindings.Find(part)) context->annotated_expr.emplace(name, bound);
    }
    for (const Expr& member : context->matched) {
      EscapingValue escaping{member, {}};
      std::vector<Expr>& uses = context->uses[member];
      for (const Expr& user : uses_.at(member)) {
        if (user.kind() == ir::ExprKind::kFunction) continue;  // it is the function's result
        uses.push_back(user);
        if (!members.contains(user)) escaping.uses.push_back(user);
      }
      if (member == context->matched_expr) continue;
      if (!escaping.uses.empty()) context->escaping.push_back(std::move(escaping));
    }
  }

  const Expr& function_;
  const FusionPattern& pattern_;
  Matcher matcher_;
  const UseMap uses_;
  const LetHomes homes_;
  std::unordered_map<Expr, std::size_t, ir::ExprHash> position_;
  std::unordered_map<Expr, std::size_t, ir::ExprHash> match_of_;
  std::vector<std::optional<Match>> matches_;
};

// The function of a group, inside one that names the code generator.
Expr WrapForCodegen(const Expr& composite, const std::string& codegen, const std::string& symbol) {
  const auto& inner = *composite.As<FunctionNode>();
  ir::FunctionAttrs inner_attrs = inner.attrs;
  inner_attrs.erase("Primitive");
  std::vector<Expr> params;
  for (const Expr& param : inner.params)
    params.push_back(
        ir::Var::MakeChecked(ir::Var(param).name(), param.checked_type(), param.span()));
  const Expr call = ir::Call::Make(WithAttrs(composite, std::move(inner_attrs)), params, {},
                                   composite.span(), inner.ret_type);
  return ir::Function::Make(
      params, call, inner.ret_type,
      {{"Codegen", attrs::Value(codegen)}, {"global_symbol", attrs::Value(symbol)}},
      composite.span(), composite.checked_type());
}

// `groups`: the names of group functions, in order, and of their code generators.
ir::Module AnnotateCodegen(const ir::Module& module,
                           const std::vector<std::pair<std::string, std::string>>& groups) {
  FunctionAdder adder(module);
  std::unordered_map<std::string, std::string> renamed;
  for (const auto& [name, codegen] : groups) {
    const std::string symbol = adder.Unique(name, "_" + codegen);
    renamed.emplace(name, symbol);
    adder.module().Set(symbol, WrapForCodegen(module.Get(name), codegen, symbol));
  }
  const ir::Module named = adder.module().Build().Keep(
      [&](const std::string& name, const Expr&) { return !renamed.contains(name); });
  return named.Map([&](const Expr& function) {
    return ir::RewritePostOrder(function, [&](const Expr& original, const Expr& e) -> Expr {
      const auto* global = e.As<ir::GlobalVarNode>();
      const auto found = global == nullptr ? renamed.end() : renamed.find(global->name);
      if (found == renamed.end()) return ir::KeepType(original, e);
      return ir::GlobalVar::Make(found->second, e.span(), e.checked_type());
    });
  });
}

}  // namespace

ir::Module FuseOpsByPattern(const ir::Module& module, const std::vector<FusionPattern>& patterns,
                            const FusePatternOptions& options) {
  std::unordered_set<std::string> entries;
  for (const std::string& entry : options.entry_functions) {
    module.Get(entry);
    entries.insert(entry);
  }
  const ops::OperatorNames names = options.names.value_or(module.operator_names());
  FunctionAdder adder(InferType(module));
  std::vector<std::pair<std::string, std::string>> added;  // group functions, code generators
  for (const FusionPattern& pattern : patterns) {
    if (pattern.name.empty()) throw InvalidArgument("a fusion pattern needs a name");
    if (!pattern.pattern)
      throw InvalidArgument(StrCat("the fusion pattern ", pattern.name, " is null"));
    const ir::Module before = adder.module().Build();
    for (const auto& [name, function] : before.functions()) {
      if (IsGroup(*function.As<FunctionNode>())) continue;
      if (!entries.empty() && !entries.contains(name)) continue;
      std::vector<Match> matches = MatchFinder(function, pattern).Find();
      if (matches.empty()) continue;
      OutlineRequest request;
      for (Match& match : matches) request.groups.push_back(std::move(match.members));
      request.bind_constants = options.bind_constants;
      request.callee = [&](std::size_t group, const Expr& body) {
        ir::FunctionAttrs attrs = matches[group].attrs;
        attrs["Primitive"] = attrs::Value(std::int64_t{1});
        const std::size_t known = adder.module().size();
        const std::string group_name =
            adder.Add(NameOfOperators(OperatorsOf(body.As<FunctionNode>()->body), names),
                      WithAttrs(body, std::move(attrs)));
        if (adder.module().size() > known)
          added.emplace_back(group_name, pattern.name.substr(0, pattern.name.find('.')));
        return ir::GlobalVar::Make(group_name, body.span(), body.checked_type());
      };
      adder.module().Set(name, OutlineGroups(function, request));
    }
  }
  if (!options.annotate_codegen || added.empty()) return adder.module().Build();
  return AnnotateCodegen(adder.module().Build(), added);
}

}  // namespace tenon::passes
