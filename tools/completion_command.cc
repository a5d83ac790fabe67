// tenon completion: scripts by which a shell completes the program's commands, options and values.
//
// Bash: one function finds the command that the words before the cursor name, then offers the
// values of the option before the cursor, or the command's options. Zsh: one function a command,
// in the language of _arguments. What is completed neither way is a file.
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/support/strings.h"
#include "tenon/tools/command_line.h"
#include "tenon/tools/commands.h"

namespace tenon::tools {
namespace {

// Quoted for a shell.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// The first sentence or so of a text, on one line.
std::string Brief(const std::string& text) {
  constexpr std::size_t kMaxBrief = 70;
  std::string brief = text.substr(0, text.find_first_of(";:\n"));
  if (brief.size() > kMaxBrief) brief = brief.substr(0, brief.rfind(' ', kMaxBrief)) + " ...";
  return brief;
}

std::vector<std::string> NamesOf(const std::vector<OptionDescription>& options) {
  std::vector<std::string> names;
  for (const OptionDescription& option : options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::vector<std::string> NamesOf(const std::vector<CommandDescription>& commands) {
  std::vector<std::string> names;
  for (const CommandDescription& command : commands) names.push_back(command.name);
  return names;
}

// The cases of a bash script that stand for one command and those inside it. `path` is the names of
// the commands that lead to it, with a blank before each.
struct BashCases {
  std::string commands, words, values;

  void Add(const CommandDescription& command, const std::string& path) {
    const std::string named = Quoted(path);
    StrAppend(&words, "    ", named, ") words=", Quoted(StrJoin(NamesOf(command.commands), " ")),
              " options=", Quoted(StrJoin(NamesOf(command.options), " ")), " ;;\n");
    for (const OptionDescription& option : command.options) {
      if (option.value.empty()) continue;
      for (const std::string& name : option.names)
        StrAppend(&values, "    ", Quoted(StrCat(path, " ", name)),
                  ") choices=", Quoted(StrJoin(option.choices, " ")), " takes=1 ;;\n");
    }
    for (const CommandDescription& inner : command.commands) {
      const std::string inner_path = StrCat(path, " ", inner.name);
      StrAppend(&commands, "      ", Quoted(inner_path), ") command=", Quoted(inner_path), " ;;\n");
      Add(inner, inner_path);
    }
  }
};

// What _arguments of zsh takes inside [] and between colons.
std::string ZshText(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string ZshOption(const OptionDescription& option, const std::string& name) {
  std::string spec = StrCat("*", name, "[", ZshText(Brief(option.text)), "]");
  if (option.value.empty()) return Quoted(spec.substr(1));
  StrAppend(&spec, ":", ZshText(option.value.substr(0, option.value.find_first_of(" :"))), ":",
            option.choices.empty() ? "_files" : StrCat("(", StrJoin(option.choices, " "), ")"));
  return Quoted(spec);
}

void AddZshFunction(const CommandDescription& command, const std::string& function,
                    std::string* text) {
  StrAppend(text, function, "() {\n");
  if (!command.commands.empty()) {
    StrAppend(text, "  local -a commands=(\n");
    for (const CommandDescription& inner : command.commands)
      StrAppend(text, "    ", Quoted(StrCat(inner.name, ":", Brief(inner.text))), "\n");
    StrAppend(text, "  )\n");
  }
  StrAppend(text, "  _arguments -C");
  for (const OptionDescription& option : command.options) {
    for (const std::string& name : option.names)
      StrAppend(text, " \\\n    ", ZshOption(option, name));
  }
  if (command.commands.empty()) {
    StrAppend(text, " \\\n    '*:file:_files'\n}\n");
    return;
  }
  StrAppend(text,
            " \\\n    '1:command:->command' '*::argument:->argument'\n"
            "  case $state in\n"
            "    command) _describe command commands ;;\n"
            "    argument)\n"
            "      (( $+functions[",
            function, "_$words[1]] )) && ", function, "_$words[1] ;;\n  esac\n}\n");
  for (const CommandDescription& inner : command.commands)
    AddZshFunction(inner, StrCat(function, "_", inner.name), text);
}

}  // namespace

std::string BashCompletion(const CommandDescription& program) {
  BashCases cases;
  cases.Add(program, "");
  return StrCat(
      "# Made by tenon completion bash.\n"
      "_tenon() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
      "  local command='' words='' options='' choices='' takes='' i\n"
      "  COMPREPLY=()\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case \"$command ${COMP_WORDS[i]}\" in\n",
      cases.commands,
      "    esac\n"
      "  done\n"
      "  case \"$command\" in\n",
      cases.words,
      "  esac\n"
      "  case \"$command $before\" in\n",
      cases.values,
      "  esac\n"
      "  if [[ -n $takes ]]; then words=$choices; elif [[ $current == -* ]]; then words=$options; "
      "fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "}\n"
      "complete -o default -F _tenon tenon\n");
}

std::string ZshCompletion(const CommandDescription& program) {
  std::string text = "#compdef tenon\n# Made by tenon completion zsh.\n";
  AddZshFunction(program, "_tenon", &text);
  return text + "_tenon \"$@\"\n";
}

void AddCompletionCommand(CLI::App* command) {
  const auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "which shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
  command->footer(
      "Examples:\n  source <(tenon completion bash)\n"
      "  tenon completion zsh > ~/.zfunc/_tenon    # where ~/.zfunc is in $fpath");
  command->callback([command, shell] {
    const CommandDescription program = DescribeCommand(*command->get_parent());
    const std::string text = *shell == "bash" ? BashCompletion(program) : ZshCompletion(program);
    std::fputs(text.c_str(), stdout);
  });
}

}  // namespace tenon::tools
