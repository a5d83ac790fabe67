#include "tenon/verify/draw/add_run_time_cuts.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tenon/ir/visit.h"
#include "tenon/ops/index_builders.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/interpret.h"

namespace tenon::verify {
namespace {

using ir::Expr;

// Mostly all elements, which fit whatever comes after them.
std::int64_t SomeCount(std::int64_t extent, Random& random) {
  return random.Chance(40) ? extent : random.Below(extent + 1);
}

}  // namespace

RandomModule AddRunTimeCuts(const RandomModule& given, Random& random) {
  const ir::FunctionNode& main = given.module.Main();
  RandomModule made = given;
  std::vector<Expr> params = main.params;
  const Expr body = ir::RewritePostOrder(main.body, [&](const Expr& original, const Expr& e) {
    const ir::Type& type = original.checked_type();
    if (original.kind() != ir::ExprKind::kCall || !ir::IsStaticTensor(type) || !random.Chance(20))
      return e;
    const Shape shape = ir::StaticShape(type, "a value");
    if (shape.empty()) return e;
    const auto rank = static_cast<std::int64_t>(shape.size());
    // An axis that is not there must be refused by its type.
    const std::int64_t axis = random.Chance(2) ? rank + random.Below(6) : random.Below(rank);
    const std::int64_t count =
        SomeCount(shape[static_cast<std::size_t>(std::min(axis, rank - 1))], random);
    const std::string name = StrCat("count", params.size());
    params.push_back(ir::Var::Make(name, ir::TensorTypeOf({1}, Int64)));
    made.inputs.push_back(NDArray::FromVector<std::int64_t>({1}, {count}));
    return ops::TakeFirst(e, params.back(), {.axis = axis, .extent = StrCat("#", name)});
  });
  try {
    made.module =
        passes::InferType(given.module.With("main", ir::Function::Make(std::move(params), body)));
    Interpret(made.module, made.inputs);
    return made;
  } catch (const Error& error) {
    if (error.code() == absl::StatusCode::kInternal) throw;
    return given;
  }
}

}  // namespace tenon::verify
