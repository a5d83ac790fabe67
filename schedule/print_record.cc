// The steps are made again on a new schedule, one by one, so that each is printed in terms of the
// axes and stages that exist at its time.
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "tenon/loop/print.h"
#include "tenon/schedule/record.h"
#include "tenon/schedule/schedule.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {
namespace {

using loop::BinaryOp;
using loop::Expr;

// Words of C++ that a tensor or an axis may be called, and what the printed text itself uses.
const std::unordered_set<std::string>& Reserved() {
  static const std::unordered_set<std::string>& words = *new std::unordered_set<std::string>{
      "alignas",  "alignof",  "and",    "asm",       "auto",     "bool",     "break",   "case",
      "catch",    "char",     "class",  "concept",   "const",    "continue", "default", "delete",
      "do",       "double",   "else",   "enum",      "explicit", "export",   "extern",  "false",
      "float",    "for",      "friend", "goto",      "if",       "inline",   "int",     "long",
      "mutable",  "new",      "not",    "namespace", "operator", "or",       "private", "public",
      "register", "requires", "return", "short",     "signed",   "sizeof",   "static",  "struct",
      "switch",   "template", "this",   "throw",     "true",     "try",      "typedef", "typename",
      "union",    "unsigned", "using",  "virtual",   "void",     "volatile", "while",   "xor",
      "s",        "i"};
  return words;
}

class RecordPrinter {
 public:
  RecordPrinter(const Record& record, const std::vector<Tensor>& outputs)
      : record_(record), s_(outputs) {}

  std::string Print() {
    for (const auto& stage : s_.stages()) {
      std::vector<std::string>& names = tensors_[stage->number()];
      for (const loop::Buffer& buffer : stage->op()->outputs) names.push_back(Unique(buffer->name));
    }
    for (const Step& step : record_) {
      // Old names first: the call may give its stage new axes.
      const std::string call = std::visit([&](const auto& x) { return Call(x); }, step);
      const std::size_t stages = s_.stages().size();
      ReplayStep(step, s_);
      if (s_.stages().size() > stages) NameNewStage(step);
      text_ += Declare(step) + call + ";\n";
    }
    return text_;
  }

 private:
  // ---- The calls.
  std::string Call(const SplitStep& x) {
    const bool by_factor = x.factor.defined();
    return StrCat(On(x.axis.stage), by_factor ? ".Split(" : ".SplitParts(", Axis(x.axis), ", ",
                  Text(by_factor ? x.factor : x.parts),
                  x.tail == Tail::kGuard ? "" : StrCat(", ", ToString(x.tail)), ")");
  }
  std::string Call(const FuseStep& x) {
    return StrCat(On(x.outer.stage), ".Fuse(", Axis(x.outer), ", ", Axis(x.inner), ")");
  }
  std::string Call(const SingletonStep& x) { return On(x.stage) + ".Fuse()"; }
  std::string Call(const ReorderStep& x) {
    return StrCat(
        On(x.stage), ".Reorder({",
        StrJoin(x.order, ", ", [&](std::string* out, const AxisRef& axis) { *out += Axis(axis); }),
        "})");
  }
  std::string Call(const KindStep& x) {
    const char* name = x.kind == loop::ForKind::kVectorized ? ".Vectorize("
                       : x.kind == loop::ForKind::kUnrolled ? ".Unroll("
                                                            : ".Parallel(";
    return StrCat(On(x.axis.stage), name, Axis(x.axis), ")");
  }
  std::string Call(const ComputeAtStep& x) {
    return StrCat(On(x.stage), ".ComputeAt(", On(x.axis.stage), ", ", Axis(x.axis), ")");
  }
  std::string Call(const ComputeWithStep& x) {
    return StrCat(On(x.stage), ".ComputeWith(", On(x.axis.stage), ", ", Axis(x.axis), ")");
  }
  std::string Call(const StoreAtStep& x) {
    return StrCat(On(x.stage), ".StoreAt(", On(x.axis.stage), ", ", Axis(x.axis), ")");
  }
  std::string Call(const StoreRootStep& x) { return On(x.stage) + ".StoreRoot()"; }
  std::string Call(const ComputeInlineStep& x) { return On(x.stage) + ".ComputeInline()"; }
  std::string Call(const ComputeRootStep& x) { return On(x.stage) + ".ComputeRoot()"; }
  std::string Call(const SetScopeStep& x) {
    return StrCat(On(x.stage), ".SetScope(\"", x.scope, "\")");
  }
  std::string Call(const DoubleBufferStep& x) { return On(x.stage) + ".DoubleBuffer()"; }
  std::string Call(const RollingBufferStep& x) { return On(x.stage) + ".RollingBuffer()"; }
  std::string Call(const StorePredicateStep& x) {
    for (std::size_t d = 0; d < x.predicate.from.size(); ++d)
      axes_[x.predicate.from[d]] = StrCat("i[", d, "]");
    return StrCat(On(x.stage), ".SetStorePredicate([](const std::vector<Var>& i) { return ",
                  Text(x.predicate.to[0]), "; })");
  }
  std::string Call(const StreamStoresStep& x) { return On(x.stage) + ".StreamStores()"; }
  std::string Call(const StorageAlignStep& x) {
    return StrCat(On(x.axis.stage), ".StorageAlign(", Axis(x.axis), ", ", x.factor, ", ", x.offset,
                  ")");
  }
  std::string Call(const PragmaStep& x) {
    return StrCat(On(x.axis.stage), ".Pragma(", Axis(x.axis), ", \"", x.key, "\", ", x.value, ")");
  }
  std::string Call(const PrefetchStep& x) {
    return StrCat("s.Prefetch(", Name(x.tensor), ", ", Name(x.reader), ", ", Axis(x.axis), ", ",
                  Text(x.offset), ")");
  }
  std::string Call(const PrefetchNextBlockStep& x) {
    return StrCat("s.PrefetchNextBlock(", Name(x.tensor), ", ", Name(x.reader), ", ", Axis(x.axis),
                  ", ", x.turns, Text(x.fetch), ")");
  }
  // The intrinsic goes by its name.
  std::string Call(const TensorizeStep& x) {
    return StrCat(On(x.axis.stage), ".Tensorize(", Axis(x.axis), ", ",
                  Identifier(x.intrinsic->name), ")");
  }
  std::string Call(const CacheReadStep& x) {
    return StrCat("s.CacheRead(", Name(x.tensor), ", \"", x.scope, "\", {", Names(x.readers), "})");
  }
  std::string Call(const CacheWriteStep& x) {
    const std::string names = Names(x.outputs);
    return StrCat("s.CacheWrite(", x.outputs.size() == 1 ? names : StrCat("{", names, "}"), ", \"",
                  x.scope, "\")");
  }
  std::string Call(const RFactorStep& x) {
    return StrCat("s.RFactor(", Name(x.tensor), ", ", Axis(x.axis), ", ", x.factor_axis, ")");
  }
  std::string Call(const TransformLayoutStep& x) {
    for (std::size_t d = 0; d < x.map.from.size(); ++d) axes_[x.map.from[d]] = StrCat("i[", d, "]");
    return StrCat(
        "s.TransformLayout(", Name(x.tensor),
        ", [](const std::vector<Var>& i) { return std::vector<Expr>{",
        StrJoin(x.map.to, ", ", [&](std::string* out, const Expr& e) { *out += Text(e); }), "}; }",
        x.pad ? StrCat(", ", FormatShortest(*x.pad)) : "", ")");
  }

  // ---- What the calls give.
  void NameNewStage(const Step& step) {
    const Stage* made = nullptr;
    for (const auto& stage : s_.stages()) {
      if (made == nullptr || stage->number() > made->number()) made = stage.get();
    }
    const bool is_list =
        std::holds_alternative<RFactorStep>(step) ||
        (std::holds_alternative<CacheWriteStep>(step) && made->op()->outputs.size() > 1);
    declared_ = Unique(made->name());
    for (std::size_t i = 0; i < made->op()->outputs.size(); ++i)
      tensors_[made->number()].push_back(is_list ? StrCat(declared_, "[", i, "]") : declared_);
  }

  std::string Declare(const Step& step) {
    const auto name_last = [&](std::size_t stage, std::size_t back) {
      const std::vector<IterVar>& axes = At(stage).all_axes();
      const loop::Var& var = axes[axes.size() - back].var;
      return axes_[var] = Unique(var.name());
    };
    if (const auto* split = std::get_if<SplitStep>(&step)) {
      const std::string outer = name_last(split->axis.stage, 2);
      return StrCat("auto [", outer, ", ", name_last(split->axis.stage, 1), "] = ");
    }
    if (const auto* fuse = std::get_if<FuseStep>(&step))
      return StrCat("auto ", name_last(fuse->outer.stage, 1), " = ");
    if (const auto* singleton = std::get_if<SingletonStep>(&step))
      return StrCat("auto ", name_last(singleton->stage, 1), " = ");
    if (const auto* layout = std::get_if<TransformLayoutStep>(&step)) {
      const Stage& stage = At(layout->tensor.stage);
      const std::string name = Unique(stage.name() + "_axes");
      const std::vector<IterVar>& axes = stage.op()->axes;
      for (std::size_t d = 0; d < axes.size(); ++d) axes_[axes[d].var] = StrCat(name, "[", d, "]");
      return StrCat("auto ", name, " = ");
    }
    if (std::holds_alternative<CacheReadStep>(step) ||
        std::holds_alternative<CacheWriteStep>(step) || std::holds_alternative<RFactorStep>(step))
      return StrCat("auto ", declared_, " = ");
    return "";
  }

  // ---- Names.
  const Stage& At(std::size_t number) const {
    for (const auto& stage : s_.stages()) {
      if (stage->number() == number) return *stage;
    }
    Unreachable("a record names stages of its schedule");
  }
  const std::string& Name(const TensorRef& tensor) {
    return tensors_.at(tensor.stage).at(static_cast<std::size_t>(tensor.output));
  }
  std::string Names(const std::vector<TensorRef>& tensors) {
    return StrJoin(tensors, ", ",
                   [&](std::string* out, const TensorRef& tensor) { *out += Name(tensor); });
  }
  std::string On(std::size_t stage) { return StrCat("s[", Name({stage, 0}), "]"); }

  std::string Axis(const AxisRef& ref) {
    const Stage& stage = At(ref.stage);
    const IterVar& axis = stage.all_axes()[ref.axis];
    const auto named = axes_.find(axis.var);
    if (named != axes_.end()) return named->second;
    const auto among = [&](const std::vector<IterVar>& axes) -> std::optional<std::size_t> {
      for (std::size_t i = 0; i < axes.size(); ++i) {
        if (axes[i].var.same_as(axis.var)) return i;
      }
      return std::nullopt;
    };
    const std::string tensor = Name({ref.stage, 0});
    if (const auto i = among(stage.origin_op()->axes)) return StrCat(tensor, ".axis(", *i, ")");
    if (const auto i = among(stage.origin_op()->reduce_axes))
      return StrCat(tensor, ".reduce_axis(", *i, ")");
    if (const auto i = among(stage.op()->axes)) return StrCat("s[", tensor, "].axis(", *i, ")");
    if (const auto i = among(stage.op()->reduce_axes))
      return StrCat("s[", tensor, "].reduce_axis(", *i, ")");
    Unreachable("an axis comes from its operation or from a call");
  }

  // An argument after others, unless it is the default.
  static std::string Text(const BlockFetch& fetch) {
    if (fetch == BlockFetch()) return "";
    return StrCat(", {.blocks = ", fetch.blocks,
                  fetch.past_nearest ? ", .past_nearest = true}" : "}");
  }

  // The factors, offsets and layouts of a record in C++; a symbolic extent goes by its name.
  std::string Text(const Expr& e) {
    if (e.kind() == loop::ExprKind::kVar) {
      const auto named = axes_.find(e);
      return named != axes_.end() ? named->second : Identifier(loop::Var(e).name());
    }
    const auto* n = e.As<loop::BinaryNode>();
    if (n == nullptr) return loop::Print(e);
    const std::string a = Text(n->a), b = Text(n->b);
    switch (n->op) {
      case BinaryOp::kFloorDiv:
        return StrCat("loop::FloorDiv(", a, ", ", b, ")");
      case BinaryOp::kFloorMod:
        return StrCat("loop::FloorMod(", a, ", ", b, ")");
      case BinaryOp::kMin:
        return StrCat("loop::Min(", a, ", ", b, ")");
      case BinaryOp::kMax:
        return StrCat("loop::Max(", a, ", ", b, ")");
      default:
        return StrCat("(", a, " ", ToString(n->op), " ", b, ")");
    }
  }

  static std::string Identifier(std::string name) {
    for (char& c : name) {
      const bool is_word =
          (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
      if (!is_word) c = '_';
    }
    // Users may not have names that begin with a digit or "_" or contain "__".
    std::string result;
    for (const char c : name) {
      if (c == '_' && (result.empty() || result.back() == '_')) continue;
      result += c;
    }
    if (result.empty() || (result[0] >= '0' && result[0] <= '9')) return StrCat("t", result);
    return result;
  }
  std::string Unique(const std::string& hint) {
    const std::string base = Identifier(hint);
    std::string name = base;
    for (int i = 1; Reserved().contains(name) || !taken_.insert(name).second; ++i)
      name = StrCat(base, i);
    return name;
  }

  const Record& record_;
  Schedule s_;
  std::unordered_map<std::size_t, std::vector<std::string>> tensors_;
  // Keeps axes that are no longer there, so that a new one is not taken for them.
  std::unordered_map<Expr, std::string, loop::ExprHash, loop::ExprSame> axes_;
  std::unordered_set<std::string> taken_;
  std::string declared_;
  std::string text_;
};

}  // namespace

std::string PrintRecord(const Record& record, const std::vector<Tensor>& outputs) {
  return RecordPrinter(record, outputs).Print();
}
std::string PrintRecord(const Schedule& schedule) {
  return PrintRecord(schedule.record(), schedule.outputs());
}

}  // namespace tenon::schedule
