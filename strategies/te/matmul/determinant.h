// The compute of matrix_determinant.
#ifndef TENON_STRATEGIES_TE_MATMUL_DETERMINANT_H_
#define TENON_STRATEGIES_TE_MATMUL_DETERMINANT_H_

#include <vector>

#include "tenon/strategies/te_compute.h"

namespace tenon::strategies {

std::vector<te::Tensor> Determinant(const TeCall& call);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_TE_MATMUL_DETERMINANT_H_
