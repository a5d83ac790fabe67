// Discrete Fourier transforms, term by term.
#include <cmath>
#include <numbers>

#include "tenon/ops/reduce/fourier_attrs.h"
#include "tenon/verify/define/definition.h"

namespace tenon::verify {
namespace {

struct Complex {
  Real re = 0, im = 0;
};

// Bin `k` of what `element` says of `n` elements, and the sum of their magnitudes.
template <typename Element>
Complex BinOf(std::int64_t n, std::int64_t k, Real sign, const Element& element, Real* magnitude) {
  Complex sum;
  for (std::int64_t i = 0; i < n; ++i) {
    const Complex x = element(i);
    const Real angle =
        sign * 2 * std::numbers::pi_v<Real> * static_cast<Real>(i * k % n) / static_cast<Real>(n);
    sum.re += x.re * std::cos(angle) - x.im * std::sin(angle);
    sum.im += x.re * std::sin(angle) + x.im * std::cos(angle);
    *magnitude += std::abs(x.re) + std::abs(x.im);
  }
  return sum;
}

// Of sums of n terms with this magnitude in all; halves are rounded once.
void AddSum(Real value, Real magnitude, std::int64_t n, DataType type, Definition* to) {
  const Real step = static_cast<Real>(RoundingError(type.is_half() ? Float32 : type)),
             last = 2 * static_cast<Real>(RoundingError(type));
  to->Add({.real = value}, step * static_cast<Real>(n + 8) * magnitude + last * std::abs(value));
}

std::vector<Definition> Dft(const DefinedCall& call) {
  const bool is_inverse = call.call.attrs.As<ops::DFTAttrs>().inverse;
  const std::int64_t n = call.shape(0).back();
  const DataType type = call.results[0].dtype();
  Definition re, im;
  for (std::int64_t i = 0; i < call.args[0].size(); ++i) {
    const std::int64_t line = i / n * n;
    Real magnitude = 0;
    const Complex sum = BinOf(
        n, i % n, is_inverse ? 1 : -1,
        [&](std::int64_t k) {
          return Complex{call.Arg(0, line + k), call.Arg(1, line + k)};
        },
        &magnitude);
    const Real scale = is_inverse ? 1 / static_cast<Real>(n) : 1;
    AddSum(sum.re * scale, magnitude * scale, n, type, &re);
    AddSum(sum.im * scale, magnitude * scale, n, type, &im);
  }
  return {re, im};
}

// (batch, bins, frames, 2), real and imaginary parts last.
std::vector<Definition> Stft(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::StftAttrs>();
  const std::int64_t n = attrs.n_fft > 0 ? attrs.n_fft : call.args[1].size(),
                     step =
                         attrs.hop_length > 0 ? attrs.hop_length : std::max<std::int64_t>(n / 4, 1),
                     bins = attrs.onesided ? n / 2 + 1 : n, length = call.shape(0).back(),
                     frames = (length - n) / step + 1;
  const std::int64_t batch = call.shape(0).size() == 1 ? 1 : call.shape(0)[0];
  const DataType type = call.results[0].dtype();
  const Real scale = attrs.normalized ? 1 / std::sqrt(static_cast<Real>(n)) : 1;
  Definition made;
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t bin = 0; bin < bins; ++bin)
      for (std::int64_t frame = 0; frame < frames; ++frame) {
        Real magnitude = 0;
        const Complex sum = BinOf(
            n, bin, -1,
            [&](std::int64_t i) {
              return Complex{call.Arg(0, b * length + frame * step + i) * call.Arg(1, i)};
            },
            &magnitude);
        AddSum(sum.re * scale, magnitude * scale, n, type, &made);
        AddSum(sum.im * scale, magnitude * scale, n, type, &made);
      }
  made.shape = Shape{bins, frames, 2};
  if (call.shape(0).size() == 2) made.shape->insert(made.shape->begin(), batch);
  return {made};
}

}  // namespace

void AddFourierDefinitions(DefinitionTable* table) {
  (*table)["dft"] = Dft;
  (*table)["stft"] = Stft;
}

}  // namespace tenon::verify
