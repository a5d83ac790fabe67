// Calls with one change, and what the fuzzer of operators finds with them.
#include "tenon/verify/draw/random_call.h"

#include <optional>
#include <string>

#include "tenon/ir/text_format.h"
#include "tenon/strategies/register_op.h"
#include "tenon/te/math.h"
#include "tenon/tests/testing/graph_testing.h"
#include "tenon/verify/draw/random_operator.h"
#include "tenon/verify/fuzz_operator.h"

namespace tenon::verify {
namespace {

OperatorCall SomeCall(const std::string& op, Random& random) {
  std::string refusal;
  const auto call = MakeRandomCall(op, random, &refusal);
  EXPECT_TRUE(call.has_value()) << refusal;
  return *call;
}

// What a change has changed.
struct Changes {
  int extents = 0, ranks = 0, types = 0, attributes = 0, aliases = 0;

  void Count(const ir::FunctionNode& before, const ir::FunctionNode& after) {
    for (std::size_t i = 0; i < before.params.size(); ++i) {
      const auto* old = before.params[i].checked_type().As<ir::TensorTypeNode>();
      const ir::Type changed = ir::Var(after.params[i]).type_annotation();
      const auto* made = changed.As<ir::TensorTypeNode>();
      if (old->dtype != made->dtype) ++types;
      if (old->shape.size() != made->shape.size())
        ++ranks;
      else if (old->shape != made->shape)
        ++extents;
    }
    const auto &a = *before.body.As<ir::CallNode>(), &b = *after.body.As<ir::CallNode>();
    if (a.attrs.defined() && !(a.attrs == b.attrs)) ++attributes;
    if (b.args.size() == 2 && b.args[0] == b.args[1]) ++aliases;
  }
  int all() const { return extents + ranks + types + attributes + aliases; }
};

TEST(WithOneChangeTest, AtMostOneThingIsAnotherAndEachKindOccurs) {
  Random random(7);
  Changes all;
  for (int i = 0; i < 400; ++i) {
    const OperatorCall call = SomeCall("nn.dense", random);
    const UntypedCall near = WithOneChange({call.module, call.graph.values}, random);
    const ir::FunctionNode& main = near.module.Main();
    ASSERT_EQ(near.values.size(), main.params.size());
    for (std::size_t p = 0; p < main.params.size(); ++p) {
      const ir::Type type = ir::Var(main.params[p]).type_annotation();
      EXPECT_EQ(ir::StaticShape(type, "an argument"), near.values[p].shape());
    }
    const int before = all.all();
    all.Count(call.module.Main(), main);
    EXPECT_LE(all.all(), before + 1) << ir::PrintModule(near.module);
  }
  for (const int kind : {all.extents, all.ranks, all.types, all.attributes, all.aliases})
    EXPECT_GT(kind, 0);
}

std::optional<std::string> FirstFinding(const std::string& op, std::uint64_t cases) {
  FuzzStatistics statistics;
  for (std::uint64_t seed = 1; seed <= cases; ++seed) {
    if (auto finding = FuzzOperator(op, seed, &statistics)) return finding;
  }
  EXPECT_GT(statistics.near + statistics.misfits, 0);
  return std::nullopt;
}

// The operands that are drawn have equal extents. Only a changed one shows that nothing compares
// them, and that a row is read past its end.
TEST(WithOneChangeTest, ARelationThatComparesTooLittleIsFound) {
  const auto add = [](const strategies::TeCall& call) {
    return std::vector<te::Tensor>{te::Compute(call.te_shape(), [&](const std::vector<te::Var>& i) {
      return call.input(0)[strategies::ToExprs(i)] + call.input(1)(i.back());
    })};
  };
  const auto row = [](bool compares) {
    return [compares](ops::TypeCall& call) {
      const auto *x = call.tensor(0), *row = call.tensor(1);
      if (x == nullptr || row == nullptr) return;
      if (x->shape.empty() || row->shape.size() != 1 || x->dtype != row->dtype ||
          !x->dtype.is_float())
        call.Refuse("a row of a float type is added");
      if (compares && call.Differ(x->shape.back(), row->shape[0]))
        call.Refuse("the row has another length");
      call.LearnResult(call.input(0));
    };
  };
  for (const bool compares : {false, true}) {
    const std::string name = compares ? "my.near_added_row" : "my.near_added_any_row";
    strategies::OpRegistration(name)
        .Argument("x", "Tensor", "")
        .Argument("row", "Tensor", "")
        .TypeRelation(row(compares))
        .Compute(add);
    const auto finding = FirstFinding(name, 40);
    EXPECT_EQ(finding.has_value(), !compares) << finding.value_or("");
  }
}

}  // namespace
}  // namespace tenon::verify
