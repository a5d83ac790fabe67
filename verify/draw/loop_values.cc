#include "tenon/verify/draw/loop_values.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tenon/loop/simplify/guards.h"

namespace tenon::verify {
namespace {

using loop::Expr;

constexpr double kMaxStored = 64, kMaxComputed = 1 << 20;
constexpr int kMaxLoads = 12;

double MostOf(DataType type) {
  if (type.is_bool()) return 1;
  return Wraps(type) ? std::ldexp(1, type.is_uint() ? type.bits() : type.bits() - 1) : kMaxStored;
}

std::int64_t FloorDivided(std::int64_t a, std::int64_t b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

}  // namespace

bool Wraps(DataType type) { return !type.is_float() && !type.is_bool() && type != Int64; }
bool IsHalf(DataType type) { return type == Float16 || type == BFloat16; }

DataType LoopValues::AnyType() {
  static const std::vector<DataType>& types =
      *new std::vector<DataType>{Float32, Float32, Float32, Int32, Int32,   Int64,   Int8,
                                 UInt8,   Int16,   Float64, Bool,  Float16, BFloat16};
  return random_.Of(types);
}

// ---- indices

Ranged LoopValues::Affine() {
  Ranged sum{Expr(0), 0, 0};
  for (std::int64_t terms = 1 + random_.Below(2); terms > 0 && !scope_.variables.empty(); --terms) {
    const Ranged v = random_.Of(scope_.variables);
    const std::int64_t by = random_.Chance(60) ? 1 : random_.Below(6) - 2;
    sum.expr = sum.expr + v.expr * Expr(by);
    sum.low += std::min(v.low * by, v.high * by);
    sum.high += std::max(v.low * by, v.high * by);
  }
  if (random_.Chance(15)) {
    const std::int64_t by = 2 + random_.Below(3);
    sum = {loop::FloorDiv(sum.expr, Expr(by)), FloorDivided(sum.low, by),
           FloorDivided(sum.high, by)};
  }
  if (random_.Chance(10)) {
    const std::int64_t by = 2 + random_.Below(5);
    sum = {loop::FloorMod(sum.expr, Expr(by)), 0, by - 1};
  }
  return sum;
}

// From 0 to below the extent, which is at least 1.
Expr LoopValues::Index(std::int64_t extent) {
  if (scope_.variables.empty() || random_.Chance(15)) return Expr(random_.Below(extent));
  const Ranged at = Affine();
  if (random_.Chance(10)) {
    if (const auto value = LoadOf(Int32))
      return loop::FloorMod(loop::Cast(Int64, value->expr), Expr(extent));
  }
  if (at.high - at.low >= extent) return loop::FloorMod(at.expr, Expr(extent));
  return at.expr + Expr(random_.Below(extent - (at.high - at.low)) - at.low);
}

std::optional<std::vector<Expr>> LoopValues::IndicesOf(const Place& place) {
  if (random_.Chance(30)) {
    if (auto again = IndicesAgain(place)) return again;
  }
  std::vector<Expr> indices;
  for (std::size_t axis = 0; axis < place.shape.size(); ++axis) {
    if (place.shape[axis] == 0) return std::nullopt;
    indices.push_back(place.fixed[axis].defined() ? place.fixed[axis] : Index(place.shape[axis]));
  }
  return indices;
}

std::optional<std::vector<Expr>> LoopValues::IndicesAgain(const Place& place) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < scope_.accesses.size(); ++i) {
    const Place& before = scope_.accesses[i].first;
    if (before.buffer == place.buffer &&
        std::ranges::equal(before.fixed, place.fixed, loop::ExprSame()))
      found.push_back(i);
  }
  if (found.empty()) return std::nullopt;
  return scope_.accesses[random_.Of(found)].second;
}

// ---- values

Bounded LoopValues::Number(DataType type) {
  if (type.is_bool()) return {random_.Chance(50) ? loop::True() : loop::False(), 1};
  const auto number = static_cast<double>(random_.Below(9) - (type.is_uint() ? 0 : 4));
  return {loop::Constant(type, number), std::fabs(number)};
}

std::optional<Bounded> LoopValues::LoadOf(DataType type) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < scope_.places.size(); ++i)
    if (scope_.places[i].may_read && scope_.places[i].buffer->dtype == type) found.push_back(i);
  if (found.empty() || ++loads_ > kMaxLoads) return std::nullopt;
  const Place place = scope_.places[random_.Of(found)];
  const auto indices = IndicesOf(place);
  if (!indices) return std::nullopt;
  // What indices are loaded from may be written where the same element is read again.
  if (std::ranges::none_of(*indices, loop::LoadsAnything))
    scope_.accesses.emplace_back(place, *indices);
  return Bounded{loop::Load(place.buffer, *indices), MostOf(type)};
}

Bounded LoopValues::Within(const Bounded& value, double most) const {
  const DataType type = value.expr.dtype();
  if (type.is_bool() || value.most <= most) return value;
  const Expr low = loop::Constant(type, type.is_uint() ? 0 : -most);
  return {loop::Max(loop::Min(value.expr, loop::Constant(type, most)), low), most};
}

Bounded LoopValues::Leaf(DataType type) {
  if (IsHalf(type)) return {loop::Cast(type, Within(Any(Float32, 1), kMaxStored).expr), kMaxStored};
  if (random_.Chance(65)) {
    if (const auto value = LoadOf(type)) return *value;
  }
  for (const Bounded& value : scope_.values)
    if (value.expr.dtype() == type && random_.Chance(40)) return value;
  if (!scope_.variables.empty() && !type.is_bool() && random_.Chance(40)) {
    const Ranged v = random_.Of(scope_.variables);
    const auto most = static_cast<double>(std::max(std::abs(v.low), std::abs(v.high)));
    return {loop::Cast(type, v.expr), Wraps(type) ? MostOf(type) : most};
  }
  return Number(type);
}

Bounded LoopValues::Condition(int depth) {
  if (!scope_.variables.empty() && random_.Chance(50)) {
    const Ranged a = Affine();
    const Expr bound(a.low - 1 + random_.Below(a.high - a.low + 3));
    return {random_.Chance(70) ? a.expr < bound : a.expr == bound, 1};
  }
  if (depth > 0 && random_.Chance(30)) {
    const Expr a = Condition(depth - 1).expr, b = Condition(depth - 1).expr;
    return {random_.Chance(40) ? a && b : random_.Chance(60) ? a || b : !a, 1};
  }
  DataType type = AnyType();
  if (type.is_bool() || IsHalf(type)) type = Float32;
  const Expr a = Any(type, depth - 1).expr, b = Any(type, depth - 1).expr;
  return {random_.Chance(70) ? a < b : random_.Chance(50) ? a >= b : a != b, 1};
}

Bounded LoopValues::Converted(DataType type, int depth) {
  const DataType from = AnyType();
  if (from == type) return Leaf(type);
  const Bounded value = Within(Any(from, depth - 1), kMaxStored);
  return {loop::Cast(type, value.expr), Wraps(type) ? MostOf(type) : std::max(value.most, 1.0)};
}

Bounded LoopValues::Chosen(DataType type, int depth) {
  const Expr condition = Condition(depth - 1).expr;
  const Bounded a = Any(type, depth - 1), b = Any(type, depth - 1);
  return {random_.Chance(50) ? loop::Select(condition, a.expr, b.expr)
                             : loop::IfThenElse(condition, a.expr, b.expr),
          std::max(a.most, b.most)};
}

Bounded LoopValues::Combined(DataType type, int depth) {
  const Bounded a = Any(type, depth - 1), b = Any(type, depth - 1);
  const std::int64_t kind = random_.Below(8);
  if (kind < 2) return Fitting({a.expr + b.expr, a.most + b.most});
  if (kind < 4) return Fitting({a.expr - b.expr, a.most + b.most});
  if (kind < 6) return Fitting({a.expr * b.expr, a.most * b.most});
  return {kind == 6 ? loop::Min(a.expr, b.expr) : loop::Max(a.expr, b.expr),
          std::max(a.most, b.most)};
}

Bounded LoopValues::Divided(DataType type, int depth) {
  const Bounded a = Any(type, depth - 1);
  const auto by = static_cast<double>(2 + random_.Below(6));
  const Expr divisor = loop::Constant(type, by);
  if (random_.Chance(50)) return {loop::FloorDiv(a.expr, divisor), a.most};
  return {loop::FloorMod(a.expr, divisor), Wraps(type) ? a.most : by};
}

Bounded LoopValues::Fitting(const Bounded& value) const {
  const DataType type = value.expr.dtype();
  if (Wraps(type)) return {value.expr, MostOf(type)};
  return value.most > kMaxComputed ? Within(value, kMaxStored) : value;
}

// Of a magnitude of at most kMaxComputed, if its type does not wrap around.
Bounded LoopValues::Any(DataType type, int depth) {
  if (depth <= 0 || IsHalf(type)) return Leaf(type);
  if (type.is_bool()) return random_.Chance(70) ? Condition(depth) : Leaf(type);
  const std::int64_t kind = random_.Below(20);
  if (kind < 4) return Leaf(type);
  if (kind < 7) return Converted(type, depth);
  if (kind < 10) return Chosen(type, depth);
  if (kind < 11 && !type.is_float()) return Divided(type, depth);
  if (kind < 12) {
    const Bounded a = Any(type, depth - 1);
    return Fitting({loop::Call(loop::Intrinsic::kAbs, {a.expr}), a.most});
  }
  return Combined(type, depth);
}

Bounded LoopValues::ToStore(DataType type, int depth) {
  const Bounded value = Any(type, depth);
  return Wraps(type) ? value : Within(value, kMaxStored);
}

}  // namespace tenon::verify
