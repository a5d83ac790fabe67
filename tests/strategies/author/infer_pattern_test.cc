// Patterns that registrations leave out are inferred; those that contradict the compute are
// refused before anything is compiled.
#include "tenon/strategies/author/infer_pattern.h"

#include "tenon/strategies/author/pending_patterns.h"
#include "tenon/strategies/register_op.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

using ops::OpPattern;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using Body = std::function<te::Expr(const TeCall& call, const std::vector<te::Var>& i)>;

TeMake Elements(const Body& body) {
  return [body](const TeCall& call) {
    return std::vector<te::Tensor>{
        te::Compute(call.te_shape(), [&](const std::vector<te::Var>& i) { return body(call, i); })};
  };
}

OpPattern Inferred(const std::string& name) {
  FinishPatterns();
  EXPECT_TRUE(CatchErrors([] { ops::OpRegistry::Global().ThrowStartupErrors(); }).ok());
  return *ops::OpRegistry::Global().Definition(name).pattern;
}

TEST(InferPatternTest, OneToOneIsElementwise) {
  OpRegistration("my.infer_square")
      .Argument("x", "Tensor", "")
      .TypeRelation(ops::Identity)
      .Compute(Elements([](const TeCall& call, const std::vector<te::Var>& i) {
        const te::Expr x = call.input(0)[ToExprs(i)];
        return x * x;
      }));
  EXPECT_EQ(Inferred("my.infer_square"), OpPattern::kElemWise);
}

TEST(InferPatternTest, RepeatedAxesAreBroadcast) {
  OpRegistration("my.infer_add_row")
      .Argument("x", "Tensor", "")
      .Argument("row", "Tensor", "")
      .TypeRelation([](ops::TypeCall& call) {
        const auto* x = call.tensor(0);
        if (x == nullptr) return;
        call.LearnInput(1, ir::TensorType({x->shape.back()}, x->dtype));
        call.LearnResult(call.input(0));
      })
      .Compute(Elements([](const TeCall& call, const std::vector<te::Var>& i) {
        return call.input(0)[ToExprs(i)] + call.input(1)(i.back());
      }));
  EXPECT_EQ(Inferred("my.infer_add_row"), OpPattern::kBroadcast);
}

TEST(InferPatternTest, OneElementOfAnInputForEachIsInjective) {
  OpRegistration("my.infer_mirrored")
      .Argument("x", "Tensor", "")
      .TypeRelation(ops::Identity)
      .Compute(Elements([](const TeCall& call, const std::vector<te::Var>& i) {
        std::vector<te::Expr> at = ToExprs(i);
        at[0] = call.input(0).shape()[0] - 1 - at[0];
        return call.input(0)[at];
      }));
  EXPECT_EQ(Inferred("my.infer_mirrored"), OpPattern::kInjective);
}

TEST(InferPatternTest, SeveralElementsOfAnInputAreOpaque) {
  OpRegistration("my.infer_neighbours")
      .Argument("x", "Tensor", "")
      .TypeRelation(ops::Identity)
      .Compute(Elements([](const TeCall& call, const std::vector<te::Var>& i) {
        std::vector<te::Expr> next = ToExprs(i);
        next[0] = te::FloorMod(next[0] + 1, call.input(0).shape()[0]);
        return call.input(0)[ToExprs(i)] + call.input(0)[next];
      }));
  EXPECT_EQ(Inferred("my.infer_neighbours"), OpPattern::kOpaque);
}

// Sums over the last axis, or over a matrix product's.
void RegisterSum(const std::string& name, std::optional<OpPattern> pattern = std::nullopt) {
  OpRegistration registration(name);
  registration.Argument("x", "Tensor", "").TypeRelation([](ops::TypeCall& call) {
    const auto* x = call.tensor(0);
    if (x == nullptr) return;
    call.LearnResult(ir::TensorType({x->shape.begin(), x->shape.end() - 1}, x->dtype));
  });
  if (pattern) registration.Pattern(*pattern);
  registration.Compute([](const TeCall& call) {
    const te::IterVar k = te::ReduceAxis(0, call.input(0).shape().back());
    return std::vector<te::Tensor>{te::Compute(call.te_shape(), [&](const std::vector<te::Var>& i) {
      std::vector<te::Expr> at = ToExprs(i);
      at.push_back(k.var);
      return te::Sum(call.input(0)[at], {k});
    })};
  });
}

TEST(InferPatternTest, AReductionThatReadsEachElementOnceIsOneAndAProductIsHeavy) {
  RegisterSum("my.infer_sum");
  EXPECT_EQ(Inferred("my.infer_sum"), OpPattern::kCommReduce);
  OpRegistration("my.infer_gram")
      .Argument("x", "Tensor", "")
      .TypeRelation([](ops::TypeCall& call) {
        const auto* x = call.tensor(0);
        if (x == nullptr) return;
        if (x->shape.size() != 2) call.Refuse("it takes matrices");
        call.LearnResult(ir::TensorType({x->shape[0], x->shape[0]}, x->dtype));
      })
      .Compute([](const TeCall& call) {
        const te::IterVar k = te::ReduceAxis(0, call.input(0).shape()[1]);
        return std::vector<te::Tensor>{te::Compute(call.te_shape(), [&](te::Var i, te::Var j) {
          return te::Sum(call.input(0)(i, k.var) * call.input(0)(j, k.var), {k});
        })};
      });
  EXPECT_EQ(Inferred("my.infer_gram"), OpPattern::kOutEWiseFusable);
}

struct ModeAttrs {
  static constexpr const char* kTypeKey = "test.attrs.InferModeAttrs";
  std::string mode = "keep";
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("mode", &ModeAttrs::mode, "what it does").OneOf("keep mirror"));
  }
};

TEST(InferPatternTest, AttributesThatChangeThePatternCount) {
  OpRegistration("my.infer_mode")
      .Attrs<ModeAttrs>()
      .Argument("x", "Tensor", "")
      .TypeRelation(ops::Identity)
      .Compute(Elements([](const TeCall& call, const std::vector<te::Var>& i) {
        std::vector<te::Expr> at = ToExprs(i);
        if (call.attrs.As<ModeAttrs>().mode == "mirror")
          at[0] = call.input(0).shape()[0] - 1 - at[0];
        return call.input(0)[at];
      }));
  EXPECT_EQ(Inferred("my.infer_mode"), OpPattern::kInjective);
}

struct PlacesAttrs {
  static constexpr const char* kTypeKey = "test.attrs.InferPlacesAttrs";
  std::int64_t first = 0, second = 0;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("first", &PlacesAttrs::first, "an axis, counted from the end").Required(),
        attrs::Field("second", &PlacesAttrs::second, "another").Required());
  }
};

TEST(InferPatternTest, AttributesThatMustBeGivenHaveUsualValues) {
  OpRegistration("my.infer_places")
      .Attrs<PlacesAttrs>()
      .Argument("x", "Tensor", "")
      .TypeRelation([](ops::TypeCall& call) {
        const auto& attrs = call.attrs<PlacesAttrs>();
        for (const std::int64_t place : {attrs.first, attrs.second}) {
          if (place < -8 || place > 8) call.Refuse("there is no such axis");
        }
        ops::Identity(call);
      })
      .Compute(Elements([](const TeCall& call, const std::vector<te::Var>& i) {
        return call.input(0)[ToExprs(i)];
      }));
  EXPECT_EQ(Inferred("my.infer_places"), OpPattern::kElemWise);
}

struct StepsAttrs {
  static constexpr const char* kTypeKey = "test.attrs.InferStepsAttrs";
  std::vector<std::int64_t> steps = {1};
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("steps", &StepsAttrs::steps, "what the author divides by"));
  }
};

TEST(InferPatternTest, StepsAreNotZeroInSamples) {
  OpRegistration("my.infer_steps")
      .Attrs<StepsAttrs>()
      .Argument("x", "Tensor", "")
      .TypeRelation([](ops::TypeCall& call) {
        const auto* x = call.tensor(0);
        if (x == nullptr) return;
        const std::int64_t step = call.attrs<StepsAttrs>().steps.at(0);
        EXPECT_NE(step, 0);
        if (step < 1) return;
        std::vector<ir::Dim> shape = x->shape;
        shape[0] = shape[0].value() / step;
        call.LearnResult(ir::TensorType(std::move(shape), x->dtype));
      })
      .Compute(Elements([](const TeCall& call, const std::vector<te::Var>& i) {
        std::vector<te::Expr> at = ToExprs(i);
        at[0] = at[0] * call.attrs.As<StepsAttrs>().steps[0];
        return call.input(0)[at];
      }));
  EXPECT_EQ(Inferred("my.infer_steps"), OpPattern::kInjective);
}

// As one that compiles something does.
TEST(InferPatternTest, AComputeMayAskForPatterns) {
  OpRegistration("my.infer_asks")
      .Argument("x", "Tensor", "")
      .TypeRelation(ops::Identity)
      .Compute(Elements([](const TeCall& call, const std::vector<te::Var>& i) {
        FinishPatterns();
        return call.input(0)[ToExprs(i)];
      }));
  EXPECT_EQ(Inferred("my.infer_asks"), OpPattern::kElemWise);
}

TEST(InferPatternTest, WhatNoSampleFitsStaysOpaque) {
  OpRegistration("my.infer_picky")
      .Argument("x", "Tensor", "")
      .TypeRelation([](ops::TypeCall& call) {
        if (call.tensor(0) != nullptr) call.Refuse("it takes nothing");
      })
      .Compute(Elements([](const TeCall& call, const std::vector<te::Var>& i) {
        return call.input(0)[ToExprs(i)];
      }));
  EXPECT_EQ(Inferred("my.infer_picky"), OpPattern::kOpaque);
}

TEST(InferPatternTest, APatternThatIsSaidLaterIsNotInferred) {
  OpRegistration("my.infer_said")
      .Argument("x", "Tensor", "")
      .TypeRelation(ops::Identity)
      .Compute(Elements([](const TeCall& call, const std::vector<te::Var>& i) {
        return call.input(0)[ToExprs(i)];
      }))
      .Pattern(OpPattern::kOpaque);
  EXPECT_EQ(Inferred("my.infer_said"), OpPattern::kOpaque);
}

TEST(InferPatternTest, ADeclaredPatternThatContradictsTheComputeIsRefusedWithTheRegistration) {
  RegisterSum("my.infer_no_elementwise", OpPattern::kElemWise);
  RegisterSum("my.infer_reduces", OpPattern::kCommReduce);
  FinishPatterns();
  const absl::Status status = CatchErrors([] { ops::OpRegistry::Global().ThrowStartupErrors(); });
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("my.infer_no_elementwise"), HasSubstr("infer_pattern_test.cc"),
                    HasSubstr("the pattern kElemWise contradicts the compute"),
                    HasSubstr("is a reduction"), Not(HasSubstr("my.infer_reduces"))));
}

}  // namespace
}  // namespace tenon::strategies
