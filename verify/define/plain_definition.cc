// An element is an integer or a real number, whatever its type's width. The definitions here share
// nothing with ops/ and strategies/ but names and attributes.
#include "tenon/verify/define/plain_definition.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include "tenon/ops/elementwise/elementwise_attrs.h"
#include "tenon/ops/op.h"
#include "tenon/ops/reduce/reduce_attrs.h"
#include "tenon/support/strings.h"
#include "tenon/verify/array_values.h"
#include "tenon/verify/define/definition.h"

namespace tenon::verify {
namespace {

bool IsNan(const Number& x) { return std::isnan(x.real); }
bool Holds(const Number& x) { return x.whole != 0 || x.real != 0; }

Whole FloorQuotient(Whole a, Whole b) {
  const Whole quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

using Unary = std::function<Number(const Number& x, DataType type)>;
using Binary = std::function<Number(const Number& x, const Number& y, DataType type)>;
enum class Kind : std::uint8_t { kFloats, kIntegers, kBoth };
template <typename Function>
struct Row {
  Function of;
  Kind kind = Kind::kBoth;
  bool is_exact = false;
};

Number Greater(const Number& x, const Number& y) {
  if (IsNan(x) || IsNan(y)) return {.real = std::numeric_limits<Real>::quiet_NaN()};
  return {std::max(x.whole, y.whole), std::max(x.real, y.real)};
}
Number Smaller(const Number& x, const Number& y) {
  if (IsNan(x) || IsNan(y)) return {.real = std::numeric_limits<Real>::quiet_NaN()};
  return {std::min(x.whole, y.whole), std::min(x.real, y.real)};
}

const std::map<std::string, Row<Unary>>& UnaryTable() {
  static const auto& table = *[] {
    auto* t = new std::map<std::string, Row<Unary>>;
    const auto real = [&](const char* name, Real (*of)(Real)) {
      (*t)[name] = {[of](const Number& x, DataType) { return Number{.real = of(x.real)}; },
                    Kind::kFloats};
    };
    real("exp", [](Real x) { return std::exp(x); });
    real("log", [](Real x) { return std::log(x); });
    real("log2", [](Real x) { return std::log2(x); });
    real("log10", [](Real x) { return std::log10(x); });
    real("sqrt", [](Real x) { return std::sqrt(x); });
    real("rsqrt", [](Real x) { return 1 / std::sqrt(x); });
    real("sigmoid", [](Real x) { return 1 / (1 + std::exp(-x)); });
    real("tanh", [](Real x) { return std::tanh(x); });
    real("sin", [](Real x) { return std::sin(x); });
    real("cos", [](Real x) { return std::cos(x); });
    real("sinh", [](Real x) { return std::sinh(x); });
    real("cosh", [](Real x) { return std::cosh(x); });
    real("asinh", [](Real x) { return std::asinh(x); });
    real("atan", [](Real x) { return std::atan(x); });
    real("erf", [](Real x) { return std::erf(x); });
    const auto exact = [&](const char* name, Kind kind, Unary of) {
      (*t)[name] = {std::move(of), kind, true};
    };
    const auto rounding = [&](const char* name, Real (*of)(Real)) {
      exact(name, Kind::kBoth, [of](const Number& x, DataType) {
        return Number{x.whole, of(x.real)};
      });
    };
    rounding("floor", [](Real x) { return std::floor(x); });
    rounding("ceil", [](Real x) { return std::ceil(x); });
    rounding("trunc", [](Real x) { return std::trunc(x); });
    rounding("round", [](Real x) { return std::round(x); });
    rounding("nearbyint", [](Real x) { return std::nearbyint(x); });
    rounding("copy", [](Real x) { return x; });
    exact("abs", Kind::kBoth, [](const Number& x, DataType) {
      return Number{x.whole < 0 ? -x.whole : x.whole, std::abs(x.real)};
    });
    exact("negative", Kind::kBoth, [](const Number& x, DataType) {
      return Number{-x.whole, -x.real};
    });
    exact("nn.relu", Kind::kBoth, [](const Number& x, DataType) { return Greater(x, {}); });
    exact("sign", Kind::kIntegers,
          [](const Number& x, DataType) { return Number{Whole{x.whole > 0} - (x.whole < 0)}; });
    exact("bitwise_not", Kind::kIntegers,
          [](const Number& x, DataType) { return Number{-x.whole - 1}; });
    exact("logical_not", Kind::kBoth,
          [](const Number& x, DataType) { return Number{Holds(x) ? 0 : 1}; });
    exact("isnan", Kind::kFloats,
          [](const Number& x, DataType) { return Number{IsNan(x) ? 1 : 0}; });
    return t;
  }();
  return table;
}

const std::map<std::string, Row<Binary>>& BinaryTable() {
  static const auto& table = *[] {
    auto* t = new std::map<std::string, Row<Binary>>;
    const auto add = [&](const char* name, Kind kind, bool is_exact, Binary of) {
      (*t)[name] = {std::move(of), kind, is_exact};
    };
    using N = const Number&;
    add("add", Kind::kBoth, false, [](N x, N y, DataType) {
      return Number{x.whole + y.whole, x.real + y.real};
    });
    add("subtract", Kind::kBoth, false, [](N x, N y, DataType) {
      return Number{x.whole - y.whole, x.real - y.real};
    });
    // The product of two numbers of 64 bits without sign does not fit; its low bits do.
    add("multiply", Kind::kBoth, false, [](N x, N y, DataType) {
      const auto product =
          static_cast<unsigned __int128>(x.whole) * static_cast<unsigned __int128>(y.whole);
      return Number{static_cast<Whole>(product), x.real * y.real};
    });
    const Binary quotient = [](N x, N y, DataType type) {
      if (type.is_float()) return Number{.real = x.real / y.real};
      return Number{y.whole == 0 ? 0 : x.whole / y.whole};
    };
    add("divide", Kind::kBoth, false, quotient);
    add("trunc_divide", Kind::kIntegers, false, quotient);
    add("floor_divide", Kind::kIntegers, true, [](N x, N y, DataType) {
      return Number{y.whole == 0 ? 0 : FloorQuotient(x.whole, y.whole)};
    });
    const Binary rest = [](N x, N y, DataType) {
      return Number{y.whole == 0 ? 0 : x.whole % y.whole};
    };
    add("mod", Kind::kIntegers, true, rest);
    add("trunc_mod", Kind::kIntegers, true, rest);
    add("floor_mod", Kind::kIntegers, true, [](N x, N y, DataType) {
      return Number{y.whole == 0 ? 0 : x.whole - FloorQuotient(x.whole, y.whole) * y.whole};
    });
    add("maximum", Kind::kBoth, true, [](N x, N y, DataType) { return Greater(x, y); });
    add("minimum", Kind::kBoth, true, [](N x, N y, DataType) { return Smaller(x, y); });
    add("bitwise_and", Kind::kIntegers, true,
        [](N x, N y, DataType) { return Number{x.whole & y.whole}; });
    add("bitwise_or", Kind::kIntegers, true,
        [](N x, N y, DataType) { return Number{x.whole | y.whole}; });
    add("bitwise_xor", Kind::kIntegers, true,
        [](N x, N y, DataType) { return Number{x.whole ^ y.whole}; });
    const auto test = [&](const char* name, bool (*of)(N, N)) {
      add(name, Kind::kBoth, true, [of](N x, N y, DataType) { return Number{of(x, y) ? 1 : 0}; });
    };
    test("equal", [](N x, N y) { return x.whole == y.whole && x.real == y.real; });
    test("not_equal", [](N x, N y) { return x.whole != y.whole || x.real != y.real; });
    test("less", [](N x, N y) { return x.whole < y.whole || x.real < y.real; });
    test("greater", [](N x, N y) { return x.whole > y.whole || x.real > y.real; });
    test("less_equal", [](N x, N y) { return x.whole <= y.whole && x.real <= y.real; });
    test("greater_equal", [](N x, N y) { return x.whole >= y.whole && x.real >= y.real; });
    test("logical_and", [](N x, N y) { return Holds(x) && Holds(y); });
    test("logical_or", [](N x, N y) { return Holds(x) || Holds(y); });
    test("logical_xor", [](N x, N y) { return Holds(x) != Holds(y); });
    return t;
  }();
  return table;
}

bool IsReduction(const std::string& op) {
  return op == "sum" || op == "mean" || op == "prod" || op == "max" || op == "min" || op == "all" ||
         op == "any";
}
bool IsCast(const std::string& op) { return op == "cast" || op == "cast_like"; }

bool Takes(Kind kind, DataType type) {
  return kind == Kind::kBoth || (kind == Kind::kFloats) == type.is_float();
}

// The element of an operand that is broadcast to `shape`.
std::int64_t PlaceIn(const Shape& operand, const Shape& shape, std::int64_t element) {
  std::int64_t place = 0, stride = 1;
  for (std::size_t d = shape.size(), o = operand.size(); d-- > 0 && o > 0;) {
    --o;
    const std::int64_t index = element % shape[d];
    element /= shape[d];
    if (operand[o] != 1) place += index * stride;
    stride *= operand[o];
  }
  return place;
}

// The arguments' bounds, of the element type: whole ones toward zero, as far as the type holds
// them.
Number Clipped(const Number& x, const ops::ClipAttrs& attrs, DataType type) {
  const auto bound = [&](double value) {
    if (type.is_float()) return Number{.real = Rounded(value, type)};
    // Of bools, what is above 0 is 1.
    return Number{type.is_bool() ? Whole{value >= 1} : Saturated(value, type)};
  };
  return Smaller(Greater(x, bound(attrs.a_min)), bound(attrs.a_max));
}

class Definer {
 public:
  Definer(const ir::CallNode& call, const std::vector<NDArray>& args, const NDArray& result)
      : op_(call.op()->name), call_(call), args_(args), result_(result) {}

  std::optional<Definition> Define() {
    const DataType from = args_.at(0).dtype(), to = result_.dtype();
    if (IsReduction(op_)) return Reduced();
    // Arithmetic of bools is logic, which is defined by other operators.
    if (from.is_bool() && !IsCast(op_) && !op_.starts_with("logical_") && !to.is_bool())
      return std::nullopt;
    if (from.is_bool() &&
        (op_ == "add" || op_ == "subtract" || op_ == "negative" || op_ == "bitwise_not" ||
         op_.find("div") != std::string::npos || op_.find("mod") != std::string::npos))
      return std::nullopt;
    if (IsCast(op_))
      return Each(true, [&](std::int64_t i) { return Converted(Arg(0, i), from, to); });
    if (op_ == "clip")
      return Each(true, [&](std::int64_t i) {
        return Clipped(Arg(0, i), call_.attrs.As<ops::ClipAttrs>(), from);
      });
    const auto unary = UnaryTable().find(op_);
    if (unary != UnaryTable().end()) {
      if (!Takes(unary->second.kind, from)) return std::nullopt;
      return Each(unary->second.is_exact,
                  [&](std::int64_t i) { return unary->second.of(Arg(0, i), from); });
    }
    const auto binary = BinaryTable().find(op_);
    if (binary == BinaryTable().end() || !Takes(binary->second.kind, from)) return std::nullopt;
    return Each(binary->second.is_exact,
                [&](std::int64_t i) { return binary->second.of(Arg(0, i), Arg(1, i), from); });
  }

 private:
  Number Arg(std::size_t arg, std::int64_t i) const {
    const NDArray& array = args_.at(arg);
    return ElementAt(array, PlaceIn(array.shape(), result_.shape(), i));
  }
  template <typename Of>
  Definition Each(bool is_exact, const Of& of) const {
    Definition made;
    for (std::int64_t i = 0; i < result_.size(); ++i) {
      made.elements.push_back(of(i));
      made.tolerances.push_back(is_exact ? 0 : Unit() * 16 * std::abs(made.elements.back().real));
    }
    return made;
  }
  // Of kernels, which compute halves in float32 and round the result.
  Real Unit() const { return static_cast<Real>(RoundingError(result_.dtype())); }

  // One pass over the data, into the element of the result where each belongs.
  std::optional<Definition> Reduced() const {
    const NDArray& x = args_.at(0);
    const auto& attrs = call_.attrs.As<ops::ReduceAttrs>();
    const std::size_t rank = x.shape().size();
    std::vector<bool> is_reduced(rank, !attrs.axis);
    for (const std::int64_t axis : attrs.axis.value_or(ops::Ints{}))
      is_reduced[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank)
                                                   : axis)] = true;
    if (attrs.axis && attrs.exclude) is_reduced.flip();
    const bool is_sum = op_ == "sum" || op_ == "mean";
    Definition made;
    made.elements.resize(static_cast<std::size_t>(result_.size()));
    made.tolerances.assign(made.elements.size(), 0);
    std::vector<std::int64_t> counts(made.elements.size(), 0);
    for (std::int64_t i = 0; i < x.size(); ++i) {
      std::int64_t rest = i, place = 0, stride = 1;
      for (std::size_t d = rank; d-- > 0;) {
        if (!is_reduced[d]) {
          place += rest % x.shape()[d] * stride;
          stride *= x.shape()[d];
        }
        rest /= x.shape()[d];
      }
      const auto to = static_cast<std::size_t>(place);
      const Number value = ElementAt(x, i);
      Number& sum = made.elements[to];
      const bool is_first = counts[to]++ == 0;
      made.tolerances[to] += std::abs(value.real);
      if (is_sum || is_first) {
        sum = {sum.whole + value.whole, sum.real + value.real};
        if (!is_sum) sum = value;
      } else if (op_ == "prod") {
        sum = {Wrapped(sum.whole * value.whole, x.dtype()), sum.real * value.real};
      } else if (op_ == "max" || op_ == "min") {
        sum = op_ == "max" ? Greater(sum, value) : Smaller(sum, value);
      } else {
        sum = {op_ == "all" ? Whole{Holds(sum) && Holds(value)}
                            : Whole{Holds(sum) || Holds(value)}};
      }
    }
    // What no elements make depends on the operator; and a sum of bools is not one of integers.
    if (x.size() == 0 || (x.dtype().is_bool() && op_ != "all" && op_ != "any")) return std::nullopt;
    for (std::size_t to = 0; to < counts.size(); ++to) {
      const auto count = static_cast<Real>(counts[to]);
      Number& sum = made.elements[to];
      Real& magnitude = made.tolerances[to];
      // Nothing is wider than 64 bits, so such sums wrap around.
      if (op_ == "mean" && x.dtype().bits() == 64) sum.whole = Wrapped(sum.whole, x.dtype());
      if (op_ == "mean") sum = {sum.whole / counts[to], sum.real / count};
      if (op_ == "mean") magnitude /= count;
      if (op_ == "prod") magnitude = std::abs(sum.real);
      // What overflows on the way to zero is not a number.
      if (op_ == "prod" && x.dtype().is_float() &&
          magnitude <= static_cast<Real>(LeastNormal(x.dtype())))
        magnitude = HUGE_VALL;
      const Real terms = x.dtype().is_half() ? 4 : count + 4;
      magnitude *= is_sum || op_ == "prod" ? terms * Unit() : 0;
    }
    return made;
  }

  const std::string& op_;
  const ir::CallNode& call_;
  const std::vector<NDArray>& args_;
  const NDArray& result_;
};

std::string ToText(Whole value) {
  if (value == 0) return "0";
  std::string text;
  for (Whole rest = value; rest != 0; rest /= 10)
    text.insert(text.begin(),
                static_cast<char>('0' + static_cast<int>(rest < 0 ? -(rest % 10) : rest % 10)));
  return value < 0 ? "-" + text : text;
}
std::string ToText(const Number& value, DataType type) {
  return type.is_float() ? StrCat(static_cast<double>(value.real)) : ToText(value.whole);
}

// Definitions of calls that hold for all values of their arguments.
const DefinitionTable& AnyValueTable() {
  static const auto& table = *[] {
    auto* t = new DefinitionTable;
    AddBlockDefinitions(t);
    AddCreatedDefinitions(t);
    AddMovedDefinitions(t);
    AddOrderedDefinitions(t);
    AddReshapedDefinitions(t);
    AddScalarDefinitions(t);
    AddScatteredDefinitions(t);
    AddTakenDefinitions(t);
    return t;
  }();
  return table;
}

const DefinitionTable& CallTable() {
  static const auto& table = *[] {
    auto* t = new DefinitionTable;
    AddBoxDefinitions(t);
    AddCollapsedDefinitions(t);
    AddConvolutionDefinitions(t);
    AddDetectionDefinitions(t);
    AddFourierDefinitions(t);
    AddIndexedDefinitions(t);
    AddNormDefinitions(t);
    AddPoolDefinitions(t);
    AddProductDefinitions(t);
    AddQuantizedDefinitions(t);
    AddQuantizedProductDefinitions(t);
    AddRecurrentDefinitions(t);
    AddRegionDefinitions(t);
    AddResizeDefinitions(t);
    AddSampledDefinitions(t);
    AddSparseDefinitions(t);
    AddWindowDefinitions(t);
    return t;
  }();
  return table;
}

std::vector<Definition> DefinitionsOf(const DefinedCall& of) {
  const std::string& op = of.call.op()->name;
  for (const DefinitionTable* table : {&AnyValueTable(), &CallTable()}) {
    if (const auto row = table->find(op); row != table->end()) return row->second(of);
  }
  if (!TakesAnyValues(op) || of.results.size() != 1) return {};
  auto made = Definer(of.call, of.args, of.results[0]).Define();
  return made ? std::vector{*std::move(made)} : std::vector<Definition>();
}

// What the element must be, as its type has it.
Number AsElement(const Number& defined, Real tolerance, DataType type) {
  if (type.is_float()) return {.real = Rounded(defined.real, type)};
  if (tolerance == 0) return {.whole = Wrapped(defined.whole, type)};
  return {.whole = Saturated(std::nearbyint(defined.real), type)};
}

bool IsRight(const Number& got, const Number& wanted, const Number& defined, Real tolerance,
             DataType type) {
  if (!type.is_float()) {
    if (got.whole == wanted.whole) return true;
    // Rounding may decide between two integers.
    return tolerance > 0 && std::abs(static_cast<Real>(got.whole) - Within(defined.real, type)) <=
                                Real{0.5} + tolerance;
  }
  if (std::isnan(wanted.real)) return std::isnan(got.real);
  if (std::isinf(wanted.real)) return got.real == wanted.real;
  if (std::isinf(tolerance)) return true;
  // Kernels may take denormals for zero, before they round or after.
  return std::abs(got.real - wanted.real) <=
             std::max(tolerance, static_cast<Real>(LeastNormal(type))) ||
         // A rounding may be the last before infinity.
         (std::isinf(got.real) && tolerance > 0 && std::abs(wanted.real) > 1e4L);
}

std::optional<std::string> FirstWrong(const std::string& op, const Definition& definition,
                                      const NDArray& result) {
  const DataType type = result.dtype();
  if (definition.shape && *definition.shape != result.shape())
    return StrCat("the shape is ", ShapeToString(result.shape()), "; by the definition of ", op,
                  " it is ", ShapeToString(*definition.shape));
  const std::size_t count = definition.elements.size();
  if (static_cast<std::int64_t>(count) != result.size())
    return StrCat("there are ", result.size(), " elements; by the definition of ", op,
                  " there are ", count);
  for (std::int64_t i = 0; i < result.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Number& defined = definition.elements.at(at);
    const Real tolerance = definition.tolerances.at(at);
    const Number got = ElementAt(result, i), wanted = AsElement(defined, tolerance, type);
    if (IsRight(got, wanted, defined, tolerance, type)) continue;
    Shape index(result.shape().size());
    std::int64_t rest = i;
    for (std::size_t d = index.size(); d-- > 0;) {
      index[d] = rest % result.shape()[d];
      rest /= result.shape()[d];
    }
    return StrCat("element ", ShapeToString(index), " is ", ToText(got, type),
                  "; by the definition of ", op, " it is ", ToText(wanted, type));
  }
  return std::nullopt;
}

}  // namespace

bool TakesAnyValues(const std::string& op) {
  return IsReduction(op) || IsCast(op) || op == "clip" || UnaryTable().contains(op) ||
         BinaryTable().contains(op) || AnyValueTable().contains(op);
}

std::optional<std::string> DifferenceFromDefinition(const ir::CallNode& call,
                                                    const std::vector<NDArray>& args,
                                                    const std::vector<NDArray>& results) {
  if (call.op() == nullptr) return std::nullopt;
  const std::vector<Definition> definitions = DefinitionsOf({call, args, results});
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    const auto wrong = FirstWrong(call.op()->name, definitions[i], results.at(i));
    if (wrong) return results.size() == 1 ? wrong : StrCat("result ", i, ": ", *wrong);
  }
  return std::nullopt;
}

}  // namespace tenon::verify
