// Marks around regions of calls for a code generator. Their results are their inputs.
#include "tenon/ops/builtin.h"
#include "tenon/ops/device/codegen_attrs.h"

namespace tenon::ops {
namespace {

// The result has the type of the input, which may be a tuple.
void SameType(TypeCall& call) {
  if (call.input(0)) call.LearnResult(call.input(0));
}

void RegisterMark(OpRegistry& registry, const char* name, const char* description) {
  registry.Register(name)
      .Describe(description)
      .Argument("data", "Expr", "what is marked")
      .Attrs<CompilerAttrs>()
      .Level(10)
      .Stateful()  // a mark, which no folding may remove
      .Pattern(OpPattern::kOpaque)
      .TypeRelation(SameType, "SameType");
}

}  // namespace

void RegisterCodegenOps(OpRegistry& registry) {
  RegisterMark(registry, "annotation.compiler_begin",
               "marks a value that a region of a code generator reads; AnnotateTarget writes it");
  RegisterMark(registry, "annotation.compiler_end",
               "marks a value that a region of a code generator gives; AnnotateTarget writes it");
}

}  // namespace tenon::ops
