// tenon completion and tenon manual.
#include "tenon/tests/testing/cli_testing.h"

namespace tenon::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CompletionTest : public CliTest {
 protected:
  // Standard output of the lines, run by a shell.
  std::string OutputOfShell(const std::string& shell, const std::string& lines) const {
    Write("lines", lines);
    const std::string command = StrCat(shell, " ", Path("lines"), " >", Path("shell_out"));
    EXPECT_EQ(std::system(command.c_str()), 0) << lines;
    return Contents(Path("shell_out"));
  }
  // What bash offers for the words of a line, the last of which is being typed; blanks between.
  std::string OfferedFor(const std::string& words) const {
    Write("tenon.bash", OutputOf("completion bash"));
    const std::string out = OutputOfShell(
        "bash", StrCat("source ", Path("tenon.bash"), "\nCOMP_WORDS=(", words,
                       ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_tenon\necho ${COMPREPLY[@]}\n"));
    return out.substr(0, out.find('\n'));
  }
};

TEST_F(CompletionTest, BashOffersCommands) {
  EXPECT_THAT(OfferedFor("tenon ''"), StartsWith("run compile "));
  EXPECT_EQ(OfferedFor("tenon comp"), "compile completion");
  EXPECT_EQ(OfferedFor("tenon records e"), "export");
}

TEST_F(CompletionTest, BashOffersTheOptionsOfTheCommand) {
  EXPECT_EQ(OfferedFor("tenon run --sym"), "--symbolic");
  EXPECT_EQ(OfferedFor("tenon passes --sym"), "");
}

TEST_F(CompletionTest, BashOffersTheValuesOfAnOption) {
  EXPECT_EQ(OfferedFor("tenon run --library ''"), "auto te onednn");
  EXPECT_EQ(OfferedFor("tenon run --library o"), "onednn");
}

TEST_F(CompletionTest, WhatHasNoChoicesIsAFile) {
  EXPECT_EQ(OfferedFor("tenon run --report ''"), "");
  EXPECT_EQ(OfferedFor("tenon run mod"), "");
}

TEST_F(CompletionTest, ZshReadsItsScript) {
  // Its last line completes, which works inside zsh's line editor alone.
  const std::string script = OutputOf("completion zsh");
  const std::string functions = script.substr(0, script.rfind("_tenon \"$@\""));
  EXPECT_THAT(OutputOfShell("zsh -f", functions + "whence -w _tenon_run _tenon_records_best\n"),
              AllOf(HasSubstr("_tenon_run: function"), HasSubstr("_tenon_records_best: function")));
}

TEST_F(CompletionTest, ThereAreTwoShells) {
  EXPECT_THAT(ErrorOf("completion fish"), AllOf(HasSubstr("fish"), HasSubstr("bash")));
}

TEST_F(CompletionTest, TheManualHasEachCommandAndNoBrokenMacro) {
  const std::string text = OutputOf("manual");
  EXPECT_THAT(text, AllOf(HasSubstr(".SS tenon run\n"), HasSubstr(".SS tenon records best\n"),
                          HasSubstr("\\fB\\-\\-library\\fR")));
  // groff warns of macros that it does not know.
  Write("tenon.1", text);
  EXPECT_EQ(OutputOfShell("bash",
                          StrCat("groff -man -Tascii -ww ", Path("tenon.1"), " 2>&1 >/dev/null\n")),
            "");
}

}  // namespace
}  // namespace tenon::tools
