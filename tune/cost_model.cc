// The normal equations (X'X + c I) w = X'y, solved by Cholesky's decomposition: there are few
// unknowns, and c keeps them well conditioned.
#include "tenon/tune/cost_model.h"

#include <cmath>
#include <numeric>

namespace tenon::tune {
namespace {

// More choices than this have no products of two, of which there would be more than points.
constexpr std::size_t kMaxProducts = 6;
// Large enough that the equations have a solution. Ten times as much needs more races, also where
// times are noisy.
constexpr double kRidge = 1e-4;
// Points beyond the number of choices, below which a fit says nothing.
constexpr std::size_t kMorePoints = 3;

// Of values, which may be zero or negative.
double Scale(std::int64_t value) {
  const double logarithm = std::log2(1 + std::abs(static_cast<double>(value)));
  return value < 0 ? -logarithm : logarithm;
}

std::vector<double> FeaturesOf(const strategies::ConfigValues& config) {
  std::vector<double> features = {1};
  for (const auto& [name, value] : config) features.push_back(Scale(value));
  const std::size_t n = features.size();
  for (std::size_t i = 1; i < n; ++i) {
    for (std::size_t j = i; j < n; ++j) {
      if (i == j || config.size() <= kMaxProducts) features.push_back(features[i] * features[j]);
    }
  }
  return features;
}

double Product(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// Solves a x = b for a symmetric, positive definite `a`.
std::vector<double> Solve(std::vector<std::vector<double>> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i][k] * a[j][k];
      a[i][j] = i == j ? std::sqrt(sum) : sum / a[j][j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

}  // namespace

bool CostModel::Fits(const strategies::ConfigValues& config) const {
  if (config.size() != names_.size()) return false;
  std::size_t i = 0;
  for (const auto& [name, value] : config) {
    if (name != names_[i++]) return false;
  }
  return true;
}

void CostModel::Learn(const strategies::ConfigValues& config, double ratio) {
  if (config.empty() || !(ratio > 0)) return;
  if (names_.empty()) {
    for (const auto& [name, value] : config) names_.push_back(name);
  }
  if (!Fits(config)) return;
  features_.push_back(FeaturesOf(config));
  logarithms_.push_back(std::log(ratio));
  if (features_.size() >= names_.size() + kMorePoints) Fit();
}

void CostModel::Fit() {
  const std::size_t n = features_[0].size();
  std::vector<std::vector<double>> squares(n, std::vector<double>(n, 0.0));
  std::vector<double> products(n, 0.0);
  for (std::size_t point = 0; point < features_.size(); ++point) {
    for (std::size_t i = 0; i < n; ++i) {
      products[i] += features_[point][i] * logarithms_[point];
      for (std::size_t j = 0; j < n; ++j)
        squares[i][j] += features_[point][i] * features_[point][j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) squares[i][i] += kRidge;
  weights_ = Solve(std::move(squares), std::move(products));
}

std::optional<double> CostModel::Predict(const strategies::ConfigValues& config) const {
  if (weights_.empty() || !Fits(config)) return std::nullopt;
  const double logarithm = Product(weights_, FeaturesOf(config));
  if (!std::isfinite(logarithm)) return std::nullopt;
  return std::exp(logarithm);
}

}  // namespace tenon::tune
