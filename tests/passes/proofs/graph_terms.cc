#include "tenon/tests/passes/proofs/graph_terms.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tenon/ops/conv/conv2d_attrs.h"
#include "tenon/ops/conv/conv_rules.h"
#include "tenon/ops/elementwise/elementwise_attrs.h"
#include "tenon/ops/norm/nn_attrs.h"
#include "tenon/ops/norm/norm_attrs.h"
#include "tenon/ops/quantize/qnn_attrs.h"
#include "tenon/ops/reduce/reduce_attrs.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::Expr;
using Term = z3::expr;

// The element of `from` that broadcasts to element `i` of `to`.
std::size_t Broadcast(const Shape& from, const Shape& to, std::int64_t i) {
  std::int64_t at = 0, stride = 1;
  for (std::size_t back = 1; back <= to.size(); ++back) {
    const std::int64_t index = i % to[to.size() - back];
    i /= to[to.size() - back];
    if (back > from.size()) continue;
    const std::int64_t extent = from[from.size() - back];
    if (extent != 1) at += index * stride;
    stride *= extent;
  }
  return static_cast<std::size_t>(at);
}

double ElementOf(const NDArray& array, std::int64_t i) {
  const auto at = static_cast<std::size_t>(i);
  const DataType t = array.dtype();
  if (t == Float32) return static_cast<double>(array.data<float>()[at]);
  if (t == Float64) return array.data<double>()[at];
  if (t == Float16) return static_cast<double>(static_cast<const _Float16*>(array.raw())[at]);
  if (t == Int8) return array.data<std::int8_t>()[at];
  if (t == UInt8) return array.data<std::uint8_t>()[at];
  if (t == Int16) return array.data<std::int16_t>()[at];
  if (t == UInt16) return array.data<std::uint16_t>()[at];
  if (t == Int32) return array.data<std::int32_t>()[at];
  if (t == UInt32) return array.data<std::uint32_t>()[at];
  if (t.is_bool()) return array.data<bool>()[at] ? 1 : 0;
  throw std::invalid_argument("constants of this type are not known");
}

std::pair<double, double> RangeOf(DataType t) {
  if (t.is_bool()) return {0, 1};
  const double half = std::ldexp(1, t.bits() - 1);
  return t.is_int() ? std::pair(-half, half - 1) : std::pair(0.0, 2 * half - 1);
}

const ir::TensorTypeNode& TypeOf(const Expr& e) {
  return *e.checked_type().As<ir::TensorTypeNode>();
}

}  // namespace

z3::sort GraphTerms::SortOf(DataType type) {
  if (type.is_bool()) return context_.bool_sort();
  if (!type.is_float())
    return numbers_ == Numbers::kReals ? context_.int_sort()
                                       : context_.bv_sort(static_cast<unsigned>(type.bits()));
  if (numbers_ == Numbers::kReals) return context_.real_sort();
  if (type == Float16) return context_.fpa_sort(5, 11);
  if (type == BFloat16) return context_.fpa_sort(8, 8);
  return type == Float32 ? context_.fpa_sort(8, 24) : context_.fpa_sort(11, 53);
}

Term GraphTerms::Whole(const std::string& digits, DataType type) {
  return numbers_ == Numbers::kReals
             ? context_.int_val(digits.c_str())
             : context_.bv_val(digits.c_str(), static_cast<unsigned>(type.bits()));
}

Term GraphTerms::Number(double value, DataType type) {
  if (type.is_bool()) return context_.bool_val(value != 0);
  if (!type.is_float()) {
    const auto [low, high] = RangeOf(type);
    const double whole = std::clamp(std::trunc(value), low, high);
    // The highest integers of 64 bits are no doubles.
    const std::string text = type.bits() == 64 && whole == high
                                 ? (type.is_int() ? "9223372036854775807" : "18446744073709551615")
                                 : StrCat(static_cast<std::int64_t>(whole));
    return Whole(text, type);
  }
  if (!IsReal(type)) {
    const Term exact = context_.fpa_val(value);
    return type == Float64 ? exact : Converted(exact, Float64, type);
  }
  if (!std::isfinite(value)) throw std::invalid_argument("infinities are no real numbers");
  // value = significand * 2^exponent
  int exponent = 0;
  const auto significand = static_cast<std::int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  exponent -= 53;
  const Term whole = z3::to_real(context_.int_val(significand));
  Term power = context_.real_val(1);
  for (int i = 0; i < std::abs(exponent); ++i) power = power * context_.real_val(2);
  return (exponent < 0 ? whole / power : whole * power).simplify();
}

Term GraphTerms::IsNan(const Term& x) const {
  return Term(context_, Z3_mk_fpa_is_nan(context_, x));
}

Term GraphTerms::Less(const Term& a, const Term& b, DataType type) {
  if (type.is_bool()) return !a && b;
  return a.is_bv() && type.is_uint() ? z3::ult(a, b) : a < b;
}

Term GraphTerms::Extreme(bool is_greater, const Term& a, const Term& b, DataType type) {
  const Term chosen = z3::ite(is_greater ? Less(a, b, type) : Less(b, a, type), b, a);
  if (!a.is_fpa()) return chosen;
  return z3::ite(IsNan(a), a, z3::ite(IsNan(b), b, chosen));
}

Term GraphTerms::Clipped(const Term& x, double low, double high, DataType type) {
  return Extreme(false, Extreme(true, x, Number(low, type), type), Number(high, type), type);
}

Term GraphTerms::Converted(const Term& x, DataType from, DataType to) {
  if (from == to) return x;
  if (from.is_bool()) return z3::ite(x, Number(1, to), Number(0, to));
  if (to.is_bool()) {
    const Term zero = Number(0, from);
    return x.is_fpa() ? !Term(context_, Z3_mk_fpa_eq(context_, x, zero)) : x != zero;
  }
  if (numbers_ == Numbers::kReals) {
    if (from.is_float()) {
      if (to.is_float()) return x;
      // Toward zero, within the range.
      const Term zero = context_.real_val(0);
      const Term toward = z3::ite(x >= zero, Term(context_, Z3_mk_real2int(context_, x)),
                                  -Term(context_, Z3_mk_real2int(context_, -x)));
      return Clipped(toward, RangeOf(to).first, RangeOf(to).second, to);
    }
    if (to.is_float()) return z3::to_real(x);
    obligations_.push_back(x >= Number(RangeOf(to).first, to) &&
                           x <= Number(RangeOf(to).second, to));
    return x;
  }
  const z3::expr even(context_, Z3_mk_fpa_rne(context_));
  if (to.is_float()) {
    if (from.is_float())
      return Term(context_, Z3_mk_fpa_to_fp_float(context_, even, x, SortOf(to)));
    return Term(context_, from.is_int() ? Z3_mk_fpa_to_fp_signed(context_, even, x, SortOf(to))
                                        : Z3_mk_fpa_to_fp_unsigned(context_, even, x, SortOf(to)));
  }
  const auto bits = static_cast<unsigned>(to.bits());
  if (!from.is_float()) {
    const auto has = static_cast<unsigned>(from.bits());
    if (bits <= has) return bits == has ? x : x.extract(bits - 1, 0);
    return from.is_int() ? z3::sext(x, bits - has) : z3::zext(x, bits - has);
  }
  const z3::expr toward(context_, Z3_mk_fpa_rtz(context_));
  const Term within(context_, to.is_int() ? Z3_mk_fpa_to_sbv(context_, toward, x, bits)
                                          : Z3_mk_fpa_to_ubv(context_, toward, x, bits));
  // A power of two is exact in every floating type, or infinite.
  const double above = to.is_int() ? std::ldexp(1, to.bits() - 1) : std::ldexp(1, to.bits());
  const Term highest = Number(RangeOf(to).second, to), lowest = Number(RangeOf(to).first, to);
  const Term is_low = to.is_int() ? x <= Number(-above, from) : x <= Number(0, from);
  return z3::ite(IsNan(x), Number(0, to),
                 z3::ite(x >= Number(above, from), highest, z3::ite(is_low, lowest, within)));
}

Term GraphTerms::Root(const Term& x, DataType type) {
  if (!IsReal(type)) {
    const z3::expr even(context_, Z3_mk_fpa_rne(context_));
    return Term(context_, Z3_mk_fpa_sqrt(context_, even, x));
  }
  const Term root = context_.function("root", x.get_sort(), x.get_sort())(x);
  facts_.push_back(z3::implies(x >= 0, root >= 0 && root * root == x));
  facts_.push_back(z3::implies(x > 0, root > 0));
  return root;
}

Term GraphTerms::Unary(const std::string& op, const Term& x, DataType type) {
  if (op == "negative") return x.is_fpa() ? -x : Number(0, type) - x;
  if (op == "sqrt") return Root(x, type);
  if (op == "rsqrt") return Number(1, type) / Root(x, type);
  if (op == "nn.relu") return Extreme(true, x, Number(0, type), type);
  if (op == "abs") {
    if (x.is_fpa()) return Term(context_, Z3_mk_fpa_abs(context_, x));
    return type.is_uint() ? x : z3::ite(x < Number(0, type), Number(0, type) - x, x);
  }
  if (op == "nearbyint" || op == "floor") {
    if (!x.is_fpa()) throw std::invalid_argument("rounding needs bits");
    const z3::expr mode(context_,
                        op == "floor" ? Z3_mk_fpa_rtn(context_) : Z3_mk_fpa_rne(context_));
    return Term(context_, Z3_mk_fpa_round_to_integral(context_, mode, x));
  }
  // Any function; exp and sigmoid are above zero.
  const Term value = context_.function(op.c_str(), x.get_sort(), x.get_sort())(x);
  if (op != "exp" && op != "sigmoid" && op != "tanh")
    throw std::invalid_argument("the operator " + op + " is not known");
  if (op != "tanh")
    facts_.push_back(x.is_fpa()
                         ? IsNan(value) || !Term(context_, Z3_mk_fpa_is_negative(context_, value))
                         : value > 0);
  return value;
}

Term GraphTerms::Binary(const std::string& op, const Term& a, const Term& b, DataType type) {
  if (op == "add") return a + b;
  if (op == "subtract") return a - b;
  if (op == "multiply") return a * b;
  if (op == "maximum") return Extreme(true, a, b, type);
  if (op == "minimum") return Extreme(false, a, b, type);
  if (op == "less") return Less(a, b, type);
  if (op == "divide") {
    if (type.is_float()) return a / b;
    const Term zero = Number(0, type);
    return z3::ite(b == zero, zero, type.is_uint() ? z3::udiv(a, b) : a / b);
  }
  throw std::invalid_argument("the operator " + op + " is not known");
}

Terms GraphTerms::Input(const std::string& name, const Shape& shape, DataType dtype) {
  Terms terms{shape, dtype, {}};
  for (std::int64_t i = 0; i < NumElements(shape); ++i) {
    const Term element = context_.constant(StrCat(name, "[", i, "]").c_str(), SortOf(dtype));
    if (numbers_ == Numbers::kReals && element.is_int()) {
      facts_.push_back(element >= Number(RangeOf(dtype).first, dtype) &&
                       element <= Number(RangeOf(dtype).second, dtype));
    }
    terms.elements.push_back(element);
  }
  return terms;
}

Terms GraphTerms::Constant(const NDArray& array) {
  Terms terms{array.shape(), array.dtype(), {}};
  for (std::int64_t i = 0; i < array.size(); ++i) {
    // A double does not hold all integers of 64 bits.
    terms.elements.push_back(array.dtype() == Int64
                                 ? Whole(StrCat(array.data<std::int64_t>()[i]), Int64)
                                 : Number(ElementOf(array, i), array.dtype()));
  }
  return terms;
}

Terms GraphTerms::Of(const ir::Module& module) {
  const ir::FunctionNode& main = module.Main();
  for (const Expr& param : main.params)
    values_.insert_or_assign(
        param, Input(ir::Var(param).name(), ir::StaticShape(param.checked_type(), "an input"),
                     TypeOf(param).dtype));
  return Value(main.body);
}

const Terms& GraphTerms::Value(const Expr& e) {
  const auto found = values_.find(e);
  if (found != values_.end()) return found->second;
  Terms terms = Compute(e);
  return values_.insert_or_assign(e, std::move(terms)).first->second;
}

Terms GraphTerms::Compute(const Expr& e) {
  if (const auto* constant = e.As<ir::ConstantNode>()) return Constant(constant->data);
  if (const auto* item = e.As<ir::TupleGetItemNode>()) {
    const auto* call = item->tuple.As<ir::CallNode>();
    if (call != nullptr && item->index == 0 && call->op()->name == "nn.batch_norm")
      return BatchNorm(*call);
  }
  const auto* call = e.As<ir::CallNode>();
  if (call == nullptr || call->op() == nullptr)
    throw std::invalid_argument("only calls of operators are known");
  Terms terms = Call(*call);
  if (terms.shape != ir::StaticShape(e.checked_type(), "a value") || terms.dtype != TypeOf(e).dtype)
    throw std::invalid_argument("the type of " + call->op()->name + " is another one");
  return terms;
}

Terms GraphTerms::Elementwise(const ir::CallNode& call, const Function& function) {
  const auto& type = *call.checked_type.As<ir::TensorTypeNode>();
  Terms terms{ir::StaticShape(call.checked_type, "a value"), type.dtype, {}};
  std::vector<Terms> args;
  for (const Expr& arg : call.args) args.push_back(Value(arg));
  for (std::int64_t i = 0; i < NumElements(terms.shape); ++i) {
    std::vector<Term> given;
    for (const Terms& arg : args)
      given.push_back(arg.elements.at(Broadcast(arg.shape, terms.shape, i)));
    terms.elements.push_back(function(given));
  }
  return terms;
}

Terms GraphTerms::Call(const ir::CallNode& call) {
  const std::string& op = call.op()->name;
  const auto& type = *call.checked_type.As<ir::TensorTypeNode>();
  const Shape shape = ir::StaticShape(call.checked_type, "a value");
  if (op == "zeros" || op == "ones" || op == "zeros_like" || op == "ones_like") {
    const Term value = Number(op.starts_with("ones") ? 1 : 0, type.dtype);
    return {shape, type.dtype,
            std::vector<Term>(static_cast<std::size_t>(NumElements(shape)), value)};
  }
  if (op == "reshape" || op == "expand_dims" || op == "squeeze" || op == "copy") {
    Terms moved = Value(call.args[0]);
    moved.shape = shape;
    return moved;
  }
  if (op == "full" || op == "broadcast_to")
    return Elementwise(call, [](const std::vector<Term>& x) { return x[0]; });
  if (op == "cast") {
    const DataType from = TypeOf(call.args[0]).dtype;
    return Elementwise(
        call, [&](const std::vector<Term>& x) { return Converted(x[0], from, type.dtype); });
  }
  if (op == "clip") {
    const auto& bounds = call.attrs.As<ops::ClipAttrs>();
    return Elementwise(call, [&](const std::vector<Term>& x) {
      return Clipped(x[0], bounds.a_min, bounds.a_max, type.dtype);
    });
  }
  if (op == "where")
    return Elementwise(call, [](const std::vector<Term>& x) { return z3::ite(x[0], x[1], x[2]); });
  if (op == "nn.leaky_relu") {
    const Term alpha = Number(call.attrs.As<ops::LeakyReluAttrs>().alpha, type.dtype);
    return Elementwise(call, [&](const std::vector<Term>& x) {
      return z3::ite(x[0] > Number(0, type.dtype), x[0], x[0] * alpha);
    });
  }
  if (op == "power") {
    const Terms& exponent = Value(call.args[1]);
    const bool is_cube = exponent.elements.at(0).to_string() == Number(3, type.dtype).to_string();
    return Elementwise(call, [&](const std::vector<Term>& x) {
      return is_cube ? x[0] * x[0] * x[0] : x[0] * x[0];
    });
  }
  if (op == "sum") return SumOf(call);
  if (op == "nn.pad") return Padded(call);
  if (op == "nn.dense" || op == "qnn.dense") return Product(call, op.starts_with("qnn."));
  if (op == "nn.conv2d" || op == "qnn.conv2d") return Convolution(call, op.starts_with("qnn."));
  if (op == "nn.bias_add") {
    const Terms x = Value(call.args[0]), bias = Value(call.args[1]);
    const auto axis = static_cast<std::size_t>(
        ops::NormalAxis(call.attrs.As<ops::BiasAddAttrs>().axis, shape.size()));
    Terms sum = x;
    std::int64_t inner = 1;
    for (std::size_t d = axis + 1; d < shape.size(); ++d) inner *= shape[d];
    for (std::size_t i = 0; i < sum.elements.size(); ++i)
      sum.elements[i] = x.elements[i] + bias.elements.at(i / static_cast<std::size_t>(inner) %
                                                         bias.elements.size());
    return sum;
  }
  const DataType operand = TypeOf(call.args[0]).dtype;
  return Elementwise(call, [&](const std::vector<Term>& x) {
    return x.size() == 1 ? Unary(op, x[0], operand) : Binary(op, x[0], x[1], operand);
  });
}

Terms GraphTerms::SumOf(const ir::CallNode& call) {
  const auto& attrs = call.attrs.As<ops::ReduceAttrs>();
  const Terms x = Value(call.args[0]);
  std::vector<bool> is_reduced(x.shape.size(), !attrs.axis.has_value());
  for (const std::int64_t axis : attrs.axis.value_or(ops::Ints()))
    is_reduced[static_cast<std::size_t>(ops::NormalAxis(axis, x.shape.size()))] = true;
  Shape kept = x.shape;
  for (std::size_t d = 0; d < kept.size(); ++d) {
    if (is_reduced[d] != attrs.exclude) kept[d] = 1;
  }
  std::vector<Term> sums(static_cast<std::size_t>(NumElements(kept)), Number(0, x.dtype));
  for (std::size_t i = 0; i < x.elements.size(); ++i) {
    Term& sum = sums[Broadcast(kept, x.shape, static_cast<std::int64_t>(i))];
    sum = sum + x.elements[i];
  }
  return {ir::StaticShape(call.checked_type, "a sum"), x.dtype, std::move(sums)};
}

Terms GraphTerms::Padded(const ir::CallNode& call) {
  const auto& attrs = call.attrs.As<ops::PadAttrs>();
  const Terms x = Value(call.args[0]), value = Value(call.args[1]);
  Terms padded{ir::StaticShape(call.checked_type, "a padded value"), x.dtype, {}};
  for (std::int64_t i = 0; i < NumElements(padded.shape); ++i) {
    std::int64_t rest = i, at = 0, stride = 1;
    bool is_inside = true;
    for (std::size_t d = padded.shape.size(); d-- > 0;) {
      const std::int64_t index = rest % padded.shape[d] - attrs.pad_width[d][0];
      rest /= padded.shape[d];
      is_inside = is_inside && index >= 0 && index < x.shape[d];
      at += index * stride;
      stride *= x.shape[d];
    }
    padded.elements.push_back(is_inside ? x.elements.at(static_cast<std::size_t>(at))
                                        : value.elements.at(0));
  }
  return padded;
}

// Quantised operands are summed in int32 after their zero points are subtracted.
Terms GraphTerms::Product(const ir::CallNode& call, bool is_quantized) {
  const Terms a = Value(call.args[0]), b = Value(call.args[1]);
  const auto& type = *call.checked_type.As<ir::TensorTypeNode>();
  const auto depth = static_cast<std::size_t>(a.shape.back()), rows = a.elements.size() / depth,
             columns = b.elements.size() / depth;
  Terms product{ir::StaticShape(call.checked_type, "a product"), type.dtype, {}};
  const auto read = [&](const Terms& x, std::size_t i, std::size_t zero, std::size_t row) {
    Term value = Converted(x.elements.at(i), x.dtype, type.dtype);
    if (!is_quantized) return value;
    const Terms& zeros = Value(call.args[zero]);
    return value -
           Converted(zeros.elements.at(row % zeros.elements.size()), zeros.dtype, type.dtype);
  };
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      Term sum = Number(0, type.dtype);
      for (std::size_t k = 0; k < depth; ++k)
        sum = sum + read(a, r * depth + k, 2, 0) * read(b, c * depth + k, 3, c);
      product.elements.push_back(sum);
    }
  }
  return product;
}

// NCHW and OIHW.
Terms GraphTerms::Convolution(const ir::CallNode& call, bool is_quantized) {
  const auto& attrs = call.attrs.As<ops::Conv2DAttrs>();
  if (attrs.data_layout != "NCHW" || attrs.kernel_layout != "OIHW")
    throw std::invalid_argument("convolutions of other layouts are not known");
  const ops::ConvRules rules = ops::ConvRulesOf(attrs);
  const Terms x = Value(call.args[0]), w = Value(call.args[1]);
  const auto& type = *call.checked_type.As<ir::TensorTypeNode>();
  Terms made{ir::StaticShape(call.checked_type, "a convolution"), type.dtype, {}};
  const std::int64_t group_inputs = w.shape[1], group_filters = w.shape[0] / rules.groups;
  const auto centred = [&](const Terms& from, std::int64_t i, std::size_t zero,
                           std::int64_t filter) {
    const Term value =
        Converted(from.elements.at(static_cast<std::size_t>(i)), from.dtype, type.dtype);
    if (!is_quantized) return value;
    const Terms& zeros = Value(call.args[zero]);
    const auto at = static_cast<std::size_t>(filter) % zeros.elements.size();
    return value - Converted(zeros.elements.at(at), zeros.dtype, type.dtype);
  };
  for (std::int64_t i = 0; i < NumElements(made.shape); ++i) {
    std::int64_t rest = i;
    const std::int64_t column = rest % made.shape[3];
    const std::int64_t row = (rest /= made.shape[3]) % made.shape[2];
    const std::int64_t filter = (rest /= made.shape[2]) % made.shape[1],
                       image = rest / made.shape[1];
    Term sum = Number(0, type.dtype);
    for (std::int64_t c = 0; c < group_inputs; ++c) {
      for (std::int64_t h = 0; h < w.shape[2]; ++h) {
        for (std::int64_t v = 0; v < w.shape[3]; ++v) {
          const std::int64_t y = row * rules.strides[0] + h * rules.dilation[0] - rules.before[0];
          const std::int64_t z =
              column * rules.strides[1] + v * rules.dilation[1] - rules.before[1];
          if (y < 0 || z < 0 || y >= x.shape[2] || z >= x.shape[3]) continue;
          const std::int64_t channel = filter / group_filters * group_inputs + c;
          const std::int64_t at =
              ((image * x.shape[1] + channel) * x.shape[2] + y) * x.shape[3] + z;
          const std::int64_t tap = ((filter * group_inputs + c) * w.shape[2] + h) * w.shape[3] + v;
          sum = sum + centred(x, at, 2, 0) * centred(w, tap, 3, filter);
        }
      }
    }
    made.elements.push_back(sum);
  }
  return made;
}

Terms GraphTerms::BatchNorm(const ir::CallNode& call) {
  const auto& attrs = call.attrs.As<ops::BatchNormAttrs>();
  Terms x = Value(call.args[0]);
  const auto axis = static_cast<std::size_t>(ops::NormalAxis(attrs.axis, x.shape.size()));
  std::int64_t inner = 1;
  for (std::size_t d = axis + 1; d < x.shape.size(); ++d) inner *= x.shape[d];
  for (std::size_t i = 0; i < x.elements.size(); ++i) {
    const std::size_t channel =
        i / static_cast<std::size_t>(inner) % static_cast<std::size_t>(x.shape[axis]);
    const auto of = [&](std::size_t arg) { return Value(call.args[arg]).elements.at(channel); };
    Term y = (x.elements[i] - of(3)) / Root(of(4) + Number(attrs.epsilon, x.dtype), x.dtype);
    if (attrs.scale) y = y * of(1);
    if (attrs.center) y = y + of(2);
    x.elements[i] = y;
  }
  return x;
}

Term Differ(const Terms& a, const Terms& b) {
  if (a.shape != b.shape || a.dtype != b.dtype) throw std::invalid_argument("the types differ");
  Term any = a.elements.at(0).ctx().bool_val(false);
  for (std::size_t i = 0; i < a.elements.size(); ++i)
    any = any || a.elements[i] != b.elements.at(i);
  return any;
}

}  // namespace tenon::passes
