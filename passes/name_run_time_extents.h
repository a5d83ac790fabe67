// Gives a variable to each extent that values decide, so that what comes after it has types.
//
//   take_first(%x, %count)                  // Tensor[(?, 4), float32]
//   take_first(%x, %count, extent="#k")     // Tensor[(#k, 4), float32]
#ifndef TENON_PASSES_NAME_RUN_TIME_EXTENTS_H_
#define TENON_PASSES_NAME_RUN_TIME_EXTENTS_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/ir/module.h"

namespace tenon::passes {

// Each call of take_first without a variable gets one of its own. So does one whose variable
// another call has for a different count, as when a function was put where it is called twice.
// Calls with keeps_name stay as they are.
ir::Module NameRunTimeExtents(const ir::Module& module);

// Names of variables for calls that are made one after another.
class RunTimeExtentNames {
 public:
  // "#hint", with a number after it if that is taken. Cuts of equal extents by equal counts have
  // the same name. `count` has checked types.
  std::string NameFor(const ir::Expr& count, const Dim& whole, std::string_view hint);
  // One that no other extent has.
  std::string Fresh(std::string_view hint);

 private:
  struct Named {
    ir::Expr count;
    Dim whole;
    std::string name;
  };
  std::vector<Named> named_;
  std::set<std::string> taken_;
};

}  // namespace tenon::passes

#endif  // TENON_PASSES_NAME_RUN_TIME_EXTENTS_H_
