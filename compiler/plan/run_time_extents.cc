// The results are the leaves of what @main returns, in the order in which a plan numbers them: a
// nested tuple counts as its tensors.
#include "tenon/compiler/plan/run_time_extents.h"

#include <utility>

#include "tenon/ir/flatten.h"
#include "tenon/ir/visit.h"
#include "tenon/ops/index_attrs.h"
#include "tenon/ops/registry.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"

namespace tenon::compiler {
namespace {

using ir::Expr;

const ir::CallNode* AsTakeFirst(const Expr& e) {
  static const Expr take_first = ops::OpRegistry::Global().Get("take_first");
  const auto* call = e.As<ir::CallNode>();
  return call != nullptr && call->callee == take_first ? call : nullptr;
}

bool Contains(const Expr& body) {
  bool found = false;
  ir::VisitPostOrder(body, [&](const Expr& e) { found = found || AsTakeFirst(e) != nullptr; });
  return found;
}

class Splitter {
 public:
  // `e`, which is a result or a tuple of results, with the whole of what is cut.
  Expr Split(const Expr& e) {
    if (const auto* tuple = e.As<ir::TupleNode>()) {
      std::vector<Expr> fields;
      for (const Expr& field : tuple->fields) fields.push_back(Split(field));
      return ir::Tuple::Make(std::move(fields));
    }
    const auto* call = AsTakeFirst(e);
    if (call == nullptr) {
      leaves_ += Flatten(e.checked_type()).size();
      return e;
    }
    // The type relation has checked the axis.
    const auto rank = call->args[0].checked_type().As<ir::TensorTypeNode>()->shape.size();
    const auto axis = ops::NormalAxis(call->attrs.As<ops::TakeFirstAttrs>().axis, rank);
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

RunTimeExtents SplitRunTimeExtents(const ir::Module& module) {
  if (!Contains(module.Main().body)) return {.module = module, .extents = {}};
  const ir::Module typed = passes::InferType(module);
  const ir::FunctionNode& main = typed.Main();
  Splitter splitter;
  const Expr body = splitter.WithCounts(main.body);
  ir::VisitPostOrder(body, [&](const Expr& e) {
    if (AsTakeFirst(e) == nullptr) return;
    throw Unimplemented(
        "take_first: the extent is known at run time only, so that it can be a result of the model "
        "and nothing else; other operators need shapes that are known before")
        .At(e.span());
  });
  return {
      .module = typed.With("main", ir::Function::Make(main.params, body, ir::Type(), main.attrs)),
      .extents = splitter.TakeExtents()};
}

}  // namespace tenon::compiler
