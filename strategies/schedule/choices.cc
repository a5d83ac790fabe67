#include "tenon/strategies/schedule/choices.h"

#include <algorithm>
#include <utility>

#include "tenon/support/strings.h"

namespace tenon::strategies {
namespace {

// Work so many times above or below the limit leaves no doubt.
constexpr std::int64_t kDoubt = 16;

// Stages of the same name are numbered in their order. The name of a choice has no blanks and no
// equals signs.
std::string NameOf(const SchedulingState& state, const schedule::Stage& stage, const char* what) {
  int number = 1;
  for (const auto& other : state.schedule.stages()) {
    if (other.get() == &stage) break;
    number += other->op()->name == stage.op()->name ? 1 : 0;
  }
  std::string name = stage.op()->name;
  std::ranges::replace_if(
      name, [](char c) { return c == ' ' || c == '='; }, '_');
  return StrCat(name, number == 1 ? "" : StrCat(".", number), ".", what);
}

}  // namespace

std::int64_t ChoiceOf(SchedulingState& state, const schedule::Stage& stage, const char* what,
                      std::vector<std::int64_t> values, std::int64_t usual) {
  Config* config = state.options.config;
  if (config == nullptr) return usual;
  return config->Knob(NameOf(state, stage, what), std::move(values), usual);
}

bool ChoiceOf(SchedulingState& state, const schedule::Stage& stage, const char* what, bool usual) {
  return ChoiceOf(state, stage, what, {0, 1}, usual ? 1 : 0) == 1;
}

bool IsShared(SchedulingState& state, const schedule::Stage& stage, std::int64_t work) {
  const bool usual = work >= kParallelWork;
  if (work >= kParallelWork * kDoubt || work < kParallelWork / kDoubt) return usual;
  return ChoiceOf(state, stage, "parallel", usual);
}

}  // namespace tenon::strategies
