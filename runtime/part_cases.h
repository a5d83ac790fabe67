// A part of a loaded program by the values of its variables: some values have plans of their own,
// 0 above all. Only files of runtime/ include this header.
//
//   ProgramPart part = MakePart({"#k"}, {{.known = {}, .binder = some},
//                                        {.known = {{"#k", 0}}, .binder = none}});
#ifndef TENON_RUNTIME_PART_CASES_H_
#define TENON_RUNTIME_PART_CASES_H_

#include <memory>
#include <string>
#include <vector>

#include "tenon/runtime/program.h"
#include "tenon/runtime/symbolic_executable.h"

namespace tenon::runtime {

struct BoundCase {
  Dim::Values known;
  std::shared_ptr<PlanBinder> binder;
};

// Values go to the first case that takes them; one with a variable that is 0, to one that knows
// this. Others are refused at run time, naming them. The first case knows no values. A part without
// variables is bound at once, which throws what that throws.
ProgramPart MakePart(std::vector<std::string> symbols, std::vector<BoundCase> cases);

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_PART_CASES_H_
