// Discrete Fourier transforms and correlation.
#include <cmath>
#include <complex>

#include "tenon/support/strings.h"
#include "tenon/tests/strategies/operator_cases.h"

namespace tenon::operator_cases {
namespace {

// Bin `k` of the signal; the inverse turns the other way and is divided.
std::complex<double> Bin(const std::vector<std::complex<double>>& x, std::int64_t k, bool inverse) {
  const auto n = static_cast<double>(x.size());
  std::complex<double> sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double turn = 2 * M_PI * static_cast<double>(i) * static_cast<double>(k) / n;
    sum += x[i] * std::polar(1.0, inverse ? turn : -turn);
  }
  return inverse ? sum / n : sum;
}

Reference Transformed(bool inverse) {
  return [=](const Arrays& in) {
    const auto bin = [&](const Index& at) {
      std::vector<std::complex<double>> line;
      for (std::int64_t i = 0; i < in[0].shape.back(); ++i) {
        Index from = at;
        from.back() = i;
        line.emplace_back(in[0](from), in[1](from));
      }
      return Bin(line, at.back(), inverse);
    };
    return Arrays{Make(in[0].shape, [&](const Index& at) { return bin(at).real(); }),
                  Make(in[0].shape, [&](const Index& at) { return bin(at).imag(); })};
  };
}

Reference Framed(std::int64_t step, std::int64_t bins, double scale) {
  return [=](const Arrays& in) {
    const Array &x = in[0], &window = in[1];
    const std::int64_t n = window.shape[0];
    Shape shape(x.shape.begin(), x.shape.end() - 1);
    shape.insert(shape.end(), {bins, (x.shape.back() - n) / step + 1, 2});
    return Arrays{Make(shape, [&](const Index& at) {
      const std::size_t first = x.rank() - 1;
      std::vector<std::complex<double>> frame;
      for (std::int64_t i = 0; i < n; ++i) {
        Index from(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(first));
        from.push_back(at[first + 1] * step + i);
        frame.emplace_back(x(from) * window({i}));
      }
      const std::complex<double> value = Bin(frame, at[first], false) * scale;
      return at.back() == 0 ? value.real() : value.imag();
    })};
  };
}

struct Patches {
  std::int64_t kernel = 1, reach = 1, stride1 = 1, stride2 = 1, padding = 0;
  bool multiplies = true;
};

Reference Correlated(const Patches& p) {
  return [=](const Arrays& in) {
    const Shape& s = in[0].shape;
    const std::int64_t radius = p.kernel / 2, most = p.reach / p.stride2;
    const auto read = [&](const Array& x, std::int64_t n, std::int64_t c, std::int64_t i,
                          std::int64_t j) {
      i -= p.padding;
      j -= p.padding;
      return i < 0 || i >= s[2] || j < 0 || j >= s[3] ? 0.0 : x({n, c, i, j});
    };
    const auto places = [&](std::int64_t extent) {
      std::int64_t count = 0;
      for (std::int64_t at = p.reach + radius; at + p.reach + radius < extent + 2 * p.padding;
           at += p.stride1)
        ++count;
      return count;
    };
    const std::int64_t side = 2 * most + 1;
    Array y{{s[0], side * side, places(s[2]), places(s[3])}, {}};
    for (std::int64_t n = 0; n < s[0]; ++n) {
      for (std::int64_t down = -most; down <= most; ++down)
        for (std::int64_t across = -most; across <= most; ++across)
          ForEach({y.shape[2], y.shape[3]}, [&](const Index& at) {
            const std::int64_t i = p.reach + radius + at[0] * p.stride1;
            const std::int64_t j = p.reach + radius + at[1] * p.stride1;
            double sum = 0;
            for (std::int64_t c = 0; c < s[1]; ++c)
              for (std::int64_t di = -radius; di <= radius; ++di)
                for (std::int64_t dj = -radius; dj <= radius; ++dj) {
                  const double a = read(in[0], n, c, i + di, j + dj);
                  const double b =
                      read(in[1], n, c, i + di + down * p.stride2, j + dj + across * p.stride2);
                  sum += p.multiplies ? a * b : std::abs(a - b);
                }
            y.values.push_back(sum / static_cast<double>(s[1] * p.kernel * p.kernel));
          });
    }
    return Arrays{y};
  };
}

}  // namespace

void AddFourier(std::vector<OpCase>* cases) {
  for (const bool inverse : {false, true}) {
    const std::string body = StrCat("dft(%a, %b, inverse=", inverse ? "True" : "False", ")");
    for (const Shape& shape : {Shape{1}, {3, 2}, {17}, {2, 3, 16}, {40, 31}, {1, 45}})
      cases->push_back({StrCat("dft_of_", StrJoin(shape, "x"), inverse ? "_inverse" : ""),
                        {F("a", shape), F("b", shape)},
                        body,
                        Transformed(inverse)});
    cases->push_back({StrCat("dft_of_doubles", inverse ? "_inverse" : ""),
                      {D("a", {5, 15}), D("b", {5, 15})},
                      body,
                      Transformed(inverse)});
    for (const Shape& shape : {Shape{0, 4}, {3, 0}})
      cases->push_back({StrCat("dft_of_nothing_", shape[0], inverse ? "_inverse" : ""),
                        {F("a", shape), F("b", shape)},
                        body,
                        Transformed(inverse)});
  }
  // A signal that is not a number stays in its row.
  cases->push_back({"dft_beside_nan",
                    {With(F("a", {2, 3}), {1, 2, 3, 4, kNaN, 6}), F("b", {2, 3})},
                    "dft(%a, %b)",
                    [](const Arrays& in) {
                      Arrays y = Transformed(false)(in);
                      for (Array& part : y)
                        for (std::int64_t k = 0; k < 3; ++k)
                          part.values.at(part.Offset({1, k})) = kNaN;
                      return y;
                    }});
  cases->push_back({"stft", {F("x", {41}), F("w", {16})}, "stft(%x, %w)", Framed(4, 9, 1)});
  cases->push_back({"stft_of_a_batch",
                    {F("x", {3, 50}), F("w", {15})},
                    "stft(%x, %w, n_fft=15, hop_length=7, win_length=15, normalized=True)",
                    Framed(7, 8, 1 / std::sqrt(15.0))});
  cases->push_back({"stft_of_both_sides",
                    {D("x", {2, 17}), I("w", {17}, 0, 4)},
                    "stft(%x, %w, onesided=False)",
                    Framed(4, 17, 1)});
  cases->push_back(
      {"stft_of_one_element", {F("x", {5}), F("w", {1})}, "stft(%x, %w)", Framed(1, 1, 1)});
  cases->push_back(
      {"stft_of_no_signal", {F("x", {0, 9}), F("w", {3})}, "stft(%x, %w)", Framed(1, 2, 1)});
}

void AddCorrelations(std::vector<OpCase>* cases) {
  const auto add = [&](const char* name, const Shape& shape, const Patches& p) {
    cases->push_back(
        {StrCat("nn.correlation", name),
         {F("a", shape), F("b", shape)},
         StrCat("nn.correlation(%a, %b, kernel_size=", p.kernel, ", max_displacement=", p.reach,
                ", stride1=", p.stride1, ", stride2=", p.stride2, ", padding=[", p.padding, ", ",
                p.padding, "], is_multiply=", p.multiplies ? "True" : "False", ")"),
         Correlated(p)});
  };
  add("", {2, 3, 9, 17}, {});
  add("_of_patches", {1, 5, 11, 13}, {.kernel = 3, .reach = 2, .padding = 2});
  add("_in_steps", {1, 2, 15, 16},
      {.kernel = 3, .reach = 5, .stride1 = 2, .stride2 = 2, .padding = 4});
  add("_of_differences", {2, 3, 7, 7}, {.reach = 2, .padding = 3, .multiplies = false});
  add("_in_place", {1, 1, 1, 1}, {.reach = 0});
  add("_of_no_image", {0, 2, 5, 5}, {});
}

}  // namespace tenon::operator_cases
