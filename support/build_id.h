// Which build of a program this is.
#ifndef TENON_SUPPORT_BUILD_ID_H_
#define TENON_SUPPORT_BUILD_ID_H_

#include <string>

namespace tenon {

// The linker's build ID of the program or library that holds `code`, as bytes. Programs with the
// same ID hold the same code. Empty where the linker wrote none.
std::string BuildIdOf(const void* code);

}  // namespace tenon

#endif  // TENON_SUPPORT_BUILD_ID_H_
