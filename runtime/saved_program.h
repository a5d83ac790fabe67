// A program in the manifest of a saved executable. Only files of runtime/ include this header.
//
//   {"functions": [{"name": "main", "parameters": [{"dtype": "float32", "shape": [9, "?"]}],
//                   "constants": [{"register": 1, "constant": 0}],
//                   "steps": [{"kind": "part", "target": 0, "inputs": [0, 1], "outputs": [2]}],
//                   "results": [2], "types": [{"dtype": "float32", "shape": [9]}]}],
//    "parts": [{"symbols": ["#k"],
//               "cases": [{"known": {"#k": 0}, "graph": GRAPH, "extents": [], "nodes": NODES,
//                          "variables": VARIABLES}]}],
//    "constants": [{"dtype": "int64", "shape": [], "constant": 3}],
//    "extents": [{"result": 0, "axis": 0, "count": 1}]}
//
// "?" is an extent that is known at run time. A step that is a call has "target", a branch also
// "condition", "otherwise" and "other_inputs", a cut "axis" and "extent", and one that counts up
// "count_up". What a case has is what a saved plan has (runtime/plan_json.h).
//
//   json["program"] = ProgramJson(program);
//   PlannedProgram same = ReadProgram(manifest["program"]);
#ifndef TENON_RUNTIME_SAVED_PROGRAM_H_
#define TENON_RUNTIME_SAVED_PROGRAM_H_

#include "tenon/runtime/json_reader.h"
#include "tenon/runtime/planned_program.h"

namespace tenon::runtime {

// Storage of the plans is assigned.
Json ProgramJson(const PlannedProgram& program);

// Neither verified nor with its facts and storages. Throws DataLoss with the place for what
// ProgramJson does not write.
PlannedProgram ReadProgram(const JsonReader& json);

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_SAVED_PROGRAM_H_
