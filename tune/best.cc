#include "tenon/tune/best.h"

#include <cmath>
#include <cstdio>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tune/size_class.h"

namespace tenon::tune {
namespace {

// Later ones of one choice count more.
auto Weight(const Record& record) {
  return std::make_tuple(record.scope != Scope::kKernel, record.date, record.scope, record.run);
}

auto Age(const Record& record) { return std::tie(record.date, record.run, record.shapes); }

}  // namespace

bool IsWin(const Record& record) { return record.ratio + record.noise < 1 - kMinGain; }

std::vector<Record> Counting(const std::vector<Record>& records) {
  std::map<std::string, const Record*> newest;  // by content
  for (const Record& record : records) {
    const Record*& known = newest[record.content];
    if (known == nullptr || Age(*known) < Age(record)) known = &record;
  }
  std::map<std::pair<std::string, std::string>, Record> latest;
  for (const Record& record : records) {
    if (SizeClassOf(record.shapes) != SizeClassOf(newest.at(record.content)->shapes)) continue;
    const auto [known, is_new] = latest.try_emplace({record.content, record.choice}, record);
    if (!is_new && Weight(known->second) < Weight(record)) known->second = record;
  }
  std::vector<Record> counting;
  for (auto& [key, record] : latest) counting.push_back(std::move(record));
  return counting;
}

std::vector<Record> Winning(const std::vector<Record>& records, Wins wins) {
  std::set<std::string> raced_inside;
  for (const Record& record : records) {
    if (record.scope != Scope::kKernel) raced_inside.insert(record.content);
  }
  std::vector<Record> winning = Counting(records);
  std::erase_if(winning, [&](const Record& record) {
    const bool is_unconfirmed =
        record.scope == Scope::kKernel && raced_inside.contains(record.content);
    return !IsWin(record) || (wins == Wins::kConfirmed && is_unconfirmed);
  });
  return winning;
}

std::map<std::string, Record> BestOf(const std::vector<Record>& records, Wins wins) {
  std::map<std::string, Record> best;
  for (const Record& record : Winning(records, wins)) {
    const auto [known, is_new] = best.try_emplace(record.content, record);
    if (!is_new && record.ratio < known->second.ratio) known->second = record;
  }
  return best;
}

std::map<std::string, KnownBest> KnownBestOf(const std::vector<Record>& records) {
  std::map<std::string, KnownBest> known;
  // The latest record says what the default is.
  std::map<std::string, std::string> dates;
  for (const Record& record : Counting(records)) {
    KnownBest& best = known[record.content];
    ++best.raced;
    std::string& date = dates[record.content];
    if (record.date < date) continue;
    date = record.date;
    best.choice = record.over;
  }
  for (const auto& [content, record] : BestOf(records)) {
    known.at(content).choice = record.choice;
    known.at(content).ratio = record.ratio;
  }
  return known;
}

std::string ChoiceText(const std::string& row, const strategies::ConfigValues& config) {
  return config.empty() ? row : StrCat(row, " ", strategies::ToText(config));
}

std::string RowOf(const std::string& choice) { return choice.substr(0, choice.find(' ')); }

namespace {

strategies::ConfigValues ConfigOf(const std::string& choice) {
  const std::string row = RowOf(choice);
  return row.size() == choice.size() ? strategies::ConfigValues()
                                     : strategies::ParseConfig(choice.substr(row.size() + 1));
}

}  // namespace

strategies::MeasuredChoice ChoiceOf(const Record& record) {
  const std::string row = RowOf(record.choice);
  if (row.empty()) throw InvalidArgument("a record names no row");
  return {.row = row,
          .config = ConfigOf(record.choice),
          .over = RowOf(record.over),
          .over_config = ConfigOf(record.over),
          .evidence = EvidenceText(record)};
}

std::string EvidenceText(const Record& record) {
  char ratio[32];
  std::snprintf(ratio, sizeof ratio, "%.2f", record.ratio);
  return StrCat(ratio, " x of default, ", record.rounds, " rounds, ", record.shapes,
                record.shapes.empty() ? "" : ", ", record.date.substr(0, 10), ", this CPU");
}

absl::StatusOr<std::vector<Record>> RecordsFor(std::span<const Records> files, const Target& target,
                                               int threads) {
  std::vector<Record> all;
  for (const Records& records : files) {
    const absl::StatusOr<std::vector<Record>> found =
        records.Find({.target = TargetText(target), .threads = ThreadsOn(target, threads)});
    if (!found.ok()) return found.status();
    all.insert(all.end(), found->begin(), found->end());
  }
  return all;
}

absl::StatusOr<strategies::MeasuredChoices> ChoicesFor(std::span<const Records> files,
                                                       const Target& target, int threads,
                                                       Wins wins) {
  const absl::StatusOr<std::vector<Record>> all = RecordsFor(files, target, threads);
  if (!all.ok()) return all.status();
  std::string paths;
  for (const Records& records : files) paths += StrCat(paths.empty() ? "" : " or ", records.path());
  const auto best = std::make_shared<const std::map<std::string, Record>>(BestOf(*all, wins));
  return strategies::MeasuredChoices(
      [best, paths](const std::string& content) -> std::optional<strategies::MeasuredChoice> {
        const auto record = best->find(content);
        if (record == best->end()) return std::nullopt;
        try {
          return ChoiceOf(record->second);
        } catch (const Error& error) {
          throw InvalidArgument(StrCat(paths, ": the record ", content, " has the choice '",
                                       record->second.choice, "': ", error.message()));
        }
      });
}

absl::StatusOr<strategies::MeasuredChoices> ChoicesFor(const Records& records, const Target& target,
                                                       int threads, Wins wins) {
  return ChoicesFor(std::span(&records, 1), target, threads, wins);
}

}  // namespace tenon::tune
