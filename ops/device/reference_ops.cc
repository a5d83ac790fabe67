// References: places whose value changes while a function runs. They have no kernels; a pass turns
// them into values (passes/control/references_to_values.h).
#include "tenon/ops/builtin.h"

namespace tenon::ops {
namespace {

// The type of the value that an input refers to; null when nothing is known of the input. Refuses
// what is not a reference.
const ir::Type* ValueBehind(const TypeCall& call, std::size_t i) {
  if (!call.input(i)) return nullptr;
  const auto* reference = call.input(i).As<ir::RefTypeNode>();
  if (reference == nullptr)
    call.Refuse("the first argument must be a reference, which ref(value) makes");
  return &reference->value;
}

void MakeRef(TypeCall& call) {
  if (call.input(0)) call.LearnResult(ir::RefType(call.input(0)));
  const auto* result = call.result().As<ir::RefTypeNode>();
  if (result != nullptr && result->value) call.LearnInput(0, result->value);
}

void ReadRef(TypeCall& call) {
  const ir::Type* value = ValueBehind(call, 0);
  if (value != nullptr && *value) call.LearnResult(*value);
  if (call.result()) call.LearnInput(0, ir::RefType(call.result()));
}

void WriteRef(TypeCall& call) {
  const ir::Type* value = ValueBehind(call, 0);
  if (call.input(0) || call.input(1)) call.LearnResult(ir::TupleType({}));
  if (value != nullptr && *value) call.LearnInput(1, *value);
  if (call.input(1)) call.LearnInput(0, ir::RefType(call.input(1)));
}

}  // namespace

void RegisterReferenceOps(OpRegistry& registry) {
  registry.Register("ref")
      .Describe("a new reference to a value")
      .Argument("value", "Expr", "what a read gives until the first write")
      .Level(10)
      .Pattern(OpPattern::kOpaque)
      .Stateful()
      .TypeRelation(MakeRef, "MakeRef");
  registry.Register("ref_read")
      .Describe("the value that a reference has now")
      .Argument("reference", "Expr", "input")
      .Level(10)
      .Pattern(OpPattern::kOpaque)
      .Stateful()
      .TypeRelation(ReadRef, "ReadRef");
  registry.Register("ref_write")
      .Describe("gives a reference another value; the result is the empty tuple")
      .Argument("reference", "Expr", "input")
      .Argument("value", "Expr", "of the type that the reference has")
      .Level(10)
      .Pattern(OpPattern::kOpaque)
      .Stateful()
      .TypeRelation(WriteRef, "WriteRef");
}

}  // namespace tenon::ops
