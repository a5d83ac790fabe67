// Random values and indices at a place in random loops. Only verify/draw/random_loops.cc and its
// parts include this header.
//
// A scope knows the range of each variable, so that indices stay inside, and what may be read and
// written. Floating values and int64 are at most kMaxStored where they are stored, and small
// enough in between for float32 to hold such integers exactly. Other integers wrap around.
//
//   LoopScope scope = {.variables = {{i, 0, 4}}, .places = {{.buffer = a, ...}}};
//   LoopValues values(&random, &scope);
//   loop::Store(a, values.ToStore(a->dtype, 3).expr, *values.IndicesOf(scope.places[0]));
#ifndef TENON_VERIFY_DRAW_LOOP_VALUES_H_
#define TENON_VERIFY_DRAW_LOOP_VALUES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tenon/loop/expr.h"
#include "tenon/support/ndarray.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {

// An integer expression and the range of its values.
struct Ranged {
  loop::Expr expr;
  std::int64_t low = 0, high = 0;
};

// A value and the most that its magnitude can be; of integers that wrap around, that of the type.
struct Bounded {
  loop::Expr expr;
  double most = 0;
};

struct Place {
  loop::Buffer buffer;
  Shape shape;
  std::vector<loop::Expr> fixed;  // by axis: the only index that is allowed; undefined: any
  bool may_read = true, may_write = true;
};

struct LoopScope {
  std::vector<Ranged> variables;
  std::vector<Bounded> values;  // that have names
  std::vector<Place> places;
  // What was read before, which code generation may still know.
  std::vector<std::pair<Place, std::vector<loop::Expr>>> accesses;
};

// Whether arithmetic on the type wraps around, and whether it is done in float32.
bool Wraps(DataType type);
bool IsHalf(DataType type);

class LoopValues {
 public:
  // Both must outlive it.
  LoopValues(Random* random, LoopScope* scope) : random_(*random), scope_(*scope) {}

  // A statement loads a limited number of elements.
  void BeginStatement() { loads_ = 0; }
  DataType AnyType();
  Ranged Affine();
  // Nothing where the place has no elements.
  std::optional<std::vector<loop::Expr>> IndicesOf(const Place& place);
  Bounded Number(DataType type);
  Bounded Condition(int depth);
  // At most `most`, by the ends of a range.
  Bounded Within(const Bounded& value, double most) const;
  Bounded ToStore(DataType type, int depth);

 private:
  loop::Expr Index(std::int64_t extent);
  std::optional<std::vector<loop::Expr>> IndicesAgain(const Place& place);
  std::optional<Bounded> LoadOf(DataType type);
  Bounded Leaf(DataType type);
  Bounded Converted(DataType type, int depth);
  Bounded Chosen(DataType type, int depth);
  Bounded Combined(DataType type, int depth);
  Bounded Divided(DataType type, int depth);
  Bounded Fitting(const Bounded& value) const;
  Bounded Any(DataType type, int depth);

  Random& random_;
  LoopScope& scope_;
  int loads_ = 0;
};

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_LOOP_VALUES_H_
