// Where the values of an exported graph lie, as C expressions: in the caller's arrays, in
// constants, or in the workspace, whose address is "memory".
//
//   CPlaces places(plan, constants, &extents);
//   places.Address({4, 0});  // "(memory + 256)"
#ifndef TENON_COMPILER_EXPORT_C_PLACES_H_
#define TENON_COMPILER_EXPORT_C_PLACES_H_

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tenon/compiler/export/c_extents.h"
#include "tenon/runtime/owners.h"

namespace tenon::compiler {

class CPlaces {
 public:
  // `constants` are the addresses of the graph's constants. The plan and the extents must outlive
  // this.
  CPlaces(const runtime::Plan& plan, std::vector<std::string> constants, CExtents* extents);

  // The address, of type void* or const void*.
  std::string Address(runtime::EntryRef entry);
  // The nodes that are inputs, in order.
  const std::vector<int>& inputs() const { return inputs_; }
  // The bytes of the workspace, as a number of the extents.
  int workspace() const { return workspace_; }
  bool has_workspace() const { return workspace_ != zero_; }

 private:
  const runtime::Node& NodeOf(runtime::EntryRef entry) const {
    return plan_.nodes[static_cast<std::size_t>(entry.node)];
  }
  bool IsWritten(runtime::EntryRef owner) const { return !runtime::IsGiven(NodeOf(owner).kind); }
  void FindResults();
  std::vector<int> StorageSizes();

  const runtime::Plan& plan_;
  const runtime::Owners owners_;
  const std::vector<std::string> constants_;
  CExtents& extents_;
  const int zero_;
  std::vector<int> inputs_;
  std::map<std::pair<int, int>, std::size_t> result_;  // entries that a kernel writes to outputs
  std::vector<int> offsets_;                           // by storage, as numbers of the extents
  int workspace_;
};

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_EXPORT_C_PLACES_H_
