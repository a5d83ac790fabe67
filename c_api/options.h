// Options of tenon_compile, which are JSON.
#ifndef TENON_C_API_OPTIONS_H_
#define TENON_C_API_OPTIONS_H_

#include <string>

#include "tenon/compiler/compile.h"

namespace tenon::c_api {

// Throws InvalidArgument for text that is not an object, for a name that is unknown, naming the
// nearest one, and for a value of another type than the option's.
CompileOptions ParseOptions(const std::string& json);

}  // namespace tenon::c_api

#endif  // TENON_C_API_OPTIONS_H_
