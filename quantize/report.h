// What quantisation did to each product, and what it cost.
#ifndef TENON_QUANTIZE_REPORT_H_
#define TENON_QUANTIZE_REPORT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/quantize/byte_range.h"

namespace tenon::quantize {

struct ProductReport {
  std::string name;  // NameOf the call
  // The error of rounding its operands over their size (root mean square); 0 where they are not.
  double noise = 0;
  // The loss with this product alone on bytes, worst of all results, over the first samples;
  // nothing where no bound on the loss made that matter.
  std::optional<double> loss_alone = std::nullopt;
  std::string floats;  // why it is computed in floating point; empty: it is computed on bytes
};

struct QuantizeReport {
  RangeRule rule = RangeRule::kMeanSquare;  // that chose the ranges
  std::size_t samples = 0;
  std::vector<ProductReport> products;  // in the order of the module
  // Of each result against the module in floating point (quantize/loss.h): with every product on
  // bytes, and of the module that is returned.
  std::vector<double> loss_of_all, loss;
};

// The model's name of the node if it has one, else its operator.
std::string NameOf(const ir::Expr& e);

std::string ToText(const QuantizeReport& report);

}  // namespace tenon::quantize

#endif  // TENON_QUANTIZE_REPORT_H_
