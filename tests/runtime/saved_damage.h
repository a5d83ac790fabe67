// Texts of saved executables with one value changed, for tests of what is refused.
#ifndef TENON_TESTS_RUNTIME_SAVED_DAMAGE_H_
#define TENON_TESTS_RUNTIME_SAVED_DAMAGE_H_

#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tenon/runtime/saved_plan.h"
#include "tenon/support/error.h"
#include "tenon/support/hash.h"

namespace tenon::runtime {

using Json = nlohmann::ordered_json;

// A value of one of the files, by its place as a JSON pointer, and what it becomes.
struct Damage {
  const char* file;
  const char* place;
  Json value;  // null: the value is taken away
  const char* message;
};

// The words for the files with `damage`, whose marks are right.
inline std::string RefusalOf(SavedTexts texts, const Damage& damage) {
  const bool in_graph = std::string(damage.file) == kGraphFile;
  Json json = Json::parse(in_graph ? texts.graph : texts.manifest);
  const Json::json_pointer place(damage.place);
  if (damage.value.is_null()) {
    Json& parent = json[place.parent_pointer()];
    parent.is_array() ? parent.erase(std::stoul(place.back()))
                      : (parent.erase(place.back()), void());
  } else {
    json[place] = damage.value;
  }
  (in_graph ? texts.graph : texts.manifest) = json.dump();
  Json manifest = Json::parse(texts.manifest);
  const FileMark mark = FileMark::Of(texts.graph);
  if (in_graph)
    manifest["files"][kGraphFile] = {{"bytes", mark.bytes}, {"hash", HashText(mark.hash)}};
  texts.manifest = manifest.dump();
  try {
    ParseSavedPlan(texts);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kDataLoss);
    return error.message();
  }
  return "nothing was refused";
}

}  // namespace tenon::runtime

#endif  // TENON_TESTS_RUNTIME_SAVED_DAMAGE_H_
