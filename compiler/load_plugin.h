// Plug-ins: shared objects that register operators, code generators and conversions when loaded.
#ifndef TENON_COMPILER_LOAD_PLUGIN_H_
#define TENON_COMPILER_LOAD_PLUGIN_H_

#include <string>

namespace tenon {

// The plug-in finds Tenon in this program, or in the library that holds this function. Its own
// symbols stay its own. Must not run while others compile. Throws InvalidArgument for an empty path
// and for a library that uses nothing of Tenon, NotFound with the loader's reason, and
// FailedPrecondition with a list of errors of registrations.
void LoadPlugin(const std::string& path);

}  // namespace tenon

#endif  // TENON_COMPILER_LOAD_PLUGIN_H_
