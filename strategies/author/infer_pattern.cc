// A sample is made as the type solver would: the first input has a type, the relation says the
// others; those that it leaves open have the first one's. The compute's expressions are then read.
#include "tenon/strategies/author/infer_pattern.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "tenon/ir/flatten.h"
#include "tenon/loop/visit.h"
#include "tenon/strategies/author/check_compute.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::strategies {
namespace {

using ops::OpPattern;
using te::OperationNode;
using te::Tensor;

// --- what expressions show

bool IsZero(const te::Expr& index) { return loop::IsConstInt(index, 0); }

// Whether the indices are axes of the operation in their order, some left out, or zeros.
bool ReadsAlongAxes(const OperationNode& op, const loop::LoadNode& load) {
  auto axis = op.axes.begin();
  for (const te::Expr& index : load.indices) {
    if (IsZero(index)) continue;
    axis = std::find_if(axis, op.axes.end(),
                        [&](const te::IterVar& a) { return a.var.same_as(index); });
    if (axis == op.axes.end()) return false;
    ++axis;
  }
  return true;
}

bool ReadsItsOwnPlace(const OperationNode& op, const loop::LoadNode& load) {
  return load.indices.size() == op.axes.size() &&
         std::equal(
             op.axes.begin(), op.axes.end(), load.indices.begin(),
             [](const te::IterVar& a, const te::Expr& index) { return a.var.same_as(index); });
}

// Whether a reduction reads elements more than once: an axis of the result does not say where it
// reads, or moves the window that is reduced.
bool ReadsAgain(const OperationNode& op) {
  const auto uses = [](const te::Expr& index, const std::vector<te::IterVar>& axes) {
    return std::ranges::any_of(
        axes, [&](const te::IterVar& axis) { return loop::UsesVar(index, axis.var); });
  };
  bool reads_again = false;
  for (const te::Expr& value : op.body) {
    loop::VisitExpr(value, [&](const te::Expr& e) {
      const auto* load = e.As<loop::LoadNode>();
      if (load == nullptr) return;
      const bool is_window = std::ranges::any_of(load->indices, [&](const te::Expr& index) {
        return uses(index, op.axes) && uses(index, op.reduce_axes);
      });
      const bool lacks_axis = std::ranges::any_of(op.axes, [&](const te::IterVar& axis) {
        return !loop::IsConstInt(axis.extent, 1) &&
               std::ranges::none_of(load->indices, [&](const te::Expr& index) {
                 return loop::UsesVar(index, axis.var);
               });
      });
      reads_again = reads_again || is_window || lacks_axis;
    });
  }
  return reads_again;
}

// The pattern of operations without reductions.
OpPattern PatternOfReads(const std::vector<const OperationNode*>& operations) {
  OpPattern pattern = OpPattern::kElemWise;
  std::map<const OperationNode*, int> reads;  // of each operation's result, or input
  for (const OperationNode* op : operations) {
    for (const te::Expr& value : op->body) {
      loop::VisitExpr(value, [&](const te::Expr& e) {
        const auto* load = e.As<loop::LoadNode>();
        if (load == nullptr) return;
        ++reads[te::TensorOf(*load).op().get()];
        const OpPattern shown = ReadsItsOwnPlace(*op, *load) ? OpPattern::kElemWise
                                : ReadsAlongAxes(*op, *load) ? OpPattern::kBroadcast
                                                             : OpPattern::kInjective;
        pattern = std::max(pattern, shown);
      });
    }
  }
  const bool reads_once =
      std::ranges::all_of(reads, [](const auto& entry) { return entry.second == 1; });
  return pattern < OpPattern::kInjective || reads_once ? pattern : OpPattern::kOpaque;
}

// --- samples

constexpr std::int64_t kExtents[] = {2, 4, 6, 8};
constexpr int kMaxTurns = 4;

// An allowed value for a field that has no default. What is not bounded has no least value that a
// compute could take.
attrs::Value SampleValue(const attrs::FieldInfo& field, void* room) {
  const attrs::FieldRange unbounded;
  const attrs::Value candidates[] = {
      attrs::Value(field.range.min == unbounded.min ? 1 : field.range.min),
      attrs::Value(std::int64_t{1}),
      attrs::Value(field.range.max),
      attrs::Value(field.range.real_min == unbounded.real_min ? 1.0 : field.range.real_min),
      attrs::Value(1.0),
      attrs::Value(field.range.real_max),
      attrs::Value(std::string(field.range.choices == nullptr ? "" : field.range.choices)),
      attrs::Value(attrs::List{attrs::Value(std::int64_t{1})}),
      attrs::Value(true),
      attrs::Value(Float32)};
  for (const attrs::Value& candidate : candidates) {
    if (CatchErrors([&] { field.Set(room, candidate); }).ok()) return candidate;
  }
  return attrs::Value();
}

// Whether a list may have zeros, as far as its usual value shows. Authors divide by steps.
bool MayHaveZeros(const attrs::List& usual) {
  return usual.empty() || std::ranges::any_of(usual, [](const attrs::Value& value) {
           const auto* number = value.As<std::int64_t>();
           return number == nullptr || *number < 1;
         });
}

// Other values of a field, some of which may not be allowed.
std::vector<attrs::Value> OtherValues(const attrs::FieldInfo& field, const attrs::Value& value) {
  std::vector<attrs::Value> others;
  if (const bool* flag = value.As<bool>()) others.push_back(!*flag);
  if (value.As<std::int64_t>() != nullptr || value.is_none())
    for (const std::int64_t number : {1, 2, 3}) others.emplace_back(number);
  if (const auto* list = value.As<attrs::List>(); list != nullptr || value.is_none()) {
    const std::size_t length = list == nullptr || list->empty() ? 1 : list->size();
    for (const std::int64_t number : {0, 2, 3}) {
      if (number != 0 || list == nullptr || MayHaveZeros(*list))
        others.push_back(attrs::List(length, number));
    }
  }
  if (field.range.choices != nullptr)
    for (const std::string& word : StrSplit(field.range.choices, ' ')) others.push_back(word);
  return others;
}

// The defaults, and each with another value of one field.
std::vector<attrs::Attrs> SampleAttrs(const ops::OpDef& op) {
  if (op.schema == nullptr) return {attrs::Attrs()};
  const std::shared_ptr<void> room = op.schema->make_default();
  attrs::FieldValues fields;
  for (const attrs::FieldInfo& field : op.schema->fields) {
    if (field.is_required) fields[field.name] = SampleValue(field, room.get());
  }
  std::vector<attrs::Attrs> samples;
  const auto add = [&](const attrs::FieldValues& values) {
    const auto made = CatchErrors([&] { return attrs::Attrs::FromFields(*op.schema, values); });
    if (made.ok()) samples.push_back(*made);
  };
  add(fields);
  for (const attrs::FieldInfo& field : op.schema->fields) {
    const auto given = fields.find(field.name);
    const attrs::Value value = given == fields.end() ? field.default_value : given->second;
    for (const attrs::Value& other : OtherValues(field, value)) {
      attrs::FieldValues changed = fields;
      changed[field.name] = other;
      add(changed);
    }
  }
  return samples;
}

struct Sample {
  std::vector<ir::Type> inputs;
  ir::Type result;
};

bool IsStatic(const ir::Type& type) {
  return std::ranges::all_of(ir::Flatten(type),
                             [](const ir::Type& field) { return ir::IsStaticTensor(field); });
}

// Throws what the relation throws.
std::optional<Sample> SampleTypes(const ops::OpDef& op, const attrs::Attrs& attrs,
                                  const ir::Type& first) {
  Sample sample;
  sample.inputs.resize(op.variadic ? 2 : op.arguments.size());
  if (!sample.inputs.empty()) sample.inputs[0] = first;
  for (int turn = 0; turn < kMaxTurns; ++turn) {
    ops::TypeCall call(op.name, attrs, sample.inputs, sample.result);
    op.type_relation(call);
    bool has_learned = false;
    const auto learn = [&](const ir::Type& learned, ir::Type* type) {
      has_learned = has_learned || (learned && !*type);
      if (learned) *type = *type ? ops::Unify(*type, learned) : learned;
    };
    for (std::size_t i = 0; i < sample.inputs.size(); ++i)
      learn(call.learned_input(i), &sample.inputs[i]);
    learn(call.learned_result(), &sample.result);
    if (has_learned) continue;
    const auto open = std::ranges::find_if(sample.inputs, [](const ir::Type& t) { return !t; });
    if (open == sample.inputs.end()) break;
    *open = first;
  }
  const bool is_known = sample.result && IsStatic(sample.result) &&
                        std::ranges::all_of(sample.inputs, [](const ir::Type& type) {
                          return type && IsStatic(type);
                        });
  return is_known ? std::optional(sample) : std::nullopt;
}

}  // namespace

OpPattern PatternOf(const std::vector<Tensor>& inputs, const std::vector<Tensor>& results) {
  if (results.size() != 1) return OpPattern::kOpaque;
  const std::vector<const OperationNode*> operations = OperationsBetween(inputs, results);
  int reductions = 0;
  bool reads_again = false;
  for (const OperationNode* op : operations) {
    if (!op->is_compute()) return OpPattern::kOpaque;
    if (!op->is_reduction()) continue;
    ++reductions;
    reads_again = reads_again || ReadsAgain(*op);
  }
  if (reductions > 1) return OpPattern::kOpaque;
  if (reductions == 1) return reads_again ? OpPattern::kOutEWiseFusable : OpPattern::kCommReduce;
  // A result that is an input, or made of none, is not a computation to fuse.
  return operations.empty() || inputs.empty() ? OpPattern::kOpaque : PatternOfReads(operations);
}

std::optional<SampledPattern> SamplePattern(const ops::OpDef& op, OpPattern declared) {
  const auto* compute = op.Column<TeCompute>();
  if (compute == nullptr || op.type_relation == nullptr) return std::nullopt;
  const TeMake& make = compute->forms.empty() ? compute->make : compute->forms.back().make;
  const Target target;
  std::optional<SampledPattern> found;
  const auto add = [&](const attrs::Attrs& attrs, const ir::Type& first) {
    const std::optional<Sample> sample = SampleTypes(op, attrs, first);
    if (!sample) return;
    std::vector<Tensor> inputs;
    for (const ir::Type& input : sample->inputs) {
      for (const ir::Type& tensor : ir::Flatten(input))
        inputs.push_back(te::Placeholder(ToExprs(ir::StaticShape(tensor, "a sample")),
                                         tensor.As<ir::TensorTypeNode>()->dtype));
    }
    const std::vector<Tensor> results = make({attrs, inputs, sample->result, target});
    const SampledPattern shown{.pattern = PatternOf(inputs, results),
                               .contradiction = ContradictionOf(declared, inputs, results)};
    if (!found) found = shown;
    found->pattern = std::max(found->pattern, shown.pattern);
    if (!shown.contradiction) found->contradiction.reset();
  };
  for (const attrs::Attrs& attrs : SampleAttrs(op)) {
    for (const DataType type : {Float32, Int32, Bool}) {
      for (std::size_t rank = 1; rank <= std::size(kExtents); ++rank) {
        // What cannot be computed is not a sample. A call in a model says why.
        (void)CatchErrors([&] {
          add(attrs, ir::TensorType(std::vector<ir::Dim>(kExtents, kExtents + rank), type));
        });
      }
    }
  }
  return found;
}

}  // namespace tenon::strategies
