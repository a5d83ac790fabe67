// A draft grows from the outside in. It knows the range of each variable, so that indices stay
// inside, and what may be read and written where it is. In a loop whose iterations run in any
// order, a buffer may be read only, or one of its axes is indexed by the loop's variable alone.
//
// Floating values and int64 are at most kMost before they are stored, and at most kMostComputed
// in between: float32 holds such integers exactly. Other integers wrap around.
#include "tenon/verify/random_loops.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "tenon/loop/expr.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/strings.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {
namespace {

using loop::Buffer;
using loop::Expr;
using loop::ForKind;
using loop::Stmt;
using loop::Var;

constexpr double kMost = 64, kMostComputed = 1 << 20;
constexpr std::int64_t kMaxRuns = 3000;  // of the innermost statement
constexpr std::int64_t kMaxCopies = 64;  // of a statement, by unrolling
constexpr int kMaxDepth = 5;

// An integer expression and the range of its values.
struct Ranged {
  Expr expr;
  std::int64_t low = 0, high = 0;
};

// A value and the most that its magnitude can be; of integers that wrap around, that of the type.
struct Value {
  Expr expr;
  double most = 0;
};

struct Place {
  Buffer buffer;
  Shape shape;
  std::vector<Expr> fixed;  // by axis: the only index that is allowed; undefined: any
  bool may_read = true, may_write = true;
};

// Whether arithmetic on the type wraps around.
bool Wraps(DataType type) { return !type.is_float() && !type.is_bool() && type != Int64; }
bool IsHalf(DataType type) { return type == Float16 || type == BFloat16; }

class Draft {
 public:
  Draft(std::uint64_t seed, LoopKinds kinds) : random_(seed), kinds_(kinds) {}

  RandomLoops Make() {
    RandomLoops made;
    made.function.name = "loops";
    if (random_.Chance(50)) {
      n_ = Ranged{Var("n"), 0, 0};
      n_->low = n_->high = random_.Below(18);
      made.function.scalars.emplace_back(n_->expr);
      made.scalars.push_back(n_->low);
      AddParameter(1, &made, n_);
    }
    const std::int64_t count = 2 + random_.Below(3);
    for (std::int64_t i = 0; i < count; ++i) AddParameter(1 + random_.Below(3), &made);
    made.function.body = Block(kMaxDepth);
    return made;
  }

 private:
  DataType AnyType() {
    static const std::vector<DataType>& types =
        *new std::vector<DataType>{Float32, Float32, Float32, Int32, Int32,   Int64,   Int8,
                                   UInt8,   Int16,   Float64, Bool,  Float16, BFloat16};
    return random_.Of(types);
  }

  Buffer NewBuffer(const char* prefix, std::int64_t rank, const std::optional<Ranged>& first) {
    std::vector<Expr> extents;
    Shape shape;
    for (std::int64_t axis = 0; axis < rank; ++axis) {
      const bool is_first = axis == 0 && first;
      shape.push_back(is_first ? first->low : 1 + random_.Below(axis == 0 ? 33 : 9));
      extents.push_back(is_first ? first->expr : Expr(shape.back()));
    }
    const auto memory = random_.Chance(80) ? loop::Memory::kAutomatic : loop::Memory::kStack;
    const bool on_stack = memory == loop::Memory::kStack && !first;
    const Buffer buffer = Buffer::Make(StrCat(prefix, names_++), AnyType(), std::move(extents),
                                       on_stack ? loop::Memory::kStack : loop::Memory::kAutomatic);
    places_.push_back({.buffer = buffer, .shape = shape, .fixed = std::vector<Expr>(At(rank))});
    return buffer;
  }

  void AddParameter(std::int64_t rank, RandomLoops* made,
                    const std::optional<Ranged>& first = std::nullopt) {
    const std::optional<Ranged> extent = first ? first : random_.Chance(20) ? n_ : std::nullopt;
    const Buffer buffer = NewBuffer("p", rank, extent);
    const DataType type = buffer->dtype;
    made->function.buffers.push_back(buffer);
    made->arrays.push_back(ArrayOf(places_.back().shape, type, [&](std::int64_t) {
      if (type.is_bool()) return static_cast<double>(random_.Below(2));
      return static_cast<double>(random_.Below(9) - (type.is_uint() ? 0 : 4));
    }));
  }

  // ---- indices

  Ranged AnyVariable() { return random_.Of(variables_); }

  Ranged Affine() {
    Ranged sum{Expr(0), 0, 0};
    for (std::int64_t terms = 1 + random_.Below(2); terms > 0 && !variables_.empty(); --terms) {
      const Ranged v = AnyVariable();
      const std::int64_t by = random_.Chance(60) ? 1 : random_.Below(6) - 2;
      sum.expr = sum.expr + v.expr * Expr(by);
      sum.low += std::min(v.low * by, v.high * by);
      sum.high += std::max(v.low * by, v.high * by);
    }
    if (random_.Chance(15)) {
      const std::int64_t by = 2 + random_.Below(3);
      sum = {loop::FloorDiv(sum.expr, Expr(by)), FloorDivide(sum.low, by),
             FloorDivide(sum.high, by)};
    }
    if (random_.Chance(10)) {
      const std::int64_t by = 2 + random_.Below(5);
      sum = {loop::FloorMod(sum.expr, Expr(by)), 0, by - 1};
    }
    return sum;
  }
  static std::int64_t FloorDivide(std::int64_t a, std::int64_t b) {
    return a >= 0 ? a / b : -((-a + b - 1) / b);
  }

  // From 0 to below the extent, which is at least 1.
  Expr Index(std::int64_t extent) {
    if (variables_.empty() || random_.Chance(15)) return Expr(random_.Below(extent));
    Ranged at = Affine();
    if (random_.Chance(10)) {
      const std::optional<Value> value = LoadOf(Int32);
      if (value) return loop::FloorMod(loop::Cast(Int64, value->expr), Expr(extent));
    }
    if (at.high - at.low >= extent) return loop::FloorMod(at.expr, Expr(extent));
    const std::int64_t room = extent - (at.high - at.low);
    return at.expr + Expr(random_.Below(room) - at.low);
  }

  std::optional<std::vector<Expr>> Indices(const Place& place) {
    std::vector<Expr> indices;
    for (std::size_t axis = 0; axis < place.shape.size(); ++axis) {
      if (place.shape[axis] == 0) return std::nullopt;
      indices.push_back(place.fixed[axis].defined() ? place.fixed[axis] : Index(place.shape[axis]));
    }
    return indices;
  }

  // ---- values

  Value Number(DataType type) {
    if (type.is_bool()) return {random_.Chance(50) ? loop::True() : loop::False(), 1};
    const auto number =
        static_cast<double>(random_.Below(type.is_uint() ? 5 : 9) - (type.is_uint() ? 0 : 4));
    return {loop::Constant(type, number), std::fabs(number)};
  }

  double MostOf(DataType type) const {
    if (type.is_bool()) return 1;
    return Wraps(type) ? std::ldexp(1, type.is_uint() ? type.bits() : type.bits() - 1) : kMost;
  }

  std::optional<Value> LoadOf(DataType type) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < places_.size(); ++i)
      if (places_[i].may_read && places_[i].buffer->dtype == type) found.push_back(i);
    if (found.empty() || ++loads_ > kMaxLoads) return std::nullopt;
    const Place place = places_[random_.Of(found)];
    const auto indices = Indices(place);
    if (!indices) return std::nullopt;
    return Value{loop::Load(place.buffer, *indices), MostOf(type)};
  }

  // At most `most`, by the ends of a range.
  Value Within(const Value& value, double most) {
    const DataType type = value.expr.dtype();
    if (type.is_bool() || value.most <= most) return value;
    const Expr low = loop::Constant(type, type.is_uint() ? 0 : -most);
    return {loop::Max(loop::Min(value.expr, loop::Constant(type, most)), low), most};
  }

  Value Leaf(DataType type) {
    if (IsHalf(type)) return {loop::Cast(type, Within(Any(Float32, 1), kMost).expr), kMost};
    if (random_.Chance(65)) {
      if (const auto value = LoadOf(type)) return *value;
    }
    for (const Value& value : values_)
      if (value.expr.dtype() == type && random_.Chance(40)) return value;
    if (!variables_.empty() && !type.is_bool() && random_.Chance(40)) {
      const Ranged v = AnyVariable();
      const auto most = static_cast<double>(std::max(std::abs(v.low), std::abs(v.high)));
      return {loop::Cast(type, v.expr), Wraps(type) ? MostOf(type) : most};
    }
    return Number(type);
  }

  Value Condition(int depth) {
    if (!variables_.empty() && random_.Chance(50)) {
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

  Value Converted(DataType type, int depth) {
    DataType from = AnyType();
    if (from == type) return Leaf(type);
    const Value value = Within(Any(from, depth - 1), kMost);
    return {loop::Cast(type, value.expr), Wraps(type) ? MostOf(type) : std::max(value.most, 1.0)};
  }

  Value Chosen(DataType type, int depth) {
    const Expr condition = Condition(depth - 1).expr;
    const Value a = Any(type, depth - 1), b = Any(type, depth - 1);
    return {random_.Chance(50) ? loop::Select(condition, a.expr, b.expr)
                               : loop::IfThenElse(condition, a.expr, b.expr),
            std::max(a.most, b.most)};
  }

  Value Combined(DataType type, int depth) {
    Value a = Any(type, depth - 1), b = Any(type, depth - 1);
    const std::int64_t kind = random_.Below(8);
    if (kind < 2) return Fitting({a.expr + b.expr, a.most + b.most});
    if (kind < 4) return Fitting({a.expr - b.expr, a.most + b.most});
    if (kind < 6) return Fitting({a.expr * b.expr, a.most * b.most});
    const Expr chosen = kind == 6 ? loop::Min(a.expr, b.expr) : loop::Max(a.expr, b.expr);
    return {chosen, std::max(a.most, b.most)};
  }
  Value Fitting(Value value) {
    if (Wraps(value.expr.dtype())) return {value.expr, MostOf(value.expr.dtype())};
    return value.most > kMostComputed ? Within(value, kMost) : value;
  }

  Value Divided(DataType type, int depth) {
    const Value a = Any(type, depth - 1);
    const std::int64_t by = 2 + random_.Below(6);
    const Expr divisor = loop::Constant(type, static_cast<double>(by));
    if (random_.Chance(50)) return {loop::FloorDiv(a.expr, divisor), a.most};
    return {loop::FloorMod(a.expr, divisor), Wraps(type) ? a.most : static_cast<double>(by)};
  }

  // Of a magnitude of at most kMostComputed, if its type does not wrap around.
  Value Any(DataType type, int depth) {
    if (depth <= 0 || IsHalf(type)) return Leaf(type);
    if (type.is_bool()) return random_.Chance(70) ? Condition(depth) : Leaf(type);
    const std::int64_t kind = random_.Below(20);
    if (kind < 4) return Leaf(type);
    if (kind < 7) return Converted(type, depth);
    if (kind < 10) return Chosen(type, depth);
    if (kind < 11 && !type.is_float()) return Divided(type, depth);
    if (kind < 12) {
      const Value a = Any(type, depth - 1);
      return Fitting({loop::Call(loop::Intrinsic::kAbs, {a.expr}), a.most});
    }
    return Combined(type, depth);
  }

  Value Stored(DataType type, int depth) {
    loads_ = 0;
    const Value value = Any(type, depth);
    return Wraps(type) ? value : Within(value, kMost);
  }

  // ---- statements

  Stmt Block(int depth) {
    std::vector<Stmt> stmts;
    for (std::int64_t count = 1 + random_.Below(3); count > 0; --count) stmts.push_back(Any(depth));
    return loop::Seq(std::move(stmts));
  }

  Stmt Any(int depth) {
    const std::int64_t kind = depth <= 0 ? 0 : random_.Below(100);
    if (kind < 32) return Assigned();
    if (kind < 40) return Summed();
    if (kind < 74) return Looped(depth);
    if (kind < 84) return Guarded(depth);
    if (kind < 92) return Named(depth);
    return Allocated(depth);
  }

  const Place* WrittenPlace() {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < places_.size(); ++i)
      if (places_[i].may_write) found.push_back(i);
    return found.empty() ? nullptr : &places_[random_.Of(found)];
  }

  Stmt Assigned() {
    const Place* const found = WrittenPlace();
    if (found == nullptr) return loop::Seq({});
    const Place place = *found;
    loads_ = 0;
    const auto indices = Indices(place);
    if (!indices) return loop::Seq({});
    return loop::Store(place.buffer, Stored(place.buffer->dtype, 3).expr, *indices);
  }

  // A sum of small terms, in an element of its own.
  Stmt Summed() {
    const Place* const found = WrittenPlace();
    if (found == nullptr || found->buffer->dtype.is_bool() || IsHalf(found->buffer->dtype))
      return Assigned();
    const Place place = *found;
    const DataType type = place.buffer->dtype;
    loads_ = 0;
    const auto indices = Indices(place);
    const std::int64_t extent = std::min(random_.Below(16), kMaxRuns / runs_);
    if (!indices) return loop::Seq({});
    const Stmt zero = loop::Store(place.buffer, loop::Constant(type, 0), *indices);
    const Var k(StrCat("k", names_++));
    variables_.push_back({k, 0, std::max<std::int64_t>(extent - 1, 0)});
    const Value term = Within(Stored(type, 2), 4);
    variables_.pop_back();
    const auto kind = random_.Chance(60) ? loop::StoreKind::kReassociated : loop::StoreKind::kPlain;
    const Expr sum = loop::Load(place.buffer, *indices) + term.expr;
    return loop::Seq({zero, loop::For(k, 0, extent, ForKind::kSerial,
                                      loop::Store(place.buffer, sum, *indices, kind))});
  }

  struct Extent {
    Ranged begin, extent;
  };
  Extent AnyExtent(ForKind kind) {
    const std::int64_t most = std::max<std::int64_t>(kMaxRuns / runs_, 1);
    const auto number = [](std::int64_t value) { return Ranged{Expr(value), value, value}; };
    const Ranged begin = random_.Chance(70) ? number(0) : number(random_.Below(4) - 1);
    if (kind == ForKind::kVectorized || kind == ForKind::kUnrolled) {
      static const std::vector<std::int64_t>& lanes =
          *new std::vector<std::int64_t>{1, 2, 3, 4, 5, 8, 16, 17, 32};
      const std::int64_t copies =
          kind == ForKind::kUnrolled ? std::max<std::int64_t>(kMaxCopies / copies_, 1) : most;
      return {begin, number(std::min({random_.Of(lanes), most, copies}))};
    }
    if (n_ && n_->high <= most && random_.Chance(30)) return {begin, *n_};
    if (kind == ForKind::kSerial && !variables_.empty() && random_.Chance(15)) {
      const Ranged a = Affine();
      if (a.high <= most)
        return {begin, {loop::Max(a.expr, Expr(0)), 0, std::max<std::int64_t>(a.high, 0)}};
    }
    return {begin, number(std::min(random_.Below(random_.Chance(30) ? 34 : 9), most))};
  }

  // What an iteration may do that runs beside those of other values of the variable.
  void Separate(const Ranged& variable) {
    for (Place& place : places_) {
      if (!place.may_write) continue;
      const bool keeps = random_.Chance(70);
      place.may_write = false;
      for (std::size_t axis = 0; keeps && axis < place.shape.size(); ++axis) {
        const std::int64_t room = place.shape[axis] - (variable.high - variable.low + 1);
        if (place.fixed[axis].defined() || room < 0) continue;
        place.fixed[axis] = variable.expr + Expr(random_.Below(room + 1) - variable.low);
        place.may_write = true;
        break;
      }
    }
  }

  ForKind AnyKind() {
    const std::int64_t kind = random_.Below(100);
    if (kind < 25 && !in_parallel_ && !in_vector_) return ForKind::kParallel;
    if (kinds_ == LoopKinds::kLowered || kind < 60) return ForKind::kSerial;
    if (kind < 85 && !in_vector_) return ForKind::kVectorized;
    return ForKind::kUnrolled;
  }

  Stmt Looped(int depth) {
    const ForKind kind = AnyKind();
    const Extent extent = AnyExtent(kind);
    const Ranged variable{Var(StrCat("i", names_++)), extent.begin.low,
                          extent.begin.high + std::max<std::int64_t>(extent.extent.high - 1, 0)};
    const std::int64_t runs = runs_, copies = copies_;
    const std::vector<Place> places = places_;
    const bool in_parallel = in_parallel_, in_vector = in_vector_;
    runs_ *= std::max<std::int64_t>(extent.extent.high, 1);
    if (kind == ForKind::kUnrolled) copies_ *= extent.extent.high;
    variables_.push_back(variable);
    if (kind == ForKind::kParallel || kind == ForKind::kVectorized) Separate(variable);
    in_parallel_ = in_parallel_ || kind == ForKind::kParallel;
    in_vector_ = in_vector_ || kind == ForKind::kVectorized;
    const Stmt body = Block(depth - 1);
    in_parallel_ = in_parallel;
    in_vector_ = in_vector;
    variables_.pop_back();
    places_ = places;
    runs_ = runs;
    copies_ = copies;
    return loop::For(Var(variable.expr), extent.begin.expr, extent.extent.expr, kind, body);
  }

  Stmt Guarded(int depth) {
    loads_ = 0;
    const Expr condition = Condition(2).expr;
    const Stmt then_case = Block(depth - 1);
    return loop::If(condition, then_case, random_.Chance(40) ? Block(depth - 1) : Stmt());
  }

  Stmt Named(int depth) {
    loads_ = 0;
    if (!variables_.empty() && random_.Chance(60)) {
      const Ranged value = Affine();
      const Var name(StrCat("at", names_++));
      variables_.push_back({name, value.low, value.high});
      const Stmt body = Block(depth - 1);
      variables_.pop_back();
      return loop::LetStmt(name, value.expr, body);
    }
    DataType type = AnyType();
    if (IsHalf(type)) type = Float32;
    const Value value = Stored(type, 2);
    const Var name(StrCat("v", names_++), type);
    values_.push_back({name, value.most});
    const Stmt body = Block(depth - 1);
    values_.pop_back();
    return loop::LetStmt(name, value.expr, body);
  }

  // Memory that is filled first.
  Stmt Allocated(int depth) {
    const Buffer buffer = NewBuffer("m", 1 + random_.Below(2), std::nullopt);
    const Place place = places_.back();
    if (NumElements(place.shape) > kMaxRuns / runs_) {
      places_.pop_back();
      return Assigned();
    }
    std::vector<Expr> indices;
    std::vector<Var> axes;
    for (std::size_t axis = 0; axis < place.shape.size(); ++axis) {
      axes.emplace_back(StrCat("f", names_++));
      indices.push_back(axes.back());
    }
    Stmt fill = loop::Store(buffer, Number(buffer->dtype).expr, indices);
    for (std::size_t axis = axes.size(); axis-- > 0;)
      fill = loop::For(axes[axis], 0, place.shape[axis], ForKind::kSerial, fill);
    const Stmt body = Block(depth - 1);
    places_.pop_back();
    return loop::Allocate(buffer, loop::Seq({fill, body}));
  }

  static constexpr int kMaxLoads = 12;  // of a statement
  Random random_;
  const LoopKinds kinds_;
  std::optional<Ranged> n_;
  std::vector<Ranged> variables_;
  std::vector<Value> values_;
  std::vector<Place> places_;
  std::int64_t runs_ = 1, copies_ = 1;
  int names_ = 0, loads_ = 0;
  bool in_parallel_ = false, in_vector_ = false;
};

}  // namespace

RandomLoops MakeRandomLoops(std::uint64_t seed, LoopKinds kinds) {
  return Draft(seed, kinds).Make();
}

}  // namespace tenon::verify
