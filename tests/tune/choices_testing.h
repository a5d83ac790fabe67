// What records choose, for tests.
#ifndef TENON_TESTS_TUNE_CHOICES_TESTING_H_
#define TENON_TESTS_TUNE_CHOICES_TESTING_H_

#include <filesystem>
#include <string>
#include <vector>

#include "tenon/tests/tune/records_testing.h"
#include "tenon/tune/best.h"
#include "tenon/tune/contest.h"
#include "tenon/tune/kernel.h"
#include "tenon/tune/tune.h"

namespace tenon::tune {

inline Lowered LoweredOf(const ir::Module& module, const CompileOptions& options = {}) {
  return ValueOrThrow(Lower(module, options));
}

inline strategies::Choice ChoiceIn(const ir::Module& module, const CompileOptions& options) {
  return LoweredOf(module, options).kernels.at(0).choice;
}

// A record of the only kernel of a module, as if it had been raced.
inline Record Won(const ir::Module& module, const std::string& choice, double ratio = 0.5) {
  const Lowered lowered = LoweredOf(module);
  const ModelKernel kernel = KernelsOf(lowered).at(0);
  Record record = MakeRecord(kernel, {.threads = 1}, "run");
  record.choice = choice;
  record.over = ChoiceText(kernel.chosen.implementation, kernel.chosen.config.Values());
  record.ratio = ratio;
  record.rounds = 40;
  return record;
}

class ChoiceTest : public RecordsTest {
 protected:
  CompileOptions OptionsBy(const std::vector<Record>& list, CompileOptions options = {}) {
    std::filesystem::remove(Path("r.sqlite"));
    Records records = Open("r.sqlite");
    for (const Record& record : list) EXPECT_TRUE(records.Add(record, "text").ok());
    options.threads = 1;
    options.measured = ChoicesFor(records, options.target, 1).value();
    return options;
  }
};

}  // namespace tenon::tune

#endif  // TENON_TESTS_TUNE_CHOICES_TESTING_H_
