// Runs a module as it is exported: as a saved executable, or as a library of C functions. The bits
// must be those of the executable that is linked of the same kernels, and nothing outside the
// arrays may be written. Of a module with variables, shapes are taken where that executable takes
// them.
//
//   std::optional<std::vector<NDArray>> results = RunExported(module, inputs, {}, form, seed);
#ifndef TENON_VERIFY_CHECK_EXPORTED_RUN_H_
#define TENON_VERIFY_CHECK_EXPORTED_RUN_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {

enum class ExportForm {
  kSavedExecutable,
  kSharedLibrary,
  kCSource,  // which the C compiler "cc" compiles; its sums may differ by rounding
};
std::string_view NameOf(ExportForm form);
ExportForm RandomForm(Random& random);

// Inputs get names that no C program could use. Nothing where the module has no such form: one with
// control flow is only saved, and some models of variables have no plan. Throws what the compile
// and the run throw, and DataLoss naming what the form does differently. Thread-safe.
std::optional<std::vector<NDArray>> RunExported(const ir::Module& module,
                                                const std::vector<NDArray>& inputs,
                                                const CompileOptions& options, ExportForm form,
                                                std::uint64_t seed);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_CHECK_EXPORTED_RUN_H_
