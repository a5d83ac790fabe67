// The squares within the 128-bit parts of registers are transposed by interleaving pairs of rows,
// element by element, then pair by pair and so on, which are single instructions. Moving parts from
// register to register is slow on CPUs that have only one unit for it. There, rows are loaded part
// by part, each to where it belongs. Elsewhere the parts are shuffled at the end.
#include "tenon/loop/transform/transpose_registers.h"

#include <array>
#include <numeric>

namespace tenon::loop {
namespace {

// Takes the half of every part that starts at element `from`: a unit of `a`, a unit of `b` and so
// on.
Expr Interleave(const Expr& a, const Expr& b, std::int64_t from, std::int64_t unit,
                std::int64_t part) {
  const std::int64_t n = a.dtype().lanes();
  std::vector<int> lanes;
  for (std::int64_t start = from; start < n; start += part) {
    for (std::int64_t i = start; i < start + part / 2; i += unit) {
      for (const std::int64_t of : {std::int64_t{0}, n}) {
        for (std::int64_t k = 0; k < unit; ++k) lanes.push_back(static_cast<int>(of + i + k));
      }
    }
  }
  return Shuffle(a, b, std::move(lanes));
}

// The columns of squares that lie beside each other, each `part` elements wide. The rows are
// taken in units of `unit` elements.
std::vector<Expr> TransposeParts(std::vector<Expr> rows, std::int64_t unit, std::int64_t part,
                                 const NameValue& name) {
  if (rows.size() == 1) return rows;
  std::vector<Expr> columns;
  for (const std::int64_t half : {std::int64_t{0}, part / 2}) {
    std::vector<Expr> pairs;
    for (std::size_t i = 0; i < rows.size(); i += 2)
      pairs.push_back(name(Interleave(rows[i], rows[i + 1], half, unit, part)));
    for (Expr& e : TransposeParts(std::move(pairs), 2 * unit, part, name))
      columns.push_back(std::move(e));
  }
  return columns;
}

Expr Joined(std::vector<Expr> parts) {
  while (parts.size() > 1) {
    std::vector<Expr> pairs;
    for (std::size_t i = 0; i < parts.size(); i += 2) {
      std::vector<int> both(2 * static_cast<std::size_t>(parts[i].dtype().lanes()));
      std::iota(both.begin(), both.end(), 0);
      pairs.push_back(Shuffle(parts[i], parts[i + 1], std::move(both)));
    }
    parts = std::move(pairs);
  }
  return parts[0];
}

// Every second part of `a` from part `first` on, then those of `b`.
Expr EveryOtherPart(const Expr& a, const Expr& b, std::int64_t first, std::int64_t part) {
  std::vector<int> lanes;
  for (std::int64_t start = first * part; start < 2 * a.dtype().lanes(); start += 2 * part) {
    for (std::int64_t k = 0; k < part; ++k) lanes.push_back(static_cast<int>(start + k));
  }
  return Shuffle(a, b, std::move(lanes));
}

// Gives as many registers as each has parts: the first parts of all registers, then the second
// ones, and so on.
std::vector<Expr> GatherParts(std::vector<Expr> registers, std::int64_t part,
                              const NameValue& name) {
  if (registers.size() == 1) return registers;
  std::array<std::vector<Expr>, 2> gathered;  // even and odd parts
  for (std::size_t odd = 0; odd < 2; ++odd) {
    std::vector<Expr> pairs;
    for (std::size_t i = 0; i < registers.size(); i += 2) {
      pairs.push_back(name(
          EveryOtherPart(registers[i], registers[i + 1], static_cast<std::int64_t>(odd), part)));
    }
    gathered[odd] = GatherParts(std::move(pairs), part, name);
  }
  std::vector<Expr> all;
  for (std::size_t i = 0; i < gathered[0].size(); ++i) {
    for (const std::vector<Expr>& of : gathered) all.push_back(of[i]);
  }
  return all;
}

}  // namespace

std::vector<Expr> ColumnsOfParts(const BlockElements& elements, std::int64_t n, std::int64_t wanted,
                                 std::int64_t part, const NameValue& name) {
  std::vector<Expr> columns;
  for (std::int64_t column = 0; column < wanted; column += part) {
    std::vector<Expr> square;
    for (std::int64_t row = 0; row < part; ++row) {
      std::vector<Expr> parts;
      for (std::int64_t r = row; r < n; r += part) parts.push_back(elements(r, column, part));
      square.push_back(name(Joined(std::move(parts))));
    }
    for (Expr& e : TransposeParts(std::move(square), 1, part, name))
      columns.push_back(std::move(e));
  }
  return columns;
}

std::vector<Expr> ColumnsOfRows(const BlockElements& elements, std::int64_t n, std::int64_t part,
                                const NameValue& name) {
  std::vector<std::vector<Expr>> heights;
  for (std::int64_t first = 0; first < n; first += part) {
    std::vector<Expr> rows;
    for (std::int64_t row = first; row < first + part; ++row)
      rows.push_back(name(elements(row, 0, n)));
    heights.push_back(TransposeParts(std::move(rows), 1, part, name));
  }
  std::vector<Expr> columns(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < part; ++k) {
    std::vector<Expr> of_heights;
    for (const std::vector<Expr>& height : heights)
      of_heights.push_back(height[static_cast<std::size_t>(k)]);
    const std::vector<Expr> in_order = GatherParts(std::move(of_heights), part, name);
    for (std::size_t i = 0; i < in_order.size(); ++i)
      columns[i * static_cast<std::size_t>(part) + static_cast<std::size_t>(k)] = in_order[i];
  }
  return columns;
}

}  // namespace tenon::loop
