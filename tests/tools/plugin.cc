// Registers an operator when it is loaded, and some that are wrong.
#include "tenon/strategies/lower_function.h"
#include "tenon/strategies/lower_outputs.h"
#include "tenon/strategies/register_op.h"

TENON_REGISTER_OP("plugin.halve")
    .Describe("half the input")
    .Argument("data", "Tensor", "input")
    .TypeRelation(tenon::ops::Identity)
    .Elementwise([](tenon::te::Expr x) { return x * tenon::loop::Constant(x.dtype(), 0.5); });

// Its own implementation takes the arguments in the wrong order.
TENON_REGISTER_OP("plugin.swapped")
    .Argument("lhs", "Tensor", "from which is taken")
    .Argument("rhs", "Tensor", "what is taken")
    .TypeRelation([](tenon::ops::TypeCall& call) {
      if (!call.input(0)) return;
      call.LearnInput(1, call.input(0));
      call.LearnResult(call.input(0));
    })
    .Pattern(tenon::ops::OpPattern::kOutEWiseFusable)
    .Compute([](const tenon::strategies::TeCall& call) {
      return std::vector<tenon::te::Tensor>{
          tenon::te::Compute(call.te_shape(), [&](const std::vector<tenon::te::Var>& i) {
            const auto at = tenon::strategies::ToExprs(i);
            return call.input(0)[at] - call.input(1)[at];
          })};
    })
    .Implement(
        {.name = "swapped", .priority = 100, .build = [](const tenon::strategies::Group& group) {
           const auto function =
               tenon::strategies::LowerFunction(*group.function, {.target = group.lowering.target});
           return tenon::strategies::Built{
               .kernel = tenon::strategies::LowerOutputs(function.params, function.outputs,
                                                         group.name, group.lowering),
               .arguments = {1, 0}};
         }});

// Reads past the last element, whatever the input is.
TENON_REGISTER_OP("plugin.beyond")
    .Argument("data", "Tensor", "input")
    .TypeRelation(tenon::ops::Identity)
    .Compute([](const tenon::strategies::TeCall& call) {
      const auto shape = call.te_shape();
      return std::vector<tenon::te::Tensor>{
          tenon::te::Compute(shape, [&](const std::vector<tenon::te::Var>& i) {
            auto at = tenon::strategies::ToExprs(i);
            for (auto& index : at) index = index + 1;
            return call.input(0)[at];
          })};
    });

// Trusts a number that it is given, as it should not.
TENON_REGISTER_OP("plugin.shift")
    .Describe("the rows from a number on")
    .Argument("data", "Tensor", "input")
    .Argument("by", "Tensor", "the number")
    .TypeRelation(tenon::ops::Identity)
    .Compute([](const tenon::strategies::TeCall& call) -> std::vector<tenon::te::Tensor> {
      const tenon::te::Tensor& x = call.inputs[0];
      const tenon::te::Expr by = call.inputs[1](0);
      return {tenon::te::Compute(
          x.shape(), [&](tenon::te::Var i, tenon::te::Var j) { return x(i + by, j); }, "shifted")};
    });
