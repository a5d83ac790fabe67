#include "tenon/verify/draw/random_patterns.h"

#include <algorithm>
#include <cstring>

#include "tenon/te/extern.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::verify {
namespace {

using loop::Expr;
using loop::Var;
using te::IterVar;
using te::Tensor;
using te::TensorIntrinsic;
using te::Tile;
using Sizes = std::vector<std::int64_t>;
using Tiles = std::vector<Tile>;

constexpr std::int64_t kPartialRows = 4, kPartialColumns = 8;

std::vector<Expr> ExprsOf(const Sizes& shape) { return {shape.begin(), shape.end()}; }

Term TermOf(const Operand& x, const Expr& value) {
  return {value, x.bound, x.grain, x.error, x.may_be_special};
}

// A convolution of rows in groups: each of the `per_group` output channels of a group reads the
// input channels of that group. It is depthwise where a group has one.
Pattern Convolution(Random& random, const MakeOperand& make, const std::string& name) {
  const std::int64_t groups = random.Of(Sizes{1, 2, 3, 5, 8, 16}),
                     inputs = groups >= 5 ? 1 : 1 + random.Below(3),
                     per_group = 1 + random.Below(groups >= 5 ? 2 : 5), taps = 1 + random.Below(4),
                     stride = 1 + random.Below(3), dilation = 1 + random.Below(2),
                     padding = random.Below(3),
                     length = random.Of(Sizes{1, 4, 7, 13, 16, 17, 31, 33, 64}),
                     span = dilation * (taps - 1) + 1,
                     result =
                         std::max<std::int64_t>(0, length + 2 * padding - span + stride) / stride;
  const DataType type = random.Of(std::vector<DataType>{Float32, Float32, Float64, Int32, Float16});
  const bool channels_last = random.Chance(40);
  const std::int64_t channels = groups * inputs, filters = groups * per_group;
  const Operand data =
      make(type, channels_last ? Sizes{length, channels} : Sizes{channels, length}, false);
  const Operand weight = make(type, {filters, inputs, taps}, false);
  const auto inside = [=](const Expr& x) { return Expr(0) <= x && x < Expr(length); };
  const auto at = [=](const Expr& c, const Expr& x) {
    const Expr value = channels_last ? data.tensor(x, c) : data.tensor(c, x);
    if (padding == 0) return value;
    return te::IfThenElse(inside(x), value, te::Cast(type, 0));
  };
  // Sometimes the padded rows are a stage of their own.
  const Tensor padded = te::Compute(
      {channels, length + 2 * padding},
      [&](const Var& c, const Var& x) { return at(c, x - padding); }, name + "_padded");
  const bool apart = random.Chance(50);
  const IterVar k = te::ReduceAxis(0, inputs, "rc"), r = te::ReduceAxis(0, taps, "rx");
  Term product;
  const Sizes shape = channels_last ? Sizes{result, filters} : Sizes{filters, result};
  const Tensor out = te::Compute(
      ExprsOf(shape),
      [&](const std::vector<Var>& i) {
        const Expr f = i[channels_last ? 1 : 0], x = i[channels_last ? 0 : 1];
        const Expr channel = loop::FloorDiv(f, per_group) * inputs + k.var,
                   place = x * stride + Expr(r.var) * dilation;
        const Expr left = apart ? padded(channel, place) : at(channel, place - padding);
        product = ProductOf(TermOf(data, left), TermOf(weight, weight.tensor(f, k.var, r.var)));
        product = BeforeSum(product, inputs * taps);
        return te::Sum(product.value, {k, r});
      },
      name);
  return {out, shape, SumOf(product, inputs * taps)};
}

// Sums over rows whose lengths are rarely whole vectors.
Pattern ColumnSums(Random& random, const MakeOperand& make, const std::string& name) {
  const std::int64_t columns = random.Of(Sizes{1, 3, 5, 11, 15, 17, 23, 31, 33, 47, 63, 65, 100}),
                     rows = random.Of(Sizes{1, 2, 5, 8, 17, 30}), planes = 1 + random.Below(3);
  const DataType type =
      random.Of(std::vector<DataType>{Float32, Float32, Float64, Int32, Int8, BFloat16, Float16});
  const Operand x = make(type, {planes, rows, columns}, true);
  const IterVar r = te::ReduceAxis(0, rows, "r");
  const bool is_sum = random.Chance(70);
  Term term;
  const Tensor out = te::Compute(
      {planes, columns},
      [&](const Var& p, const Var& c) {
        term = TermOf(x, x.tensor(p, r.var, c));
        if (!is_sum) return te::Max(term.value, {r});
        term = BeforeSum(term, rows);
        return te::Sum(term.value, {r});
      },
      name);
  return {out, {planes, columns}, is_sum ? SumOf(term, rows) : term};
}

// c[m, n] = sum over k of a[m, k] * b[n, k], in bytes or bfloat16.
Pattern DotProducts(Random& random, const MakeOperand& make, const std::string& name) {
  const bool bytes = random.Chance(60);
  const std::int64_t rows = 1 + random.Below(5),
                     columns = random.Of(Sizes{16, 16, 16, 32, 48, 24, 17}),
                     depth = random.Of(Sizes{4, 4, 8, 12, 16, 20, 7});
  const DataType sum = bytes ? Int32 : Float32;
  const Operand a = make(bytes ? UInt8 : BFloat16, {rows, depth}, false),
                b = make(bytes ? Int8 : BFloat16, {columns, depth}, false);
  const IterVar k = te::ReduceAxis(0, depth, "k");
  Term product;
  const Tensor out = te::Compute(
      {rows, columns},
      [&](const Var& m, const Var& n) {
        const Expr x = loop::Cast(sum, a.tensor(m, k.var)), y = loop::Cast(sum, b.tensor(n, k.var));
        product = ProductOf(TermOf(a, x), TermOf(b, y));
        return te::Sum(x * y, {k});
      },
      name);
  product.value = loop::Constant(sum, 0);
  Term term = SumOf(product, depth);
  // The instruction rounds pairs of products in its own way.
  if (!bytes) term.error += 4 * RoundingError(sum) * term.bound;
  return {out, {rows, columns}, term};
}

// c[m, n] = sum over w and q of element q of the word (a[m, 2 w], a[m, 2 w + 1]) * b[w, n, q].
Pattern WordDotProductsOfBFloats(Random& random, const MakeOperand& make, const std::string& name) {
  const std::int64_t rows = 1 + random.Below(5), columns = random.Of(Sizes{16, 16, 32, 48, 24, 17}),
                     words = 1 + random.Below(6), depth = 2 * words;
  const Operand a = make(BFloat16, {rows, depth}, false),
                b = make(BFloat16, {words, columns, 2}, false);
  const Tensor packed = te::Compute(
      {rows, words},
      [&](const Var& m, const Var& w) {
        return te::WordOf({a.tensor(m, w * 2), a.tensor(m, w * 2 + 1)});
      },
      name + "w");
  const IterVar w = te::ReduceAxis(0, words, "w"), q = te::ReduceAxis(0, 2, "q");
  Term product;
  const Tensor out = te::Compute(
      {rows, columns},
      [&](const Var& m, const Var& n) {
        const Expr x = loop::Cast(Float32, te::BFloatOfWord(packed(m, w.var), q.var)),
                   y = loop::Cast(Float32, b.tensor(w.var, n, q.var));
        product = ProductOf(TermOf(a, x), TermOf(b, y));
        return te::Sum(x * y, {w, q});
      },
      name);
  product.value = loop::Constant(Float32, 0);
  Term term = SumOf(product, depth);
  // The instruction rounds pairs of products in its own way.
  term.error += 4 * RoundingError(Float32) * term.bound;
  return {out, {rows, columns}, term};
}

// c[m, n] = sum over w and q of byte q of the word a[m, w] * b[w, n, q].
Pattern WordDotProducts(Random& random, const MakeOperand& make, const std::string& name) {
  if (random.Chance(40)) return WordDotProductsOfBFloats(random, make, name);
  const std::int64_t rows = 1 + random.Below(5), columns = random.Of(Sizes{16, 16, 32, 48, 24, 17}),
                     words = 1 + random.Below(6), depth = 4 * words;
  const Operand a = make(Int32, {rows, words}, false), b = make(Int8, {words, columns, 4}, false);
  const IterVar w = te::ReduceAxis(0, words, "w"), q = te::ReduceAxis(0, 4, "q");
  Term product;
  const Tensor out = te::Compute(
      {rows, columns},
      [&](const Var& m, const Var& n) {
        const Expr x = te::ByteOfWord(a.tensor(m, w.var), q.var),
                   y = loop::Cast(Int32, b.tensor(w.var, n, q.var));
        product = ProductOf({x, 255, 1, 0, false}, TermOf(b, y));
        return te::Sum(x * y, {w, q});
      },
      name);
  product.value = loop::Constant(Int32, 0);
  return {out, {rows, columns}, SumOf(product, depth)};
}

// The function that AxpyOf computes.
Pattern Axpy(Random& random, const MakeOperand& make, const std::string& name) {
  const std::int64_t rows = 1 + random.Below(6), columns = random.Of(Sizes{8, 16, 24, 32, 64, 30});
  const DataType type = random.Of(std::vector<DataType>{Float32, Float32, Float64, Int32, Int8});
  const Operand a = make(type, {rows, columns}, true), b = make(type, {rows, columns}, true);
  Term term;
  const Tensor out = te::Compute(
      {rows, columns},
      [&](const Var& i, const Var& j) {
        term = {b.tensor(i, j) + a.tensor(i, j) * loop::Constant(type, 2), 2 * a.bound + b.bound,
                std::min(a.grain, b.grain), 2 * a.error + b.error,
                a.may_be_special || b.may_be_special};
        return term.value;
      },
      name);
  return {out, {rows, columns}, Rounded(term)};
}

// Row sums, computed in parts.
Pattern RowSums(Random& random, const MakeOperand& make, const std::string& name) {
  const std::int64_t rows = random.Of(Sizes{4, 8, 12, 13}),
                     columns = random.Of(Sizes{8, 16, 40, 9});
  const Operand x = make(Float32, {rows, columns}, true);
  const IterVar k = te::ReduceAxis(0, columns, "k");
  const Tensor out = te::Compute(
      {rows}, [&](const Var& i) { return te::Sum(x.tensor(i, k.var), {k}); }, name);
  return {out, {rows}, SumOf(TermOf(x, loop::Constant(Float32, 0)), columns)};
}

TensorIntrinsic AxpyOf(int width, DataType type) {
  const Tensor a = te::Placeholder({width}, type, "x"), b = te::Placeholder({width}, type, "y");
  const Expr two = loop::Constant(type, 2);
  const Tensor c = te::Compute(
      {width}, [&](const Var& i) { return b(i) + a(i) * two; }, "c");
  const std::size_t of_a = te::InputsOf(*c.op())[0] == a ? 0 : 1;
  return te::DeclareTensorIntrinsic(
      "axpy", c, {.body = [=](const Tiles& in, const Tiles& out) {
        return out[0].PutVector(in[1 - of_a].Vector() +
                                in[of_a].Vector() * loop::Broadcast(two, width));
      }});
}

TensorIntrinsic PartialSums() {
  const Tensor a = te::Placeholder({kPartialRows, kPartialColumns}, Float32, "a");
  const IterVar k = te::ReduceAxis(0, kPartialColumns, "k");
  const Tensor c = te::Compute(
      {kPartialRows}, [&](const Var& i) { return te::Sum(a(i, k.var), {k}); }, "c");
  const auto rows = [](const Tiles& in, const Tiles& out, bool add) {
    std::vector<loop::Stmt> stores;
    for (std::int64_t i = 0; i < kPartialRows; ++i) {
      Expr sum = add ? out[0].At({i}) : Expr(0.0F);
      for (std::int64_t j = 0; j < kPartialColumns; ++j) sum = sum + in[0].At({i, j});
      stores.push_back(out[0].Put({i}, sum));
    }
    return loop::Seq(std::move(stores));
  };
  return te::DeclareTensorIntrinsic(
      "partial_sums", c,
      {.body = [=](const Tiles& in, const Tiles& out) { return rows(in, out, false); },
       .reduce_init =
           [](const Tiles&, const Tiles& out) {
             return out[0].PutVector(loop::Broadcast(Expr(0.0F), kPartialRows));
           },
       .reduce_update = [=](const Tiles& in, const Tiles& out) { return rows(in, out, true); }});
}

void Backwards(const void* in, void* out, std::int64_t count, std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(static_cast<char*>(out) + i * bytes,
                static_cast<const char*>(in) + (count - 1 - i) * bytes, size);
  }
}
void BackwardsAndForwards(const void* in, void* out, void* same, std::int64_t count,
                          std::int64_t bytes) {
  Backwards(in, out, count, bytes);
  for (std::int64_t i = 0; i < count * bytes; ++i)
    static_cast<char*>(same)[i] = static_cast<const char*>(in)[i];
}

}  // namespace

Pattern RandomPattern(Random& random, const MakeOperand& make, const std::string& name) {
  switch (random.Below(12)) {
    case 0:
    case 1:
    case 2:
      return Convolution(random, make, name);
    case 3:
    case 4:
      return ColumnSums(random, make, name);
    case 5:
    case 6:
    case 7:
      return DotProducts(random, make, name);
    case 8:
    case 9:
      return WordDotProducts(random, make, name);
    case 10:
      return Axpy(random, make, name);
    default:
      return RowSums(random, make, name);
  }
}

std::vector<Tensor> ReorderedByC(const Tensor& tensor, int outputs, const std::string& name) {
  static const te::ExternFunction one = te::ExternFunction::At("backwards", &Backwards);
  static const te::ExternFunction two =
      te::ExternFunction::At("backwards_and_forwards", &BackwardsAndForwards);
  const auto n = static_cast<std::size_t>(outputs);
  Expr count = loop::Cast(Int64, 1);
  for (const Expr& extent : tensor.shape()) count = count * loop::Cast(Int64, extent);
  const Expr bytes = loop::Cast(Int64, static_cast<std::int64_t>(tensor.dtype().bytes()));
  return te::Extern(
      std::vector<std::vector<Expr>>(n, tensor.shape()), {tensor},
      std::vector<DataType>(n, tensor.dtype()),
      [&](const std::vector<Expr>& in, const std::vector<Expr>& out) {
        if (n == 1) return te::ExternCall(one, {in[0], out[0], count, bytes});
        return te::ExternCall(two, {in[0], out[0], out[1], count, bytes});
      },
      name);
}

std::optional<TensorIntrinsic> IntrinsicFor(const te::OperationNode& op, int width) {
  if (!op.is_compute() || op.outputs.size() != 1 || op.axes.empty()) return std::nullopt;
  const std::vector<Tensor> inputs = te::InputsOf(op);
  const DataType type = op.outputs[0]->dtype;
  const auto reads = [&](DataType a, DataType b) {
    return inputs.size() == 2 && inputs[0].dtype() == a && inputs[1].dtype() == b;
  };
  if (op.is_reduction()) {
    if (op.combiner->identity.size() != 1) return std::nullopt;
    if (type == Int32 && op.reduce_axes.size() == 2 && reads(Int32, Int8))
      return te::DotWordS8(width);
    if (type == Float32 && op.reduce_axes.size() == 2 && reads(Int32, BFloat16))
      return te::DotWordBF16(width);
    if (op.reduce_axes.size() != 1) return std::nullopt;
    if (type == Int32 && reads(UInt8, Int8)) return te::DotU8S8(width);
    if (type == Float32 && reads(BFloat16, BFloat16)) return te::DotBF16(width);
    if (type == Float32 && inputs.size() == 1 && inputs[0].dtype() == Float32) return PartialSums();
    return std::nullopt;
  }
  if (reads(type, type)) return AxpyOf(width, type);
  return std::nullopt;
}

}  // namespace tenon::verify
