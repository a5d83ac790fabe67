// Which entry of a plan the memory of another one is part of.
//
// A view lies in what it views, an input of a join in the join's output; these may lie in others
// again. What lies in nothing else is an owner. Entries of one owner may overlap only as views do.
//
//   const Owners owners(plan);
//   const Owned place = owners.Of({node, 0});  // bytes place.offset ... of place.entry
#ifndef TENON_RUNTIME_OWNERS_H_
#define TENON_RUNTIME_OWNERS_H_

#include <cstddef>
#include <map>
#include <utility>

#include "tenon/runtime/plan.h"

namespace tenon::runtime {

struct Owned {
  EntryRef entry;          // the owner
  std::size_t offset = 0;  // bytes from the owner's start
};

class Owners {
 public:
  // The plan must outlive this and keep its nodes. An entry may lie in one join only, once, and as
  // a whole: otherwise a broken invariant.
  explicit Owners(const Plan& plan);

  Owned Of(EntryRef entry) const;

 private:
  const Plan& plan_;
  std::map<std::pair<int, int>, Owned> joined_;
};

// Follows views up to what is no view.
Owned Viewed(const Plan& plan, EntryRef entry);

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_OWNERS_H_
