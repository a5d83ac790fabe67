// How fast choices may be that nobody has raced, by those that were.
//
// The logarithm of a choice's time is fitted by a polynomial of second degree in the logarithms of
// its values: how long a tile takes has a best size, and the best size of one loop depends on that
// of another. Ridge regression, which needs no more points than it has: Hoerl and Kennard, 1970.
//
//   CostModel model;
//   for (const auto& [config, ratio] : raced) model.Learn(config, ratio);
//   if (const auto ratio = model.Predict({{"rows", 6}, {"vectors", 2}})) ...
#ifndef TENON_TUNE_COST_MODEL_H_
#define TENON_TUNE_COST_MODEL_H_

#include <optional>
#include <string>
#include <vector>

#include "tenon/strategies/config.h"

namespace tenon::tune {

// Of one row of one kernel.
class CostModel {
 public:
  // A configuration with all its choices, and its time as a part of the default's. One whose
  // choices have other names than those of the first is passed over.
  void Learn(const strategies::ConfigValues& config, double ratio);
  // Nothing for other choices, and where too few are known to say more than chance.
  std::optional<double> Predict(const strategies::ConfigValues& config) const;

 private:
  bool Fits(const strategies::ConfigValues& config) const;
  void Fit();

  std::vector<std::string> names_;
  std::vector<std::vector<double>> features_;
  std::vector<double> logarithms_;
  std::vector<double> weights_;  // empty: not enough is known
};

}  // namespace tenon::tune

#endif  // TENON_TUNE_COST_MODEL_H_
