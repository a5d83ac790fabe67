// Products of matrices, and Einstein's sums of products. Operands are converted to the element type
// of the result first.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <string>

#include "tenon/ops/matmul/dense_pack_attrs.h"
#include "tenon/ops/matmul/einsum_rules.h"
#include "tenon/ops/matmul/matmul_attrs.h"
#include "tenon/verify/define/defined_sums.h"
#include "tenon/verify/define/definition.h"

namespace tenon::verify {
namespace {

// One of the operands: where element (row, column) of each of its matrices lies.
struct Matrices {
  std::int64_t rows, columns;
  bool is_transposed;  // the shape says columns first

  Matrices(const Shape& shape, bool transposed) : is_transposed(transposed) {
    const std::int64_t last = shape.back();
    const std::int64_t before = shape.size() > 1 ? shape[shape.size() - 2] : 1;
    rows = is_transposed ? last : before;
    columns = is_transposed ? before : last;
  }
  std::int64_t At(std::int64_t matrix, std::int64_t row, std::int64_t column) const {
    return matrix * rows * columns + (is_transposed ? column * rows + row : row * columns + column);
  }
};

// `count` matrices, of which `a` and `b` may each have one for all.
Definition Products(const DefinedCall& call, std::int64_t count, const Matrices& a,
                    const Matrices& b) {
  const NDArray &left = call.args[0], &right = call.args[1], &result = call.results[0];
  const DataType type = result.dtype();
  const bool repeats_a = left.size() < count * a.rows * a.columns,
             repeats_b = right.size() < count * b.rows * b.columns;
  DefinedSums sums(result);
  for (std::int64_t matrix = 0; matrix < count; ++matrix)
    for (std::int64_t row = 0; row < a.rows; ++row)
      for (std::int64_t column = 0; column < b.columns; ++column)
        for (std::int64_t k = 0; k < a.columns; ++k)
          sums.Add((matrix * a.rows + row) * b.columns + column,
                   Product(ElementAs(left, a.At(repeats_a ? 0 : matrix, row, k), type),
                           ElementAs(right, b.At(repeats_b ? 0 : matrix, k, column), type)));
  return sums.Take()[0];
}

std::vector<Definition> WithShape(Definition definition, Shape shape) {
  definition.shape = std::move(shape);
  return {std::move(definition)};
}

// The left operand is a stack of matrices, whose leading axes the result has.
std::vector<Definition> ByOneMatrix(const DefinedCall& call, bool transpose_a, bool transpose_b) {
  const Shape& shape = call.shape(0);
  const Matrices a(shape, transpose_a), b(call.shape(1), transpose_b);
  std::int64_t count = 1;
  for (std::size_t d = 0; d + 2 < shape.size(); ++d) count *= shape[d];
  Shape to = shape;
  to.back() = b.columns;
  if (to.size() > 1) to[to.size() - 2] = a.rows;
  return WithShape(Products(call, count, a, b), to);
}

std::vector<Definition> Dense(const DefinedCall& call) { return ByOneMatrix(call, false, true); }
std::vector<Definition> Matmul(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::MatmulAttrs>();
  return ByOneMatrix(call, attrs.transpose_a, attrs.transpose_b);
}

std::vector<Definition> BatchMatmul(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::BatchMatmulAttrs>();
  const Matrices a(call.shape(0), attrs.transpose_a), b(call.shape(1), attrs.transpose_b);
  const std::int64_t first = call.shape(0)[0], second = call.shape(1)[0],
                     count = first == 1 ? second : first;
  return WithShape(Products(call, count, a, b), {count, a.rows, b.columns});
}

// Column u of the result is made by column u % block of block u / block of the weight.
std::vector<Definition> DensePack(const DefinedCall& call) {
  const Shape &x = call.shape(0), &w = call.shape(1);
  const DataType type = call.results[0].dtype();
  const std::int64_t block = w[2], units = w[0] * block;
  DefinedSums sums(call.results[0]);
  for (std::int64_t row = 0; row < x[0]; ++row)
    for (std::int64_t unit = 0; unit < units; ++unit)
      for (std::int64_t k = 0; k < x[1]; ++k)
        sums.Add(row * units + unit,
                 Product(ElementAs(call.args[0], row * x[1] + k, type),
                         ElementAs(call.args[1], (unit / block * x[1] + k) * block + unit % block,
                                   type)));
  return WithShape(sums.Take()[0], {x[0], units});
}

// The labels of each term of an equation, without the spaces. An ellipsis becomes the digits of as
// many axes as the operand has beside its letters, counted from the last one.
struct Equation {
  std::vector<std::string> operands;
  std::string result;

  Equation(const std::string& text, const std::vector<NDArray>& args) {
    std::string term;
    bool has_result = false;
    std::vector<std::string> terms;
    for (const char c : text) {
      if (c == ' ') continue;
      if (c == ',' || c == '>') {
        if (c == '>') term.pop_back();  // the dash
        has_result |= c == '>';
        terms.push_back(term);
        term.clear();
      } else {
        term += c;
      }
    }
    terms.push_back(term);
    std::size_t most = 0;
    for (std::size_t i = 0; i < args.size(); ++i) {
      const bool has_dots = terms[i].find("...") != std::string::npos;
      const std::size_t letters = terms[i].size() - (has_dots ? 3 : 0),
                        axes = args[i].shape().size() - letters;
      if (has_dots) most = std::max(most, axes);
      operands.push_back(Expanded(terms[i], axes));
    }
    if (has_result) {
      result = Expanded(terms.back(), most);
      return;
    }
    // The axes of the ellipsis, then letters that occur once, in alphabetical order.
    result = Expanded("...", most);
    for (char letter = 'A'; letter <= 'z'; ++letter) {
      std::int64_t count = 0;
      for (const std::string& operand : operands)
        count += std::count(operand.begin(), operand.end(), letter);
      if (count == 1) result += letter;
    }
  }
  static std::string Expanded(const std::string& term, std::size_t axes) {
    const std::size_t dots = term.find("...");
    if (dots == std::string::npos) return term;
    std::string digits;
    for (std::size_t d = axes; d-- > 0;) digits += static_cast<char>('0' + d);
    return term.substr(0, dots) + digits + term.substr(dots + 3);
  }
};

std::vector<Definition> Einsum(const DefinedCall& call) {
  const Equation equation(call.call.attrs.As<ops::EinsumAttrs>().equation, call.args);
  const DataType type = call.results[0].dtype();
  std::map<char, std::int64_t> extents;
  for (std::size_t i = 0; i < call.args.size(); ++i)
    for (std::size_t d = 0; d < equation.operands[i].size(); ++d) {
      // An extent of 1 is broadcast, to 0 as well.
      std::int64_t& extent = extents.try_emplace(equation.operands[i][d], 1).first->second;
      if (call.shape(i)[d] != 1) extent = call.shape(i)[d];
    }
  std::int64_t count = 1;
  for (const auto& [label, extent] : extents) count *= extent;
  DefinedSums sums(call.results[0]);
  std::map<char, std::int64_t> at;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i;
    for (const auto& [label, extent] : extents) {
      at[label] = rest % extent;
      rest /= extent;
    }
    Number product = {1, 1};
    for (std::size_t arg = 0; arg < call.args.size(); ++arg) {
      std::int64_t place = 0;
      for (std::size_t d = 0; d < call.shape(arg).size(); ++d) {
        const std::int64_t extent = call.shape(arg)[d];
        place = place * extent + (extent == 1 ? 0 : at[equation.operands[arg][d]]);
      }
      product = Product(product, ElementAs(call.args[arg], place, type));
      if (!type.is_float()) product.whole = Wrapped(product.whole, type);
    }
    std::int64_t to = 0;
    for (const char label : equation.result) to = to * extents[label] + at[label];
    sums.Add(to, product);
  }
  Shape shape;
  for (const char label : equation.result) shape.push_back(extents[label]);
  return WithShape(sums.Take()[0], shape);
}

// By Laplace's expansion along the rows, each minor of the last rows once for each set of columns.
// The tolerance is that of elimination: a part of the product of the rows' greatest elements.
Number DeterminantOf(const NDArray& x, std::int64_t begin, std::int64_t n, Real* tolerance) {
  std::vector<Real> minors(std::size_t{1} << n);
  minors[0] = 1;
  for (std::size_t columns = 1; columns < minors.size(); ++columns) {
    const std::int64_t row = n - std::popcount(columns);
    Real sign = 1;
    for (std::int64_t c = 0; c < n; ++c) {
      const std::size_t bit = std::size_t{1} << c;
      if ((columns & bit) == 0) continue;
      minors[columns] += sign * RealAt(x, begin + row * n + c) * minors[columns ^ bit];
      sign = -sign;
    }
  }
  Real size = 1;
  for (std::int64_t row = 0; row < n; ++row) {
    Real greatest = 0;
    for (std::int64_t c = 0; c < n; ++c)
      greatest = std::max(greatest, std::abs(RealAt(x, begin + row * n + c)));
    size *= 2 * static_cast<Real>(n) * greatest;
  }
  *tolerance = static_cast<Real>(RoundingError(Float64)) * size +
               2 * static_cast<Real>(RoundingError(x.dtype())) * std::abs(minors.back());
  return {.real = minors.back()};
}

std::vector<Definition> Determinant(const DefinedCall& call) {
  const NDArray& x = call.args[0];
  const std::int64_t n = x.shape().back();
  constexpr std::int64_t kMaxRows = 12;
  if (n > kMaxRows) return {};
  Definition made{.shape = Shape(x.shape().begin(), x.shape().end() - 2)};
  for (std::int64_t i = 0; i < NumElements(*made.shape); ++i) {
    Real tolerance = 0;
    const Number value = DeterminantOf(x, i * n * n, n, &tolerance);
    made.Add(value, tolerance);
  }
  return {made};
}

}  // namespace

void AddProductDefinitions(DefinitionTable* table) {
  DefinitionTable& t = *table;
  t["einsum"] = Einsum;
  t["matrix_determinant"] = Determinant;
  t["nn.batch_matmul"] = BatchMatmul;
  t["nn.contrib_dense_pack"] = DensePack;
  t["nn.dense"] = Dense;
  t["nn.matmul"] = Matmul;
}

}  // namespace tenon::verify
