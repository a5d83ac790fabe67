// The columns of a block of n by n elements, each in a register. Only files inside loop/ include
// this header.
//
//   std::vector<Expr> columns = ColumnsOfRows(elements, 8, 4, name);
#ifndef TENON_LOOP_TRANSFORM_TRANSPOSE_REGISTERS_H_
#define TENON_LOOP_TRANSFORM_TRANSPOSE_REGISTERS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "tenon/loop/expr.h"

namespace tenon::loop {

// `count` elements of a row of the block, from `column` on.
using BlockElements =
    std::function<Expr(std::int64_t row, std::int64_t column, std::int64_t count)>;
// A variable that stands for the value from there on.
using NameValue = std::function<Expr(const Expr& value)>;

// The first columns of a block whose rows are loaded part by part, each of `part` elements: up to
// `wanted`, and perhaps more.
std::vector<Expr> ColumnsOfParts(const BlockElements& elements, std::int64_t n, std::int64_t wanted,
                                 std::int64_t part, const NameValue& name);

// All columns of a block whose rows are loaded as they are. For as many rows as a part has
// elements, columns that are a part apart come into one register.
std::vector<Expr> ColumnsOfRows(const BlockElements& elements, std::int64_t n, std::int64_t part,
                                const NameValue& name);

}  // namespace tenon::loop

#endif  // TENON_LOOP_TRANSFORM_TRANSPOSE_REGISTERS_H_
