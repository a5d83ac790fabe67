// Products of matrices that are given by their elements. Matrix products use them, and so do
// operators that amount to one.
//
//   Tensor c = Multiply({.rows = m, .columns = n, .depth = k, .dtype = Float32,
//                        .target = call.target, .left = ..., .right = ...}, {m, n});
#ifndef TENON_STRATEGIES_TE_MATMUL_PRODUCT_H_
#define TENON_STRATEGIES_TE_MATMUL_PRODUCT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tenon/strategies/config.h"
#include "tenon/strategies/planned_extent.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/ndarray.h"
#include "tenon/support/target.h"
#include "tenon/te/tensor.h"

namespace tenon::strategies {

// An element of a matrix in a batch, at (batch, row, column).
using ReadMatrix =
    std::function<te::Expr(const std::vector<te::Expr>&, const te::Expr&, const te::Expr&)>;

struct Product {
  Sizes batch;
  Size rows, columns, depth;
  DataType dtype;
  const Target& target;
  ReadMatrix left, right;       // (batch, row, depth) and (batch, depth, column)
  std::int64_t least_rows;      // that pay for packing the right operand
  std::vector<bool> right_has;  // for each batch axis, whether the right operand differs along it
  std::function<te::Tensor(const te::Tensor&)> prepared;  // see TeCall
  // How many products of the operands as they are one instruction adds up; 1 if there is no such
  // instruction.
  std::int64_t group = 1;
  // Whether the left operand lies in memory along its rows.
  bool left_in_rows = false;
  // Whether the columns of a row of the right operand lie together in memory, so that plain sums
  // over depth do not read vectors, and whether it is known at compile time.
  bool right_in_rows = false, right_is_constant = false;
  Config* config = nullptr;  // see TeCall
};

// How many products of these types one instruction of the target adds up; 1 if there is no such
// instruction, or where wide operands are faster because the product is not bound by reading the
// narrow ones.
std::int64_t DotGroup(const Target& target, DataType left, DataType right, DataType sum,
                      bool is_bound_by_memory = false);
// Why a form is refused that needs more than one.
inline constexpr const char* kNoDots =
    "the target adds up no products of these types by one instruction";
// Whether these are few rows; a constant right operand is packed already.
bool AreFewRows(std::int64_t rows, bool right_is_constant);

// How many rows pay for packing a right operand, whose rows may be the result's columns in memory.
// Plain sums over such rows have vectors only if the terms may go in another order.
std::int64_t LeastRows(const TeCall& call, bool right_is_constant, bool right_is_transposed,
                       std::int64_t group = 1);

// Why register tiles from a packed right operand do not pay, or nothing.
std::optional<std::string> RefuseTiledProduct(const Product& product);
// The product in register tiles. `shape` has the extents of the batch, then rows and columns.
te::Tensor TiledProduct(const Product& product, const std::vector<te::Expr>& shape);
te::Tensor PlainProduct(const Product& product, const std::vector<te::Expr>& shape);
// The product by the better of the two forms.
te::Tensor Multiply(const Product& product, const std::vector<te::Expr>& shape);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_TE_MATMUL_PRODUCT_H_
