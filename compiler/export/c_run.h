// A plan as the lines of a C function: one call per kernel node. Addresses are those of the memory
// plan, except that a node whose output is a result writes straight to the caller's array.
#ifndef TENON_COMPILER_EXPORT_C_RUN_H_
#define TENON_COMPILER_EXPORT_C_RUN_H_

#include <string>
#include <vector>

#include "tenon/compiler/export/c_extents.h"
#include "tenon/compiler/export/c_places.h"
#include "tenon/jit/c/c_text.h"
#include "tenon/runtime/plan.h"

namespace tenon::compiler {

class CRun {
 public:
  // `direct` are the names of the kernels' functions. All must outlive this.
  CRun(const runtime::Plan& plan, const std::vector<std::string>& direct, CPlaces* places,
       CExtents* extents)
      : plan_(plan), direct_(direct), places_(*places), extents_(*extents) {}

  // The body of a function of inputs, outputs and workspace, which returns the status.
  jit::CBlock Body();

 private:
  // A kernel is called only if one of its results has elements. Empty: one has them for all values.
  std::string HasElements(const runtime::Node& node);
  std::string Number(const Dim& dim);
  std::string Bytes(const runtime::Entry& entry);
  // The number as a size_t.
  std::string AsSize(int number) const;

  const runtime::Plan& plan_;
  const std::vector<std::string>& direct_;  // by kernel
  CPlaces& places_;
  CExtents& extents_;
};

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_EXPORT_C_RUN_H_
