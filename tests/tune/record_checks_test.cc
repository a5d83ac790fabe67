// What no race can have measured is no record.
#include "tenon/tune/record_checks.h"

#include <cmath>
#include <functional>

#include "tenon/tests/tune/records_testing.h"

namespace tenon::tune {
namespace {

using ::testing::HasSubstr;

TEST(RecordChecksTest, DaysAreThoseOfTheCalendar) {
  for (const char* day : {"2026-11-25", "2024-02-29", "0000-01-01", "9999-12-31"})
    EXPECT_TRUE(IsDay(day)) << day;
  for (const char* text :
       {"", "26-11-2026", "2026-11-2", "2026-11-251", "2026-02-29", "2026-13-01", "2026-00-10",
        "2026-11-00", "2026-11-31", "2026/11/25", "zzz", "20 6-1-25", "2026-11-25T10:00:00Z"})
    EXPECT_FALSE(IsDay(text)) << text;
}

TEST(RecordChecksTest, TimesAreThoseOfADay) {
  for (const char* time : {"2026-11-25T19:43:01Z", "2026-11-25T00:00:00Z", "2026-06-30T23:59:60Z"})
    EXPECT_TRUE(IsTime(time)) << time;
  EXPECT_TRUE(IsTime(DateText()));
  for (const char* text :
       {"", "2026-11-25", "2026-11-25T24:00:00Z", "2026-11-25T10:60:00Z", "2026-11-25 10:00:00Z",
        "2026-11-31T10:00:00Z", "2026-11-25T10:00:00", "2026-11-25T10:00:61Z"})
    EXPECT_FALSE(IsTime(text)) << text;
}

TEST(RecordChecksTest, AValueThatNoRaceGivesIsNamed) {
  CheckRecord(SampleRecord("aaaa", 0.9));
  const auto refusal = [](const std::function<void(Record&)>& change) -> std::string {
    Record record = SampleRecord("aaaa", 0.9);
    change(record);
    try {
      CheckRecord(record);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_THAT(refusal([](Record& r) { r.content = ""; }), HasSubstr("its content is empty"));
  EXPECT_THAT(refusal([](Record& r) { r.target = ""; }), HasSubstr("its target is empty"));
  EXPECT_THAT(refusal([](Record& r) { r.threads = 0; }), HasSubstr("its threads is 0"));
  EXPECT_THAT(refusal([](Record& r) { r.rounds = -3; }), HasSubstr("its rounds is -3"));
  EXPECT_THAT(refusal([](Record& r) { r.ratio = 0; }), HasSubstr("its ratio is 0"));
  EXPECT_THAT(refusal([](Record& r) { r.ratio = INFINITY; }), HasSubstr("its ratio is inf"));
  EXPECT_THAT(refusal([](Record& r) { r.noise = -1; }), HasSubstr("its noise is -1"));
  EXPECT_THAT(refusal([](Record& r) { r.noise = NAN; }), HasSubstr("its noise is nan"));
  EXPECT_THAT(refusal([](Record& r) { r.least_s = 0; }), HasSubstr("its least_s is 0"));
  EXPECT_THAT(refusal([](Record& r) { r.default_median_s = -1; }),
              HasSubstr("its default_median_s is -1"));
  EXPECT_THAT(refusal([](Record& r) { r.date = "yesterday"; }),
              HasSubstr("its date is 'yesterday'; it must be a day and a time"));
  EXPECT_THAT(refusal([](Record& r) { r.choice = ""; }), HasSubstr("names no row"));
}

}  // namespace
}  // namespace tenon::tune
