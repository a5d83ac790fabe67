// Which other entry of a plan contains the memory of an entry.
//
// A view lies in what it views, and an input of a join lies in the join's output. These may lie in
// others again. An entry that lies in nothing else is an owner. Entries of one owner overlap only
// if they are views.
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
  Dim place = 0;           // in a plan with variables: what `offset` is
};

// The bytes of an entry, for all values of variables.
Dim BytesForAll(const Entry& entry);

class Owners {
 public:
  // The plan must outlive this object and keep its nodes. An entry may lie in only one join, once,
  // and as a whole; anything else is a broken invariant.
  explicit Owners(const Plan& plan);

  Owned Of(EntryRef entry) const;

 private:
  const Plan& plan_;
  std::map<std::pair<int, int>, Owned> joined_;
};

// Follows views up to an entry that is not a view.
Owned Viewed(const Plan& plan, EntryRef entry);

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_OWNERS_H_
