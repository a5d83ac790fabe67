// A draft grows from the outside in. In a loop whose iterations run in any order, a buffer may be
// read only, or one of its axes is indexed by the loop's variable alone.
#include "tenon/verify/draw/random_loops.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tenon/support/strings.h"
#include "tenon/verify/draw/loop_values.h"

namespace tenon::verify {
namespace {

using loop::Buffer;
using loop::Expr;
using loop::ForKind;
using loop::Stmt;
using loop::Var;

constexpr std::int64_t kMaxRuns = 3000;  // of the innermost statement
constexpr std::int64_t kMaxCopies = 64;  // of a statement, by unrolling
constexpr int kMaxDepth = 5;

// How often a statement runs, and how it may.
struct Nesting {
  std::int64_t runs = 1, copies = 1;
  bool in_parallel = false, in_vector = false;

  std::int64_t MostRuns() const { return std::max<std::int64_t>(kMaxRuns / runs, 1); }
};

Ranged NumberOf(std::int64_t value) { return {Expr(value), value, value}; }

class Draft {
 public:
  Draft(std::uint64_t seed, LoopKinds kinds) : random_(seed), kinds_(kinds) {}

  RandomLoops Make() {
    RandomLoops made;
    made.function.name = "loops";
    if (random_.Chance(50)) {
      n_ = Ranged{Var("n"), 0, 0};
      n_->low = n_->high = AnyLength(18);
      made.function.scalars.emplace_back(n_->expr);
      made.scalars.push_back(n_->low);
      AddParameter(1, n_, &made);
    }
    for (std::int64_t count = 2 + random_.Below(3); count > 0; --count)
      AddParameter(1 + random_.Below(3), random_.Chance(20) ? n_ : std::nullopt, &made);
    made.function.body = Block(kMaxDepth);
    return made;
  }

 private:
  // Below `usual`, or of several vectors.
  std::int64_t AnyLength(std::int64_t usual) {
    return random_.Below(random_.Chance(20) ? 90 : usual);
  }

  Buffer NewBuffer(const char* prefix, std::int64_t rank, const std::optional<Ranged>& first) {
    std::vector<Expr> extents;
    Shape shape;
    for (std::int64_t axis = 0; axis < rank; ++axis) {
      const Ranged extent = axis == 0 && first
                                ? *first
                                : NumberOf(1 + (axis == 0 ? AnyLength(33) : random_.Below(9)));
      shape.push_back(extent.low);
      extents.push_back(extent.expr);
    }
    const bool on_stack = !first && random_.Chance(20);
    const Buffer buffer =
        Buffer::Make(StrCat(prefix, names_++), values_.AnyType(), std::move(extents),
                     on_stack ? loop::Memory::kStack : loop::Memory::kAutomatic);
    scope_.places.push_back(
        {.buffer = buffer, .shape = shape, .fixed = std::vector<Expr>(At(rank))});
    return buffer;
  }

  void AddParameter(std::int64_t rank, const std::optional<Ranged>& first, RandomLoops* made) {
    const Buffer buffer = NewBuffer("p", rank, first);
    const DataType type = buffer->dtype;
    made->function.buffers.push_back(buffer);
    made->arrays.push_back(ArrayOf(scope_.places.back().shape, type, [&](std::int64_t) {
      if (type.is_bool()) return static_cast<double>(random_.Below(2));
      return static_cast<double>(random_.Below(9) - (type.is_uint() ? 0 : 4));
    }));
  }

  Stmt Block(int depth) {
    std::vector<Stmt> stmts;
    for (std::int64_t count = 1 + random_.Below(3); count > 0; --count) stmts.push_back(Any(depth));
    return loop::Seq(std::move(stmts));
  }
  // A block that knows more than what is around it.
  Stmt Inside(int depth, const LoopScope& outer) {
    const Stmt body = Block(depth);
    scope_ = outer;
    return body;
  }

  Stmt Any(int depth) {
    values_.BeginStatement();
    const std::int64_t kind = depth <= 0 ? 0 : random_.Below(100);
    if (kind < 32) return Assigned();
    if (kind < 40) return Summed();
    if (kind < 74) return Looped(depth);
    if (kind < 84) return Guarded(depth);
    if (kind < 92) return Named(depth);
    return Allocated(depth);
  }

  std::optional<Place> WrittenPlace() {
    std::vector<Place> found;
    for (const Place& place : scope_.places)
      if (place.may_write) found.push_back(place);
    return found.empty() ? std::nullopt : std::optional(random_.Of(found));
  }

  Stmt Assigned() {
    const auto place = WrittenPlace();
    const auto indices = place ? values_.IndicesOf(*place) : std::nullopt;
    if (!indices) return loop::Seq({});
    return loop::Store(place->buffer, values_.ToStore(place->buffer->dtype, 3).expr, *indices);
  }

  // A sum of small terms, in an element of its own.
  Stmt Summed() {
    const auto place = WrittenPlace();
    if (!place || place->buffer->dtype.is_bool() || IsHalf(place->buffer->dtype)) return Assigned();
    const Buffer& buffer = place->buffer;
    const auto indices = values_.IndicesOf(*place);
    if (!indices) return loop::Seq({});
    const std::int64_t extent = std::min(AnyLength(16), nesting_.MostRuns());
    const Var k(StrCat("k", names_++));
    const LoopScope outer = scope_;
    scope_.variables.push_back({k, 0, std::max<std::int64_t>(extent - 1, 0)});
    const Expr term = values_.Within(values_.ToStore(buffer->dtype, 2), 4).expr;
    scope_ = outer;
    const auto kind = random_.Chance(60) ? loop::StoreKind::kReassociated : loop::StoreKind::kPlain;
    const Stmt zero = loop::Store(buffer, loop::Constant(buffer->dtype, 0), *indices);
    const Stmt update = loop::Store(buffer, loop::Load(buffer, *indices) + term, *indices, kind);
    return loop::Seq({zero, loop::For(k, 0, extent, ForKind::kSerial, update)});
  }

  ForKind AnyKind() {
    const std::int64_t kind = random_.Below(100);
    if (kind < 25 && !nesting_.in_parallel && !nesting_.in_vector) return ForKind::kParallel;
    if (kinds_ == LoopKinds::kLowered || kind < 60) return ForKind::kSerial;
    return kind < 85 && !nesting_.in_vector ? ForKind::kVectorized : ForKind::kUnrolled;
  }

  Ranged AnyExtent(ForKind kind) {
    const std::int64_t most = nesting_.MostRuns();
    if (kind == ForKind::kVectorized || kind == ForKind::kUnrolled) {
      static const std::vector<std::int64_t>& lanes =
          *new std::vector<std::int64_t>{1, 2, 3, 4, 5, 8, 16, 17, 32};
      const std::int64_t copies = std::max<std::int64_t>(kMaxCopies / nesting_.copies, 1);
      return NumberOf(
          std::min({random_.Of(lanes), most, kind == ForKind::kUnrolled ? copies : most}));
    }
    if (n_ && n_->high <= most && random_.Chance(30)) return *n_;
    if (kind == ForKind::kSerial && random_.Chance(15)) {
      const Ranged a = values_.Affine();
      if (a.high <= most) return {loop::Max(a.expr, Expr(0)), 0, std::max<std::int64_t>(a.high, 0)};
    }
    return NumberOf(std::min(random_.Chance(30) ? AnyLength(34) : random_.Below(9), most));
  }

  // What an iteration may do that runs beside those of other values of the variable.
  void Separate(const Ranged& variable) {
    for (Place& place : scope_.places) {
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

  Stmt Looped(int depth) {
    const ForKind kind = AnyKind();
    const Ranged begin = NumberOf(random_.Chance(70) ? 0 : random_.Below(4) - 1);
    const Ranged extent = AnyExtent(kind);
    const std::int64_t most = std::max<std::int64_t>(extent.high, 1);
    const Ranged variable{Var(StrCat("i", names_++)), begin.low, begin.high + most - 1};
    const Nesting nesting = nesting_;
    const LoopScope outer = scope_;
    nesting_.runs *= most;
    if (kind == ForKind::kUnrolled) nesting_.copies *= most;
    nesting_.in_parallel = nesting.in_parallel || kind == ForKind::kParallel;
    nesting_.in_vector = nesting.in_vector || kind == ForKind::kVectorized;
    scope_.variables.push_back(variable);
    if (kind == ForKind::kParallel || kind == ForKind::kVectorized) Separate(variable);
    const Stmt body = Inside(depth - 1, outer);
    nesting_ = nesting;
    return loop::For(Var(variable.expr), begin.expr, extent.expr, kind, body);
  }

  Stmt Guarded(int depth) {
    const Expr condition = values_.Condition(2).expr;
    const Stmt then_case = Block(depth - 1);
    return loop::If(condition, then_case, random_.Chance(40) ? Block(depth - 1) : Stmt());
  }

  Stmt Named(int depth) {
    const LoopScope outer = scope_;
    if (!scope_.variables.empty() && random_.Chance(60)) {
      const Ranged value = values_.Affine();
      const Var name(StrCat("at", names_++));
      scope_.variables.push_back({name, value.low, value.high});
      return loop::LetStmt(name, value.expr, Inside(depth - 1, outer));
    }
    const DataType type = values_.AnyType();
    const Bounded value = values_.ToStore(IsHalf(type) ? Float32 : type, 2);
    const Var name(StrCat("v", names_++), value.expr.dtype());
    scope_.values.push_back({name, value.most});
    return loop::LetStmt(name, value.expr, Inside(depth - 1, outer));
  }

  // Memory that is filled first.
  Stmt Allocated(int depth) {
    const LoopScope outer = scope_;
    const Buffer buffer = NewBuffer("m", 1 + random_.Below(2), std::nullopt);
    const Shape shape = scope_.places.back().shape;
    if (NumElements(shape) > nesting_.MostRuns()) {
      scope_ = outer;
      return Assigned();
    }
    std::vector<Var> axes;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      axes.emplace_back(StrCat("f", names_++));
    Stmt fill = loop::Store(buffer, values_.Number(buffer->dtype).expr, {axes.begin(), axes.end()});
    for (std::size_t axis = axes.size(); axis-- > 0;)
      fill = loop::For(axes[axis], 0, shape[axis], ForKind::kSerial, fill);
    return loop::Allocate(buffer, loop::Seq({fill, Inside(depth - 1, outer)}));
  }

  Random random_;
  const LoopKinds kinds_;
  std::optional<Ranged> n_;
  Nesting nesting_;
  LoopScope scope_;
  LoopValues values_{&random_, &scope_};
  int names_ = 0;
};

}  // namespace

RandomLoops MakeRandomLoops(std::uint64_t seed, LoopKinds kinds) {
  return Draft(seed, kinds).Make();
}

}  // namespace tenon::verify
