// Plans in the files of saved executables: graph JSON (runtime/plan.h), and beside it the rest that
// a run needs. Only files of runtime/ include this header.
//
//   AddPlanJson(plan, &manifest);  // "extents", "nodes" and "variables"
//   Plan same = ReadPlan(graph, manifest);
#ifndef TENON_RUNTIME_PLAN_JSON_H_
#define TENON_RUNTIME_PLAN_JSON_H_

#include <set>
#include <string>
#include <vector>

#include "tenon/runtime/json_reader.h"
#include "tenon/runtime/plan.h"

namespace tenon::runtime {

// Throws DataLoss naming `file` for a text that is not JSON, or deeper than these files are.
Json ParsedJson(const std::string& text, const char* file);

Json ExtentsJson(const std::vector<RunTimeExtent>& extents);
std::vector<RunTimeExtent> ReadExtents(const JsonReader& json);

// The plan's storage is assigned.
void AddPlanJson(const Plan& plan, Json* rest);
// Neither verified nor with its storage assigned. Throws DataLoss with the place for what
// AddPlanJson and ToGraphJson do not write.
Plan ReadPlan(const JsonReader& graph, const JsonReader& rest);

// The variables that an input has alone as an extent. The plan need not be verified.
std::set<std::string> ShownVariables(const Plan& plan);

// "float32" as a type of elements. Throws DataLoss.
DataType ReadDataType(const JsonReader& json);

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_PLAN_JSON_H_
