// The records that the commands read, of the file that --records names, or of the cache folder and
// those shipped with Tenon.
#ifndef TENON_TOOLS_MODEL_RECORDS_H_
#define TENON_TOOLS_MODEL_RECORDS_H_

#include <vector>

#include "tenon/tools/model.h"
#include "tenon/tune/records.h"

namespace tenon::tools {

// Those for the target and the threads of `options`, as CompileArguments::Measured reads them.
std::vector<tune::Record> RecordsRead(const CompileArguments& arguments,
                                      const CompileOptions& options);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_MODEL_RECORDS_H_
