// What the program's command line is, as data, and the texts made of it: completions for shells and
// the manual page. All come from the options themselves, so they cannot differ from --help.
//
//   std::fputs(BashCompletion(DescribeCommand(app)).c_str(), stdout);
#ifndef TENON_TOOLS_COMMAND_LINE_H_
#define TENON_TOOLS_COMMAND_LINE_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace tenon::tools {

struct OptionDescription {
  std::vector<std::string> names;  // "-o", "--output"; the bare name of a positional argument
  std::string value;               // "FILE", as --help writes it; empty for a flag
  std::vector<std::string> choices;
  std::string text;
};

struct CommandDescription {
  std::string name;
  std::string text;
  std::string footer;  // examples
  std::vector<OptionDescription> options;
  std::vector<OptionDescription> positionals;
  std::vector<CommandDescription> commands;
};

CommandDescription DescribeCommand(const CLI::App& app);

// A script that bash reads: source <(tenon completion bash)
std::string BashCompletion(const CommandDescription& program);
// A function file of zsh, to be _tenon in a folder of $fpath.
std::string ZshCompletion(const CommandDescription& program);
// tenon.1, in the macros of man.
std::string ManualPage(const CommandDescription& program, const std::string& version);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_COMMAND_LINE_H_
