// These are stored: what a reduction reads many times, when it is costly; what a reduction and
// another stage read, when it is costly or long; functions of vector math that a reduction reads
// row by row, which then run in whole vectors; and what would be written out many times in one
// body.
#include "tenon/strategies/schedule/inline_stages.h"

#include <algorithm>
#include <unordered_map>
#include <variant>
#include <vector>

#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"
#include "tenon/strategies/schedule/accesses.h"
#include "tenon/strategies/schedule/register_tile.h"

namespace tenon::strategies {
namespace {

using loop::Expr;
using schedule::Stage;
using te::OperationNode;

// Nodes of an expression that is stored, not computed again, when a reduction and others read it.
constexpr std::int64_t kLongExpression = 24;
// Times that a stage is written out in the body of its readers. Reads of one element share it,
// except where conditions guard them, so a chain of pad(x) + pad(x) doubles with each step.
constexpr std::int64_t kMaxCopies = 64;
// A row of at least so many elements is worth a loop of its own.
constexpr std::int64_t kMinRow = 64;
// Bytes of a row that stays in the first-level cache with what it is made of.
constexpr std::int64_t kRowBytes = 1 << 14;

bool IsCostly(const OperationNode& op) {
  bool costly = false;
  for (const Expr& body : op.body) {
    loop::VisitExpr(body, [&](const Expr& e) {
      const auto* select = e.As<loop::SelectNode>();
      costly = costly || e.kind() == loop::ExprKind::kCall || (select != nullptr && select->lazy);
    });
  }
  return costly;
}

bool CallsVectorMath(const OperationNode& op) {
  return std::any_of(op.body.begin(), op.body.end(),
                     [](const Expr& e) { return loop::CallsVectorMath(e); });
}

// Whether a stage is stored, whoever reads it.
struct IsStoredByHint {
  bool operator()(std::monostate) const { return false; }
  bool operator()(te::ReadsRepeatedly) const { return false; }
  bool operator()(te::Stored) const { return true; }
  bool operator()(te::WrittenOut) const { return true; }
  bool operator()(te::RegisterTile) const { return false; }
  bool operator()(te::TileInput) const { return true; }
  bool operator()(te::WinogradStage) const { return true; }
  bool operator()(te::RecurrentSums) const { return false; }
};

// The elements of `input` that a body reads, by their indices; a few above kMaxCopies are enough.
std::int64_t ElementsRead(const OperationNode& op, const te::Tensor& input) {
  std::vector<const loop::LoadNode*> elements;
  const auto same = [](const loop::LoadNode* a, const loop::LoadNode* b) {
    return a->buffer.get() == b->buffer.get() &&
           std::ranges::equal(a->indices, b->indices, loop::StructuralEqual);
  };
  for (const Expr& body : op.body) {
    loop::VisitExpr(body, [&](const Expr& e) {
      const auto* load = e.As<loop::LoadNode>();
      if (load == nullptr || !load->producer || !(te::TensorOf(*load) == input)) return;
      if (std::ssize(elements) > kMaxCopies) return;
      if (std::ranges::none_of(elements, [&](const auto* known) { return same(known, load); }))
        elements.push_back(load);
    });
  }
  return static_cast<std::int64_t>(elements.size());
}

// Larger counts are all the same.
constexpr std::int64_t kMaxNodes = 1 << 20;

class InlineChooser {
 public:
  explicit InlineChooser(schedule::Schedule& schedule) : schedule_(schedule) {}

  // Consumers come first: what reads an inlined stage reads what that stage reads.
  void Run() {
    MeasureExpressions();
    const auto& stages = schedule_.stages();
    for (auto it = stages.rbegin(); it != stages.rend(); ++it) {
      Stage& stage = **it;
      const OperationNode& op = *stage.op();
      const std::vector<const OperationNode*> readers = readers_[&op];
      const bool is_inlined = IsInlined(stage, readers);
      if (is_inlined) stage.ComputeInline();
      for (const te::Tensor& input : te::InputsOf(op)) {
        if (is_inlined) {
          for (const OperationNode* reader : readers) AddReader(*input.op(), reader);
          AddCopies(op, input);
        } else {
          AddReader(*input.op(), &op);
        }
      }
    }
  }

 private:
  void AddReader(const OperationNode& op, const OperationNode* reader) {
    std::vector<const OperationNode*>& readers = readers_[&op];
    if (std::find(readers.begin(), readers.end(), reader) == readers.end())
      readers.push_back(reader);
  }

  // Those that an inlined reader makes.
  void AddCopies(const OperationNode& reader, const te::Tensor& input) {
    const auto known = copies_.find(&reader);
    const std::int64_t copies = known == copies_.end() ? 1 : known->second;
    std::int64_t& all = copies_[input.op().get()];
    all = std::min(all + copies * ElementsRead(reader, input), kMaxNodes);
  }

  bool IsInlined(const Stage& stage, const std::vector<const OperationNode*>& readers) {
    const OperationNode& op = *stage.op();
    if (op.is_placeholder() || op.is_reduction() || stage.is_output() ||
        std::visit(IsStoredByHint(), op.label.hint))
      return false;
    const auto any = [&](const auto& test) {
      return std::any_of(readers.begin(), readers.end(), test);
    };
    if (IsCostly(op) && any([](const auto* r) { return ReadsRepeatedly(*r); })) return false;
    const bool again = readers.size() > 1 && any([](const auto* r) { return r->is_reduction(); });
    if (const auto copies = copies_.find(&op);
        copies != copies_.end() && copies->second > kMaxCopies)
      return false;
    if (again && (IsCostly(op) || nodes_[&op] > kLongExpression)) return false;
    return !(CallsVectorMath(op) && any([&](const auto* r) { return SumsRowsOf(*r, op); }));
  }

  // Nodes of each stage's expression when all stages below it but reductions are inlined.
  void MeasureExpressions() {
    for (const auto& stage : schedule_.stages()) {
      const OperationNode& op = *stage->op();
      if (op.is_placeholder()) continue;
      std::int64_t nodes = 0;
      for (const Expr& body : op.body) loop::VisitExpr(body, [&](const Expr&) { ++nodes; });
      for (const te::Tensor& input : te::InputsOf(op)) {
        const auto below = nodes_.find(input.op().get());
        if (below != nodes_.end() && !input.op()->is_reduction()) nodes += below->second;
      }
      nodes_[&op] = std::min(nodes, kMaxNodes);
    }
  }

  // Whether a reduction runs along the rows of what `op` computes, which are short.
  static bool SumsRowsOf(const OperationNode& reduction, const OperationNode& op) {
    if (!reduction.is_reduction() || reduction.axes.empty() || op.axes.size() < 2 ||
        reduction.reduce_axes.size() != 1 || ReadsRepeatedly(reduction))
      return false;
    const auto bytes = static_cast<std::int64_t>(op.outputs[0]->dtype.bytes());
    const std::int64_t extent = Extent(op.axes.back());
    if (extent < kMinRow || extent * bytes > kRowBytes) return false;
    bool along_rows = false;
    for (const Expr& body : reduction.body) {
      loop::VisitExpr(body, [&](const Expr& e) {
        const auto* load = e.As<loop::LoadNode>();
        along_rows = along_rows ||
                     (load != nullptr && load->producer && te::TensorOf(*load).op().get() == &op &&
                      load->indices.back().same_as(reduction.reduce_axes[0].var));
      });
    }
    return along_rows;
  }

  schedule::Schedule& schedule_;
  // For each operation: the stages that read it, through inlined ones, and the nodes of its
  // expression.
  std::unordered_map<const OperationNode*, std::vector<const OperationNode*>> readers_;
  std::unordered_map<const OperationNode*, std::int64_t> nodes_;
  std::unordered_map<const OperationNode*, std::int64_t> copies_;  // that inlining makes
};

}  // namespace

void InlineStages(schedule::Schedule& schedule) { InlineChooser(schedule).Run(); }

bool ReadsRepeatedly(const OperationNode& op) {
  return op.is_reduction() &&
         (std::holds_alternative<te::ReadsRepeatedly>(op.label.hint) || IsRegisterTile(op));
}

}  // namespace tenon::strategies
