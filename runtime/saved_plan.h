// The texts of a saved executable: its plan as graph JSON, and a manifest with the rest. Of a
// program the graph has the inputs alone, and the manifest the functions and the plans of parts
// (runtime/saved_program.h).
//
// Graph JSON (runtime/plan.h) has the nodes, their inputs, shapes and types. The manifest has what
// that form has no room for: the kinds of nodes, the kernels, where constants lie in the file of
// parameters, and marks of the other files.
//
//   const SavedTexts texts = ToTexts(saved);
//   SavedPlan same = ParseSavedPlan(texts);
#ifndef TENON_RUNTIME_SAVED_PLAN_H_
#define TENON_RUNTIME_SAVED_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/runtime/plan.h"
#include "tenon/runtime/planned_program.h"

namespace tenon::runtime {

inline constexpr char kGraphFile[] = "graph.json";
inline constexpr char kManifestFile[] = "tenon.json";
inline constexpr char kParamsFile[] = "params.bin";
inline constexpr char kKernelsFile[] = "kernels.so";

// How the bytes of a file are known again.
struct FileMark {
  std::size_t bytes = 0;
  std::uint64_t hash = 0;
  static FileMark Of(std::string_view bytes);
  friend bool operator==(const FileMark&, const FileMark&) = default;
};

struct SavedPlan {
  Plan plan;
  std::vector<std::string> kernels;       // their names, as nodes count them
  std::vector<std::size_t> constants_at;  // bytes from the start of the parameters, by constant
  std::vector<std::string> result_names;  // of the plan's first heads; empty: they have none
  int threads = 0;                        // as of Executable::Parts
  FileMark params, kernels_file;
  std::optional<PlannedProgram> program = {};  // whose inputs `plan` has, and nothing else
};

struct SavedTexts {
  std::string graph;
  std::string manifest;
};

// The storage of plans is assigned.
SavedTexts ToTexts(const SavedPlan& saved);

// Assigns the storage of plans again. Throws DataLoss naming the file and the place when a text is
// no JSON, lacks something or holds a value that it may not, when the two do not belong together or
// describe what cannot be run; Unimplemented for another version of the format.
SavedPlan ParseSavedPlan(const SavedTexts& texts);

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_SAVED_PLAN_H_
