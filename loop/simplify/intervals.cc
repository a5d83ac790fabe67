#include "tenon/loop/simplify/intervals.h"

namespace tenon::loop {

std::int64_t FloorDivide(std::int64_t a, std::int64_t b) {
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

Interval Scale(Interval r, std::int64_t k) {
  if (k == 0) return {0, 0};
  if (k < 0) r = {r.high, r.low};
  const bool has_low = k > 0 ? HasLow(r) : r.low != Interval::kHighest;
  const bool has_high = k > 0 ? HasHigh(r) : r.high != Interval::kLowest;
  Interval scaled;
  if (has_low && __builtin_mul_overflow(r.low, k, &scaled.low)) return {};
  if (has_high && __builtin_mul_overflow(r.high, k, &scaled.high)) return {};
  return scaled;
}

Interval Sum(Interval a, Interval b) {
  Interval sum;
  if (HasLow(a) && HasLow(b) && __builtin_add_overflow(a.low, b.low, &sum.low)) return {};
  if (HasHigh(a) && HasHigh(b) && __builtin_add_overflow(a.high, b.high, &sum.high)) return {};
  return sum;
}

Interval Product(Interval a, Interval b) {
  Interval product;
  if (__builtin_mul_overflow(a.low, b.low, &product.low)) return {};
  if (HasHigh(a) && HasHigh(b) && __builtin_mul_overflow(a.high, b.high, &product.high)) return {};
  return product;
}

Interval Quotient(Interval a, std::int64_t c) {
  return {HasLow(a) ? FloorDivide(a.low, c) : a.low, HasHigh(a) ? FloorDivide(a.high, c) : a.high};
}

}  // namespace tenon::loop
