// A region is a set of values connected by edges without a mark. Its marks say to which generator
// it belongs.
#include "tenon/passes/partition/marked_regions.h"

#include "tenon/ir/visit.h"
#include "tenon/ops/device/codegen_attrs.h"
#include "tenon/ops/known_ops.h"
#include "tenon/passes/partition/union_find.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;
using ir::ExprKind;

bool IsBegin(const Expr& e) {
  const auto* call = e.As<CallNode>();
  return call != nullptr && call->callee == ops::Known().compiler_begin;
}
bool IsEnd(const Expr& e) {
  const auto* call = e.As<CallNode>();
  return call != nullptr && call->callee == ops::Known().compiler_end;
}
bool IsMark(const Expr& e) { return IsBegin(e) || IsEnd(e); }

const std::string& NamedBy(const Expr& mark) {
  return mark.As<CallNode>()->attrs.As<ops::CompilerAttrs>().compiler;
}

// Whether a region can contain the expression.
bool IsMember(const Expr& e) {
  return !IsMark(e) && (e.kind() == ExprKind::kCall || e.kind() == ExprKind::kTuple ||
                        e.kind() == ExprKind::kTupleGetItem);
}
// Whether a member reads the expression as a value, in contrast to calling it.
bool IsValue(const Expr& e) {
  return IsMember(e) || e.kind() == ExprKind::kVar || e.kind() == ExprKind::kConstant ||
         e.kind() == ExprKind::kLet;
}

class MarkReader {
 public:
  explicit MarkReader(const Expr& function) : marked_(function) {}

  MarkedRegions Read() {
    MarkedRegions result;
    result.function = ir::RewritePostOrder(
        marked_,
        [&](const Expr& original, const Expr& rewritten) {
          const Expr plain = IsMark(original) ? rewritten.As<CallNode>()->args[0]
                                              : ir::KeepType(original, rewritten);
          plain_.emplace(original, plain);
          return plain;
        },
        ir::OutsideLiterals(marked_));
    ir::VisitPostOrder(
        marked_, [&](const Expr& e) { Visit(e); }, ir::OutsideLiterals(marked_));
    for (const Expr& mark : names_) Name(mark);
    std::unordered_map<std::size_t, std::size_t> number;  // of a set
    for (const Expr& member : members_) {
      const std::size_t set = sets_.Find(index_.at(member));
      const auto named = named_by_.find(set);
      if (named == named_by_.end()) continue;
      const auto [known, is_new] = number.emplace(set, result.targets.size());
      if (is_new) result.targets.push_back(NamedBy(named->second));
      result.region_of.emplace(member, known->second);
    }
    return result;
  }

 private:
  void Visit(const Expr& e) {
    if (IsMark(e)) {
      // Of marks around marks, as a call of a marked function has them when it is inlined, the
      // inner one names the region.
      if (IsEnd(e) && IsMember(e.As<CallNode>()->args[0])) {
        names_.push_back(e);
        member_of_[e] = plain_.at(e);
      }
      return;
    }
    if (!IsMember(e)) return;
    const Expr& member = plain_.at(e);
    if (index_.emplace(member, members_.size()).second) {
      members_.push_back(member);
      sets_.Add();
    }
    for (const Expr& child : ir::Children(e)) {
      if (IsBegin(child)) {
        names_.push_back(child);
        member_of_[child] = member;
      } else if (IsMember(child)) {
        sets_.Join(index_.at(plain_.at(child)), index_.at(member));
      }
    }
  }

  void Name(const Expr& mark) {
    const std::size_t set = sets_.Find(index_.at(member_of_.at(mark)));
    const auto [known, is_new] = named_by_.emplace(set, mark);
    if (!is_new && NamedBy(known->second) != NamedBy(mark))
      throw InvalidArgument(StrCat("the marks around a region name the code generators ",
                                   NamedBy(known->second), " and ", NamedBy(mark),
                                   "; where they meet, a value needs a compiler_end of one and a "
                                   "compiler_begin of the other"))
          .At(mark.span());
  }

  const Expr marked_;
  ir::ExprMap plain_;
  std::vector<Expr> members_;
  std::unordered_map<Expr, std::size_t, ir::ExprHash> index_;  // of members
  UnionFind sets_;                                             // of indices
  std::vector<Expr> names_;                         // marks that name the generator of a region
  ir::ExprMap member_of_;                           // the member for which they name it
  std::unordered_map<std::size_t, Expr> named_by_;  // sets, marks
};

Expr Mark(const Expr& op, const std::string& target, const Expr& value, const Expr& original) {
  return ir::Call::Make(op, {value}, attrs::Attrs::Make(ops::CompilerAttrs{target}),
                        original.span(), original.checked_type());
}

}  // namespace

const std::string* MarkedRegions::TargetOf(const Expr& e) const {
  const auto found = region_of.find(e);
  return found == region_of.end() ? nullptr : &targets[found->second];
}

bool HasMarks(const Expr& function) {
  bool found = false;
  ir::VisitPostOrder(
      function, [&](const Expr& e) { found = found || IsMark(e); }, ir::OutsideLiterals(function));
  return found;
}

MarkedRegions ReadMarks(const Expr& function) { return MarkReader(function).Read(); }

Expr WriteMarks(const MarkedRegions& regions) {
  ir::ExprMap ends;  // one for all readers of a value
  return ir::RewritePostOrder(
      regions.function,
      [&](const Expr& original, const Expr& rewritten) -> Expr {
        const std::vector<Expr> reads = ir::Children(original);
        std::vector<Expr> children = ir::Children(rewritten);
        const auto region = regions.region_of.find(original);
        const bool is_inside = region != regions.region_of.end();
        ir::ExprMap begins;
        bool changed = !(rewritten == original);
        for (std::size_t i = 0; i < reads.size(); ++i) {
          const auto source = regions.region_of.find(reads[i]);
          const bool is_result = source != regions.region_of.end();
          if (is_inside && is_result && source->second == region->second) continue;
          if (is_result) {
            Expr& end = ends[reads[i]];
            if (!end)
              end = Mark(ops::Known().compiler_end, regions.targets[source->second], children[i],
                         reads[i]);
            children[i] = end;
          }
          if (is_inside && IsValue(reads[i])) {
            Expr& begin = begins[reads[i]];
            if (!begin)
              begin = Mark(ops::Known().compiler_begin, regions.targets[region->second],
                           children[i], reads[i]);
            children[i] = begin;
          }
          changed = changed || is_result || is_inside;
        }
        return changed && !children.empty()
                   ? ir::WithChildren(rewritten, std::move(children), original.checked_type())
                   : rewritten;
      },
      ir::OutsideLiterals(regions.function));
}

}  // namespace tenon::passes
