// tenon manual: the manual page, in the macros of man (groff_man(7)).
#include <cstdio>
#include <string>
#include <string_view>

#include "tenon/support/strings.h"
#include "tenon/tools/command_line.h"
#include "tenon/tools/commands.h"

namespace tenon::tools {
namespace {

// A minus is what a user types, not a hyphen; a line that begins with a dot would be a macro.
std::string Roff(std::string_view text) {
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool begins = i == 0 || text[i - 1] == '\n';
    if (begins && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else
      escaped += c;
  }
  return escaped;
}

void AddOptions(const std::vector<OptionDescription>& options, std::string* page) {
  for (const OptionDescription& option : options) {
    StrAppend(page, ".TP\n\\fB", Roff(StrJoin(option.names, ", ")), "\\fR");
    if (!option.value.empty()) StrAppend(page, " \\fI", Roff(option.value), "\\fR");
    StrAppend(page, "\n", option.text.empty() ? "\\&" : Roff(option.text), "\n");
  }
}

void AddCommand(const CommandDescription& command, const std::string& path, std::string* page) {
  const std::string name = StrCat(path, " ", command.name);
  StrAppend(page, ".SS ", Roff(name), "\n", Roff(command.text), "\n");
  AddOptions(command.positionals, page);
  AddOptions(command.options, page);
  if (!command.footer.empty())
    StrAppend(page, ".PP\n.nf\n.RS\n", Roff(command.footer), "\n.RE\n.fi\n");
  for (const CommandDescription& inner : command.commands) AddCommand(inner, name, page);
}

}  // namespace

// Lines end where words end (.ad l): lists of names cannot be spread to both margins.
std::string ManualPage(const CommandDescription& program, const std::string& version) {
  std::string page = StrCat(".TH TENON 1 \"\" \"tenon ", version, "\" \"User Commands\"\n.ad l\n",
                            ".SH NAME\ntenon \\- compile and run graphs of tensor operators\n",
                            ".SH SYNOPSIS\n.B tenon\n\\fICOMMAND\\fR [\\fIARGUMENT\\fR]...\n",
                            ".SH DESCRIPTION\n", Roff(program.text), "\n");
  AddOptions(program.options, &page);
  StrAppend(&page, ".SH COMMANDS\n");
  for (const CommandDescription& command : program.commands) AddCommand(command, "tenon", &page);
  StrAppend(&page, ".SH EXIT STATUS\n0, or 1 after an error, which is printed on standard error.\n",
            ".SH FILES\n.TP\n\\fI$XDG_CACHE_HOME/tenon\\fR, \\fI~/.cache/tenon\\fR\n",
            "Compiled kernels, and records.sqlite with what tenon tune has measured.\n");
  return page;
}

void AddManualCommand(CLI::App* command) {
  command->callback([command] {
    std::fputs(ManualPage(DescribeCommand(*command->get_parent()), TENON_VERSION).c_str(), stdout);
  });
}

}  // namespace tenon::tools
