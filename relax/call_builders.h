// Operators of Relax that are no single operator of Tenon, or another one for each rank or type.
//
//   R.nn.silu(x) is x * sigmoid(x); R.matmul(a, b) is nn.matmul or nn.batch_matmul.
#ifndef TENON_RELAX_CALL_BUILDERS_H_
#define TENON_RELAX_CALL_BUILDERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/attrs/attrs.h"
#include "tenon/ir/expr.h"

namespace tenon::relax {

// A call whose parameters are known.
struct BoundCall {
  std::vector<ir::Expr> inputs;  // with checked types; null for one that is left out
  attrs::FieldValues values;     // of all other parameters
  Span span;

  const ir::TensorTypeNode& TensorOf(std::size_t input) const;  // throws for anything else
  std::int64_t Int(const std::string& name) const;
  bool Bool(const std::string& name) const;
  // The list, or the number as a list of one; nothing for None.
  std::optional<std::vector<std::int64_t>> Ints(const std::string& name) const;
  // The call of an operator, with its type.
  ir::Expr Typed(const ir::Expr& call) const;
};

// Throws InvalidArgument or Unimplemented for what cannot be computed.
using CallBuilder = ir::Expr (*)(const BoundCall& call);

ir::Expr BuildArange(const BoundCall& call);
ir::Expr BuildArgMax(const BoundCall& call);
ir::Expr BuildArgMin(const BoundCall& call);
ir::Expr BuildExpandDims(const BoundCall& call);
ir::Expr BuildFlatten(const BoundCall& call);
ir::Expr BuildFma(const BoundCall& call);
ir::Expr BuildGatherNd(const BoundCall& call);
ir::Expr BuildGelu(const BoundCall& call);
ir::Expr BuildGeluTanh(const BoundCall& call);
ir::Expr BuildGroupNorm(const BoundCall& call);
ir::Expr BuildLinear(const BoundCall& call);
ir::Expr BuildMatmul(const BoundCall& call);
ir::Expr BuildPad(const BoundCall& call);
ir::Expr BuildRepeat(const BoundCall& call);
ir::Expr BuildRmsNorm(const BoundCall& call);
ir::Expr BuildScatterNd(const BoundCall& call);
ir::Expr BuildSilu(const BoundCall& call);
ir::Expr BuildSplit(const BoundCall& call);
ir::Expr BuildSquare(const BoundCall& call);
ir::Expr BuildStd(const BoundCall& call);
ir::Expr BuildTril(const BoundCall& call);
ir::Expr BuildTriu(const BoundCall& call);
ir::Expr BuildVariance(const BoundCall& call);

}  // namespace tenon::relax

#endif  // TENON_RELAX_CALL_BUILDERS_H_
