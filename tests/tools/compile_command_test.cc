// tenon compile as a user calls it: what it shows, writes and refuses.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tenon/tests/onnx/any_shapes.h"
#include "tenon/tests/onnx/subgraphs.h"
#include "tenon/tests/testing/cli_testing.h"

namespace tenon::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST_F(CliTest, CompileShowsEachStage) {
  const auto emit = [&](const char* what) {
    return OutputOf(StrCat("compile %/model.relay --library te --emit ", what));
  };
  EXPECT_THAT(emit("graph"), AllOf(HasSubstr("def @main"), Not(HasSubstr("Primitive"))));
  EXPECT_THAT(emit("fused"), HasSubstr("Primitive=1"));
  EXPECT_THAT(emit("te"), HasSubstr("// tvmgen_default_fused_nn_dense_nn_relu [te.dense."));
  EXPECT_THAT(emit("schedule"), AllOf(HasSubstr("[te."), HasSubstr("s[nn_relu]")));
  EXPECT_THAT(emit("loops"), AllOf(HasSubstr("[te."), HasSubstr("for ")));
  EXPECT_THAT(emit("llvm"), HasSubstr("define "));
  EXPECT_THAT(emit("asm"), HasSubstr("ret"));
  const auto graph = nlohmann::json::parse(emit("json"));
  EXPECT_EQ(graph["nodes"].size(), 3U);
  EXPECT_EQ(graph["heads"], nlohmann::json::parse("[[2, 0, 0]]"));
}

TEST_F(CliTest, KernelsForAllExtentsAreShownAtEachStage) {
  Write("rows.relay",
        "def @main(%x: Tensor[(n, 3), float32], %w: Tensor[(4, 3), float32]) {\n"
        "  nn.relu(nn.dense(%x, %w))\n}\n");
  const auto emit = [&](const char* what) {
    return OutputOf(StrCat("compile %/rows.relay --emit ", what));
  };
  EXPECT_THAT(emit("fused"), AllOf(HasSubstr("Primitive=1"), HasSubstr("Tensor[(n, 4), float32]")));
  EXPECT_THAT(emit("te"), HasSubstr("// tvmgen_default_fused_nn_dense_nn_relu [te.dense."));
  EXPECT_THAT(emit("schedule"), HasSubstr("s[nn_relu]"));
  EXPECT_THAT(emit("loops"), HasSubstr("float32[d0, 4]"));
  EXPECT_THAT(emit("llvm"), HasSubstr("define "));
  EXPECT_THAT(emit("asm"), HasSubstr("ret"));
  EXPECT_THAT(Tenon("compile %/rows.relay --explain").err, HasSubstr("te.dense."));
  const auto graph = nlohmann::json::parse(emit("json"));
  EXPECT_EQ(graph["attrs"]["shape"][1].back(), nlohmann::json::parse(R"(["n", 4])"));
  EXPECT_THAT(emit("c"), HasSubstr("int32_t model_output_shapes(const int64_t* const* shapes"));
}

TEST_F(CliTest, AModelForAllExtentsIsSavedAndRunOnAnyOfThem) {
  Write("windows.relay",
        "def @main(%x: Tensor[(n, 1, h, 6), float32]) { nn.max_pool2d(%x, pool_size=[3, 3]) }\n");
  EXPECT_THAT(Tenon("compile %/windows.relay --explain").err,
              HasSubstr("the extents need 3 <= h, for nn.max_pool2d"));
  OutputOf("compile %/windows.relay --emit=executable -o %/saved");
  for (const Shape& shape : {Shape{1, 1, 3, 6}, Shape{2, 1, 8, 6}}) {
    Save("x.npy", NDArray::Zeros(shape, Float32));
    EXPECT_EQ(Tenon("run %/saved --input x=%/x.npy --output y=%/y.npy").code, 0);
    EXPECT_EQ(runtime::ReadNpy(Path("y.npy")).value().shape(),
              Shape({shape[0], 1, shape[2] - 2, 4}));
  }
  Save("x.npy", NDArray::Zeros({1, 1, 2, 6}, Float32));
  EXPECT_THAT(ErrorOf("run %/saved --input x=%/x.npy"),
              HasSubstr("the model needs 3 <= h, for nn.max_pool2d; here h = 2, n = 1"));
}

TEST_F(CliTest, ASavedExecutableTakesExtentsOfRandomInputs) {
  Write("rows.relay",
        "def @main(%x: Tensor[(n, #k), float32], %y: Tensor[(n, 2), float32]) "
        "{ (exp(%x), exp(%y)) }\n");
  OutputOf("compile %/rows.relay --emit=executable -o %/saved");
  for (const char* source : {"rows.relay", "saved"}) {
    const std::string run = StrCat("run %/", source, " ");
    EXPECT_THAT(OutputOf(run), HasSubstr("result 0: float32 (16, 16)"));
    EXPECT_THAT(
        OutputOf(StrCat(run, "--extent n=3 --extent '#k=5'")),
        AllOf(HasSubstr("result 0: float32 (3, 5)"), HasSubstr("result 1: float32 (3, 2)"),
              HasSubstr("inputs are random, --seed 0: x float32 (3, 5), y float32 (3, 2)")));
    EXPECT_THAT(ErrorOf(StrCat(run, "--extent m=3")),
                HasSubstr("--extent: the inputs have no variable m; they have #k, n"));
    EXPECT_THAT(ErrorOf(StrCat(run, "--extent n=0")),
                HasSubstr("--extent: 0 is not an extent of the variable n; these are integers from "
                          "1 on"));
    EXPECT_THAT(ErrorOf(StrCat(run, "--extent '#k=-1'")), HasSubstr("integers from 0 on"));
    EXPECT_THAT(ErrorOf(StrCat(run, "--extent n=3 --input x=%/x.npy")),
                AllOf(HasSubstr("--extent"), HasSubstr("--input")));
  }
  EXPECT_THAT(OutputOf("run %/rows.relay --extent '#k=0'"), HasSubstr("result 0: float32 (16, 0)"));
  EXPECT_THAT(ErrorOf("run %/saved --shape x=3,5"),
              AllOf(HasSubstr("--shape is for models"), HasSubstr("--extent NAME=7")));
  EXPECT_THAT(ErrorOf("run %/saved --library te"), Not(HasSubstr("--extent")));
  EXPECT_THAT(ErrorOf("compile %/rows.relay --extent n=3"), HasSubstr("--extent"))
      << "no input is made";
}

TEST_F(CliTest, AKernelOfALibraryIsNoTensorExpression) {
  for (const char* stage : {"te", "schedule", "loops", "llvm"})
    EXPECT_THAT(OutputOf(StrCat("compile %/model.relay --library onednn --emit ", stage)),
                AllOf(HasSubstr("// onednn"), Not(HasSubstr("placeholder"))));
}

TEST_F(CliTest, WhatPreparesConstantsIsShownWithItsKernel) {
  for (const char* stage : {"te", "schedule", "loops", "llvm", "asm"})
    EXPECT_THAT(OutputOf(StrCat("compile model:lenet --library te --emit ", stage)),
                HasSubstr("_prepare1 [te.conv2d."));
}

TEST_F(CliTest, LoopsAreShownAfterAStepOfThePipeline) {
  Write("doubled.relay", "def @main(%x: Tensor[(16, 32), float32]) { nn.relu(add(%x, %x)) }\n");
  const auto after = [&](const char* step) {
    return OutputOf(
        StrCat("compile %/doubled.relay --library te --emit=loops --no-cache --after=", step));
  };
  EXPECT_THAT(after("Nests"), AllOf(HasSubstr("// tvmgen_default_fused_add_nn_relu [te]"),
                                    HasSubstr("vectorized "), Not(HasSubstr("ramp("))));
  EXPECT_THAT(after("VectorizeLoops"), AllOf(HasSubstr("ramp("), Not(HasSubstr("vectorized "))));
  EXPECT_EQ(after("FuseLoops"), OutputOf("compile %/doubled.relay --library te --emit=loops"));
  EXPECT_THAT(ErrorOf("compile %/model.relay --emit=loops --after=Hoist"),
              AllOf(HasSubstr("--after"), HasSubstr("HoistGuards"), HasSubstr("FuseLoops")));
  EXPECT_THAT(ErrorOf("compile %/model.relay --emit=llvm --after=HoistGuards"),
              HasSubstr("--after shows loops; give --emit=loops as well"));
}

TEST_F(CliTest, LoopsAreDumpedAfterEachStepThatChangesThem) {
  Write("doubled.relay", "def @main(%x: Tensor[(16, 32), float32]) { nn.relu(add(%x, %x)) }\n");
  const std::string loops =
      OutputOf("compile %/doubled.relay --library te --emit=loops --dump-loops=%/dumps/here");
  const fs::path kernel = Path("dumps/here/tvmgen_default_fused_add_nn_relu");
  std::string last;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kernel))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  ASSERT_GE(names.size(), 3U);
  EXPECT_EQ(names.front(), "00_Nests.txt");
  for (const std::string& name : names) {
    const std::string text = Contents(kernel / name);
    EXPECT_NE(text, last) << name << " is a step that changed nothing";
    last = text;
  }
  EXPECT_THAT(loops, HasSubstr(last)) << "the last dump is what is compiled";
  EXPECT_THAT(
      Contents(Path("dumps/here/steps.txt")),
      AllOf(HasSubstr("\n0 Nests"), HasSubstr("\n11 FlattenBuffers"), HasSubstr("FuseLoops")));
  EXPECT_THAT(ErrorOf("compile %/model.relay --dump-loops=%/model.relay"),
              AllOf(HasSubstr("the folder "), HasSubstr("cannot be made")));
}

TEST_F(CliTest, CompileWritesAFileAndExplainsItsChoices) {
  const Ended ended =
      Tenon("compile %/model.relay --library onednn --emit loops --explain -o %/loops.txt");
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.out, IsEmpty());
  EXPECT_THAT(ended.err,
              AllOf(HasSubstr("onednn: chosen"), HasSubstr("te.dense.plain: not needed")));
  EXPECT_THAT(ended.err, HasSubstr(StrCat("  computes ", Path("model.relay"), ":2:11, ")));
  EXPECT_THAT(Contents(Path("loops.txt")), HasSubstr("// onednn"));
  EXPECT_THAT(ended.err, HasSubstr("fused, elementwise work follows the heavy operator"));
  const Ended masked =
      Tenon("compile %/model.relay --mcpu-features=-avx --emit fused --explain -o %/fused.txt");
  EXPECT_THAT(masked.err, HasSubstr(": 16 vector registers of 16 bytes, caches of "));
  EXPECT_THAT(ErrorOf("compile %/model.relay -o /nowhere/out.txt"),
              HasSubstr("/nowhere/out.txt cannot be written"));
}

TEST_F(CliTest, MixedPrecisionIsAskedForByType) {
  const std::string mixed = "compile %/model.relay --emit=fused --mixed-precision ";
  EXPECT_THAT(OutputOf(mixed + "bfloat16"), HasSubstr("bfloat16"));
  EXPECT_THAT(OutputOf(mixed + "float16"), HasSubstr("float16"));
  EXPECT_THAT(OutputOf("compile %/model.relay --emit=fused"), Not(HasSubstr("float16")));
  EXPECT_THAT(ErrorOf(mixed + "int8"), AllOf(HasSubstr("--mixed-precision"), HasSubstr("int8"),
                                             HasSubstr("bfloat16"), HasSubstr("float16")));
}

TEST_F(CliTest, ExplanationsAreJsonWhenAsked) {
  const Ended ended =
      Tenon("compile %/model.relay --library onednn --emit loops --explain=json -o %/loops.txt");
  EXPECT_EQ(ended.code, 0);
  const auto compiled = nlohmann::json::parse(ended.err);
  ASSERT_EQ(compiled["fusion"].size(), 1U);
  EXPECT_EQ(compiled["fusion"][0]["fused"], true);
  ASSERT_EQ(compiled["kernels"].size(), 1U);
  EXPECT_EQ(compiled["kernels"][0]["implementation"], "onednn");
  const auto& candidates = compiled["kernels"][0]["candidates"];
  ASSERT_EQ(candidates.size(), 6U);
  EXPECT_EQ(candidates[0]["name"], "onednn_narrow");
  EXPECT_EQ(candidates[0]["refusal"], "it sums uint8 by int8 in int32 and bfloat16 in float32");
  EXPECT_EQ(candidates[1]["name"], "onednn");
  EXPECT_FALSE(candidates[1].contains("priority"));
  EXPECT_EQ(candidates[1]["chosen"], true);
  EXPECT_EQ(candidates[5]["name"], "te.dense.plain");
  EXPECT_EQ(candidates[5]["chosen"], false);
  ASSERT_EQ(compiled["kernels"][0]["nodes"].size(), 1U);
  EXPECT_EQ(compiled["kernels"][0]["nodes"][0]["origins"].size(), 2U);
  const Ended passes = Tenon("opt %/model.relay --passes=FuseOps --fusion=relay --explain=json");
  EXPECT_EQ(passes.code, 0);
  EXPECT_EQ(nlohmann::json::parse(passes.err)["fusion"][0]["reason"],
            "elementwise work follows the heavy operator on its results");
  EXPECT_THAT(ErrorOf("compile %/model.relay --explain=xml"), HasSubstr("xml"));
}

TEST_F(CliTest, ExplanationsSayByWhichRulesStagesAreScheduled) {
  Write("softmax.relay", "def @main(%x: Tensor[(64, 100), float32]) { nn.softmax(%x) }\n");
  const std::string command = "compile %/softmax.relay --library te --no-cache ";
  const std::string line = "rule: result with producers (what it reads at its own leading indices";
  EXPECT_THAT(Tenon(command + "--explain").err, HasSubstr("  " + line));
  EXPECT_THAT(OutputOf(command + "--emit=schedule"), HasSubstr("// " + line));
  const auto json = nlohmann::json::parse(Tenon(command + "--explain=json").err);
  const auto& rules = json["kernels"][0]["rules"];
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_EQ(rules[0]["rule"], "result with producers");
  EXPECT_EQ(rules[0]["stages"][0], "softmax");
  EXPECT_GT(rules[0]["stages"].size(), 1U);
}

TEST_F(CliTest, ExplanationsSayWhatFoldingLeftAndWhy) {
  Write("scaled.relay",
        "def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) {\n"
        "  %0 = nn.dense(%x, %w, units=None);\n  add(multiply(%0, 2f), %0)\n}\n");
  const std::string why = "multiply after nn.dense stays: the value before it has other readers";
  for (const char* command : {"opt %/scaled.relay --passes=FoldAffine", "compile %/scaled.relay"}) {
    EXPECT_THAT(Tenon(StrCat(command, " --explain")).err,
                HasSubstr(StrCat("folding: 0 chains became shorter\n    ", why)));
    const auto json = nlohmann::json::parse(Tenon(StrCat(command, " --explain=json")).err);
    EXPECT_EQ(json["folding"]["folded"], 0);
    ASSERT_EQ(json["folding"]["refusals"].size(), 2U);  // the addition, too
    EXPECT_EQ(json["folding"]["refusals"][0], why);
  }
}

// An if of variable extents keeps its branches. Floors need a plan, so both are computed there.
TEST_F(CliTest, ExplanationsAreOfTheModelThatIsExported) {
  onnx_import::Model model;
  model.Input("c", {}, onnx::TensorProto::BOOL);
  onnx_import::NamedInput(model, "x", {"n", "3"}).Output("y");
  onnx::NodeProto& node = model.Node("If", {"c"}, {"chosen"});
  for (const auto& [branch, op] :
       {std::pair("then_branch", "Exp"), std::pair("else_branch", "Neg")}) {
    onnx::GraphProto* graph = onnx_import::GraphOf(node, branch);
    onnx_import::Add(graph, op, {"x"}, {op});
    onnx_import::Gives(graph, {op});
  }
  model.Node("Tanh", {"chosen"}, {"y"});
  Write("if.onnx", model.Bytes());
  const Ended ended = Tenon("compile %/if.onnx --symbolic --emit=c --explain -o %/if.c");
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("a tuple of results is not a kernel"),
                               Not(HasSubstr(" -> where ("))));
  OutputOf("compile - --symbolic --emit=c --name net -o %/input.c < %/if.onnx");
  EXPECT_THAT(Contents(Path("input.c")), HasSubstr("net_run("));
  EXPECT_THAT(OutputOf("bench %/if.onnx --shape x=2,3 --threads 1 --floors"), HasSubstr("where"));
}

TEST_F(CliTest, CompileExportsCThatCompilesAlone) {
  EXPECT_THAT(OutputOf("compile %/model.relay --emit=c"),
              AllOf(HasSubstr("target: c -keys=cpu"), HasSubstr("int32_t model_run(")));
  EXPECT_THAT(OutputOf("compile %/model.relay --emit=c -o %/c/ --name net"), IsEmpty());
  EXPECT_THAT(Contents(Path("c/net.h")), HasSubstr("int32_t net_run("));
  const std::string gcc = StrCat("gcc -std=c99 -Wall -Wextra -Werror -shared -fPIC -O2 ",
                                 Path("c/net.c"), " -lm -o ", Path("c.so"));
  EXPECT_EQ(std::system(gcc.c_str()), 0);
}

TEST_F(CliTest, S001_38_CompileWritesTheReferenceFormAndItsHeader) {
  const std::string form = "compile %/model.relay --emit=c --form=reference --fusion=relay ";
  EXPECT_THAT(OutputOf(form), AllOf(HasSubstr("#include \"dlpack/dlpack.h\""),
                                    HasSubstr("TENON_DLL int32_t tvmgen_default_fused_")));
  EXPECT_THAT(OutputOf(form + "-o %/reference.c --name net"), IsEmpty());
  EXPECT_THAT(Contents(Path("reference.c")), HasSubstr("int32_t tvmgen_net_fused_"));
  const std::string gcc = StrCat("gcc -std=c99 -Wall -Wextra -Wno-unused -Werror -shared -fPIC ",
                                 Path("reference.c"), " -lm -o ", Path("reference.so"));
  EXPECT_EQ(std::system(gcc.c_str()), 0);
}

TEST_F(CliTest, S004_25_GenericSchedulesAreAskedForByTarget) {
  EXPECT_THAT(OutputOf("compile %/model.relay --target=c --emit=schedule"), HasSubstr(", 16)"));
  EXPECT_THAT(OutputOf("run %/model.relay --input x=%/x.npy --input w=%/w.npy --target=c"),
              HasSubstr("[1, 2, 3, 6, 0, 0, 0, 0]"));
  // The usual schedule puts the loops of the sum outside the innermost one.
  Write("conv.relay",
        "def @main(%x: Tensor[(2, 4, 9, 9), float32], %w: Tensor[(6, 4, 3, 3), float32]) "
        "{ nn.conv2d(%x, %w) }\n");
  EXPECT_THAT(
      OutputOf("compile %/conv.relay --target=c --emit=schedule"),
      AllOf(HasSubstr("s[conv2d_nchw].Parallel(ax0_ax1_fused)"), Not(HasSubstr("Reorder"))));
  EXPECT_THAT(OutputOf("compile %/conv.relay --library te --emit=schedule"),
              HasSubstr("s[conv2d_nchw].Reorder("));
}

TEST_F(CliTest, CompileExportsMachineCodeThatAProgramLinks) {
  EXPECT_THAT(OutputOf("compile %/model.relay -o %/net.so"), IsEmpty());
  EXPECT_THAT(OutputOf("compile %/model.relay -o %/net2.o --mcpu-features=-avx512f"), IsEmpty());
  Write("main.c",
        "#include <stdio.h>\n#include \"net.h\"\n#include \"net2.h\"\n"
        "int main(void) {\n"
        "  const float x[6] = {1, 2, 3, -1, -2, -3};\n"
        "  const float w[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};\n"
        "  float y[8], z[8];\n"
        "  const void* inputs[] = {x, w};\n"
        "  void* outputs[] = {y};\n"
        "  if (net_run(inputs, outputs, NULL) != 0) return 1;\n"
        "  outputs[0] = z;\n"
        "  if (net2_run(inputs, outputs, NULL) != 0) return 2;\n"
        "  printf(\"%g %g %g %g\\n\", y[0], y[3], y[4], z[3]);\n  return 0;\n}\n");
  const std::string gcc =
      StrCat("cd ", folder_.string(), " && gcc -std=c99 -Wall -Wextra -Werror main.c ./net.so ",
             "net2.o -fopenmp -lm -o main && ./main > said");
  EXPECT_EQ(std::system(gcc.c_str()), 0);
  EXPECT_EQ(Contents(Path("said")), "1 6 0 6\n");
}

TEST_F(CliTest, CompileRefusesWhatItCannotExport) {
  EXPECT_THAT(ErrorOf("compile %/model.relay -o %/net.dll"),
              AllOf(HasSubstr("net.dll"), HasSubstr(".so, .o, .c"), HasSubstr("--emit")));
  EXPECT_THAT(ErrorOf("compile %/model.relay --emit=llvm -o %/net.so"),
              HasSubstr("give one of them"));
  EXPECT_THAT(ErrorOf("compile %/model.relay --library onednn -o %/net.so"),
              HasSubstr("--library te"));
  for (const char* end : {".so", ".o", ".c"})
    EXPECT_THAT(ErrorOf(StrCat("compile %/model.relay -o /nowhere/net", end)),
                AllOf(HasSubstr("the file /nowhere/net"),
                      HasSubstr(" cannot be written: No such file or directory")));
  EXPECT_THAT(ErrorOf("compile %/model.relay -o %/net.so --cc no-such-cc"),
              HasSubstr("no-such-cc cannot be started"));
  EXPECT_THAT(ErrorOf("compile %/model.relay -o %/net.so --name int"), HasSubstr("'int'"));
  EXPECT_THAT(ErrorOf("compile %/model.relay -o %/net.so --mcpu-features=-avx9"),
              HasSubstr("avx9"));
  EXPECT_FALSE(fs::exists(Path("net.so")));
  EXPECT_FALSE(fs::exists(Path("net.h")));
}

TEST_F(CliTest, TheCacheIsFilledForLaterRuns) {
  const auto entries = [&] {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(Path("kernels")))
      names.insert(entry.path().filename());
    return names;
  };
  Write("rows.relay", "def @main(%x: Tensor[(n, 32), float32]) { nn.softmax(exp(%x)) }\n");
  Write("branch.relay",
        "def @main(%x: Tensor[(4), float32]) {\n"
        "  if (greater(sum(%x), 0f)) { exp(%x) } else { tanh(%x) }\n}\n");
  for (const char* model : {"model", "rows", "branch"}) {
    SCOPED_TRACE(model);
    const std::string with = StrCat(" %/", model, ".relay --threads 1 --cache-dir %/kernels");
    EXPECT_THAT(OutputOf("compile --emit=cache" + with), HasSubstr("kernels has the code of "));
    const std::set<std::string> filled = entries();
    EXPECT_FALSE(filled.empty());
    OutputOf("bench --seconds 0" + with);
    EXPECT_EQ(entries(), filled);
  }
  EXPECT_THAT(ErrorOf("compile --emit=cache --no-cache %/model.relay"),
              HasSubstr("there is none; name it by --cache-dir"));
  EXPECT_THAT(ErrorOf("compile --emit=cache --cache-dir /proc/kernels %/model.relay"),
              HasSubstr("the folder /proc/kernels cannot be filled"));
}

}  // namespace
}  // namespace tenon::tools
