// Shapes and numbers that variables of the text stand for, and R.match_cast.
#include "tenon/passes/infer_type.h"
#include "tenon/tests/relax/relax_text.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::relax {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kParams[] =
    "x: R.Tensor((\"n\", 3, 4), dtype=\"float32\"), y: R.Tensor((2, 6), dtype=\"float32\"), "
    "z: R.Tensor((1, 4), dtype=\"float32\")";

// Bodies, each with what it is as Relay text.
struct Meaning {
  const char* name;
  const char* body;
  const char* relay;
  friend void PrintTo(const Meaning& m, std::ostream* out) { *out << m.name; }
};

class ShapeValueTest : public ::testing::TestWithParam<Meaning> {};

TEST_P(ShapeValueTest, IsReadAsTheOperatorsThatUseIt) {
  const ir::Module module = Read(Main(kParams, StrCat("    n = T.int64()\n", GetParam().body)));
  const ir::Module expected = passes::InferType(
      Parse(StrCat("def @main(%x: Tensor[(n, 3, 4), float32], %y: Tensor[(2, 6), float32], "
                   "%z: Tensor[(1, 4), float32]) { ",
                   GetParam().relay, " }")));
  EXPECT_TRUE(ir::StructuralEqual(module, expected)) << Print(module) << "\nis not\n"
                                                     << Print(expected);
  ExpectRoundTrip(module);
}

INSTANTIATE_TEST_SUITE_P(
    Bodies, ShapeValueTest,
    ::testing::Values(
        Meaning{"StaticShape",
                "    s = R.shape([3, 4])\n    a: R.Tensor((3, 4), \"float32\") = R.reshape(y, s)\n"
                "    return a\n",
                "reshape(%y, newshape=[3, 4])"},
        Meaning{"AnnotatedShape",
                "    s: R.Shape([3, 4]) = R.shape([3, 4])\n    t: R.Shape(ndim=2) = s\n"
                "    u: R.Shape = t\n    o: R.Object = u\n    return R.reshape(y, o)\n",
                "reshape(%y, newshape=[3, 4])"},
        Meaning{"ShapeOfNumbers",
                "    s = R.shape_of(y)\n    return R.full(s, R.const(1.0, \"float32\"), "
                "dtype=\"float32\")\n",
                "full(1f, shape=[2, 6], dtype=\"float32\")"},
        Meaning{"ReshapeToVariables",
                "    s: R.Shape([n, 12]) = R.shape([n, 12])\n    return R.reshape(x, s)\n",
                "reshape(%x, newshape=[0, 12])"},
        Meaning{"ReshapeToAProduct", "    return R.reshape(x, R.shape([n * 3, 4]))\n",
                "reshape(%x, newshape=[-1, 4])"},
        Meaning{"ReshapeToAList", "    return R.reshape(x, (4, n, 3))\n",
                "reshape(%x, newshape=[4, -1, 3])"},
        Meaning{"ReshapeToTheShapeOfAnother",
                "    w = R.reshape(x, (n, 12))\n    return R.reshape(w, R.shape_of(x))\n",
                "%0 = reshape(%x, newshape=[0, 12]); reshape(%0, newshape=[0, 3, 4])"},
        Meaning{"BroadcastToVariables", "    s = R.shape_of(x)\n    return R.broadcast_to(z, s)\n",
                "broadcast_to_extents(%z, (%x,), shape=\"(x0_0, 3, 4)\")"},
        Meaning{"FullOfVariables",
                "    v = R.prim_value(T.float32(2))\n    s = R.shape([n, 2])\n"
                "    return R.full(s, v, dtype=\"float32\")\n",
                "broadcast_to_extents(2f, (%x,), shape=\"(x0_0, 2)\")"},
        Meaning{"FullOfAnotherType",
                "    return R.full(R.shape([n]), R.const(2, \"int32\"), dtype=\"float32\")\n",
                "broadcast_to_extents(cast(2, dtype=\"float32\"), (%x,), shape=\"(x0_0)\")"},
        Meaning{"ZerosAndOnes",
                "    s = R.shape([n + 1, 2])\n"
                "    return (R.zeros(s, \"float32\"), R.ones(s, \"int64\"))\n",
                "(broadcast_to_extents(0f, (%x,), shape=\"(x0_0 + 1, 2)\"), "
                "broadcast_to_extents(1i64, (%x,), shape=\"(x0_0 + 1, 2)\"))"},
        Meaning{"NumberAsOperand",
                "    v = R.prim_value(T.float32(0.5))\n    return R.multiply(y, v)\n",
                "multiply(%y, 0.5f)"},
        Meaning{"NumberOnTheRight",
                "    v: R.Prim(\"float32\") = R.prim_value(T.float32(0.5))\n    return y * v\n",
                "multiply(%y, 0.5f)"},
        Meaning{"NumberAsAttribute",
                "    v: R.Prim(\"int64\") = R.prim_value(1)\n    return R.nn.softmax(y, axis=v)\n",
                "nn.softmax(%y, axis=1)"},
        Meaning{"ItemsInAShape",
                "    s = R.shape_of(x)\n    return R.reshape(x, R.shape([s[0], s[1] * s[-1]]))\n",
                "reshape(%x, newshape=[0, 12])"},
        Meaning{
            "ItemsInAList",
            "    s: R.Shape([n, 3, 4]) = R.shape_of(x)\n    return R.reshape(x, [s[0] * 3, 4])\n",
            "reshape(%x, newshape=[-1, 4])"},
        Meaning{"ItemsOfNumbers",
                "    s = R.shape([3, 4])\n    return R.reshape(y, (s[1], s[0]))\n",
                "reshape(%y, newshape=[4, 3])"},
        Meaning{"NamesOfItems",
                "    s = R.shape_of(x)\n    k: R.Prim(\"int64\") = s[0]\n    m = s[2]\n"
                "    return R.zeros((k + 1, m), \"float32\")\n",
                "broadcast_to_extents(0f, (%x,), shape=\"(x0_0 + 1, 4)\")"},
        Meaning{"ItemOfTheShapeOf", "    k = R.shape_of(x)[0]\n    return R.reshape(x, (k, 12))\n",
                "reshape(%x, newshape=[0, 12])"},
        Meaning{"ItemInAType",
                "    s = R.shape_of(x)\n"
                "    a: R.Tensor((s[0], 12), \"float32\") = R.reshape(x, (s[0], 12))\n"
                "    t: R.Shape([s[0], 12]) = R.shape_of(a)\n"
                "    return R.match_cast(a, R.Tensor((t[0], t[1]), \"float32\"))\n",
                "reshape(%x, newshape=[0, 12])"},
        Meaning{"ItemAsAttribute",
                "    s = R.shape([1, 7])\n    return R.nn.softmax(y, axis=s[0])\n",
                "nn.softmax(%y, axis=1)"},
        Meaning{"ItemsInAListOfNumbers",
                "    s = R.shape([2, 1])\n    return R.permute_dims(y, axes=[s[1], -2])\n",
                "transpose(%y, axes=[1, -2])"},
        Meaning{"ItemAsOperand",
                "    s = R.shape_of(y)\n    return R.add(R.astype(y, \"int64\"), s[1])\n",
                "add(cast(%y, dtype=\"int64\"), 6i64)"},
        Meaning{"NumberInAShape", "    v = R.prim_value(3)\n    return R.reshape(y, (v + 1, v))\n",
                "reshape(%y, newshape=[4, 3])"},
        // The name that is bound last counts.
        Meaning{"AVariableAfterANumberOfItsName",
                "    m = R.prim_value(7)\n    n = R.prim_value(7)\n    n = T.int64()\n"
                "    return R.reshape(x, (n, 12))\n",
                "reshape(%x, newshape=[0, 12])"},
        Meaning{"ANumberAfterAVariableOfItsName",
                "    n = R.prim_value(4)\n    return R.reshape(y, (n, 3))\n",
                "reshape(%y, newshape=[4, 3])"},
        Meaning{"MatchCast",
                "    a = R.match_cast(x, R.Tensor((\"n\", 3, 4), dtype=\"float32\"))\n"
                "    b = R.match_cast(a, R.Tensor((n, 3, 4), dtype=\"float32\"))\n"
                "    c: R.Tensor((n, 3, 4), \"float32\") = R.match_cast(b, R.Tensor(ndim=3))\n"
                "    return R.exp(c)\n",
                "exp(%x)"},
        Meaning{"MatchCastOfATuple",
                "    t = R.match_cast((x, y), R.Tuple(R.Tensor, R.Tensor((2, 6))))\n"
                "    return R.exp(t[1])\n",
                "%0 = (%x, %y); exp(%0.1)"},
        Meaning{"InADataflowBlock",
                "    with R.dataflow():\n        s = R.shape_of(y)\n        R.output(s)\n"
                "    return R.reshape(R.reshape(y, (12,)), s)\n",
                "reshape(reshape(%y, newshape=[12]), newshape=[2, 6])"}),
    [](const auto& info) { return std::string(info.param.name); });

// Several computed extents, of which one is no other's rest.
TEST(ShapeReshapeTest, TakesExtentsOfParameters) {
  const ir::Module module =
      Read(Main("x: R.Tensor((\"b * t\", 8), dtype=\"float32\"), "
                "y: R.Tensor((\"b\", \"t\", 2), dtype=\"float32\")",
                "    b = T.int64()\n    t = T.int64()\n    return R.reshape(x, (b, t, 4, 2))\n"));
  const ir::Module expected = passes::InferType(
      Parse("def @main(%x: Tensor[(b*t, 8), float32], %y: Tensor[(b, t, 2), float32]) { "
            "reshape_to_extents(%x, (%y, %y), shape=\"(x0_0, x1_1, 4, 2)\") }"));
  EXPECT_TRUE(ir::StructuralEqual(module, expected)) << Print(module) << "\nis not\n"
                                                     << Print(expected);
  ExpectRoundTrip(module);
}

struct Refusal {
  const char* name;
  const char* body;
  const char* place;  // line and column
  const char* words;
  friend void PrintTo(const Refusal& r, std::ostream* out) { *out << r.name; }
};

class ShapeRefusalTest : public ::testing::TestWithParam<Refusal> {};

TEST_P(ShapeRefusalTest, IsSaidInWordsAtItsPlace) {
  const std::string refusal = RefusalOf(
      Main("x: R.Tensor((\"n\", 4), dtype=\"float32\"), u: R.Tensor(ndim=2, dtype=\"float32\"), "
           "w: R.Tensor((\"2 * m\", 4), dtype=\"float32\"), c: R.Tensor((), dtype=\"bool\")",
           StrCat("    n = T.int64()\n    m = T.int64()\n", GetParam().body)));
  EXPECT_THAT(refusal, HasSubstr(GetParam().words));
  EXPECT_THAT(refusal,
              AllOf(HasSubstr(StrCat("test.py:", GetParam().place, ": ")), HasSubstr("^")));
}

INSTANTIATE_TEST_SUITE_P(
    Words, ShapeRefusalTest,
    ::testing::Values(
        Refusal{"ShapeAsResult", "    s = R.shape([n, 4])\n    return s\n", "6:12",
                "s is the shape (n, 4), which is no tensor; it may stand where an operator takes a "
                "shape: R.reshape(x, s)"},
        Refusal{"ShapeAsInput", "    s = R.shape_of(x)\n    return R.exp(s)\n", "6:18",
                "s is the shape (n, 4), which is no tensor"},
        Refusal{"ShapeOfUnknownExtents", "    s = R.shape_of(u)\n    return x\n", "5:9",
                "R.shape_of takes a tensor whose extents are numbers or expressions of variables; "
                "this is Tensor[(?, ?), float32]"},
        Refusal{"UnknownVariable", "    s = R.shape([k, 4])\n    return x\n", "5:18",
                "the variable k of an extent is not known; declare it first: k = T.int64()"},
        Refusal{"UnknownVariableInACall", "    return R.reshape(x, (k, 4))\n", "5:26",
                "the variable k of an extent is not known; declare it first: k = T.int64()"},
        Refusal{"AnnotatedShape", "    s: R.Shape([n, 5]) = R.shape([n, 4])\n    return x\n",
                "5:10", "the type of s does not hold: its value is the shape (n, 4)"},
        Refusal{"AnnotatedRank", "    s: R.Shape(ndim=3) = R.shape([n, 4])\n    return x\n", "5:10",
                "the type of s does not hold: its value is the shape (n, 4)"},
        Refusal{"ShapeAnnotatedAsTensor", "    s: R.Tensor = R.shape([n, 4])\n    return x\n",
                "5:10", "the type of s does not hold: its value is the shape (n, 4)"},
        Refusal{"TensorAnnotatedAsShape", "    s: R.Shape = R.exp(x)\n    return x\n", "5:10",
                "the type of s does not hold: its value is Tensor[(n, 4), float32]"},
        Refusal{"NumberAnnotated", "    v: R.Prim(\"int32\") = R.prim_value(1)\n    return x\n",
                "5:10", "the type of v does not hold: its value is the number 1"},
        Refusal{"ShapeWithOptions", "    s: R.Shape(dims=3) = R.shape([n, 4])\n    return x\n",
                "5:16", "R.Shape has extents or ndim: R.Shape([n, 4]), R.Shape(ndim=2)"},
        Refusal{"NumberAsTensor", "    v = R.prim_value(1)\n    return v\n", "6:12",
                "v is the number 1, which is no tensor; it may stand where an operator takes a "
                "number: R.add(x, v)"},
        Refusal{
            "ReshapeOfAnotherSize", "    return R.reshape(x, R.shape([n, 5]))\n", "5:12",
            "a reshape of Tensor[(n, 4), float32] to (n, 5) does not keep the number of elements"},
        Refusal{"BroadcastToAVariableOfNoParameter",
                "    return R.broadcast_to(R.sum(w), R.shape([m, 4]))\n", "5:12",
                "the shape (m, 4) has the variable m, and no value has the extent m alone"},
        Refusal{"OperatorOfNumbers", "    return R.tile(x, R.shape([n, 1]))\n", "5:31",
                "'n' is not a value; values are numbers"},
        Refusal{"OperatorOfNumbersAndAVariable",
                "    s = R.shape([n, 1])\n    return R.tile(x, s)\n", "6:22",
                "the shape (n, 1) has variables, which R.reshape, R.broadcast_to, R.full, R.zeros "
                "and R.ones take, and R.tile does not"},
        Refusal{"NoSuchItem", "    s = R.shape_of(x)\n    k = s[2]\n    return x\n", "6:11",
                "there is no such extent; the shape (n, 4) has 2"},
        Refusal{"NoSuchItemFromTheEnd", "    s = R.shape_of(x)\n    k = s[-3]\n    return x\n",
                "6:11", "there is no such extent; the shape (n, 4) has 2"},
        Refusal{"AShapeInAShape",
                "    s = R.shape_of(x)\n    return R.reshape(x, R.shape([s, 4]))\n", "6:34",
                "s is the shape (n, 4), which is no extent; s[0] is one"},
        Refusal{"ARealNumberInAShape",
                "    v = R.prim_value(0.5)\n    return R.reshape(x, R.shape([v, 4]))\n", "6:34",
                "v is the number 0.5, which is no extent"},
        Refusal{"ItemAsTensor", "    s = R.shape_of(x)\n    return R.exp(s[0])\n", "6:18",
                "this is the extent n, which is no tensor; it may stand in a shape: R.reshape(x, "
                "(s[0], 4))"},
        Refusal{"ItemWithAVariableAsAttribute",
                "    s = R.shape_of(x)\n    return R.nn.softmax(x, axis=s[0])\n", "6:33",
                "the extent n has variables; R.nn.softmax takes numbers as axis"},
        Refusal{"ItemWithAVariableInAListOfNumbers",
                "    s = R.shape_of(x)\n    return R.permute_dims(x, axes=[s[0], 0])\n", "6:35",
                "the shape (n, 0) has variables"},
        Refusal{"UnknownNameInAListOfNumbers",
                "    s = R.shape_of(x)\n    return R.permute_dims(x, axes=[s[1], q])\n", "6:42",
                "'q' is not a value; values are numbers"},
        Refusal{"ShapeOfABranch",
                "    if c:\n        s = R.shape([n, 1])\n    else:\n        s = R.shape([n, 1])\n"
                "    return x\n",
                "6:9", "s is the shape (n, 1), and an if gives tensors"},
        Refusal{"MatchCastOfMore", "    return R.match_cast(u, R.Tensor((n, 4), \"float32\"))\n",
                "5:12",
                "R.match_cast says more than is known, which would be checked as the module runs; "
                "its value is Tensor[(?, ?), float32]"},
        Refusal{"MatchCastToANumber", "    return R.match_cast(x, R.Tensor((2, 4), \"float32\"))\n",
                "5:12", "R.match_cast says more than is known"},
        Refusal{"MatchCastToANewVariable",
                "    k = T.int64()\n    return R.match_cast(x, R.Tensor((k, 4), \"float32\"))\n",
                "6:12", "R.match_cast says more than is known"},
        Refusal{"MatchCastToAnotherType",
                "    return R.match_cast(x, R.Tensor((n, 4), \"int8\"))\n", "5:12",
                "R.match_cast says more than is known"},
        Refusal{"MatchCastOfAShape",
                "    s = R.shape_of(x)\n    return R.match_cast(s, R.Tensor)\n", "6:25",
                "s is the shape (n, 4), which is no tensor"},
        Refusal{"MatchCastWithoutAType", "    return R.match_cast(x)\n", "5:26",
                "expected ',' between the value and the type of R.match_cast, found ')'"}),
    [](const auto& info) { return std::string(info.param.name); });

// A 0 that is written out says that an extent is that of the input.
TEST(ShapeZeroTest, AnExtentOf0ThatIsKnownIsItself) {
  const std::string params =
      "x: R.Tensor((2, 0, 3), \"float32\"), z: R.Tensor((0, 0), \"float32\")";
  const ir::Module known =
      Read(Main(params, "    s = R.shape_of(z)\n    return R.reshape(x, s)\n"));
  EXPECT_EQ(ir::ToString(known.Main().body.checked_type()), "Tensor[(0, 0), float32]");
  ExpectRoundTrip(known);
  EXPECT_EQ(ir::ToString(ReadExpr(params, "R.reshape(x, (0, 0, 5))").checked_type()),
            "Tensor[(2, 0, 5), float32]");
}

TEST(ShapeTypeTest, ParametersOfShapesAreRefused) {
  EXPECT_THAT(RefusalOf(Main("s: R.Shape([1])", "    return s\n")),
              AllOf(HasSubstr("test.py:2:15: "),
                    HasSubstr("R.Shape is a value that Tenon has no type for, so no parameter or "
                              "result is one")));
  EXPECT_THAT(RefusalOf(Main("s: R.Prim(\"int64\")", "    return s\n")),
              HasSubstr("R.Prim is a value that Tenon has no type for"));
}

}  // namespace
}  // namespace tenon::relax
