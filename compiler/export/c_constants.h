// The constants of an export: arrays in the text or, beside native code, bytes of an object.
#ifndef TENON_COMPILER_EXPORT_C_CONSTANTS_H_
#define TENON_COMPILER_EXPORT_C_CONSTANTS_H_

#include <string>
#include <vector>

#include "tenon/compiler/export/c_model.h"
#include "tenon/jit/c/c_source.h"

namespace tenon::compiler {

struct CConstants {
  std::vector<std::string> addresses;  // C expressions
  std::string bytes;                   // of ConstantsSymbol, where they are no text
};

CConstants AddConstants(const std::vector<NDArray>& constants, const CModelOptions& options,
                        jit::CFile* file);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_EXPORT_C_CONSTANTS_H_
