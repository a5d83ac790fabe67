// The library that stands for one's own: two functions over rows of float32.
#ifndef ACME_H_
#define ACME_H_

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace acme {

struct Matrix {
  std::size_t rows;
  std::size_t columns;
};

// Copies a weight of one row for each output to one column for each, which DenseRelu reads.
inline void PackWeight(Matrix weight, const float* from, float* to) {
  for (std::size_t row = 0; row < weight.rows; ++row) {
    for (std::size_t column = 0; column < weight.columns; ++column)
      to[column * weight.rows + row] = from[row * weight.columns + column];
  }
}

// y = max(0, x w + bias), with w packed: x.columns rows of `outputs` elements.
inline void DenseRelu(Matrix x, std::size_t outputs, const float* data, const float* packed,
                      const float* bias, float* y) {
  for (std::size_t row = 0; row < x.rows; ++row, data += x.columns, y += outputs) {
    std::copy(bias, bias + outputs, y);
    for (std::size_t k = 0; k < x.columns; ++k) {
      for (std::size_t j = 0; j < outputs; ++j) y[j] += data[k] * packed[k * outputs + j];
    }
    for (std::size_t j = 0; j < outputs; ++j) y[j] = std::max(0.0F, y[j]);
  }
}

// The exponentials of x, and their sum along each row.
inline void ExpAndSum(Matrix x, const float* data, float* exponentials, float* sums) {
  for (std::size_t row = 0; row < x.rows; ++row) {
    sums[row] = 0;
    for (std::size_t k = row * x.columns; k < (row + 1) * x.columns; ++k) {
      exponentials[k] = std::exp(data[k]);
      sums[row] += exponentials[k];
    }
  }
}

}  // namespace acme

#endif  // ACME_H_
