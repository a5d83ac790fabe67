// The results of a model under the names that the user gives.
#ifndef TENON_TOOLS_RESULTS_H_
#define TENON_TOOLS_RESULTS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tenon/ir/module.h"
#include "tenon/support/ndarray.h"

namespace tenon::tools {

// The types of the tensors that @main returns, in order; tuples are flattened.
std::vector<ir::Type> ResultTypes(const ir::Module& typed);

// The element number `place` of an array of any type: "0.5", "-3", "true".
std::string ElementText(const NDArray& array, std::int64_t place);

class ResultNames {
 public:
  // `names` are the model's own, or empty; `count` is how many results there are.
  ResultNames(std::vector<std::string> names, std::size_t count);

  // The result with this name: one of the model's own names, y if there is only one result, else
  // y0, y1, ... Throws InvalidArgument that lists the existing names.
  std::size_t IndexOf(const std::string& name) const;

 private:
  std::vector<std::string> names_;
  std::size_t count_;
};

// "NAME=FILE" arguments of an option as pairs. Throws InvalidArgument for an argument of another
// form and for a name that is given twice.
std::vector<std::pair<std::string, std::string>> Assignments(const std::vector<std::string>& texts,
                                                             const std::string& option);

// A file that is written, and what says so: "--output y0".
struct WrittenFile {
  std::string by;
  std::string path;
};
// Throws InvalidArgument that names two of them which are one file. Devices and pipes may be
// written several times.
void RequireDistinct(const std::vector<WrittenFile>& files);

// The requested files, each with the index of its result. Throws InvalidArgument for a name that no
// result has and for a result that is requested twice, NotFound for a file that cannot be written.
std::vector<std::pair<std::size_t, std::string>> OutputFiles(const std::vector<std::string>& texts,
                                                             const ResultNames& names);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_RESULTS_H_
