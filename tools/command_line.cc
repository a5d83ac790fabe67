#include "tenon/tools/command_line.h"

#include <string_view>

#include "tenon/support/strings.h"

namespace tenon::tools {
namespace {

// The values in a type name such as "TEXT:{auto,te,onednn}".
std::vector<std::string> ChoicesIn(const std::string& type) {
  const std::size_t open = type.find('{');
  if (open == std::string::npos) return {};
  const std::size_t close = type.find('}', open);
  return StrSplit(type.substr(open + 1, close - open - 1), ',');
}

OptionDescription DescribeOption(const CLI::Option& option) {
  OptionDescription description{.names = {}, .text = option.get_description()};
  for (const std::string& name : option.get_snames()) description.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) description.names.push_back("--" + name);
  if (description.names.empty()) description.names.push_back(option.get_name());
  if (option.get_expected_max() > 0) {
    description.value = option.get_type_name();
    description.choices = ChoicesIn(description.value);
  }
  return description;
}

}  // namespace

CommandDescription DescribeCommand(const CLI::App& app) {
  CommandDescription command{
      .name = app.get_name(), .text = app.get_description(), .footer = app.get_footer()};
  for (const CLI::Option* option : app.get_options({}))
    (option->nonpositional() ? command.options : command.positionals)
        .push_back(DescribeOption(*option));
  for (const CLI::App* inner : app.get_subcommands(std::function<bool(const CLI::App*)>()))
    command.commands.push_back(DescribeCommand(*inner));
  return command;
}

}  // namespace tenon::tools
