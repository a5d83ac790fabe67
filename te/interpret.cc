// Elements are computed in blocks: an expression evaluates to one column of values for the block,
// so the cost of walking the expression is shared by its elements. Integers are computed in int64
// and wrapped to their type, floats in double and rounded to theirs.
#include "tenon/te/interpret.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/te/scalar_arithmetic.h"

namespace tenon::te {
namespace {

using loop::BinaryOp;
using loop::ExprKind;
using loop::Intrinsic;

constexpr std::int64_t kBlock = 1024;

struct Column {
  bool is_float = false;
  std::vector<double> f;
  std::vector<std::int64_t> i;
  std::size_t size() const { return is_float ? f.size() : i.size(); }
};

Column MakeColumn(DataType t, std::size_t size) {
  Column c;
  c.is_float = t.is_float();
  if (c.is_float) {
    c.f.resize(size);
  } else {
    c.i.resize(size);
  }
  return c;
}

// Calls `visit` with a pointer to the element type of `t`.
template <typename Visit>
void WithElementType(DataType t, Visit visit) {
  if (t == Float32) return visit(static_cast<float*>(nullptr));
  if (t == Float64) return visit(static_cast<double*>(nullptr));
  if (t.is_bool() || t == UInt8) return visit(static_cast<std::uint8_t*>(nullptr));
  if (t == Int8) return visit(static_cast<std::int8_t*>(nullptr));
  if (t == Int16) return visit(static_cast<std::int16_t*>(nullptr));
  if (t == UInt16) return visit(static_cast<std::uint16_t*>(nullptr));
  if (t == Int32) return visit(static_cast<std::int32_t*>(nullptr));
  if (t == UInt32) return visit(static_cast<std::uint32_t*>(nullptr));
  if (t == Int64 || t == UInt64) return visit(static_cast<std::int64_t*>(nullptr));
  if (t == Float16) return visit(static_cast<_Float16*>(nullptr));
  throw Unimplemented(StrCat("the interpreter has no values of type ", t.ToString()));
}

using Arrays = std::unordered_map<const loop::BufferNode*, NDArray>;
using Extents = std::unordered_map<Expr, std::int64_t, loop::ExprHash, loop::ExprSame>;

// Evaluates expressions for one block of elements.
class Evaluator {
 public:
  Evaluator(const Arrays& arrays, const Extents& extents) : arrays_(arrays), extents_(extents) {}

  void Start(std::size_t size) {
    size_ = size;
    scopes_.assign(1, {});
  }
  void Bind(const Expr& var, Column values) {
    scopes_.front().insert_or_assign(var.get(), std::move(values));
  }
  // Forgets what depends on rebound variables.
  void Restart(std::unordered_map<const loop::ExprNode*, Column> bound) {
    scopes_.assign(1, std::move(bound));
  }

  const Column& Evaluate(const Expr& e) {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto found = scope->find(e.get());
      if (found != scope->end()) return found->second;
    }
    Column value = Compute(e);
    return scopes_.back().insert_or_assign(e.get(), std::move(value)).first->second;
  }

 private:
  Column Constant(DataType t, double f, std::int64_t i) {
    Column c = MakeColumn(t, size_);
    std::fill(c.f.begin(), c.f.end(), f);
    std::fill(c.i.begin(), c.i.end(), i);
    return c;
  }

  Column Compute(const Expr& e) {
    const DataType t = e.dtype();
    switch (e.kind()) {
      case ExprKind::kIntImm:
        return Constant(t, 0, e.As<loop::IntImmNode>()->value);
      case ExprKind::kFloatImm:
        return Constant(t, RoundTo(t, e.As<loop::FloatImmNode>()->value), 0);
      case ExprKind::kVar: {
        const auto found = extents_.find(e);
        if (found == extents_.end())
          throw InvalidArgument(
              StrCat("the variable ", e.As<loop::VarNode>()->name, " has no value"));
        return Constant(t, 0, found->second);
      }
      case ExprKind::kCast:
        return ComputeCast(t, Evaluate(e.As<loop::CastNode>()->value),
                           e.As<loop::CastNode>()->value.dtype());
      case ExprKind::kBinary:
        return ComputeBinary(*e.As<loop::BinaryNode>());
      case ExprKind::kNot: {
        Column c = Evaluate(e.As<loop::NotNode>()->a);
        for (std::int64_t& v : c.i) v = v == 0 ? 1 : 0;
        return c;
      }
      case ExprKind::kSelect:
        return ComputeSelect(*e.As<loop::SelectNode>());
      case ExprKind::kLoad:
        return ComputeLoad(*e.As<loop::LoadNode>());
      case ExprKind::kCall:
        return ComputeCall(*e.As<loop::CallNode>());
      case ExprKind::kLet: {
        const auto& let = *e.As<loop::LetNode>();
        Column value = Evaluate(let.value);
        scopes_.back().insert_or_assign(let.var.get(), std::move(value));
        return Evaluate(let.body);
      }
      case ExprKind::kExternCall:
        throw Unimplemented(
            StrCat("the interpreter cannot call ", e.As<loop::ExternCallNode>()->symbol));
      case ExprKind::kRamp:
      case ExprKind::kBroadcast:
      case ExprKind::kShuffle:
        break;
    }
    Unreachable("tensor expressions are scalar");
  }

  Column ComputeCast(DataType to, const Column& value, DataType from) {
    Column c = MakeColumn(to, size_);
    for (std::size_t k = 0; k < size_; ++k) {
      if (to.is_float()) {
        const double v = value.is_float ? value.f[k]
                         : from.is_uint() && from.bits() == 64
                             ? static_cast<double>(static_cast<std::uint64_t>(value.i[k]))
                             : static_cast<double>(value.i[k]);
        c.f[k] = RoundTo(to, v);
      } else if (value.is_float) {
        const double v = value.f[k];
        // Out of range is not defined; keep away from undefined behaviour here.
        const bool fits = v > -9.2e18 && v < 9.2e18;
        c.i[k] =
            to.is_bool() ? (v != 0 ? 1 : 0) : WrapTo(to, fits ? static_cast<std::int64_t>(v) : 0);
      } else {
        c.i[k] = WrapTo(to, value.i[k]);
      }
    }
    return c;
  }

  Column ComputeBinary(const loop::BinaryNode& n) {
    // Copies: evaluating the second operand may move the first.
    const Column a = Evaluate(n.a);
    const Column& b = Evaluate(n.b);
    Column c = MakeColumn(n.type, size_);
    const DataType operand = n.a.dtype();
    const bool unsigned64 = operand.is_uint() && operand.bits() == 64;
    for (std::size_t k = 0; k < size_; ++k) {
      if (loop::IsComparison(n.op)) {
        c.i[k] = a.is_float   ? Compare(n.op, a.f[k], b.f[k])
                 : unsigned64 ? Compare(n.op, static_cast<std::uint64_t>(a.i[k]),
                                        static_cast<std::uint64_t>(b.i[k]))
                              : Compare(n.op, a.i[k], b.i[k]);
      } else if (a.is_float) {
        c.f[k] = RoundTo(n.type, ApplyFloat(n.op, a.f[k], b.f[k]));
      } else {
        c.i[k] = WrapTo(n.type, ApplyInt(n.op, n.type, a.i[k], b.i[k]));
      }
    }
    return c;
  }

  Column ComputeSelect(const loop::SelectNode& n) {
    const Column condition = Evaluate(n.condition);
    const Column on_true = Guarded(n.on_true, condition, true);
    const Column on_false = Guarded(n.on_false, condition, false);
    Column c = MakeColumn(n.type, size_);
    for (std::size_t k = 0; k < size_; ++k) {
      const Column& side = condition.i[k] != 0 ? on_true : on_false;
      if (c.is_float) {
        c.f[k] = side.f[k];
      } else {
        c.i[k] = side.i[k];
      }
    }
    return c;
  }

  // Evaluates where the condition is `wanted`; elsewhere loads give 0.
  Column Guarded(const Expr& e, const Column& condition, bool wanted) {
    std::vector<bool> outer = active_;
    if (active_.empty()) active_.assign(size_, true);
    for (std::size_t k = 0; k < size_; ++k)
      active_[k] = active_[k] && (condition.i[k] != 0) == wanted;
    scopes_.emplace_back();
    Column value = Evaluate(e);
    scopes_.pop_back();
    active_ = std::move(outer);
    return value;
  }

  Column ComputeLoad(const loop::LoadNode& n) {
    const auto found = arrays_.find(n.buffer.get());
    if (found == arrays_.end())
      throw InvalidArgument(StrCat("the tensor ", n.buffer->name, " has no value"));
    const NDArray& array = found->second;
    std::vector<std::int64_t> offsets(size_, 0);
    for (std::size_t d = 0; d < n.indices.size(); ++d) {
      const Column& index = Evaluate(n.indices[d]);
      const std::int64_t extent = array.shape()[d];
      for (std::size_t k = 0; k < size_; ++k) {
        if (!active_.empty() && !active_[k]) continue;
        if (index.i[k] < 0 || index.i[k] >= extent)
          throw OutOfRange(StrCat("index ", index.i[k], " of dimension ", d, " of ", n.buffer->name,
                                  ", whose extent is ", extent));
        offsets[k] = offsets[k] * extent + index.i[k];
      }
    }
    Column c = MakeColumn(n.type, size_);
    const auto read = [&](auto* type) {
      using T = std::remove_pointer_t<decltype(type)>;
      const auto* data = static_cast<const T*>(array.raw());
      for (std::size_t k = 0; k < size_; ++k) {
        if (!active_.empty() && !active_[k]) continue;
        if (c.is_float) {
          c.f[k] = static_cast<double>(data[offsets[k]]);
        } else {
          c.i[k] = static_cast<std::int64_t>(data[offsets[k]]);
        }
      }
    };
    WithElementType(n.type, read);
    return c;
  }

  Column ComputeCall(const loop::CallNode& n) {
    std::vector<Column> args;
    for (const Expr& arg : n.args) args.push_back(Evaluate(arg));
    Column c = MakeColumn(n.type, size_);
    for (std::size_t k = 0; k < size_; ++k) {
      switch (n.intrinsic) {
        case Intrinsic::kPow:
          c.f[k] = RoundTo(n.type, std::pow(args[0].f[k], args[1].f[k]));
          break;
        case Intrinsic::kFmod:
          c.f[k] = RoundTo(n.type, std::fmod(args[0].f[k], args[1].f[k]));
          break;
        case Intrinsic::kAtan2:
          c.f[k] = RoundTo(n.type, std::atan2(args[0].f[k], args[1].f[k]));
          break;
        case Intrinsic::kFma:
          c.f[k] = RoundTo(n.type, std::fma(args[0].f[k], args[1].f[k], args[2].f[k]));
          break;
        case Intrinsic::kIsNan:
          c.i[k] = std::isnan(args[0].f[k]);
          break;
        case Intrinsic::kIsInf:
          c.i[k] = std::isinf(args[0].f[k]);
          break;
        case Intrinsic::kIsFinite:
          c.i[k] = std::isfinite(args[0].f[k]);
          break;
        case Intrinsic::kPopcount: {
          const std::uint64_t mask = n.type.bits() == 64 ? ~0ULL : (1ULL << n.type.bits()) - 1;
          c.i[k] = __builtin_popcountll(static_cast<std::uint64_t>(args[0].i[k]) & mask);
          break;
        }
        default:
          if (c.is_float) {
            c.f[k] = RoundTo(n.type, ApplyUnary(n.intrinsic, args[0].f[k]));
          } else if (n.intrinsic == Intrinsic::kAbs) {
            c.i[k] = WrapTo(n.type, n.type.is_uint() ? args[0].i[k] : std::abs(args[0].i[k]));
          } else if (n.intrinsic == Intrinsic::kSign) {
            c.i[k] = n.type.is_uint() ? args[0].i[k] != 0 : (args[0].i[k] > 0) - (args[0].i[k] < 0);
          } else {
            c.i[k] = args[0].i[k];  // rounding an integer
          }
      }
    }
    return c;
  }

  const Arrays& arrays_;
  const Extents& extents_;
  std::size_t size_ = 0;
  std::vector<std::unordered_map<const loop::ExprNode*, Column>> scopes_;
  std::vector<bool> active_;  // empty: all
};

class Interpreter {
 public:
  void Give(const Tensor& tensor, const NDArray& array) {
    const loop::Buffer& buffer = tensor.buffer();
    if (array.dtype() != buffer->dtype || array.shape().size() != buffer->shape.size())
      throw InvalidArgument(StrCat("the value of ", buffer->name, " has the type ",
                                   array.dtype().ToString(), " ", ShapeToString(array.shape()),
                                   "; ", buffer->dtype.ToString(), " of rank ",
                                   buffer->shape.size(), " is needed"));
    for (std::size_t d = 0; d < buffer->shape.size(); ++d) {
      const Expr& extent = buffer->shape[d];
      if (extent.kind() == ExprKind::kVar) extents_.emplace(extent, array.shape()[d]);
      if (const auto* known = extent.As<loop::IntImmNode>();
          known != nullptr && known->value != array.shape()[d])
        throw InvalidArgument(StrCat("the value of ", buffer->name, " has the extent ",
                                     array.shape()[d], " in dimension ", d, "; ", known->value,
                                     " is needed"));
    }
    arrays_[buffer.get()] = array;
  }

  NDArray Get(const Tensor& tensor) { return arrays_.at(tensor.buffer().get()); }

  void Compute(const OperationNode& op) {
    Shape shape;
    for (const loop::Expr& extent : op.outputs[0]->shape) shape.push_back(Scalar(extent));
    for (const loop::Buffer& buffer : op.outputs)
      arrays_[buffer.get()] = NDArray::Empty(shape, buffer->dtype);
    const std::int64_t count = NumElements(shape);
    for (std::int64_t start = 0; start < count; start += kBlock)
      ComputeBlock(op, shape, start, std::min(kBlock, count - start));
  }

 private:
  std::int64_t Scalar(const Expr& e) {
    Evaluator evaluator(arrays_, extents_);
    evaluator.Start(1);
    return evaluator.Evaluate(e).i[0];
  }

  void ComputeBlock(const OperationNode& op, const Shape& shape, std::int64_t start,
                    std::int64_t size) {
    const auto n = static_cast<std::size_t>(size);
    Evaluator evaluator(arrays_, extents_);
    evaluator.Start(n);
    std::unordered_map<const loop::ExprNode*, Column> axes;
    std::int64_t inner = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
      Column index = MakeColumn(Int64, n);
      for (std::size_t k = 0; k < n; ++k)
        index.i[k] = (start + static_cast<std::int64_t>(k)) / inner % shape[d];
      axes.emplace(op.axes[d].var.get(), std::move(index));
      inner *= shape[d];
    }
    std::vector<Column> results;
    if (!op.is_reduction()) {
      evaluator.Restart(axes);
      for (const Expr& body : op.body) results.push_back(evaluator.Evaluate(body));
    } else {
      results = Reduce(op, evaluator, axes, n);
    }
    for (std::size_t i = 0; i < results.size(); ++i) Write(op.outputs[i], results[i], start);
  }

  std::vector<Column> Reduce(const OperationNode& op, Evaluator& evaluator,
                             const std::unordered_map<const loop::ExprNode*, Column>& axes,
                             std::size_t n) {
    const Combiner& combiner = *op.combiner;
    evaluator.Restart(axes);
    std::vector<Column> result;
    for (const Expr& identity : combiner.identity) result.push_back(evaluator.Evaluate(identity));
    std::vector<std::int64_t> low, extent, at;
    std::int64_t count = 1;
    for (const IterVar& axis : op.reduce_axes) {
      low.push_back(Scalar(axis.min));
      extent.push_back(Scalar(axis.extent));
      at.push_back(0);
      count *= extent.back();
    }
    for (std::int64_t step = 0; step < count; ++step) {
      auto bound = axes;
      for (std::size_t r = 0; r < at.size(); ++r) {
        Column index = MakeColumn(Int64, n);
        std::fill(index.i.begin(), index.i.end(), low[r] + at[r]);
        bound.emplace(op.reduce_axes[r].var.get(), std::move(index));
      }
      evaluator.Restart(std::move(bound));
      std::unordered_map<const loop::ExprNode*, Column> sides;
      for (std::size_t i = 0; i < op.body.size(); ++i) {
        sides.emplace(combiner.rhs[i].get(), evaluator.Evaluate(op.body[i]));
        sides.emplace(combiner.lhs[i].get(), std::move(result[i]));
      }
      evaluator.Restart(std::move(sides));
      for (std::size_t i = 0; i < op.body.size(); ++i)
        result[i] = evaluator.Evaluate(combiner.result[i]);
      for (std::size_t r = at.size(); r-- > 0;) {
        if (++at[r] < extent[r]) break;
        at[r] = 0;
      }
    }
    return result;
  }

  void Write(const loop::Buffer& buffer, const Column& values, std::int64_t start) {
    const NDArray& array = arrays_.at(buffer.get());
    WithElementType(buffer->dtype, [&](auto* type) {
      using T = std::remove_pointer_t<decltype(type)>;
      auto* data = static_cast<T*>(array.raw()) + start;
      for (std::size_t k = 0; k < values.size(); ++k)
        data[k] = values.is_float ? static_cast<T>(values.f[k]) : static_cast<T>(values.i[k]);
    });
  }

  Arrays arrays_;
  Extents extents_;
};

}  // namespace

std::vector<NDArray> Interpret(const std::vector<Tensor>& outputs,
                               const std::vector<std::pair<Tensor, NDArray>>& inputs) {
  Interpreter interpreter;
  for (const auto& [tensor, array] : inputs) interpreter.Give(tensor, array);
  for (const Operation& op : PostOrder(outputs)) {
    if (!op->is_placeholder()) interpreter.Compute(*op);
  }
  std::vector<NDArray> results;
  for (const Tensor& output : outputs) results.push_back(interpreter.Get(output));
  return results;
}

}  // namespace tenon::te
