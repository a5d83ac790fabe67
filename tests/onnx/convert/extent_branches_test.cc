// Ifs that compare extents and whose branches have other ranks. The oracle is the model imported
// for the shape of each run.
#include "tenon/tests/onnx/any_shapes.h"
#include "tenon/tests/onnx/subgraphs.h"

namespace tenon::onnx_import {
namespace {

using onnx::GraphProto;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Random;

// "c": how x's number of rows compares with `number`; then "chosen" by an If. The branches are
// empty.
struct Branches {
  GraphProto *yes, *no;
};
Branches AddIf(Model* model, const char* comparison, std::int64_t number) {
  NamedInput(*model, "x", {"n", "3"});
  model->Integers("axis", {0}).Integers("number", {number});
  model->Node("Shape", {"x"}, {"shape"});
  model->Node("Gather", {"shape", "axis"}, {"extent"});
  model->Node(comparison, {"extent", "number"}, {"c"});
  NodeProto& node = model->Node("If", {"c"}, {"chosen"}, "choose");
  return {.yes = GraphOf(node, "then_branch"), .no = GraphOf(node, "else_branch")};
}
// As PyTorch writes squeeze(x, 0).
void AddSqueeze(Model* model, const char* comparison = "Equal", std::int64_t number = 1) {
  const Branches branches = AddIf(model, comparison, number);
  Add(branches.yes, "Squeeze", {"x", "axis"}, {"row"});
  Gives(branches.yes, {"row"});
  Add(branches.no, "Identity", {"x"}, {"same"});
  Gives(branches.no, {"same"});
}

ir::Module ModuleOf(const Model& model) {
  const auto module = ImportOnnx(model.Bytes(), AnyShapes());
  EXPECT_TRUE(module.ok()) << module.status();
  return ValueOrThrow(module);
}

void ExpectRight(const Model& model, const Executable& exe, const Ints& lengths) {
  for (const std::int64_t n : lengths) {
    SCOPED_TRACE(n);
    const NDArray x = Random({n, 3}, n);
    ImportOptions fixed = AnyShapes();
    fixed.symbolic = false;
    fixed.shapes = {{"x", {n, 3}}};
    const ir::Module of_numbers = ValueOrThrow(ImportOnnx(model.Bytes(), fixed));
    ExpectClose(ValueOrThrow(exe.Run({{"x", x}})), testing_graphs::Outcome(of_numbers, {{"x", x}}));
  }
}

std::string Refusal(const Executable& exe, std::int64_t n) {
  return std::string(exe.Run({{"x", Random({n, 3}, 1)}}).status().message());
}

std::string ConditionsOf(const ir::Module& module) {
  return StrJoin(ValueOrThrow(Lower(module)).plan.conditions, "; ",
                 [](std::string* out, const ExtentCondition& c) { *out += c.ToString(); });
}

TEST(ExtentBranchesTest, ARunTakesTheRestOfTheGraphOfItsBranch) {
  Model model;
  AddSqueeze(&model);
  model.Output("y").Output("all").Integers("flat", {-1}).Integers("last", {-1});
  NodeProto& sum = model.Node("ReduceSum", {"chosen", "last"}, {"sum"});
  SetInt(sum, "keepdims", 0);
  model.Node("Reshape", {"sum", "flat"}, {"y"});
  model.Node("Exp", {"x"}, {"all"});
  const Executable exe = ValueOrThrow(Compile(ModuleOf(model), {.check_bounds = true}));
  EXPECT_NE(exe.program(), nullptr);
  ExpectRight(model, exe, {1, 2, 3, 17});
}

// Each comparison in turn, with what it needs and the rows on both sides of the number.
TEST(ExtentBranchesTest, ABranchThatTheRestRefusesIsRefusedInRuns) {
  const struct {
    const char* comparison;
    std::int64_t number, taken, refused;
    const char* needs;
  } kCases[] = {{"Greater", 4, 4, 5, "n <= 4"},
                {"GreaterOrEqual", 4, 3, 4, "n <= 3"},
                {"Less", 4, 4, 3, "4 <= n"},
                {"LessOrEqual", 4, 5, 4, "5 <= n"},
                {"Equal", 1, 2, 1, "2 <= n"}};
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.comparison);
    Model model;
    const Branches branches = AddIf(&model, c.comparison, c.number);
    SetInt(Add(branches.yes, "ReduceMax", {"x"}, {"most"}), "keepdims", 0);
    Gives(branches.yes, {"most"});
    Add(branches.no, "Exp", {"x"}, {"exp"});
    Gives(branches.no, {"exp"});
    model.Output("y");
    SetInts(model.Node("Transpose", {"chosen"}, {"y"}), "perm", {1, 0});
    const ir::Module module = ModuleOf(model);
    EXPECT_THAT(ConditionsOf(module), HasSubstr(StrCat(c.needs, ", for the limits of @main")));
    const Executable exe = ValueOrThrow(Compile(module));
    EXPECT_EQ(exe.program(), nullptr);  // no if is left
    ExpectRight(model, exe, {c.taken});
    EXPECT_THAT(Refusal(exe, c.refused),
                AllOf(HasSubstr("the model needs"), HasSubstr("for the limits of @main")));
  }
}

// A number between others cannot be left out by one comparison.
TEST(ExtentBranchesTest, ANumberInTheMiddleCannotBeExcluded) {
  Model model;
  const Branches branches = AddIf(&model, "Equal", 4);
  SetInt(Add(branches.yes, "ReduceMax", {"x"}, {"most"}), "keepdims", 0);
  Gives(branches.yes, {"most"});
  Add(branches.no, "Exp", {"x"}, {"exp"});
  Gives(branches.no, {"exp"});
  model.Output("y");
  SetInts(model.Node("Transpose", {"chosen"}, {"y"}), "perm", {1, 0});
  EXPECT_THAT(std::string(ImportOnnx(model.Bytes(), AnyShapes()).status().message()),
              HasSubstr("it compares n with 4; numbers for these extents decide it"));
}

// What a squeeze needs says it already.
TEST(ExtentBranchesTest, TheOperatorsOfABranchMayRefuseForIt) {
  Model model;
  AddSqueeze(&model);
  model.Output("y").Constant("tail", Random({2}, 1));
  SetInt(model.Node("Concat", {"chosen", "tail"}, {"y"}), "axis", 0);
  const ir::Module module = ModuleOf(model);
  EXPECT_THAT(ConditionsOf(module),
              AllOf(HasSubstr("n == 1, for squeeze"), ::testing::Not(HasSubstr("limits"))));
  const Executable exe = ValueOrThrow(Compile(module));
  EXPECT_EQ(exe.program(), nullptr);
  ExpectRight(model, exe, {1});
  EXPECT_THAT(Refusal(exe, 2), HasSubstr("axis 0 has the extent 2, not 1"));
}

TEST(ExtentBranchesTest, ABranchOfAnotherRankThanTheModelDeclaresIsNotTaken) {
  Model model;
  AddSqueeze(&model);
  model.Output("y").Node("Exp", {"chosen"}, {"y"});
  auto* type = model.proto.mutable_graph()->mutable_output(0)->mutable_type();
  type->mutable_tensor_type()->set_elem_type(TensorProto::FLOAT);
  type->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(3);
  const Executable exe = ValueOrThrow(Compile(ModuleOf(model)));
  ExpectRight(model, exe, {1});
  EXPECT_THAT(Refusal(exe, 4), HasSubstr("axis 0 has the extent 4, not 1"));
}

TEST(ExtentBranchesTest, TheSameQuestionIsAnsweredOnce) {
  Model model;
  AddSqueeze(&model);
  // It undoes the first one; without what is known of it, there would be four ways.
  NodeProto& node = model.Node("If", {"c"}, {"back"});
  GraphProto* yes = GraphOf(node, "then_branch");
  Add(yes, "Unsqueeze", {"chosen", "axis"}, {"rows"});
  Gives(yes, {"rows"});
  Gives(GraphOf(node, "else_branch"), {"chosen"});
  model.Output("y");
  SetInts(model.Node("Transpose", {"back"}, {"y"}), "perm", {1, 0});
  const Executable exe = ValueOrThrow(Compile(ModuleOf(model), {.check_bounds = true}));
  ExpectRight(model, exe, {1, 2, 5});
}

// The branches of an If of which only a run knows the condition have their own needs.
TEST(ExtentBranchesTest, ABranchInsideABranchNeedsItWhereItRuns) {
  Model model;
  NamedInput(model, "x", {"n", "3"}).Input("squeezes", {}, TensorProto::BOOL).Output("y");
  model.Integers("axis", {0}).Integers("one", {1}).Constant("tail", Random({2}, 1));
  NodeProto& outer = model.Node("If", {"squeezes"}, {"y"});
  GraphProto* yes = GraphOf(outer, "then_branch");
  Add(yes, "Shape", {"x"}, {"shape"});
  Add(yes, "Gather", {"shape", "axis"}, {"extent"});
  Add(yes, "Equal", {"extent", "one"}, {"c"});
  NodeProto& inner = Add(yes, "If", {"c"}, {"chosen"});
  GraphProto* row = GraphOf(inner, "then_branch");
  Add(row, "Squeeze", {"x", "axis"}, {"row"});
  Gives(row, {"row"});
  Gives(GraphOf(inner, "else_branch"), {"x"});
  SetInt(Add(yes, "Concat", {"chosen", "tail"}, {"joined"}), "axis", 0);
  Gives(yes, {"joined"});
  GraphProto* no = GraphOf(outer, "else_branch");
  SetInt(Add(no, "ReduceMax", {"x"}, {"most"}), "keepdims", 0);
  Add(no, "Reshape", {"most", "one"}, {"flat"});
  Add(no, "Exp", {"flat"}, {"exp"});
  Gives(no, {"exp"});
  const Executable exe = ValueOrThrow(Compile(ModuleOf(model)));
  const auto run = [&](std::int64_t n, bool squeezes) {
    return exe.Run({{"x", Random({n, 3}, 2)}, {"squeezes", NDArray::Scalar(squeezes)}});
  };
  EXPECT_EQ(ValueOrThrow(run(1, true))[0].shape(), (Shape{5}));
  EXPECT_EQ(ValueOrThrow(run(4, false))[0].shape(), (Shape{1}));
  EXPECT_THAT(std::string(run(4, true).status().message()), HasSubstr("squeeze"));
}

// Five questions, each of which would double what comes after it.
TEST(ExtentBranchesTest, OnlyAFewQuestionsAreAskedInARow) {
  Model model;
  NamedInput(model, "x", {"n", "3"}).Output("y").Integers("axis", {0});
  model.Node("Shape", {"x"}, {"shape"});
  model.Node("Gather", {"shape", "axis"}, {"extent"});
  std::string last = "x";
  for (int i = 0; i < 6; ++i) {
    const std::string number = StrCat("number", i), c = StrCat("c", i), chosen = StrCat("v", i);
    model.Integers(number, {10 + i});
    model.Node("Greater", {"extent", number}, {c});
    NodeProto& node = model.Node("If", {c}, {chosen}, StrCat("choose", i));
    GraphProto* yes = GraphOf(node, "then_branch");
    Add(yes, "Unsqueeze", {last, "axis"}, {"more"});
    Gives(yes, {"more"});
    Gives(GraphOf(node, "else_branch"), {last});
    last = chosen;
  }
  SetInt(model.Node("ReduceSum", {last}, {"y"}), "keepdims", 0);
  EXPECT_THAT(std::string(ImportOnnx(model.Bytes(), AnyShapes()).status().message()),
              HasSubstr("numbers for these extents decide it"));
}

// 256 is 0 as an integer of 8 bits, and so no condition that the extent decides.
TEST(ExtentBranchesTest, ANarrowIntegerOfAnExtentMayBeZero) {
  for (const int narrow : {TensorProto::INT8, TensorProto::UINT8}) {
    SCOPED_TRACE(narrow);
    Model model;
    NamedInput(model, "x", {"n", "3"}).Output("y").Integers("axis", {0});
    model.Node("Shape", {"x"}, {"shape"});
    model.Node("Gather", {"shape", "axis"}, {"extent"});
    SetInt(model.Node("Cast", {"extent"}, {"narrow"}), "to", narrow);
    SetInt(model.Node("Cast", {"narrow"}, {"c"}), "to", TensorProto::BOOL);
    NodeProto& node = model.Node("If", {"c"}, {"y"});
    GraphProto* yes = GraphOf(node, "then_branch");
    Add(yes, "Neg", {"x"}, {"negated"});
    Gives(yes, {"negated"});
    GraphProto* no = GraphOf(node, "else_branch");
    Add(no, "Exp", {"x"}, {"exp"});
    Gives(no, {"exp"});
    ExpectRight(model, ValueOrThrow(Compile(ModuleOf(model))), {1, 255, 256, 257});
  }
}

// The limit of the first one has the variable of the other input in front, with a minus.
TEST(ExtentBranchesTest, ExtentsOfTwoInputsAreCompared) {
  const struct {
    const char* comparison;
    std::int64_t n, m;  // that are taken; those that are refused are the other way round
  } kCases[] = {{"Greater", 9, 5}, {"Less", 5, 9}};
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.comparison);
    Model model;
    NamedInput(NamedInput(model, "x", {"n", "3"}), "z", {"m", "k"}).Output("y");
    model.Integers("axis", {0});
    model.Node("Shape", {"x"}, {"shape"});
    model.Node("Gather", {"shape", "axis"}, {"rows"});
    model.Node("Shape", {"z"}, {"other_shape"});
    model.Node("Gather", {"other_shape", "axis"}, {"other_rows"});
    model.Node(c.comparison, {"rows", "other_rows"}, {"c"});
    NodeProto& node = model.Node("If", {"c"}, {"chosen"});
    GraphProto* yes = GraphOf(node, "then_branch");
    Add(yes, "Exp", {"x"}, {"exp"});
    Gives(yes, {"exp"});
    GraphProto* no = GraphOf(node, "else_branch");
    SetInt(Add(no, "ReduceMax", {"x"}, {"most"}), "keepdims", 0);
    Gives(no, {"most"});
    SetInts(model.Node("Transpose", {"chosen"}, {"y"}), "perm", {1, 0});
    const Executable exe = ValueOrThrow(Compile(ModuleOf(model)));
    const auto inputs = [](std::int64_t n, std::int64_t m) {
      return runtime::Inputs{{"x", Random({n, 3}, 1)}, {"z", Random({m, 4}, 2)}};
    };
    const runtime::Inputs taken = inputs(c.n, c.m);
    ExpectClose(ValueOrThrow(exe.Run(taken)),
                testing_graphs::Outcome(OfNumbers(model, taken), taken));
    EXPECT_THAT(std::string(exe.Run(inputs(c.m, c.n)).status().message()),
                AllOf(HasSubstr("the model needs"), HasSubstr("for the limits of @main")));
  }
}

// Nodes that are left out for having no budget left do not speak against an outcome.
TEST(ExtentBranchesTest, AnImportThatRunsOutOfNodesIsRefused) {
  Model model;
  AddSqueeze(&model);
  std::string last = "chosen";
  for (int i = 0; i < 100'100; ++i) {
    const std::string next = StrCat("v", i);
    model.Node("Identity", {last}, {next});
    last = next;
  }
  model.Output(last);
  EXPECT_THAT(std::string(ImportOnnx(model.Bytes(), AnyShapes()).status().message()),
              HasSubstr("more than 200000 nodes"));
}

// Converted twice at each level, the innermost one would be converted 2^18 times.
TEST(ExtentBranchesTest, IfsInsideEachOtherAreConvertedOnce) {
  constexpr int kLevels = 18;
  Model model;
  NamedInput(model, "x", {"n", "3"}).Output("v18").Integers("axis", {0});
  model.Node("Shape", {"x"}, {"shape"});
  model.Node("Gather", {"shape", "axis"}, {"extent"});
  for (int level = 0; level <= kLevels; ++level) {
    model.Integers(StrCat("number", level), {5 + level});
    model.Node("Greater", {"extent", StrCat("number", level)}, {StrCat("c", level)});
  }
  GraphProto* graph = model.proto.mutable_graph();
  for (int level = kLevels; level >= 0; --level) {
    NodeProto& node = Add(graph, "If", {StrCat("c", level)}, {StrCat("v", level)});
    GraphProto* no = GraphOf(node, "else_branch");
    Add(no, "Neg", {"x"}, {StrCat("negated", level)});
    Gives(no, {StrCat("negated", level)});
    graph = GraphOf(node, "then_branch");
    if (level > 0) Gives(graph, {StrCat("v", level - 1)});
  }
  // Of another rank than all others.
  Add(graph, "Squeeze", {"x", "axis"}, {"row"});
  Gives(graph, {"row"});
  const ir::Module module = ModuleOf(model);
  EXPECT_THAT(ConditionsOf(module), HasSubstr("n <= 23, for the limits of @main"));
  ExpectRight(model, ValueOrThrow(Compile(module)), {1, 23});
}

TEST(ExtentBranchesTest, AConditionOfTwoElementsIsRefusedWithItsNode) {
  Model model;
  NamedInput(model, "x", {"n", "3"}).Output("chosen").Integers("axis", {0});
  model.Initializer("c", NDArray::FromVector<bool>({2}, {true, false}));
  NodeProto& node = model.Node("If", {"c"}, {"chosen"}, "choose");
  GraphProto* yes = GraphOf(node, "then_branch");
  Add(yes, "Squeeze", {"x", "axis"}, {"row"});
  Gives(yes, {"row"});
  Gives(GraphOf(node, "else_branch"), {"x"});
  EXPECT_THAT(std::string(ImportOnnx(model.Bytes(), AnyShapes()).status().message()),
              AllOf(HasSubstr("choose (If)"), HasSubstr("the condition must have one element")));
}

}  // namespace
}  // namespace tenon::onnx_import
