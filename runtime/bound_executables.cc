#include "tenon/runtime/bound_executables.h"

namespace tenon::runtime {

std::optional<Executable> BoundExecutables::Find(const Dim::Values& values) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = index_.find(values);
  if (found == index_.end()) return std::nullopt;
  bound_.splice(bound_.begin(), bound_, found->second);
  return found->second->executable;
}

Executable BoundExecutables::Keep(const Dim::Values& values, const Executable& executable) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto found = index_.find(values); found != index_.end())
    return found->second->executable;
  bound_.push_front({values, executable});
  index_.emplace(values, bound_.begin());
  if (bound_.size() > kMaxKept) {
    index_.erase(bound_.back().values);
    bound_.pop_back();
  }
  return executable;
}

}  // namespace tenon::runtime
