// The variables of a saved plan: the expressions that its texts name, and the conditions on them.
// Only files of runtime/ include this header.
//
//   {"example": {"n": 124}, "operations": [["symbol", 0], ["number", 4], ["multiply", 1, 0]],
//    "texts": {"4*n": 2}, "conditions": [{"a": "n", "is": "at most", "b": "64", "for": "topk"}]}
#ifndef TENON_RUNTIME_SAVED_EXTENTS_H_
#define TENON_RUNTIME_SAVED_EXTENTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tenon/runtime/json_reader.h"
#include "tenon/runtime/plan.h"
#include "tenon/support/dim_program.h"

namespace tenon::runtime {

// The value, in the example of a plan, of a variable that no input has alone.
inline constexpr std::int64_t kExampleOfUnshown = 124;

// Gives expressions their texts.
class ExtentTexts {
 public:
  // With those of the plan's shapes, as graph JSON has them.
  explicit ExtentTexts(const Plan& plan);
  std::vector<std::string> Of(const std::vector<Dim>& dims);
  Json ToJson() const;

 private:
  std::string Of(const Dim& dim);

  const Plan& plan_;
  DimProgram program_;
  std::map<std::string, int> texts_;
  Json conditions_ = Json::array();
};

// Throws DataLoss for what ExtentTexts does not write.
class ExtentReader {
 public:
  explicit ExtentReader(const JsonReader& variables);

  // Of a number or a text.
  Dim Of(const JsonReader& json) const;
  std::int64_t InExample(const Dim& dim) const;
  std::vector<std::string> symbols() const;
  const std::vector<ExtentCondition>& conditions() const { return conditions_; }

 private:
  Dim::Values example_;
  std::map<std::string, Dim> texts_;
  std::vector<ExtentCondition> conditions_;
};

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_SAVED_EXTENTS_H_
