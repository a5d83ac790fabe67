// Regions of calls for code generators: as marks in a function and as a table.
//
// In the marked form, every value that a region reads stands in annotation.compiler_begin, and
// every value of it that is read elsewhere stands in annotation.compiler_end. The table names the
// region of each call, tuple and projection. Unmarked ones have no region.
//
//   MarkedRegions regions = ReadMarks(function);   // changed, then:
//   Expr again = WriteMarks(regions);
#ifndef TENON_PASSES_PARTITION_MARKED_REGIONS_H_
#define TENON_PASSES_PARTITION_MARKED_REGIONS_H_

#include <string>
#include <unordered_map>
#include <vector>

#include "tenon/ir/module.h"

namespace tenon::passes {

// The code generator of calls that no other one takes.
inline constexpr char kDefaultTarget[] = "default";

struct MarkedRegions {
  ir::Expr function;                 // without marks
  std::vector<std::string> targets;  // of the regions
  std::unordered_map<ir::Expr, std::size_t, ir::ExprHash> region_of;

  // Null when `e` is in none.
  const std::string* TargetOf(const ir::Expr& e) const;
};

bool HasMarks(const ir::Expr& function);
// Throws InvalidArgument when the marks around a region name two code generators. Types are kept
// and function literals are not entered, both here and below.
MarkedRegions ReadMarks(const ir::Expr& function);
ir::Expr WriteMarks(const MarkedRegions& regions);

}  // namespace tenon::passes

#endif  // TENON_PASSES_PARTITION_MARKED_REGIONS_H_
