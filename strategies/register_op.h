// Registration of a user's operator, with its computation, in one place.
//
//   struct SwishAttrs { double beta = 1.0; static constexpr auto Fields() { ... } };
//   TENON_REGISTER_OP("my.swish").Describe("x * sigmoid(beta * x)").Attrs<SwishAttrs>()
//       .Argument("data", "Tensor", "input").TypeRelation(ops::Identity)
//       .Elementwise([](const SwishAttrs& a, te::Expr x) { return ...; });
//
// It runs when the program starts or the plug-in is loaded. Errors are kept, and thrown by the next
// Compile or plug-in load: a name taken twice, a pattern that contradicts the elementwise compute,
// an implementation without a function that builds, an attribute struct that shares its name with
// another one, a plug-in compiled with other headers than the program. So put attribute structs
// into a namespace of your own. Whether results have the shapes and types that the type relation
// promises, and whether a .Compute contradicts its pattern, is known only when a call is compiled.
// Compile then throws InvalidArgument. Computes may be called by several threads at once: Compile
// makes kernels on all cores.
#ifndef TENON_STRATEGIES_REGISTER_OP_H_
#define TENON_STRATEGIES_REGISTER_OP_H_

#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/ops/author_code.h"
#include "tenon/ops/layout/alter_layout.h"
#include "tenon/ops/layout/layout_choice.h"
#include "tenon/ops/layout/layout_inference.h"
#include "tenon/ops/pass_rules.h"
#include "tenon/ops/registry.h"
#include "tenon/strategies/op_schedule.h"
#include "tenon/strategies/strategy.h"
#include "tenon/strategies/te_compute.h"
#include "tenon_headers_stamp.h"

namespace tenon::strategies {

class OpRegistration {
 public:
  // `headers` says what the registering code was compiled with.
  explicit OpRegistration(const std::string& name,
                          std::source_location where = std::source_location::current(),
                          std::uint64_t headers = TENON_HEADERS_STAMP);

  OpRegistration& Describe(std::string text);
  OpRegistration& Argument(std::string name, std::string type, std::string help);
  OpRegistration& Level(int level);
  // `name` is what `tenon ops` says.
  OpRegistration& TypeRelation(ops::TypeRelation relation, std::string name = "custom");
  // Says that the relation asks TypeCall::Differ, Exceeds and HasRest whatever values of variables
  // decide, so that calls can be lowered for all of them. Shared relations do so.
  OpRegistration& KnownConditions();
  OpRegistration& Pattern(ops::OpPattern pattern);
  // Takes any number of arguments.
  OpRegistration& Variadic();
  // Calls are never folded or merged.
  OpRegistration& Stateful();
  // The elements of the result are those of the input, in order.
  OpRegistration& ReshapeOnly();
  // Which layouts the operator takes and gives (ops/layout/layout_inference.h).
  OpRegistration& Layout(std::function<ops::LayoutAnswer(const ops::LayoutQuestion&)> infer);
  // What AlterOpLayout puts in the place of a call, after .Layout (ops/layout/alter_layout.h).
  OpRegistration& AlterLayout(
      std::function<std::optional<ops::LayoutAlteration>(const ir::CallNode& call)> alter);
  // The layouts that ConvertLayout can ask for (ops/layout/layout_choice.h); with .Layout.
  OpRegistration& LayoutChoice(ops::LayoutChoice choice);
  // The fingerprint is that of the struct that the caller sees.
  template <typename T>
  OpRegistration& Attrs(std::uint64_t fingerprint = attrs::FingerprintOf<T>()) {
    return AttrsOf(attrs::SchemaOf<T>(), fingerprint);
  }

  // What takes the place of calls before anything else is done (ops/pass_rules.h). The operator
  // then needs no compute.
  OpRegistration& Lower(std::function<ir::Expr(const ops::LoweringCall&)> lower);
  // Says that the operator, a function of one tensor, gives s * f(x) for s * x with every s > 0, so
  // that scales go through it.
  OpRegistration& KeepsPositiveScale();
  // The axes of channels of an operator that is linear in its data and in a weight.
  OpRegistration& Channels(
      std::function<std::optional<ops::ChannelAxes>(const ir::CallNode& call)> axes);
  // What ToMixedPrecision does with calls; after .Attrs. kAlways needs the attribute out_dtype.
  OpRegistration& MixedPrecision(ops::PrecisionRule rule);
  // Says that the operator adds up many elements. Calls with halves add them in float32.
  OpRegistration& SumsHalves(ops::HalfSums sums);

  // What the operator computes, in tensor expressions. Without a declared pattern, the pattern is
  // inferred from sample calls. Where none can be made, the operator is opaque to fusion.
  OpRegistration& Compute(std::function<std::vector<te::Tensor>(const TeCall& call)> make);
  // One element from the element at the same place: `function(attrs, x)` or `function(x)`. The
  // result has the input's shape, and the operator the pattern kElemWise.
  template <typename Function>
  OpRegistration& Elementwise(Function function) {
    return ElementwiseOf([function](const attrs::Attrs& attrs, const te::Expr& x) -> te::Expr {
      if constexpr (std::is_invocable_v<Function, te::Expr>) {
        return function(x);
      } else {
        return function(attrs.As<FirstArgument<decltype(&Function::operator())>>(), x);
      }
    });
  }
  // Takes the place of .Argument, .TypeRelation and .Compute: the operator computes `results` of
  // `inputs`, which are placeholders (tensor_function.h).
  OpRegistration& Tensors(const std::vector<te::Tensor>& inputs,
                          const std::vector<te::Tensor>& results);
  // The schedule of .Compute, before which it must not be called (op_schedule.h). It is used where
  // the call anchors its group; see .Implement.
  OpRegistration& Schedule(ScheduleFunction schedule);
  // The operator's own way to make kernels of groups that hold a call of it. With the pattern
  // kOutEWiseFusable (ops/op.h) elementwise operators may follow the call in its group; an opaque
  // operator's call is a group by itself. A group of another anchor does not ask. One without a
  // refusal never refuses.
  OpRegistration& Implement(Implementation implementation);
  // Another way to compute a call. It is taken instead of .Compute where it is the best row. Call
  // it after .Compute.
  OpRegistration& Form(TeForm form);

 private:
  template <typename>
  struct FirstOf;
  template <typename Class, typename Result, typename First, typename Second>
  struct FirstOf<Result (Class::*)(First, Second) const> {
    using Type = std::remove_cvref_t<First>;
  };
  template <typename Member>
  using FirstArgument = typename FirstOf<Member>::Type;

  void SetCompute(TeMake make);
  OpRegistration& AttrsOf(const attrs::Schema& schema, std::uint64_t fingerprint);
  OpRegistration& ElementwiseOf(
      std::function<te::Expr(const attrs::Attrs& attrs, const te::Expr& x)> function);
  void Refuse(const std::string& message);

  ops::AuthorSite site_;
  Ref<ops::OpDef> op_;  // one that no one else sees when the registration failed
};

// Adds rows to an operator that is registered already, for example a built-in one. Errors are kept
// as those of OpRegistration: an operator that does not exist, a row without a name or with one
// that is taken, a row without a function that makes it. Must not run while others compile.
class OpExtension {
 public:
  explicit OpExtension(const std::string& name,
                       std::source_location where = std::source_location::current(),
                       std::uint64_t headers = TENON_HEADERS_STAMP);
  OpExtension& Form(TeForm form);
  OpExtension& Implement(Implementation implementation);

 private:
  ops::AuthorSite site_;
  ops::OpDef* op_ = nullptr;  // null when there is no such operator
};

}  // namespace tenon::strategies

#define TENON_CONCAT_INNER(a, b) a##b
#define TENON_CONCAT(a, b) TENON_CONCAT_INNER(a, b)
#define TENON_REGISTER_OP(name)                                                   \
  [[maybe_unused]] static const ::tenon::strategies::OpRegistration TENON_CONCAT( \
      tenon_op_registration_, __COUNTER__) = ::tenon::strategies::OpRegistration(name)
#define TENON_EXTEND_OP(name)                                                  \
  [[maybe_unused]] static const ::tenon::strategies::OpExtension TENON_CONCAT( \
      tenon_op_extension_, __COUNTER__) = ::tenon::strategies::OpExtension(name)

#endif  // TENON_STRATEGIES_REGISTER_OP_H_
