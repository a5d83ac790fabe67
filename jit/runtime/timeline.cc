#include "tenon/jit/runtime/timeline.h"

namespace tenon::jit {
namespace {

thread_local Timeline* current = nullptr;

}  // namespace

Timeline* Timeline::Current() { return current; }

Timeline::Recording::Recording(Timeline* timeline) { current = timeline; }
Timeline::Recording::~Recording() { current = nullptr; }

void Timeline::EndKernel(const std::string& name, Clock::time_point start, Clock::time_point end) {
  for (auto entry = entries_.rbegin(); entry != entries_.rend() && entry->name.empty(); ++entry)
    entry->name = name;
  entries_.push_back({name, false, 0, start, end});
}

}  // namespace tenon::jit
