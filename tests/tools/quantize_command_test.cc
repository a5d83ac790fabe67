// tenon quantize: files in, a model out that runs.
#include <cmath>

#include "tenon/tests/testing/cli_testing.h"

namespace tenon::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class QuantizeCommandTest : public CliTest {
 protected:
  std::vector<float> ValuesAt(const std::string& name) const {
    return runtime::ReadNpy(Path(name)).value().ToVector<float>();
  }
};

TEST_F(QuantizeCommandTest, WritesAModelThatComputesNearlyTheSame) {
  for (const std::string ending : {"onnx", "relay"}) {
    const Ended ended =
        Tenon("quantize %/model.relay --input x=%/x.npy --input w=%/w.npy -o %/q." + ending);
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out,
                AllOf(HasSubstr("1 of 1 products on bytes, ranges by mean-square over 1 sample"),
                      HasSubstr("loss of the results: ")));
    Tenon("run %/q." + ending + " --input x=%/x.npy --input w=%/w.npy --output y=%/bytes.npy");
    Tenon("run %/model.relay --input x=%/x.npy --input w=%/w.npy --output y=%/floats.npy");
    const std::vector<float> bytes = ValuesAt("bytes.npy"), floats = ValuesAt("floats.npy");
    ASSERT_EQ(bytes.size(), floats.size());
    for (std::size_t i = 0; i < floats.size(); ++i) EXPECT_NEAR(bytes[i], floats[i], 0.1);
  }
}

TEST_F(QuantizeCommandTest, AFolderHoldsSamplesInTheOrderOfTheirNames) {
  fs::create_directories(Path("xs"));
  fs::create_directories(Path("ws"));
  for (const char* name : {"1.npy", "2.npy", "3.npy"}) {
    fs::copy(Path("x.npy"), Path("xs") + "/" + name);
    fs::copy(Path("w.npy"), Path("ws") + "/" + name);
  }
  Write("xs/notes.txt", "not a sample");
  const Ended ended = Tenon("quantize %/model.relay --input x=%/xs --input w=%/ws -o %/q.relay");
  EXPECT_THAT(ended.out, HasSubstr("over 3 samples")) << ended.err;
}

TEST_F(QuantizeCommandTest, RandomSamplesMustBeAskedFor) {
  EXPECT_THAT(ErrorOf("quantize %/model.relay -o %/q.relay"), HasSubstr("--random N"));
  const Ended ended = Tenon("quantize %/model.relay --random 4 -o %/q.relay");
  EXPECT_THAT(ended.out, HasSubstr("over 4 samples")) << ended.err;
}

TEST_F(QuantizeCommandTest, MistakesAreNamed) {
  const std::string inputs = " --input x=%/x.npy --input w=%/w.npy ";
  EXPECT_THAT(ErrorOf("quantize %/model.relay" + inputs + "-o %/q.so"),
              HasSubstr("the ending is .onnx, .relay or .txt"));
  EXPECT_THAT(ErrorOf("quantize %/model.relay" + inputs + "--input x=%/x.npy -o %/q.relay"),
              HasSubstr("w has 1 samples and x has 2"));
  EXPECT_THAT(ErrorOf("quantize %/model.relay --input v=%/x.npy -o %/q.relay"),
              HasSubstr("the model has no input v; it has x, w"));
  EXPECT_THAT(ErrorOf("quantize %/model.relay" + inputs + "--keep-float conv -o %/q.relay"),
              HasSubstr("there is no product conv"));
  fs::create_directories(Path("empty"));
  EXPECT_THAT(ErrorOf("quantize %/model.relay --input x=%/empty --input w=%/w.npy -o %/q.relay"),
              HasSubstr("has no file that is .npy"));
  EXPECT_THAT(ErrorOf("quantize %/model.relay" + inputs + "-o %/nowhere/q.relay"),
              HasSubstr("nowhere"));
  EXPECT_FALSE(fs::exists(Path("q.relay")));
}

}  // namespace
}  // namespace tenon::tools
