#include "tenon/tune/record_checks.h"

#include <chrono>
#include <cmath>
#include <cstddef>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tune/best.h"

namespace tenon::tune {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Whether `text` has a digit wherever `form` has 0, and else the same characters.
bool HasForm(std::string_view text, std::string_view form) {
  if (text.size() != form.size()) return false;
  for (std::size_t i = 0; i < form.size(); ++i) {
    if (form[i] == '0' ? !IsDigit(text[i]) : text[i] != form[i]) return false;
  }
  return true;
}

// Of a text of two or more digits.
unsigned NumberAt(std::string_view text, std::size_t begin, std::size_t digits) {
  return ParseNumber<unsigned>(text.substr(begin, digits)).value();
}

void Require(bool holds, std::string_view column, const auto& value, std::string_view rule) {
  if (!holds) throw InvalidArgument(StrCat("its ", column, " is ", value, "; ", rule));
}

}  // namespace

bool IsDay(std::string_view text) {
  if (!HasForm(text, "0000-00-00")) return false;
  return std::chrono::year_month_day(std::chrono::year(static_cast<int>(NumberAt(text, 0, 4))),
                                     std::chrono::month(NumberAt(text, 5, 2)),
                                     std::chrono::day(NumberAt(text, 8, 2)))
      .ok();
}

bool IsTime(std::string_view text) {
  constexpr std::size_t kDay = 10;
  return text.size() > kDay && IsDay(text.substr(0, kDay)) &&
         HasForm(text.substr(kDay), "T00:00:00Z") && NumberAt(text, 11, 2) < 24 &&
         NumberAt(text, 14, 2) < 60 && NumberAt(text, 17, 2) <= 60;
}

void CheckRecord(const Record& record) {
  const auto require_text = [](std::string_view column, const std::string& value) {
    Require(!value.empty(), column, "empty", "it names what was measured");
  };
  require_text("content", record.content);
  require_text("target", record.target);
  Require(record.threads >= 1, "threads", record.threads, "a kernel runs on one thread or more");
  Require(record.rounds >= 1, "rounds", record.rounds, "a race has one round or more");
  const auto require_positive = [](std::string_view column, double value) {
    Require(std::isfinite(value) && value > 0, column, value, "it must be above 0 and finite");
  };
  require_positive("ratio", record.ratio);
  Require(std::isfinite(record.noise) && record.noise >= 0, "noise", record.noise,
          "it must be 0 or more and finite");
  require_positive("least_s", record.least_s);
  require_positive("median_s", record.median_s);
  require_positive("default_least_s", record.default_least_s);
  require_positive("default_median_s", record.default_median_s);
  Require(std::isfinite(record.floor_s) && record.floor_s >= 0, "floor_s", record.floor_s,
          "it must be 0 or more and finite; 0 says that it is not known");
  Require(IsTime(record.date), "date", StrCat("'", record.date, "'"),
          "it must be a day and a time, as 2026-11-25T19:43:01Z");
  ChoiceOf(record);
}

}  // namespace tenon::tune
