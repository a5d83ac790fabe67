// Images of another size: the floor is to copy as many bytes as are read and written.
#include <algorithm>
#include <cmath>

#include "tenon/benchmarks/compiled_graph.h"
#include "tenon/benchmarks/families.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/image/image_attrs.h"
#include "tenon/support/strings.h"

namespace tenon::benchmarks {
namespace {

struct Resize {
  const char* name;
  const char* method;
  std::int64_t channels, from, to;  // square images

  std::int64_t bytes() const { return 4 * channels * (from * from + to * to); }
};

constexpr Resize kResizes[] = {
    {"linear, 256 of 13 x 13 to 26 x 26", "linear", 256, 13, 26},
    {"linear, 96 of 80 x 80 to 160 x 160", "linear", 96, 80, 160},
    {"linear, 96 of 160 x 160 to 80 x 80", "linear", 96, 160, 80},
    {"linear, 64 of 35 x 35 to 81 x 81", "linear", 64, 35, 81},
    {"nearest, 96 of 80 x 80 to 240 x 240", "nearest_neighbor", 96, 80, 240},
};

// Pixel (y, x) of one channel for half-pixel coordinates, in float64.
double Expected(const Resize& r, const float* image, std::int64_t y, std::int64_t x) {
  const double scale = static_cast<double>(r.from) / static_cast<double>(r.to);
  const auto place = [&](std::int64_t i) { return (static_cast<double>(i) + 0.5) * scale - 0.5; };
  const auto at = [&](double row, double column) {
    const auto index = [&](double v) {
      return std::clamp<std::int64_t>(static_cast<std::int64_t>(v), 0, r.from - 1);
    };
    return static_cast<double>(image[index(row) * r.from + index(column)]);
  };
  if (std::string_view(r.method) != "linear")
    return at(std::floor(place(y) + 0.5), std::floor(place(x) + 0.5));
  const double top = std::floor(place(y)), left = std::floor(place(x));
  const double down = place(y) - top, right = place(x) - left;
  return (1 - down) * ((1 - right) * at(top, left) + right * at(top, left + 1)) +
         down * ((1 - right) * at(top + 1, left) + right * at(top + 1, left + 1));
}

void Check(const Resize& r, const Tensor& x, const Tensor& y) {
  const std::int64_t channel = r.channels - 1;
  const float* image = x.data<float>() + channel * r.from * r.from;
  const float* result = y.data<float>() + channel * r.to * r.to;
  for (std::int64_t row = 0; row < r.to; ++row) {
    for (std::int64_t column = 0; column < r.to; ++column) {
      const double difference =
          Expected(r, image, row, column) - static_cast<double>(result[row * r.to + column]);
      Require(std::abs(difference) < 1e-5, StrCat("wrong result: pixel ", row, ", ", column));
    }
  }
}

Contestants Prepare(const Resize& r, int threads) {
  const Tensor x = RandomArray({1, r.channels, r.from, r.from});
  auto graph = std::make_shared<CompiledGraph>(
      ir::Module::FromExpr(ops::Resize2D(
          Input("x", x.shape()),
          {.size = {r.to, r.to}, .method = r.method, .rounding_method = "round_prefer_ceil"})),
      runtime::Inputs{{"x", x}});
  graph->Call();
  Check(r, x, graph->result());
  return AgainstMemcpy(graph, r.bytes() / 2, threads);
}

}  // namespace

void AddResizes(std::vector<Race>& races) {
  for (const int threads : {1, 2}) {
    for (const Resize& r : kResizes) {
      races.push_back({.table = "resize",
                       .name = r.name,
                       .threads = threads,
                       .bytes = static_cast<double>(r.bytes()),
                       .prepare = [=] { return Prepare(r, threads); }});
    }
  }
}

}  // namespace tenon::benchmarks
