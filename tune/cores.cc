#include "tenon/tune/cores.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <sched.h>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::tune {
namespace {

constexpr int kMaxCpus = 8192;

// A set of CPUs of any size, as the system takes it.
class CpuSet {
 public:
  CpuSet() : set_(CPU_ALLOC(kMaxCpus)) { CPU_ZERO_S(size(), set_); }
  ~CpuSet() { CPU_FREE(set_); }
  CpuSet(const CpuSet&) = delete;
  CpuSet& operator=(const CpuSet&) = delete;

  static std::size_t size() { return CPU_ALLOC_SIZE(kMaxCpus); }
  cpu_set_t* get() { return set_; }
  bool Has(int cpu) const { return CPU_ISSET_S(static_cast<std::size_t>(cpu), size(), set_) != 0; }
  void Add(int cpu) { CPU_SET_S(static_cast<std::size_t>(cpu), size(), set_); }

 private:
  cpu_set_t* set_;
};

// The CPUs of the core that has this one.
std::vector<int> CoreOf(int cpu) {
  std::string text;
  std::ifstream(StrCat("/sys/devices/system/cpu/cpu", cpu, "/topology/thread_siblings_list")) >>
      text;
  std::vector<int> core = ParseCpuList(text);
  if (std::ranges::find(core, cpu) == core.end()) core = {cpu};  // the system does not say
  return core;
}

}  // namespace

std::vector<int> ParseCpuList(const std::string& text) {
  std::vector<int> cpus;
  for (const std::string& part : StrSplit(text, ',')) {
    const std::size_t dash = part.find('-');
    const auto first = ParseNumber<int>(part.substr(0, dash));
    const auto last = dash == std::string::npos ? first : ParseNumber<int>(part.substr(dash + 1));
    if (!first || !last || *last >= kMaxCpus) return {};
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::vector<std::vector<int>> CoresOfThisProcess() {
  CpuSet allowed;
  if (sched_getaffinity(0, CpuSet::size(), allowed.get()) != 0) return {};
  std::vector<std::vector<int>> cores;
  std::set<int> seen;
  for (int cpu = 0; cpu < kMaxCpus; ++cpu) {
    if (!allowed.Has(cpu) || seen.contains(cpu)) continue;
    std::vector<int>& core = cores.emplace_back();
    for (const int sibling : CoreOf(cpu)) {
      if (allowed.Has(sibling) && seen.insert(sibling).second) core.push_back(sibling);
    }
  }
  return cores;
}

void PinTo(const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  CpuSet set;
  for (const int cpu : cpus) {
    if (cpu >= 0 && cpu < kMaxCpus) set.Add(cpu);
  }
  if (sched_setaffinity(0, CpuSet::size(), set.get()) != 0)
    throw FailedPrecondition(StrCat("the worker cannot be pinned to CPUs ", StrJoin(cpus, ", "),
                                    ": ", std::strerror(errno)));
}

std::vector<int> Seating::Take(const std::string& host, const std::vector<std::vector<int>>& cores,
                               std::int64_t threads) {
  std::set<int>& taken = taken_[host];
  std::vector<const std::vector<int>*> own;
  std::int64_t cpus = 0;
  for (const std::vector<int>& core : cores) {
    if (std::ranges::any_of(core, [&](int cpu) { return taken.contains(cpu); })) continue;
    own.push_back(&core);
    cpus += std::ssize(core);
  }
  if (cpus < threads) return {};
  std::vector<int> seats;
  for (std::size_t sibling = 0; std::ssize(seats) < threads; ++sibling) {
    for (const std::vector<int>* core : own) {
      if (sibling < core->size() && std::ssize(seats) < threads) seats.push_back((*core)[sibling]);
    }
  }
  for (const std::vector<int>* core : own) {
    if (std::ranges::find(seats, core->front()) != seats.end())
      taken.insert(core->begin(), core->end());
  }
  return seats;
}

}  // namespace tenon::tune
