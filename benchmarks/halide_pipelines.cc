// Halide names the innermost dimension first and Tenon the outermost, so x and y (the column and
// the row) are swapped in what each reads; all else is step by step the same.
#include "tenon/benchmarks/halide_pipelines.h"

#include <Halide.h>

#include "tenon/support/strings.h"
#include "tenon/tenon.h"

namespace tenon::benchmarks {
namespace {

constexpr int kLanes = 16;

Halide::Buffer<float> BufferOf(const NDArray& array) {
  return Halide::Buffer<float>(array.data<float>(), static_cast<int>(array.shape()[1]),
                               static_cast<int>(array.shape()[0]));
}

// Binds the inputs and realises into the last array.
PipelineCall HalideCall(const std::vector<Halide::ImageParam>& inputs, Halide::Func result) {
  const Halide::Target target =
      Halide::get_jit_target_from_environment().with_feature(Halide::Target::NoAsserts);
  result.compile_jit(target);
  return [inputs = inputs, result, target](const std::vector<NDArray>& arrays) mutable {
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i].set(BufferOf(arrays[i]));
    Halide::Buffer<float> out = BufferOf(arrays.back());
    result.realize(out, target);
  };
}

PipelineCall TenonCall(const Schedule& schedule, const std::vector<te::Tensor>& args) {
  const jit::Kernel kernel = jit::Build(schedule, args, "pipeline").value();
  return [kernel](const std::vector<NDArray>& arrays) {
    std::vector<void*> buffers;
    for (const NDArray& array : arrays) buffers.push_back(array.raw());
    kernel.RunUnchecked(buffers.data(), nullptr);
  };
}

PipelineCall HalideBlur(bool parallel) {
  Halide::ImageParam in(Halide::Float(32), 2);
  Halide::Func rows("rows"), blur("blur");
  Halide::Var x("x"), y("y"), yi("yi");
  rows(x, y) = in(x, y) + in(x + 1, y) + in(x + 2, y);
  blur(x, y) = (rows(x, y) + rows(x, y + 1) + rows(x, y + 2)) * (1.0F / 9);
  blur.split(y, y, yi, 32).vectorize(x, kLanes);
  rows.compute_at(blur, y).vectorize(x, kLanes);
  if (parallel) blur.parallel(y);
  return HalideCall({in}, blur);
}

PipelineCall TenonBlur(std::int64_t height, std::int64_t width, bool parallel) {
  const te::Tensor in = te::Placeholder({height + 2, width + 2}, Float32, "in");
  const te::Tensor rows = te::Compute(
      {height + 2, width},
      [&](te::Var y, te::Var x) { return in(y, x) + in(y, x + 1) + in(y, x + 2); }, "rows");
  const te::Tensor blur = te::Compute(
      {height, width},
      [&](te::Var y, te::Var x) {
        return (rows(y, x) + rows(y + 1, x) + rows(y + 2, x)) * (1.0F / 9);
      },
      "blur");
  Schedule s(blur);
  const auto [y, yi] = s[blur].Split(blur.axis(0), 32);
  s[blur].Vectorize(s[blur].Split(blur.axis(1), kLanes).second);
  s[rows].ComputeAt(s[blur], y);
  s[rows].Vectorize(s[rows].Split(rows.axis(1), kLanes).second);
  if (parallel) s[blur].Parallel(y);
  return TenonCall(s, {in, blur});
}

// A tile of the product that fits the vector registers.
constexpr int kTileRows = 8;
constexpr int kTileColumns = 3 * kLanes;

PipelineCall HalideMatmul(int size, bool parallel) {
  Halide::ImageParam a(Halide::Float(32), 2), b(Halide::Float(32), 2);
  a.dim(0).set_bounds(0, size).dim(1).set_stride(size);
  b.dim(0).set_bounds(0, size).dim(1).set_stride(size);
  Halide::Func product("product"), c("c");
  Halide::Var x("x"), y("y"), xi("xi"), yi("yi"), xv("xv");
  Halide::RDom k(0, size);
  product(x, y) += a(k, y) * b(x, k);
  c(x, y) = product(x, y);
  c.bound(x, 0, size).bound(y, 0, size);
  c.tile(x, y, xi, yi, kTileColumns, kTileRows).reorder(xi, yi, y, x);
  c.vectorize(xi, kLanes).unroll(xi).unroll(yi);
  product.compute_at(c, y).vectorize(x, kLanes).unroll(x).unroll(y);
  product.update().reorder(x, y, k).vectorize(x, kLanes).unroll(x).unroll(y);
  if (parallel) c.parallel(x);
  return HalideCall({a, b}, c);
}

PipelineCall TenonMatmul(std::int64_t size, bool parallel) {
  const te::Tensor a = te::Placeholder({size, size}, Float32, "a");
  const te::Tensor b = te::Placeholder({size, size}, Float32, "b");
  const te::IterVar k = te::ReduceAxis(0, size, "k");
  const te::Tensor product = te::Compute(
      {size, size}, [&](te::Var y, te::Var x) { return te::Sum(a(y, k.var) * b(k.var, x), {k}); },
      "product");
  const te::Tensor c = te::Compute(
      {size, size}, [&](te::Var y, te::Var x) { return product(y, x); }, "c");
  Schedule s(c);
  const auto [y, x, yi, xi] = s[c].Tile(c.axis(0), c.axis(1), kTileRows, kTileColumns);
  s[c].Reorder({x, y, yi, xi});
  const auto [xu, xv] = s[c].Split(xi, kLanes);
  s[c].Vectorize(xv).Unroll(xu).Unroll(yi);
  s[product].ComputeAt(s[c], y);
  const auto [pu, pv] = s[product].Split(product.axis(1), kLanes);
  s[product].Reorder({k, product.axis(0), pu, pv});
  s[product].Vectorize(pv).Unroll(pu).Unroll(product.axis(0));
  if (parallel) s[c].Parallel(x);
  return TenonCall(s, {a, b, c});
}

constexpr float kRate = 0.125F;

PipelineCall HalideDiffusion(bool parallel) {
  Halide::ImageParam in(Halide::Float(32), 2);
  Halide::Var x("x"), y("y"), yi("yi");
  const auto step = [&](const auto& from, Halide::Func& to) {
    to(x, y) = from(x + 1, y + 1) * (1 - 4 * kRate) +
               (from(x, y + 1) + from(x + 2, y + 1) + from(x + 1, y) + from(x + 1, y + 2)) * kRate;
  };
  Halide::Func first("first"), second("second"), third("third");
  step(in, first);
  step(first, second);
  step(second, third);
  third.split(y, y, yi, 32).vectorize(x, kLanes);
  second.compute_at(third, y).vectorize(x, kLanes);
  first.compute_at(third, y).vectorize(x, kLanes);
  if (parallel) third.parallel(y);
  return HalideCall({in}, third);
}

PipelineCall TenonDiffusion(std::int64_t height, std::int64_t width, bool parallel) {
  const auto step = [](const te::Tensor& from, std::int64_t rows, std::int64_t columns,
                       const char* name) {
    return te::Compute(
        {rows, columns},
        [&](te::Var y, te::Var x) {
          return from(y + 1, x + 1) * (1 - 4 * kRate) +
                 (from(y + 1, x) + from(y + 1, x + 2) + from(y, x + 1) + from(y + 2, x + 1)) *
                     kRate;
        },
        name);
  };
  const te::Tensor in = te::Placeholder({height + 6, width + 6}, Float32, "in");
  const te::Tensor first = step(in, height + 4, width + 4, "first");
  const te::Tensor second = step(first, height + 2, width + 2, "second");
  const te::Tensor third = step(second, height, width, "third");
  Schedule s(third);
  const auto [y, yi] = s[third].Split(third.axis(0), 32);
  s[third].Vectorize(s[third].Split(third.axis(1), kLanes).second);
  for (const te::Tensor& stage : {second, first}) {
    s[stage].ComputeAt(s[third], y);
    s[stage].Vectorize(s[stage].Split(stage.axis(1), kLanes).second);
  }
  if (parallel) s[third].Parallel(y);
  return TenonCall(s, {in, third});
}

}  // namespace

Pipelines Blur(std::int64_t height, std::int64_t width, bool parallel) {
  return {{{height + 2, width + 2}, {height, width}},
          TenonBlur(height, width, parallel),
          HalideBlur(parallel)};
}

Pipelines Matmul(std::int64_t size, bool parallel) {
  return {{{size, size}, {size, size}, {size, size}},
          TenonMatmul(size, parallel),
          HalideMatmul(static_cast<int>(size), parallel)};
}

Pipelines Diffusion(std::int64_t height, std::int64_t width, bool parallel) {
  return {{{height + 6, width + 6}, {height, width}},
          TenonDiffusion(height, width, parallel),
          HalideDiffusion(parallel)};
}

// Headers before version 15 do not tell it.
std::string HalideName() {
#ifdef HALIDE_VERSION_MAJOR
  return StrCat("Halide ", HALIDE_VERSION_MAJOR);
#else
  return "Halide 14";
#endif
}

}  // namespace tenon::benchmarks
