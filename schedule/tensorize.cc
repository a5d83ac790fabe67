// Each axis of the operation is written as base + inside, where base depends only on the loops
// outside, and inside runs over [0, extent) once while the loops inside run. The last axes' insides
// are replaced by the intrinsic's axes. After that both expressions must be the same tree, with a
// load of the stage for each placeholder of the intrinsic. The difference between the indices of
// such a load and those of the placeholder is where its tile begins.
#include "tenon/schedule/tensorize.h"

#include <algorithm>
#include <optional>

#include "tenon/loop/print.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {
namespace {

using loop::Expr;
using loop::ExprKind;
using te::OperationNode;
using te::Tile;

// Compares a stage's expression with an intrinsic's and finds the tiles of the placeholders.
class ExprMatcher {
 public:
  explicit ExprMatcher(const te::TensorIntrinsicNode& intrinsic)
      : intrinsic_(intrinsic), tiles_(intrinsic.inputs.size()) {
    for (const auto* axes : {&intrinsic.op->axes, &intrinsic.op->reduce_axes}) {
      for (const IterVar& axis : *axes)
        bounds_.Bind(axis.var, {0, axis.extent.As<loop::IntImmNode>()->value - 1});
    }
  }

  bool Match(const Expr& e, const Expr& pattern) {
    if (e.dtype() != pattern.dtype()) return false;
    if (const auto* load = pattern.As<loop::LoadNode>()) {
      const auto* actual = e.As<loop::LoadNode>();
      return actual != nullptr && MatchLoad(*actual, *load);
    }
    if (e.kind() != pattern.kind()) return false;
    switch (pattern.kind()) {
      case ExprKind::kCast:
        return Match(e.As<loop::CastNode>()->value, pattern.As<loop::CastNode>()->value);
      case ExprKind::kBinary:
        return MatchBinary(*e.As<loop::BinaryNode>(), *pattern.As<loop::BinaryNode>());
      case ExprKind::kNot:
        return Match(e.As<loop::NotNode>()->a, pattern.As<loop::NotNode>()->a);
      case ExprKind::kSelect: {
        const auto &a = *e.As<loop::SelectNode>(), &b = *pattern.As<loop::SelectNode>();
        return a.lazy == b.lazy && Match(a.condition, b.condition) && Match(a.on_true, b.on_true) &&
               Match(a.on_false, b.on_false);
      }
      case ExprKind::kCall: {
        const auto &a = *e.As<loop::CallNode>(), &b = *pattern.As<loop::CallNode>();
        return a.intrinsic == b.intrinsic && MatchAll(a.args, b.args);
      }
      case ExprKind::kExternCall: {
        const auto &a = *e.As<loop::ExternCallNode>(), &b = *pattern.As<loop::ExternCallNode>();
        return a.callee == b.callee && MatchAll(a.args, b.args);
      }
      default:
        return loop::StructuralEqual(e, pattern);
    }
  }

  std::vector<Tile> Tiles() const {
    std::vector<Tile> tiles;
    for (const std::optional<Tile>& tile : tiles_) {
      CheckInvariant(tile.has_value(), "every input of an intrinsic is read by its compute");
      tiles.push_back(*tile);
    }
    return tiles;
  }

 private:
  bool MatchAll(const std::vector<Expr>& a, const std::vector<Expr>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!Match(a[i], b[i])) return false;
    }
    return true;
  }

  bool MatchBinary(const loop::BinaryNode& a, const loop::BinaryNode& b) {
    if (a.op != b.op) return false;
    const std::vector<std::optional<Tile>> before = tiles_;
    if (Match(a.a, b.a) && Match(a.b, b.b)) return true;
    tiles_ = before;
    const bool commutes = a.op == loop::BinaryOp::kAdd || a.op == loop::BinaryOp::kMul ||
                          a.op == loop::BinaryOp::kMin || a.op == loop::BinaryOp::kMax;
    if (commutes && Match(a.a, b.b) && Match(a.b, b.a)) return true;
    // Index arithmetic may be written in many ways.
    tiles_ = before;
    const Expr left = loop::Binary(a.op, a.a, a.b), right = loop::Binary(b.op, b.a, b.b);
    return a.type == Int64 &&
           loop::StructuralEqual(loop::Simplify(left, bounds_), loop::Simplify(right, bounds_));
  }

  bool MatchLoad(const loop::LoadNode& load, const loop::LoadNode& pattern) {
    const std::size_t rank = pattern.indices.size();
    if (load.indices.size() < rank) return false;
    const std::size_t first = load.indices.size() - rank;
    std::vector<Expr> base = load.indices;
    for (std::size_t d = 0; d < rank; ++d)
      base[first + d] = load.indices[first + d] - pattern.indices[d];
    for (Expr& index : base) {
      index = loop::Simplify(index, bounds_);
      if (UsesIntrinsicAxis(index)) return false;
    }
    std::size_t input = 0;
    while (!(intrinsic_.inputs[input].buffer() == pattern.buffer)) ++input;
    std::optional<Tile>& tile = tiles_[input];
    if (!tile) {
      std::vector<std::int64_t> extents;
      for (const Expr& extent : pattern.buffer->shape)
        extents.push_back(extent.As<loop::IntImmNode>()->value);
      tile = Tile(load.buffer, base, std::move(extents));
      bases_.emplace_back(input, base);
      return true;
    }
    if (!(tile->buffer() == load.buffer)) return false;
    const auto same = std::find_if(bases_.rbegin(), bases_.rend(),
                                   [&](const auto& entry) { return entry.first == input; });
    for (std::size_t d = 0; d < base.size(); ++d) {
      if (!loop::StructuralEqual(same->second[d], base[d])) return false;
    }
    return true;
  }

  bool UsesIntrinsicAxis(const Expr& e) const {
    const auto used = [&](const IterVar& axis) { return loop::UsesVar(e, axis.var); };
    return std::any_of(intrinsic_.op->axes.begin(), intrinsic_.op->axes.end(), used) ||
           std::any_of(intrinsic_.op->reduce_axes.begin(), intrinsic_.op->reduce_axes.end(), used);
  }

  const te::TensorIntrinsicNode& intrinsic_;
  loop::Bounds bounds_;
  std::vector<std::optional<Tile>> tiles_;
  std::vector<std::pair<std::size_t, std::vector<Expr>>> bases_;  // the newest of an input counts
};

class Matcher {
 public:
  explicit Matcher(const TensorizeSite& site)
      : site_(site),
        op_(*site.stage.op()),
        intrinsic_(*site.stage.marks().tensorize->intrinsic),
        pattern_(*intrinsic_.op),
        inside_(site.stage.leaves().begin() + static_cast<std::ptrdiff_t>(site.position),
                site.stage.leaves().end()) {
    for (const IterVar& leaf : inside_) {
      first_[leaf.var] = 0;
      if (loop::UsesVar(site.guard, leaf.var))
        Refuse(StrCat("the condition ", loop::Print(site.guard), " depends on loop ",
                      leaf.var.name(),
                      " inside; split by factors that divide, so that no part is guarded"));
    }
    // An outer loop that runs once stays at its beginning, too.
    for (const IterVar& leaf : site.stage.leaves()) {
      if (loop::IsConstInt(site.extents.at(leaf.var), 1)) first_[leaf.var] = 0;
    }
  }

  TensorizeMatch Match() {
    MatchAxes(op_.axes, pattern_.axes, "data");
    MatchAxes(op_.reduce_axes, pattern_.reduce_axes, "reduce");
    ExprMatcher exprs(intrinsic_);
    for (std::size_t i = 0; i < site_.body.size(); ++i) {
      const Expr value = loop::Substitute(site_.body[i], values_);
      if (exprs.Match(value, pattern_.body[i])) continue;
      Refuse(StrCat("the computes do not match: ", loop::Print(value),
                    " is computed, and by the "
                    "intrinsic ",
                    loop::Print(pattern_.body[i])));
    }
    return {exprs.Tiles(), OutputTiles()};
  }

 private:
  [[noreturn]] void Refuse(const std::string& reason) const {
    const TensorizeMark& mark = *site_.stage.marks().tensorize;
    throw InvalidArgument(StrCat("tensorize: stage ", site_.stage.name(), ", axis ",
                                 mark.axis.var.name(), ", intrinsic ", intrinsic_.name, ": ",
                                 reason));
  }

  // The last axes of the stage are the intrinsic's, the others stay at one value inside.
  void MatchAxes(const std::vector<IterVar>& axes, const std::vector<IterVar>& pattern,
                 const char* kind) {
    if (axes.size() < pattern.size())
      Refuse(StrCat("the stage has ", axes.size(), " ", kind, " axes and the intrinsic ",
                    pattern.size()));
    const std::size_t outer = axes.size() - pattern.size();
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const std::int64_t wanted =
          i < outer ? 1 : pattern[i - outer].extent.As<loop::IntImmNode>()->value;
      const std::int64_t extent = ExtentInside(axes[i]);
      if (extent != wanted) {
        Refuse(StrCat("the loops inside run over ", extent, " values of ", kind, " axis ",
                      axes[i].var.name(), "; the intrinsic needs ", wanted));
      }
      const Expr base = Base(axes[i]);
      values_[axes[i].var] = i < outer ? base : base + pattern[i - outer].var;
    }
  }

  Expr Base(const IterVar& axis) const {
    return loop::Simplify(loop::Substitute(site_.roots.at(axis.var), first_));
  }

  // How many values the axis takes inside. The loops inside must be the digits of a number.
  std::int64_t ExtentInside(const IterVar& axis) const {
    loop::Bounds bounds;
    for (const IterVar& leaf : inside_) {
      if (const auto* extent = site_.extents.at(leaf.var).As<loop::IntImmNode>())
        bounds.Bind(leaf.var, {0, extent->value - 1});
    }
    const loop::Linear value = loop::ToLinear(site_.roots.at(axis.var), bounds);
    std::vector<std::pair<std::int64_t, std::int64_t>> digits;  // coefficient, extent
    for (const auto& [atom, coefficient] : value.terms) {
      for (const IterVar& leaf : inside_) {
        if (!loop::UsesVar(atom, leaf.var)) continue;
        const auto* extent = site_.extents.at(leaf.var).As<loop::IntImmNode>();
        if (!atom.same_as(leaf.var) || extent == nullptr)
          Refuse(StrCat("axis ", axis.var.name(), " is ", loop::Print(value.ToExpr()),
                        " inside; its loops there must have constant extents and not be fused"));
        if (extent->value != 1) digits.emplace_back(coefficient, extent->value);
      }
    }
    std::sort(digits.begin(), digits.end());
    std::int64_t count = 1;
    for (const auto& [coefficient, extent] : digits) {
      if (coefficient != count)
        Refuse(StrCat("axis ", axis.var.name(), " is ", loop::Print(value.ToExpr()),
                      " inside, which leaves gaps"));
      count *= extent;
    }
    return count;
  }

  std::vector<Tile> OutputTiles() const {
    std::vector<Expr> base;
    for (const IterVar& axis : op_.axes) base.push_back(Base(axis));
    std::vector<std::int64_t> extents;
    for (const IterVar& axis : pattern_.axes)
      extents.push_back(axis.extent.As<loop::IntImmNode>()->value);
    std::vector<Tile> tiles;
    for (const loop::Buffer& output : op_.outputs) tiles.emplace_back(output, base, extents);
    return tiles;
  }

  const TensorizeSite& site_;
  const OperationNode& op_;
  const te::TensorIntrinsicNode& intrinsic_;
  const OperationNode& pattern_;
  std::vector<IterVar> inside_;
  ByVar first_;   // the loops inside, at their first iteration
  ByVar values_;  // the operation's axes, in terms of the loops outside and the intrinsic's axes
};

bool SameReducer(const OperationNode& op, const OperationNode& pattern) {
  if (op.is_reduction() != pattern.is_reduction()) return false;
  if (!op.is_reduction()) return true;
  const te::Combiner &a = *op.combiner, &b = *pattern.combiner;
  if (a.lhs.size() != b.lhs.size()) return false;
  ByVar names;
  for (std::size_t i = 0; i < a.lhs.size(); ++i) {
    names[b.lhs[i]] = a.lhs[i];
    names[b.rhs[i]] = a.rhs[i];
  }
  for (std::size_t i = 0; i < a.result.size(); ++i) {
    if (!loop::StructuralEqual(a.result[i], loop::Substitute(b.result[i], names)) ||
        !loop::StructuralEqual(a.identity[i], b.identity[i]))
      return false;
  }
  return true;
}

}  // namespace

TensorizeMatch MatchTensorize(const TensorizeSite& site) { return Matcher(site).Match(); }

Stage& Stage::Tensorize(const IterVar& axis, const te::TensorIntrinsic& intrinsic) {
  Position("tensorize", axis);
  if (!intrinsic) Refuse("tensorize", &axis, "the intrinsic is null");
  const auto refuse = [&](const std::string& reason) {
    Refuse("tensorize", &axis, StrCat("intrinsic ", intrinsic->name, ": ", reason));
  };
  if (!op_->is_compute()) refuse("only computes are tensorized");
  if (marks_.tensorize)
    refuse(StrCat("the stage is tensorized at axis ", marks_.tensorize->axis.var.name(),
                  " already; only one place is allowed"));
  const OperationNode& pattern = *intrinsic->op;
  if (op_->outputs.size() != pattern.outputs.size())
    refuse(StrCat("the stage has ", op_->outputs.size(), " outputs and the intrinsic ",
                  pattern.outputs.size()));
  for (std::size_t i = 0; i < pattern.outputs.size(); ++i) {
    if (op_->outputs[i]->dtype != pattern.outputs[i]->dtype)
      refuse(StrCat("output ", i, " has the data type ", op_->outputs[i]->dtype.ToString(),
                    " and the intrinsic's ", pattern.outputs[i]->dtype.ToString()));
  }
  if (!SameReducer(*op_, pattern))
    refuse("the stage and the intrinsic do not reduce in the same way");
  marks_.tensorize = TensorizeMark{leaves_[Position("tensorize", axis)], intrinsic};
  record_->emplace_back(TensorizeStep{RefTo(axis), intrinsic});
  return *this;
}

}  // namespace tenon::schedule
