// I.module_attrs: attributes of a module as a whole.
#include "tenon/ir/structural.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/pass_registry.h"
#include "tenon/tests/relax/relax_text.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::relax {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr char kFunctions[] = R"py(    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        cls = Module
        with R.dataflow():
            lv: R.Tensor((2, 3), dtype="float32") = cls.twice(x)
            gv: R.Tensor((2, 3), dtype="float32") = R.exp(lv)
            R.output(gv)
        return gv

    @R.function(private=True)
    def twice(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        with R.dataflow():
            gv: R.Tensor((2, 3), dtype="float32") = R.add(x, x)
            R.output(gv)
        return gv
)py";
std::string TextWith(const std::string& attrs) {
  return "# from tvm.script import ir as I\n# from tvm.script import relax as R\n\n"
         "@I.ir_module\nclass Module:\n" +
         attrs + kFunctions;
}
const char* const kAttrs =
    "    I.module_attrs({\"axes\": [0, 1], \"system_name\": \"a \\\"b\\\"\", \"version\": 3})\n";

TEST(ModuleAttrsTest, AreReadAndPrinted) {
  const ir::Module module = Read(TextWith(kAttrs));
  EXPECT_THAT(module.attrs(),
              ElementsAre(Pair("axes", attrs::Value(attrs::List{attrs::Value(std::int64_t{0}),
                                                                attrs::Value(std::int64_t{1})})),
                          Pair("system_name", attrs::Value("a \"b\"")),
                          Pair("version", attrs::Value(std::int64_t{3}))));
  EXPECT_EQ(PrintRelax(module), TextWith(kAttrs));
  EXPECT_TRUE(Read(TextWith("")).attrs().empty());
  EXPECT_TRUE(Read(TextWith("    I.module_attrs({})\n")).attrs().empty());
}

TEST(ModuleAttrsTest, MayStandAfterFunctionsAndOverSeveralLines) {
  const ir::Module module = Read(TextWith(kAttrs));
  EXPECT_TRUE(ir::StructuralEqual(
      Read(TextWith("") +
           "    I.module_attrs({\n        \"version\": 3,\n        \"axes\": (0, 1),\n"
           "        \"system_name\": 'a \"b\"',\n    })\n"),
      module));
}

TEST(ModuleAttrsTest, CountInEquality) {
  const ir::Module module = Read(TextWith(kAttrs)), without = module.WithAttrs({});
  EXPECT_FALSE(ir::StructuralEqual(module, without));
  EXPECT_FALSE(module == without);
  EXPECT_TRUE(ir::StructuralEqual(module, without.WithAttrs(module.attrs())));
  EXPECT_TRUE(module == without.WithAttrs(module.attrs()));
  ir::FunctionAttrs other = module.attrs();
  other["version"] = attrs::Value(std::int64_t{4});
  EXPECT_FALSE(ir::StructuralEqual(module, module.WithAttrs(other)));
}

// Also those that make a module of new functions.
TEST(ModuleAttrsTest, PassesKeepThem) {
  const ir::Module module = Read(TextWith(kAttrs));
  for (const char* pass :
       {"InferType", "Inline", "RemoveUnusedFunctions", "SimplifyExpr", "FuseOps", "DefuseOps",
        "EliminateCommonSubexpr", "ToMixedPrecision", "ConvertLayout{nn.conv2d=NHWC}"})
    EXPECT_EQ(passes::RunPasses(passes::ParsePipeline(pass), module, {}).attrs(), module.attrs())
        << pass;
}

// The program takes a file with control characters for no text.
TEST(ModuleAttrsTest, ControlCharactersAreEscaped) {
  const std::string attrs = "    I.module_attrs({\"a\": \"\\x00\\x01\\x1b\\x7f\\n\"})\n";
  const ir::Module module = Read(TextWith(attrs));
  EXPECT_THAT(module.attrs(),
              ElementsAre(Pair("a", attrs::Value(std::string("\0\x01\x1b\x7f\n", 5)))));
  EXPECT_EQ(PrintRelax(module), TextWith(attrs));
}

// Relay text has no place for them.
TEST(ModuleAttrsTest, RelayTextLeavesThemOut) {
  const ir::Module module = Read(TextWith(kAttrs));
  EXPECT_EQ(Print(module), Print(module.WithAttrs({})));
}

TEST(ModuleAttrsTest, WhatIsWrongIsRefused) {
  EXPECT_THAT(
      RefusalOf("@I.ir_module\nclass Module:\n    I.module_global_infos({})\n"),
      AllOf(HasSubstr("test.py:3:5: "), HasSubstr("I.module_global_infos is not supported; a "
                                                  "module may have I.module_attrs")));
  EXPECT_THAT(RefusalOf("@I.ir_module\nclass Module:\n    I.module_attrs({\"a\": 1, \"a\": 2})\n"),
              AllOf(HasSubstr("test.py:3:29: "), HasSubstr("the attribute a is given twice")));
  EXPECT_THAT(RefusalOf("@I.ir_module\nclass Module:\n    I.module_attrs(3)\n"),
              HasSubstr("expected '{' before the attributes"));
}

}  // namespace
}  // namespace tenon::relax
