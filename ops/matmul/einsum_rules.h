// Einstein summation: which axis of which operand each letter of an equation names.
//
// A term is letters with at most one ellipsis, which stands for the axes without a letter. The axes
// of ellipses are aligned at the last one. Without "->" the result has the axes of the ellipsis,
// then the letters that occur once, in alphabetical order.
//
//   const EinsumAxes axes = ParseEinsum("ij,jk->ik", {2, 2});
#ifndef TENON_OPS_MATMUL_EINSUM_RULES_H_
#define TENON_OPS_MATMUL_EINSUM_RULES_H_

#include <string>
#include <vector>

#include "tenon/attrs/attrs.h"

namespace tenon::ops {

struct EinsumAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.EinsumAttrs";
  std::string equation;
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("equation", &EinsumAttrs::equation,
                                      "letters of the axes of each operand and of the result, as "
                                      "in \"ij,jk->ik\"")
                             .Required());
  }
};

// Letters, and numbers below 0 for the axes of an ellipsis, counted from the last one.
using EinsumLabels = std::vector<int>;

struct EinsumAxes {
  std::vector<EinsumLabels> operands;
  EinsumLabels result;
  EinsumLabels summed;  // those that the result lacks, in ascending order
};

// Throws InvalidArgument when the equation is malformed or does not fit the ranks of the operands.
EinsumAxes ParseEinsum(const std::string& equation, const std::vector<std::size_t>& ranks);

}  // namespace tenon::ops

#endif  // TENON_OPS_MATMUL_EINSUM_RULES_H_
