// Relax text in the program, and passes with options.
#include "tenon/tests/testing/cli_testing.h"
#include "tenon/tests/testing/zip_bytes.h"

namespace tenon::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class RelaxCliTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    Write("net.py",
          "@I.ir_module\n"
          "class Net:\n"
          "    @R.function\n"
          "    def main(x: R.Tensor((2, 3), \"float32\"), w: R.Tensor((4, 3), \"float32\")):\n"
          "        with R.dataflow():\n"
          "            y = R.nn.relu(R.matmul(x, R.permute_dims(w)))\n"
          "            R.output(y)\n"
          "        return y\n");
    const std::string text = Contents(Path("w.npy"));
    Write("params.npz", runtime::ZipOf({{"w.npy", text}}));
  }
};

TEST_F(RelaxCliTest, RelaxTextRunsLikeRelayText) {
  Tenon("run %/net.py --input x=%/x.npy --input w=%/w.npy --output y=%/relax.npy");
  Tenon("run %/model.relay --input x=%/x.npy --input w=%/w.npy --output y=%/relay.npy");
  ASSERT_FALSE(Contents(Path("relax.npy")).empty());
  EXPECT_EQ(Contents(Path("relax.npy")), Contents(Path("relay.npy")));
}

TEST_F(RelaxCliTest, ItIsRecognisedByItsFirstLine) {
  Write("net.txt", Contents(Path("net.py")));
  EXPECT_EQ(OutputOf("opt %/net.txt"), OutputOf("opt %/net.py"));
  EXPECT_THAT(OutputOf("compile %/net.txt --emit=graph"), HasSubstr("nn.matmul"));
}

TEST_F(RelaxCliTest, TheResultPrintsAsTheModelWasWrittenUnlessToldOtherwise) {
  const std::string relax = OutputOf("opt %/net.py --passes=InferType");
  EXPECT_THAT(relax, HasSubstr("lv1: R.Tensor((2, 4), dtype=\"float32\") = R.matmul(x, lv, "));
  Write("again.py", relax);
  EXPECT_EQ(OutputOf("opt %/again.py"), relax);
  const std::string relay = OutputOf("opt %/net.py --print=relay");
  EXPECT_THAT(relay, AllOf(HasSubstr("def @main("), HasSubstr("nn.matmul")));
  Write("again.relay", relay);
  EXPECT_EQ(OutputOf("opt %/again.relay --print=relax"), relax);
}

TEST_F(RelaxCliTest, AMistakeIsShownWithItsLine) {
  Write("bad.py",
        "@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n    return R.nn.rleu(x)\n");
  EXPECT_THAT(
      ErrorOf("run %/bad.py"),
      AllOf(HasSubstr("bad.py:3:12: there is no operator R.nn.rleu; did you mean R.nn.relu?"),
            HasSubstr("^^^^^^^^^")));
}

TEST_F(RelaxCliTest, PassesTakeOptions) {
  const std::string text = OutputOf(
      "opt %/net.py --no-metadata "
      "--passes='BindParams{%/params.npz}, ToMixedPrecision{float16}'");
  EXPECT_THAT(text, AllOf(HasSubstr("metadata[\"relax.expr.Constant\"][0]"), HasSubstr("float16"),
                          Not(HasSubstr("w: R.Tensor"))));
}

TEST_F(RelaxCliTest, ParametersMayBeCompressed) {
  const std::string passes = "opt %/net.py --no-metadata --passes='BindParams{%/params.npz}'";
  const std::string bound = OutputOf(passes);
  Write("params.npz", runtime::ZipOf({{"w.npy", Contents(Path("w.npy"))}}, true));
  EXPECT_EQ(OutputOf(passes), bound);
}

TEST_F(RelaxCliTest, PatternsOfACodeGeneratorAreAnOption) {
  EXPECT_THAT(
      OutputOf("opt %/model.relay --passes='FuseOpsByPattern{dnnl, annotate_codegen=true}'"),
      AllOf(HasSubstr("Codegen=\"dnnl\""), HasSubstr("@fused_nn_dense_nn_relu_dnnl")));
  EXPECT_THAT(OutputOf("opt %/model.relay --passes='FuseOpsByPattern{dnnl, names=relax}'"),
              HasSubstr("@fused_relax_nn_dense_relax_nn_relu"));
  EXPECT_THAT(OutputOf("opt %/model.relay --passes='AnnotateTarget{npu=nn.dense}'"),
              HasSubstr("compiler=\"npu\""));
  EXPECT_THAT(OutputOf("opt %/model.relay --passes='PartitionFor{dnnl}'"),
              HasSubstr("Codegen=\"dnnl\""));
}

TEST_F(RelaxCliTest, AWrongOptionSaysWhatIsAllowed) {
  EXPECT_THAT(ErrorOf("opt %/net.py --passes='FuseOpsByPattern{dnn}'"),
              AllOf(HasSubstr("FuseOpsByPattern: there are no patterns named dnn; there are dnnl"),
                    HasSubstr("did you mean dnnl?"), HasSubstr("FuseOpsByPattern{patterns=")));
  EXPECT_THAT(ErrorOf("opt %/net.py --passes='BindParams{%/none.npz}'"), HasSubstr("none.npz"));
  EXPECT_THAT(ErrorOf("opt %/net.py --passes=BindParams"), HasSubstr("file"));
  EXPECT_THAT(ErrorOf("opt %/net.py --passes='BindParams{%/params.npz, function=other}'"),
              HasSubstr("other"));
}

TEST_F(RelaxCliTest, ResultsGoByTheNamesOfTheModule) {
  const std::string main =
      "    @R.function\n"
      "    def main(x: R.Tensor((3,), dtype=\"float32\")) -> R.Tensor((3,), dtype=\"float32\"):\n"
      "        with R.dataflow():\n"
      "            gv: R.Tensor((3,), dtype=\"float32\") = R.exp(x)\n"
      "            R.output(gv)\n"
      "        return gv\n";
  const std::string head = "@I.ir_module\nclass Module:\n    I.module_attrs({\"result_names\": ";
  Write("named.py", StrCat(head, "[\"scores\"]})\n", main));
  OutputOf("run %/named.py --output scores=%/scores.npy");
  EXPECT_TRUE(fs::exists(Path("scores.npy")));
  EXPECT_THAT(ErrorOf("run %/named.py --output score=%/s.npy"), HasSubstr("did you mean scores?"));
  OutputOf("compile %/named.py --emit=executable -o %/named");
  OutputOf("run %/named --output scores=%/again.npy");
  EXPECT_EQ(Contents(Path("again.npy")), Contents(Path("scores.npy")));
  // A list of another length names nothing.
  Write("others.py", StrCat(head, "[\"a\", \"b\"]})\n", main));
  OutputOf("run %/others.py --output y=%/y.npy");
  EXPECT_EQ(Contents(Path("y.npy")), Contents(Path("scores.npy")));
  EXPECT_THAT(ErrorOf("run %/others.py --output b=%/b.npy"), HasSubstr("results are y"));
}

TEST_F(RelaxCliTest, APassCanBeLeftOut) {
  EXPECT_EQ(OutputOf("opt %/net.py --passes=InferType,FuseOps --disable-pass=FuseOps"),
            OutputOf("opt %/net.py --passes=InferType"));
}

TEST_F(RelaxCliTest, ALevelLeavesOutPassesOfHigherOnes) {
  Write("wide.relay",
        "def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(16, 3), float32]) {\n"
        "  nn.dense(%x, %w, units=16)\n}\n");
  const std::string fused = "opt %/wide.relay --passes=InferType,AlterOpLayout";
  const std::string plain = OutputOf("opt %/wide.relay --passes=InferType");
  EXPECT_THAT(OutputOf(fused), HasSubstr("nn.contrib_dense_pack"));
  EXPECT_THAT(plain, HasSubstr("nn.dense"));
  EXPECT_EQ(OutputOf(fused + " --opt-level=2"), plain);
  EXPECT_EQ(OutputOf(fused + " --opt-level=3"), OutputOf(fused));
  EXPECT_EQ(OutputOf(fused + " --opt-level=2 --require-pass=AlterOpLayout"), OutputOf(fused));
  EXPECT_THAT(ErrorOf(fused + " --opt-level=5"), HasSubstr("opt-level"));
  EXPECT_THAT(ErrorOf(fused + " --require-pass=Alter"), HasSubstr("Alter"));
}

TEST_F(RelaxCliTest, APlugInBringsAPassAndPatterns) {
  const std::string plugin = StrCat("--plugin ", TENON_PASSES_PLUGIN);
  EXPECT_THAT(OutputOf(StrCat("opt %/model.relay ", plugin, " --passes='acme.DropRelu'")),
              Not(HasSubstr("nn.relu")));
  EXPECT_THAT(
      OutputOf(StrCat("opt %/model.relay ", plugin, " --passes='FuseOpsByPattern{acme.dense}'")),
      HasSubstr("Composite=\"acme.dense\""));
  EXPECT_THAT(ErrorOf(StrCat("opt %/model.relay ", plugin, " --passes='acme.DropRelu{max=-1}'")),
              HasSubstr("acme.DropRelu{max=1000}"));
  EXPECT_THAT(ErrorOf("opt %/model.relay --passes='acme.DropRelu'"),
              HasSubstr("there is no pass named acme.DropRelu"));
}

}  // namespace
}  // namespace tenon::tools
