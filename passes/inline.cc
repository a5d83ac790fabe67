// A function is evaluated over expressions instead of values, its nodes producers first. A call of
// an inlined function is evaluated by evaluating that function's body over the arguments, on an
// explicit stack. So the time is that of the result, however long the chains of calls are. Every
// use gets its own variables, since a module binds a variable only once.
//
// Under kAll, a variable that is bound to a function, or to a tuple that holds one, stands for it.
// A literal is flat before it is called, so frames of literals lie in each other only if functions
// are passed to functions.
#include "tenon/passes/inline.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tenon/ir/flatten.h"
#include "tenon/ir/module_builder.h"
#include "tenon/ir/node_table.h"
#include "tenon/ir/visit.h"
#include "tenon/passes/call_types.h"
#include "tenon/passes/control/outline_branches.h"
#include "tenon/passes/fusion/outline_groups.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::Expr;
using ir::FunctionNode;

// The most calls of literals inside each other. Types bound their number, but they need not be
// known yet.
constexpr int kMaxLiterals = 1000;
// The most expressions of inlined bodies, of functions and of literals: those that call each other
// twice double with each level.
constexpr std::size_t kMaxInlined = 1 << 20;

std::vector<std::string> GlobalsOf(const Expr& function) {
  std::vector<std::string> names;
  ir::VisitPostOrder(function, [&](const Expr& e) {
    if (const auto* global = e.As<ir::GlobalVarNode>()) names.push_back(global->name);
  });
  return names;
}

// What a variable is bound to, and what replaces it where it does not stand for that.
struct Bound {
  Expr value, variable;
};

// The evaluation of a function, or of its body for a call.
struct Frame {
  std::vector<Expr> nodes;  // producers first; the last is the result
  ir::NodeTable<Expr> values;
  std::size_t next = 0;
  std::string flat = "";  // the function whose flat form this is; empty for a call
  int literals = 0;       // calls of literals around it, with its own
  // Of a call: the type that the function declares for all calls, if it does, and the arguments.
  ir::Type result = {};
  std::vector<Expr> arguments = {};
  // Bindings of variables of lets, which may stand for their values.
  std::unordered_map<Expr, Bound, ir::ExprHash> bound = {};
};

void Finish(Frame& frame, const Expr& value) {
  frame.values.TryEmplace(frame.nodes[frame.next++], value);
}

Expr OverValues(const Expr& e, const ir::NodeTable<Expr>& values) {
  std::vector<Expr> children = ir::Children(e);
  bool changed = false;
  for (Expr& child : children) {
    const Expr& value = values.at(child);
    changed = changed || !(value == child);
    child = value;
  }
  return changed ? ir::WithChildren(e, std::move(children), ir::Type()) : e;
}

// Whether a literal may be inlined. Those of kernels and patterns stay.
bool MayInline(const FunctionNode& literal) {
  return literal.HasAttr("Compiler") || !(literal.is_primitive() || literal.HasAttr("Composite"));
}
bool IsFunction(const Expr& value) {
  const auto* literal = value.As<FunctionNode>();
  return value.kind() == ir::ExprKind::kGlobalVar || (literal != nullptr && MayInline(*literal));
}

// Finds what variables are bound to. A variable of a let comes after its value. If its own value
// reads it, it does not stand for that value.
void FindBound(Frame* frame) {
  std::unordered_map<Expr, std::vector<Expr>, ir::ExprHash> variables;  // by value
  for (const Expr& e : frame->nodes) {
    const auto* let = e.As<ir::LetNode>();
    if (let == nullptr) continue;
    if (let->value.kind() == ir::ExprKind::kFunction) {
      const std::vector<ir::Var> free = ir::FreeVars(let->value);
      if (std::find(free.begin(), free.end(), let->var) != free.end()) continue;
    }
    frame->bound.emplace(let->var, Bound{let->value, let->var});
    variables[let->value].push_back(let->var);
  }
  if (variables.empty()) return;
  std::vector<Expr> nodes;
  for (const Expr& e : frame->nodes) {
    if (frame->bound.contains(e)) continue;
    // A variable may be the value of others.
    std::size_t next = nodes.size();
    for (nodes.push_back(e); next < nodes.size(); ++next) {
      if (const auto of = variables.find(nodes[next]); of != variables.end())
        nodes.insert(nodes.end(), of->second.begin(), of->second.end());
    }
  }
  frame->nodes = std::move(nodes);
}

// The value of a call with the type that the function declares. Without it, an extent that the body
// makes of variables would no longer have to be the number that was declared. An argument has other
// readers.
Expr WithResult(const Expr& value, const Frame& call) {
  const bool is_argument =
      std::find(call.arguments.begin(), call.arguments.end(), value) != call.arguments.end();
  return !call.result || is_argument || value.checked_type()
             ? value
             : ir::WithChildren(value, ir::Children(value), call.result);
}

// Whether it is a type of tensors that has no variables, which would be those of the function.
bool HoldsInAnyCall(const ir::Type& result) {
  return result && std::ranges::all_of(ir::Flatten(result), [](const ir::Type& leaf) {
           return leaf.As<ir::TensorTypeNode>() != nullptr && ir::SymbolsOf(leaf).empty();
         });
}

// What is declared of a variable inside, where it holds in any call. Otherwise its value says it.
ir::Type InAnyCall(const ir::Type& declared, const std::set<std::string>& own) {
  const std::set<std::string> symbols = ir::SymbolsOf(declared);
  const bool has_own =
      std::ranges::any_of(symbols, [&](const std::string& symbol) { return own.contains(symbol); });
  return has_own ? ir::Type() : declared;
}

class Inliner {
 public:
  Inliner(const ir::Module& module, InlineRule rule) : module_(module), rule_(rule) {
    FindInlinable();
    FindCalled();
  }

  ir::Module Run() {
    std::unordered_set<std::string> named = {"main"};
    for (const auto& [name, function] : module_.functions()) {
      if (inlinable_.contains(name)) continue;
      for (const std::string& global : GlobalsOf(Flat(name))) named.insert(global);
    }
    ir::ModuleBuilder result = ir::ModuleBuilder::WithoutFunctions(module_);
    for (const auto& [name, function] : module_.functions()) {
      if (!inlinable_.contains(name) || named.contains(name) || !called_.contains(name))
        result.Set(name, Flat(name));
    }
    return result.Build();
  }

 private:
  // Callees first. Functions on a cycle, and all their callers, are never reached.
  void FindInlinable() {
    std::unordered_map<std::string, std::size_t> waits_for;
    std::unordered_map<std::string, std::vector<std::string>> callers;
    std::vector<std::string> ready;
    for (const auto& [name, function] : module_.functions()) {
      const auto& node = *function.As<FunctionNode>();
      if (name == "main" || IsComposite(name) || !IsWanted(node)) continue;
      std::size_t count = 0;
      for (const std::string& callee : GlobalsOf(function)) {
        if (IsComposite(callee) || StaysCalled(callee)) continue;
        callers[callee].push_back(name);
        ++count;
      }
      waits_for[name] = count;
      if (count == 0) ready.push_back(name);
    }
    while (!ready.empty()) {
      const std::string name = ready.back();
      ready.pop_back();
      inlinable_.insert(name);
      for (const std::string& caller : callers[name]) {
        if (--waits_for[caller] == 0) ready.push_back(caller);
      }
    }
  }

  bool IsWanted(const FunctionNode& function) const {
    switch (rule_) {
      case InlineRule::kMarked:
        return function.IsSet("Inline");
      case InlineRule::kAll:
        return true;
      case InlineRule::kOutlined:
        return function.IsSet(kOutlined);
    }
    return false;
  }
  // Whether calls of the function stay. A branch may call any function, wherever the branch is.
  bool StaysCalled(const std::string& name) const {
    const Expr function = module_.Find(name);
    return rule_ == InlineRule::kOutlined &&
           !(function && function.As<FunctionNode>()->IsSet(kOutlined));
  }

  // A function that a pattern turned into a kernel stays one (EmbedComposites).
  bool IsComposite(const std::string& name) const {
    const Expr function = module_.Find(name);
    return function && function.As<FunctionNode>()->HasAttr("Composite");
  }

  void FindCalled() {
    for (const auto& [name, function] : module_.functions()) {
      ir::VisitPostOrder(function, [&](const Expr& e) {
        if (IsInlinedCall(e))
          called_.insert(e.As<ir::CallNode>()->callee.As<ir::GlobalVarNode>()->name);
      });
    }
  }

  bool IsInlinedCall(const Expr& e) const {
    const auto* call = e.As<ir::CallNode>();
    const auto* global = call == nullptr ? nullptr : call->callee.As<ir::GlobalVarNode>();
    if (global == nullptr || !inlinable_.contains(global->name)) return false;
    // InferType reports a wrong number of arguments.
    return module_.Get(global->name).As<FunctionNode>()->params.size() == call->args.size();
  }

  // The function with what it calls inlined.
  Expr Flat(const std::string& name) {
    const auto known = flat_.find(name);
    if (known != flat_.end()) return known->second;
    std::vector<Frame> stack;
    stack.push_back(OfFunction(name));
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next < top.nodes.size()) {
        if (auto inner = Step(top)) stack.push_back(std::move(*inner));
        continue;
      }
      const Expr value = top.values.at(top.nodes.back());
      const Expr result = HoldsFunction(value) ? value : WithResult(value, top);
      const std::string flat = top.flat;
      stack.pop_back();
      if (flat.empty()) {
        Finish(stack.back(), result);
      } else {
        flat_.emplace(flat, result);
      }
    }
    return flat_.at(name);
  }

  // Evaluates the next node, or returns what must be evaluated first.
  std::optional<Frame> Step(Frame& frame) {
    const Expr& original = frame.nodes[frame.next];
    if (frame.values.Get(original) != nullptr) {
      ++frame.next;
      return std::nullopt;
    }
    if (const auto bound = frame.bound.find(original); bound != frame.bound.end()) {
      const Expr& value = frame.values.at(bound->second.value);
      Finish(frame, HoldsFunction(value) ? value : bound->second.variable);
      return std::nullopt;
    }
    const auto* let = original.As<ir::LetNode>();
    if (let != nullptr && HoldsFunction(frame.values.at(let->var))) {
      Finish(frame, frame.values.at(let->body));
      return std::nullopt;
    }
    const Expr e = OverValues(original, frame.values);
    if (rule_ == InlineRule::kAll) NoteTuple(e);
    if (const Expr field = FieldOfTuple(e)) {
      Finish(frame, field);
      return std::nullopt;
    }
    const auto* call = e.As<ir::CallNode>();
    if (IsInlinedCall(e)) {
      const std::string& name = call->callee.As<ir::GlobalVarNode>()->name;
      const auto& callee = *module_.Get(name).As<FunctionNode>();
      called_.insert(name);
      if (!callee.HasAttr("Compiler") || rule_ == InlineRule::kAll) {
        return Counted(OfCall(callee, *call, frame.literals, OwnExtents(callee)), "@" + name,
                       original);
      }
      const auto flat = flat_.find(name);
      if (flat == flat_.end()) return OfFunction(name);
      Finish(frame,
             ir::Call::Make(WithFreshVariables(flat->second), call->args, call->attrs, e.span()));
      return std::nullopt;
    }
    const auto* literal = call == nullptr ? nullptr : call->callee.As<FunctionNode>();
    if (literal != nullptr && rule_ == InlineRule::kAll && MayInline(*literal) &&
        literal->params.size() == call->args.size()) {
      if (frame.literals >= kMaxLiterals)
        throw InvalidArgument(
            StrCat("functions are handed to functions in more than ", kMaxLiterals, " levels"))
            .At(original.span());
      return Counted(OfCall(*literal, *call, frame.literals + 1, {}), "a function literal",
                     original);
    }
    Finish(frame, e);
    return std::nullopt;
  }

  // The frame of `call`, which calls `name`. Throws when there are too many expressions.
  Frame Counted(Frame inlined, const std::string& name, const Expr& call) {
    num_inlined_ += inlined.nodes.size();
    if (num_inlined_ > kMaxInlined)
      throw InvalidArgument(StrCat("the calls of ", name, " and other functions become more than ",
                                   kMaxInlined, " expressions when they are inlined"))
          .At(call.span());
    return inlined;
  }

  bool HoldsFunction(const Expr& value) const {
    return IsFunction(value) || tuples_.contains(value);
  }

  void NoteTuple(const Expr& e) {
    const auto* tuple = e.As<ir::TupleNode>();
    if (tuple != nullptr && std::any_of(tuple->fields.begin(), tuple->fields.end(),
                                        [&](const Expr& field) { return HoldsFunction(field); }))
      tuples_.insert(e);
  }

  // The field that a projection takes out of a tuple that holds functions. None for all else.
  Expr FieldOfTuple(const Expr& e) const {
    const auto* item = e.As<ir::TupleGetItemNode>();
    if (item == nullptr || !tuples_.contains(item->tuple)) return Expr();
    const auto& fields = item->tuple.As<ir::TupleNode>()->fields;
    const auto index = static_cast<std::size_t>(item->index);
    return index < fields.size() ? fields[index] : Expr();  // InferType reports the index
  }

  Frame FrameOf(const Expr& e) const {
    Frame frame;
    ir::VisitPostOrder(e, [&](const Expr& node) { frame.nodes.push_back(node); });
    if (rule_ == InlineRule::kAll) FindBound(&frame);
    return frame;
  }

  Frame OfFunction(const std::string& name) const {
    Frame frame = FrameOf(module_.Get(name));
    frame.flat = name;
    return frame;
  }

  // The body, with arguments for parameters and new variables for those bound inside. `own` are the
  // function's own variables of extents.
  Frame OfCall(const FunctionNode& function, const ir::CallNode& call, int literals,
               const std::set<std::string>& own) const {
    Frame frame = FrameOf(function.body);
    frame.literals = literals;
    if (HoldsInAnyCall(function.ret_type)) frame.result = function.ret_type;
    frame.arguments = call.args;
    const auto renew = [&](const Expr& var) {
      const Expr renewed = ir::Var::Make(
          ir::Var(var).name(), InAnyCall(ir::Var(var).type_annotation(), own), var.span());
      if (const auto bound = frame.bound.find(var); bound != frame.bound.end()) {
        bound->second.variable = renewed;
      } else {
        frame.values.TryEmplace(var, renewed);
      }
    };
    for (const Expr& e : frame.nodes) {
      if (const auto* let = e.As<ir::LetNode>()) renew(let->var);
      if (const auto* inner = e.As<FunctionNode>()) {
        for (const Expr& param : inner->params) renew(param);
      }
    }
    for (std::size_t i = 0; i < function.params.size(); ++i)
      frame.values.TryEmplace(function.params[i], call.args[i]);
    return frame;
  }

  const ir::Module& module_;
  const InlineRule rule_;
  std::unordered_set<std::string> inlinable_, called_;
  std::unordered_map<std::string, Expr> flat_;
  std::size_t num_inlined_ = 0;
  std::unordered_set<Expr, ir::ExprHash> tuples_;  // with a function in them, at any depth
};

}  // namespace

ir::Module Inline(const ir::Module& module, InlineRule rule) { return Inliner(module, rule).Run(); }

}  // namespace tenon::passes
