// The results are the leaves of what @main returns, in the order in which a plan numbers them: a
// nested tuple counts as its tensors.
#include "tenon/compiler/plan/run_time_extents.h"

#include <algorithm>
#include <utility>

#include "tenon/ir/flatten.h"
#include "tenon/ir/visit.h"
#include "tenon/ops/extents/extent_attrs.h"
#include "tenon/ops/extents/run_time_cut.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"

namespace tenon::compiler {
namespace {

using ir::Expr;

// The first that is computed; null where there is none.
Expr FirstCut(const Expr& body) {
  Expr found;
  ir::VisitPostOrder(body, [&](const Expr& e) {
    if (!found && ops::AsRunTimeExtent(e) != nullptr) found = e;
  });
  return found;
}
bool Contains(const Expr& body) { return bool(FirstCut(body)); }

class Splitter {
 public:
  // `e`, which is a result or a tuple of results, with cuts replaced by the whole of what they cut.
  Expr Split(const Expr& e) {
    if (const auto* tuple = e.As<ir::TupleNode>()) {
      std::vector<Expr> fields;
      for (const Expr& field : tuple->fields) fields.push_back(Split(field));
      return ir::Tuple::Make(std::move(fields));
    }
    const auto* call = ops::AsRunTimeCut(e);
    if (call == nullptr) {
      leaves_ += Flatten(e.checked_type()).size();
      return e;
    }
    // The type relation has checked the axis.
    const auto rank = call->args[0].checked_type().As<ir::TensorTypeNode>()->shape.size();
    const auto axis = ops::NormalAxis(call->attrs.As<ops::RunTimeCutAttrs>().axis, rank);
    extents_.push_back({.result = leaves_++, .axis = static_cast<std::size_t>(axis), .count = 0});
    counts_.push_back(call->args[1]);
    return call->args[0];
  }

  // The body of @main, which returns the counts after the results.
  Expr WithCounts(const Expr& body) {
    const Expr results = Split(body);
    const auto* tuple = results.As<ir::TupleNode>();
    std::vector<Expr> all = tuple != nullptr ? tuple->fields : std::vector<Expr>{results};
    for (std::size_t i = 0; i < counts_.size(); ++i) extents_[i].count = leaves_ + i;
    all.insert(all.end(), counts_.begin(), counts_.end());
    return ir::Tuple::Make(std::move(all));
  }

  std::vector<runtime::RunTimeExtent> TakeExtents() { return std::move(extents_); }

 private:
  std::size_t leaves_ = 0;
  std::vector<Expr> counts_;
  std::vector<runtime::RunTimeExtent> extents_;
};

}  // namespace

bool HasCut(const ir::Module& module) {
  return std::ranges::any_of(module.functions(),
                             [](const auto& named) { return Contains(named.second); });
}

Expr InnerCut(const ir::Module& module) {
  for (const auto& [name, function] : module.functions()) {
    if (name == "main") continue;
    if (const Expr cut = FirstCut(function)) return cut;
  }
  if (!module.Find("main")) return {};
  std::vector<Expr> results = {module.Main().body};
  std::vector<Expr> read;  // by operators, or a result that is not a cut
  while (!results.empty()) {
    const Expr e = results.back();
    results.pop_back();
    if (const auto* tuple = e.As<ir::TupleNode>()) {
      results.insert(results.end(), tuple->fields.begin(), tuple->fields.end());
    } else if (const auto* cut = ops::AsRunTimeCut(e)) {
      read.insert(read.end(), cut->args.begin(), cut->args.end());
    } else {
      read.push_back(e);
    }
  }
  for (const Expr& e : read) {
    if (const Expr cut = FirstCut(e)) return cut;
  }
  return {};
}

RunTimeExtents SplitRunTimeExtents(const ir::Module& module) {
  if (!Contains(module.Main().body)) return {.module = module, .extents = {}};
  const ir::Module typed = passes::InferType(module);
  const ir::FunctionNode& main = typed.Main();
  Splitter splitter;
  const Expr body = splitter.WithCounts(main.body);
  CheckInvariant(!Contains(body), "cuts inside of a model make it a program");
  return {
      .module = typed.With("main", ir::Function::Make(main.params, body, ir::Type(), main.attrs)),
      .extents = splitter.TakeExtents()};
}

}  // namespace tenon::compiler
