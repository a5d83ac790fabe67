// tenon records: shows, merges and prunes the records of races.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/support/write_file.h"
#include "tenon/tools/commands.h"
#include "tenon/tools/model.h"
#include "tenon/tools/option_checks.h"
#include "tenon/tools/records_json.h"
#include "tenon/tune/best.h"
#include "tenon/tune/records.h"

namespace tenon::tools {
namespace {

using tune::Access;
using tune::Record;
using tune::Records;

struct RecordsArguments {
  CompileArguments files;
  std::string content;
  std::string output = "-";
  std::string into;
  std::vector<std::string> from;
  bool best = false;
  bool foreign = false;
  bool losers = false;
  std::string before;
};

Records OpenFor(const RecordsArguments& arguments, Access access) {
  const std::string file = arguments.files.RecordsToWrite();
  return ValueOrThrow(Records::Open(file, access));
}

void PrintLine(const Record& record) {
  std::printf("%s  %.3f +- %.3f  %-6s  %2lld threads  %s  %s, default %s%s\n",
              record.content.c_str(), record.ratio, record.noise, ToString(record.scope),
              static_cast<long long>(record.threads), record.date.substr(0, 10).c_str(),
              record.choice.c_str(), record.over.c_str(), tune::IsWin(record) ? "" : " (no win)");
}

// Records of one target and number of threads, for which there is a best choice.
using Setting = std::pair<std::string, std::int64_t>;
std::map<Setting, std::vector<Record>> BySetting(const std::vector<Record>& records) {
  std::map<Setting, std::vector<Record>> settings;
  for (const Record& record : records) settings[{record.target, record.threads}].push_back(record);
  return settings;
}

void List(const RecordsArguments& arguments) {
  const Records records = OpenFor(arguments, Access::kRead);
  for (const auto& [setting, of] : BySetting(ValueOrThrow(records.Find()))) {
    std::printf("%s\n", setting.first.c_str());
    for (const Record& record : tune::Counting(of)) PrintLine(record);
  }
}

void Best(const RecordsArguments& arguments) {
  const Records records = OpenFor(arguments, Access::kRead);
  for (const auto& [setting, of] : BySetting(ValueOrThrow(records.Find()))) {
    std::printf("%s\n", setting.first.c_str());
    for (const auto& [content, record] : tune::BestOf(of)) PrintLine(record);
  }
}

void Show(const RecordsArguments& arguments) {
  const Records records = OpenFor(arguments, Access::kRead);
  const std::vector<Record> found = ValueOrThrow(records.Find({.content = arguments.content}));
  if (found.empty())
    throw NotFound(StrCat("no record's content begins with ", arguments.content, "; tenon records ",
                          "list shows them"));
  std::string last;
  for (const Record& record : found) {
    if (record.content != last)
      std::printf("%s\n%s\n", record.content.c_str(),
                  ValueOrThrow(records.TextOf(record.content)).c_str());
    last = record.content;
    PrintLine(record);
    std::printf("    least %.3g s, median %.3g s; default %.3g s, %.3g s; ", record.least_s,
                record.median_s, record.default_least_s, record.default_median_s);
    if (record.floor_s > 0) std::printf("floor %.3g s; ", record.floor_s);
    std::printf("%lld rounds; %s%s%s; %s\n", static_cast<long long>(record.rounds),
                record.shapes.c_str(), record.shapes.empty() ? "" : "; ", record.versions.c_str(),
                record.target.c_str());
  }
}

void Export(const RecordsArguments& arguments) {
  const Records records = OpenFor(arguments, Access::kRead);
  std::vector<Record> chosen = ValueOrThrow(records.Find());
  if (arguments.best) {
    const auto settings = BySetting(chosen);
    chosen.clear();
    for (const auto& [setting, of] : settings) {
      for (const auto& [content, record] : tune::BestOf(of)) chosen.push_back(record);
    }
  }
  const std::string text = RecordsToJson(records, chosen);
  if (arguments.output == "-") {
    std::fputs(text.c_str(), stdout);
  } else {
    WriteFile(arguments.output, {text});
  }
}

void Import(const RecordsArguments& arguments) {
  std::vector<std::size_t> counts;
  std::vector<tune::RecordWithText> all;  // of all files, before one is written
  for (const std::string& from : arguments.from) {
    std::vector<tune::RecordWithText> read = RecordsOfJson(from);
    counts.push_back(read.size());
    std::ranges::move(read, std::back_inserter(all));
  }
  Records into = ValueOrThrow(Records::Open(arguments.into, Access::kWrite));
  const absl::Status added = into.Add(all);
  if (!added.ok()) throw FromStatus(added);
  for (std::size_t i = 0; i < counts.size(); ++i)
    std::printf("%s: %zu records\n", arguments.from[i].c_str(), counts[i]);
}

void Merge(const RecordsArguments& arguments) {
  std::vector<Records> sources;  // all are opened before one is written
  for (const std::string& from : arguments.from)
    sources.push_back(ValueOrThrow(Records::Open(from, Access::kRead)));
  Records into = ValueOrThrow(Records::Open(arguments.into, Access::kWrite));
  for (const Records& source : sources)
    std::printf("%s: %lld new records\n", source.path().c_str(),
                static_cast<long long>(ValueOrThrow(into.Merge(source))));
}

// What an option names; without one, what no longer counts.
void Prune(const RecordsArguments& arguments) {
  Records records = OpenFor(arguments, Access::kRead);
  const std::string here = tune::TargetText(arguments.files.OptionsWithoutRecords().target);
  const bool outdated = !arguments.foreign && !arguments.losers && arguments.before.empty();
  std::vector<Record> removed;
  for (const auto& [setting, of] : BySetting(ValueOrThrow(records.Find()))) {
    const std::vector<Record> counting = tune::Counting(of);
    // Wins of a choice that has lost go with its losses: without these they would count.
    const std::vector<Record> winning = tune::Winning(of);
    const auto lost = [&](const Record& record) {
      return !tune::IsWin(record) || std::ranges::none_of(winning, [&](const Record& win) {
        return win.content == record.content && win.choice == record.choice;
      });
    };
    for (const Record& record : of) {
      const bool counts = std::ranges::find(counting, record) != counting.end();
      if ((outdated && !counts) || (arguments.foreign && record.target != here) ||
          (arguments.losers && lost(record)) ||
          (!arguments.before.empty() && record.date < arguments.before))
        removed.push_back(record);
    }
  }
  std::printf("%lld records removed\n",
              static_cast<long long>(ValueOrThrow(records.Remove(removed))));
}

}  // namespace

void AddRecordsCommand(CLI::App* command) {
  const auto arguments = std::make_shared<RecordsArguments>();
  command->require_subcommand(1);
  const auto add = [&](const char* name, const char* help,
                       void (*action)(const RecordsArguments&)) {
    CLI::App* sub = command->add_subcommand(name, help);
    sub->callback([arguments, action] { action(*arguments); });
    return sub;
  };
  const auto of_file = [&](CLI::App* sub) {
    sub->add_option("--records", arguments->files.records,
                    "file of records; by default records.sqlite in the cache folder")
        ->type_name("FILE");
    return sub;
  };
  of_file(add("list", "the record that counts of each choice", List));
  of_file(add("best", "the choices that are used", Best));
  of_file(add("show", "all about one kernel", Show))
      ->add_option("content", arguments->content, "the first digits of its content")
      ->required();
  CLI::App* exports = of_file(add("export", "all records as JSON", Export));
  exports->add_option("-o,--out", arguments->output, "file to write, - for standard output")
      ->capture_default_str();
  exports->add_flag("--best", arguments->best, "only those of the choices that are used");
  CLI::App* imports = add("import", "add the records of JSON files", Import);
  imports->add_option("into", arguments->into, "file that gets them")->required();
  imports->add_option("from", arguments->from, "files that export has written")->required();
  CLI::App* merge = add("merge", "add the records of other files: a set union", Merge);
  merge->add_option("into", arguments->into, "file that gets them")->required();
  merge->add_option("from", arguments->from, "files that have them")->required();
  CLI::App* prune = of_file(add("prune",
                                "remove records that no longer count, or those that an "
                                "option names",
                                Prune));
  prune->add_flag("--foreign", arguments->foreign, "those of other machines");
  prune->add_flag("--losers", arguments->losers, "those of choices that did not win");
  prune->add_option("--before", arguments->before, "those from before a day")
      ->type_name("YYYY-MM-DD")
      ->check(Day());
}

}  // namespace tenon::tools
