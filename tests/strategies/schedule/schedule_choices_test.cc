// The choices of the automatic schedule: every value gives the same results, and none changes
// anything until it is made.
#include "tenon/jit/kernel.h"
#include "tenon/strategies/register_op.h"
#include "tenon/strategies/schedule/choices.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

enum class Second : bool { kPlain, kTransposed };

// Three loops and no schedule, over a batch.
void RegisterProduct(const std::string& name, Second second) {
  if (ops::OpRegistry::Global().Find(name)) return;
  OpRegistration(name)
      .Argument("a", "Tensor", "rows")
      .Argument("b", "Tensor", "columns")
      .TypeRelation([second](ops::TypeCall& call) {
        const auto *a = call.tensor(0), *b = call.tensor(1);
        if (a == nullptr || b == nullptr) return;
        if (a->shape.size() != 3 || b->shape.size() != 3) return call.Refuse("both have 3 axes");
        call.LearnResult(ir::TensorType(
            {a->shape[0], a->shape[1], b->shape[second == Second::kPlain ? 2 : 1]}, a->dtype));
      })
      .Pattern(ops::OpPattern::kOutEWiseFusable)
      .Compute([second](const TeCall& call) {
        const te::Tensor &a = call.input(0), &b = call.input(1);
        const te::IterVar k = te::ReduceAxis(0, a.shape()[2], "k");
        return std::vector<te::Tensor>{te::Compute(
            call.te_shape(),
            [&](te::Var n, te::Var i, te::Var j) {
              const te::Expr right = second == Second::kPlain ? b(n, k.var, j) : b(n, j, k.var);
              return te::Sum(a(n, i, k.var) * right, {k});
            },
            "product")};
      });
}

// A row of `n` batches with `m` x `k` and `k` x `c`.
ir::Module Product(Second second, std::int64_t n, std::int64_t m, std::int64_t k, std::int64_t c,
                   const std::string& dtype, bool with_epilogue) {
  const std::string name = second == Second::kPlain ? "my.naive_product" : "my.naive_product_t";
  RegisterProduct(name, second);
  const std::string columns = second == Second::kPlain ? StrCat(k, ", ", c) : StrCat(c, ", ", k);
  return Parsed(StrCat("def @main(%a: Tensor[(", n, ", ", m, ", ", k, "), ", dtype,
                       "], %b: Tensor[(", n, ", ", columns, "), ", dtype, "]) {\n  ",
                       with_epilogue ? "nn.relu(" : "", name, "(%a, %b)", with_epilogue ? ")" : "",
                       "\n}"));
}

CompileOptions By(const ConfigValues& config) {
  CompileOptions options = {.threads = 1, .check_bounds = true};
  options.measured = [config](const std::string&) {
    return std::optional(MeasuredChoice{.row = "te", .config = config, .over = "", .evidence = ""});
  };
  return options;
}

bool IsMeasured(const Lowered& lowered) {
  const Choice& choice = lowered.kernels.at(0).choice;
  return choice.candidates[choice.chosen].measured.has_value();
}

struct Size {
  std::int64_t n, m, k, c;
};

TEST(ScheduleChoicesTest, EveryBlockOfSumsGivesTheResultsOfThreeLoops) {
  for (const Second second : {Second::kPlain, Second::kTransposed}) {
    for (const auto& [n, m, k, c] :
         {Size{1, 1, 1, 1}, {2, 7, 13, 37}, {1, 16, 5, 64}, {3, 5, 1, 17}}) {
      for (const char* dtype : {"float32", "float64", "int32", "int8"}) {
        const bool with_epilogue = m % 2 == 1;
        const ir::Module module = Product(second, n, m, k, c, dtype, with_epilogue);
        const runtime::Inputs inputs = RandomInputs(module, 7);
        const auto expected = Interpreted(module, inputs);
        for (const std::int64_t rows : {1, 4, 6}) {
          for (const std::int64_t pack : {0, 1}) {
            const CompileOptions options = By({{"product.block_rows", rows},
                                               {"product.block_vectors", 1 + rows % 3},
                                               {"product.block_steps", rows == 4 ? 2 : 1},
                                               {"product.block_by_rows", rows / 4},
                                               {"product.block_pack", pack}});
            const Lowered lowered = Lower(module, options).value();
            ASSERT_TRUE(IsMeasured(lowered)) << lowered.kernels[0].choice.Explanation();
            ExpectClose(Link(lowered, options).value().Run(inputs).value(), expected);
          }
        }
      }
    }
  }
}

std::string LoopsOf(const ir::Module& module, const CompileOptions& options) {
  const Lowered lowered = Lower(module, options).value();
  return jit::TextOf(std::get<loop::Function>(lowered.kernels.at(0).choice.built.kernel),
                     jit::KernelText::kLoops)
      .value();
}

TEST(ScheduleChoicesTest, TheDefaultsChangeNothing) {
  for (const ir::Module& module :
       {Product(Second::kPlain, 1, 64, 32, 64, "float32", true),
        // Both together are work to share; the relu alone is not.
        Product(Second::kPlain, 1, 1, 512, 700, "float32", true),
        Parsed("def @main(%x: Tensor[(64, 512), float32]) { nn.softmax(exp(%x)) }"),
        Parsed("def @main(%x: Tensor[(64, 512), float32]) { sum(%x, axis=[0]) }")}) {
    const Lowered usual = Lower(module, {.threads = 1}).value();
    const ConfigValues defaults = usual.kernels.at(0).choice.config.Values();
    EXPECT_FALSE(defaults.empty());
    CompileOptions options = By(defaults);
    options.check_bounds = false;
    EXPECT_EQ(LoopsOf(module, options), LoopsOf(module, {.threads = 1}));
  }
}

TEST(ScheduleChoicesTest, EveryValueOfEveryChoiceGivesTheSameResults) {
  for (const char* text :
       {"def @main(%x: Tensor[(3, 131), float32]) { nn.softmax(exp(%x)) }",
        "def @main(%x: Tensor[(300, 521), float32]) { add(%x, %x) }",
        "def @main(%x: Tensor[(67, 96), float32]) { sum(%x, axis=[0]) }",
        "def @main(%x: Tensor[(2, 5, 37), float32], %y: Tensor[(5, 1), float32]) {\n"
        "  %0 = multiply(%x, %y);\n  max(nn.relu(%0), axis=[1])\n}"}) {
    const ir::Module module = Parsed(text);
    const runtime::Inputs inputs = RandomInputs(module, 5);
    const auto expected = Interpreted(module, inputs);
    const Lowered usual = Lower(module, {.threads = 1}).value();
    const std::vector<Config::Choice> choices = usual.kernels.at(0).choice.config.choices();
    ASSERT_FALSE(choices.empty()) << text;
    for (const Config::Choice& choice : choices) {
      for (const std::int64_t value : choice.values) {
        const CompileOptions options = By({{choice.name, value}});
        const Lowered lowered = Lower(module, options).value();
        ASSERT_TRUE(IsMeasured(lowered)) << choice.name << "=" << value << "\n"
                                         << lowered.kernels[0].choice.Explanation();
        ExpectClose(Link(lowered, options).value().Run(inputs).value(), expected);
      }
    }
  }
}

TEST(ScheduleChoicesTest, ChoicesAreNamedAfterTheirStage) {
  const Lowered lowered =
      Lower(Product(Second::kPlain, 1, 64, 32, 64, "float32", true), {.threads = 1}).value();
  std::vector<std::string> names;
  for (const Config::Choice& choice : lowered.kernels.at(0).choice.config.choices())
    names.push_back(choice.name);
  EXPECT_THAT(names, Contains("product.block_rows"));
  EXPECT_THAT(names, Contains("nn.relu.parallel"));
}

TEST(ScheduleChoicesTest, AValueThatIsNoneIsLeftAsideInWords) {
  const ir::Module module = Product(Second::kPlain, 1, 64, 32, 64, "float32", false);
  const Lowered lowered = Lower(module, By({{"product.block_rows", 7}})).value();
  EXPECT_THAT(lowered.kernels.at(0).choice.Explanation(),
              HasSubstr("left aside, the choice product.block_rows=7 is none of its values"));
}

TEST(ScheduleChoicesTest, ACacheOfMachineCodeTellsChoicesApart) {
  const ir::Module module = Parsed("def @main(%x: Tensor[(300, 521), float32]) { add(%x, %x) }");
  const std::string folder = testing::TempDir() + "schedule_choices";
  const auto loops = [&](CompileOptions options) {
    options.cache_dir = folder;
    options.check_bounds = false;
    return Compile(module, options).value().kernels().at(0)->Text(jit::KernelText::kLoops);
  };
  const std::string usual = loops({.threads = 1});
  for (int warm = 0; warm < 2; ++warm) {
    EXPECT_NE(loops(By({{"add.vectors", 1}})), usual);
    EXPECT_EQ(loops({.threads = 1}), usual);
  }
}

}  // namespace
}  // namespace tenon::strategies
