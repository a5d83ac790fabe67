// What a user gets wrong at the command line is told in few words, before long work, with a remedy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tenon/tests/testing/cli_testing.h"
#include "tenon_test_paths.h"

namespace tenon::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class MessagesTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    Write("two.relay", "def @main(%x: Tensor[(2, 3), float32]) { (negative(%x), abs(%x)) }");
    Write("one.relay", "def @main(%x: Tensor[(2, 3), float32]) { abs(%x) }");
  }
};

// --- the program

TEST_F(MessagesTest, TheProgramSaysItsVersion) {
  EXPECT_THAT(OutputOf("--version"), ::testing::MatchesRegex("tenon [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST_F(MessagesTest, AnUnknownCommandIsNamedWithASuggestion) {
  EXPECT_THAT(ErrorOf("Run %/one.relay"),
              AllOf(HasSubstr("there is no command Run"), HasSubstr("commands are run, compile"),
                    HasSubstr("did you mean run?")));
}

TEST_F(MessagesTest, NamesAreSuggestedByTheirLastPartOrTheirBeginning) {
  EXPECT_THAT(ErrorOf("ops conv2d"), HasSubstr("did you mean nn.conv2d?"));
  EXPECT_THAT(ErrorOf("run model:resnet"), HasSubstr("did you mean resnet101, resnet152"));
  const std::string passes = ErrorOf("run %/one.relay --disable-pass Nope");
  EXPECT_EQ(passes.find("FoldAffine"), passes.rfind("FoldAffine"));
}

TEST_F(MessagesTest, ValuesThatAreOutOfRangeAreToldInFewWords) {
  EXPECT_THAT(ErrorOf("run %/one.relay --seed -1"),
              HasSubstr("-1 is out of range; it may be a whole number from 0 on"));
  EXPECT_THAT(ErrorOf("run %/one.relay --threads two"),
              HasSubstr("two is not a number; it may be a whole number 0 to 1024"));
  for (const char* wrong : {"nan", "inf", "-1"}) {
    EXPECT_THAT(ErrorOf(StrCat("tune %/one.relay --minutes=", wrong)),
                HasSubstr("it may be a number from 0 to 100000"));
    EXPECT_THAT(ErrorOf(StrCat("opt %/one.relay --opt-level=", wrong)),
                HasSubstr("it may be a whole number 0 to 4"));
    EXPECT_THAT(ErrorOf(StrCat("fuzz --cases=", wrong)),
                HasSubstr("it may be a whole number 1 to"));
    EXPECT_THAT(ErrorOf(StrCat("fuzz --seed=", wrong)),
                HasSubstr("it may be a whole number from 0"));
  }
}

TEST_F(MessagesTest, WhatStandardOutputCannotTakeIsAFailure) {
  for (const char* command :
       {"run %/one.relay", "compile %/one.relay --emit=llvm", "ops",
        "bench %/one.relay --seconds 0", "opt %/one.relay", "--help", "run --help"}) {
    std::string in_folder = command;
    if (const std::size_t at = in_folder.find('%'); at != std::string::npos)
      in_folder.replace(at, 1, folder_.string());
    const std::string line =
        StrCat(TENON_BINARY_DIR, "/tools/tenon ", in_folder, " >/dev/full 2>", Path("err"));
    const int status = std::system(line.c_str());
    EXPECT_EQ(WEXITSTATUS(status), 1) << command;
    EXPECT_THAT(Contents(Path("err")), HasSubstr("standard output cannot be written")) << command;
  }
}

// --- files

TEST_F(MessagesTest, TwoThatAreWrittenAreNotOneFile) {
  fs::create_directory_symlink(folder_, Path("here"));
  for (const char* files :
       {"--output y0=%/a.npy --output y1=%/a.npy", "--output y0=%/a.npy --output y1=%/./a.npy",
        "--output y0=%/a.npy --save-input x=%/a.npy", "--output y0=%/a.npy --report %/a.npy",
        "--report %/a.npy --trace %/a.npy", "--output y1=%/a.npy --output y0=%/here/a.npy"}) {
    EXPECT_THAT(ErrorOf(StrCat("run %/two.relay ", files)), HasSubstr("name one file, "));
    EXPECT_FALSE(fs::exists(Path("a.npy"))) << files;
  }
  OutputOf("run %/two.relay --output y0=/dev/null --output y1=/dev/null");
}

TEST_F(MessagesTest, AnArrayOfATypeThatNumPyLacksIsRefusedBeforeTheRun) {
  Write("half.relay", "def @main(%x: Tensor[(4), bfloat16]) { add(%x, %x) }\n");
  for (const char* file : {"--output y=%/y.npy", "--save-input x=%/drawn.npy"}) {
    EXPECT_THAT(ErrorOf(StrCat("run %/half.relay --report %/report.json ", file)),
                HasSubstr(".npy: NumPy has no element type bfloat16"));
    EXPECT_FALSE(fs::exists(Path("report.json"))) << file;
  }
}

TEST_F(MessagesTest, AFolderThatIsNoSavedExecutableIsToldWhatItLacks) {
  fs::create_directories(Path("net"));
  EXPECT_THAT(ErrorOf("run %/net"),
              AllOf(HasSubstr(StrCat("the folder ", Path("net"), " has no tenon.json")),
                    HasSubstr("tenon compile --emit=executable")));
}

// --- models

TEST_F(MessagesTest, AnOnnxModelIsKnownByItsContent) {
  OutputOf("compile %/model.relay -o %/model.onnx");
  fs::copy(Path("model.onnx"), Path("model.bin"));
  EXPECT_THAT(OutputOf("run %/model.bin"), HasSubstr("(2, 4)"));
  EXPECT_THAT(OutputOf("run - < %/model.onnx"), HasSubstr("(2, 4)"));
}

TEST_F(MessagesTest, WhatIsNeitherOnnxNorTextIsSaidToBeWithoutItsBytes) {
  Write("model.pt", std::string("PK\x03\x04\x00\x00", 6));
  EXPECT_EQ(ErrorOf("run %/model.pt"), StrCat("tenon: ", Path("model.pt"),
                                              " is neither an ONNX model nor Relay text; it is a ",
                                              "ZIP archive, as PyTorch saves\n"));
  Write("model.dat", std::string("\x01\x02\x1b[2J", 6));
  EXPECT_EQ(ErrorOf("run %/model.dat"),
            StrCat("tenon: ", Path("model.dat"), " is neither an ONNX model nor Relay text\n"));
}

TEST_F(MessagesTest, WhyAFileCannotBeOpenedIsSaid) {
  EXPECT_THAT(ErrorOf("compile %"), HasSubstr("cannot be opened: Is a directory"));
  EXPECT_THAT(ErrorOf("run %/none.pt"), HasSubstr("cannot be opened: No such file"));
  mkfifo(Path("pipe.onnx").c_str(), 0600);
  EXPECT_THAT(ErrorOf("run %/pipe.onnx"), HasSubstr("it is a pipe or a device"));
  EXPECT_THAT(ErrorOf("run %/one.relay --input x=%"), HasSubstr("this is a folder"));
  EXPECT_THAT(ErrorOf("run %/one.relay --input x=%/none.npy"), HasSubstr("No such file"));
  EXPECT_THAT(ErrorOf("ops --plugin ''"), HasSubstr("--plugin is empty"));
}

TEST_F(MessagesTest, AnInputOfAnotherFormatIsToldWhatPicturesMayBe) {
  Write("p.webp", "RIFF....WEBP");
  EXPECT_THAT(ErrorOf("run %/one.relay --input x=%/p.webp"),
              HasSubstr("pictures may be .png, .jpg"));
}

TEST_F(MessagesTest, AShapeMayHaveBlanksAndNoCommaAtItsEnd) {
  Write("empty.onnx", "");
  EXPECT_THAT(ErrorOf("run %/empty.onnx --shape x=1,3,"), HasSubstr("1,3, ends in a comma"));
  EXPECT_THAT(ErrorOf("run %/empty.onnx --shape 'x=1, 3'"), HasSubstr("not a complete ONNX model"));
  EXPECT_THAT(ErrorOf("run %/empty.onnx --symbolic --shape 'x=n, 3'"),
              HasSubstr("not a complete ONNX model"));
  for (const char* shape : {"n,3,", "n,-1", "n,,3"})
    EXPECT_THAT(ErrorOf(std::string("run %/empty.onnx --symbolic --shape x=") + shape),
                HasSubstr(" is not an extent"));
}

TEST_F(MessagesTest, NothingIsGivenTwice) {
  const std::string x = "run %/two.relay --input x=%/x.npy";
  EXPECT_THAT(ErrorOf(x + " --input x=%/x.npy"), HasSubstr("--input: x is given twice"));
  EXPECT_THAT(ErrorOf(x + " --output y0=%/a.npy --output y0=%/b.npy"),
              HasSubstr("--output: y0 is given twice"));
  EXPECT_THAT(ErrorOf("run %/none.onnx --shape x=1 --shape x=2"),
              HasSubstr("--shape: x is given twice"));
}

// --- results

TEST_F(MessagesTest, AResultIsWrittenByItsOwnNameOrItsNumberAndNoOther) {
  OutputOf("compile %/two.relay -o %/two.onnx");
  const std::string run = "run %/two.onnx --input x=%/x.npy --no-cache --output ";
  const std::string names = ErrorOf(run + "k1=%/a.npy");
  EXPECT_THAT(names, AllOf(HasSubstr("there is no result k1"), HasSubstr("(or y0 to y1)")));
  const std::size_t first = names.find("results are ") + 12;
  const std::string own = names.substr(first, names.find(',') - first);
  OutputOf(StrCat(run, own, "=%/own.npy"));
  OutputOf(run + "y0=%/first.npy");
  EXPECT_EQ(Contents(Path("own.npy")), Contents(Path("first.npy")));
  EXPECT_THAT(ErrorOf(run + "y00=%/a.npy"), HasSubstr("no result y00"));
  EXPECT_THAT(ErrorOf(run + "z1=%/a.npy"), HasSubstr("no result z1"));
  EXPECT_THAT(ErrorOf(StrCat(run, own, "=%/a.npy --output y0=%/b.npy")),
              HasSubstr("is given twice"));
  EXPECT_THAT(ErrorOf("run %/one.relay --output nosuch=%/a.npy"),
              HasSubstr("there is no result nosuch; results are y"));
  EXPECT_FALSE(fs::exists(Path("a.npy")));
}

// A model that does not compile: what is said of it is said before.
TEST_F(MessagesTest, WhereResultsCannotGoIsToldBeforeCompiling) {
  Write("bad.relay", "def @main(%x: Tensor[(2, 3), float32]) { (nn.dropout(%x), %x) }");
  const std::string run = "run %/bad.relay --input x=%/x.npy ";
  EXPECT_THAT(ErrorOf(run + "--output y7=%/a.npy"), HasSubstr("no result y7"));
  EXPECT_THAT(ErrorOf(run + "--output y1=/nowhere/a.npy"),
              HasSubstr("/nowhere/a.npy cannot be written: No such file"));
  EXPECT_THAT(ErrorOf(run + "--report /nowhere/r"), HasSubstr("/nowhere/r cannot be written"));
  EXPECT_THAT(ErrorOf(run + "--labels a,b"), HasSubstr("2 labels are given for a result of"));
  EXPECT_THAT(ErrorOf(run + "--output y1=-"), HasSubstr("standard output has the text"));
  EXPECT_THAT(ErrorOf("run %/bad.relay --input x=%/absent.npy"), HasSubstr("cannot be opened"));
  EXPECT_THAT(ErrorOf("run %/bad.relay --input z=%/x.npy"), HasSubstr("no input z; it has x"));
}

TEST_F(MessagesTest, AFullDeviceIsAFailureOfEveryOption) {
  const std::string run = "run %/one.relay --input x=%/x.npy ";
  for (const std::string& option : {run + "--output y=/dev/full", run + "--report /dev/full",
                                    std::string("compile %/one.relay --emit=llvm -o /dev/full")})
    EXPECT_THAT(ErrorOf(option), HasSubstr("No space left on device"));
}

// --- the cache

TEST_F(MessagesTest, ACacheThatCannotBeWrittenIsSaidOnce) {
  const Ended ended = Tenon("run %/one.relay --cache-dir %/one.relay/cache");
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.err, AllOf(StartsWith("tenon: the cache "), HasSubstr("cannot be written"),
                               HasSubstr("Not a directory")));
  EXPECT_THAT(ErrorOf("run %/one.relay --cache-dir ''"), HasSubstr("--cache-dir is empty"));
}

TEST_F(MessagesTest, ACacheThatOthersMayWriteToIsNotUsedAndTheProgramSaysSo) {
  const std::string folder = Path("shared");
  ASSERT_EQ(mkdir(folder.c_str(), S_IRWXU), 0);
  ASSERT_EQ(chmod(folder.c_str(), S_IRWXU | S_IRWXG | S_IRWXO), 0);
  const Ended ended = Tenon("run %/one.relay --cache-dir %/shared");
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.err, AllOf(StartsWith("tenon: the cache "), HasSubstr("is not used")));
  EXPECT_THAT(
      ErrorOf("compile --emit=cache %/one.relay --cache-dir %/shared"),
      HasSubstr("cannot be filled: it must belong to this user, and nobody else may write to it"));
}

// --- interrupts

TEST_F(MessagesTest, AnInterruptedRunPrintsTheTimesSoFar) {
  // In the foreground, since `timeout` otherwise interrupts its whole group after its command, and
  // the second signal ends a run that has noted the first.
  const std::string line =
      StrCat("timeout --foreground -s INT 10 ", TENON_BINARY_DIR, "/tools/tenon run model:lenet",
             " --repeat 1000000 --threads 1 --no-cache >", Path("out"), " 2>", Path("err"));
  // What `timeout` gives where its command did not end by itself.
  EXPECT_EQ(WEXITSTATUS(std::system(line.c_str())), 124);
  EXPECT_THAT(Contents(Path("out")), AllOf(HasSubstr("result 0"), HasSubstr("(median of ")));
  EXPECT_THAT(Contents(Path("err")), IsEmpty());
}

}  // namespace
}  // namespace tenon::tools
