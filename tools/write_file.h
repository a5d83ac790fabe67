// A file that a user asked for.
#ifndef TENON_TOOLS_WRITE_FILE_H_
#define TENON_TOOLS_WRITE_FILE_H_

#include <string>

namespace tenon::tools {

// Takes the place of what is there. Throws NotFound when the file cannot be written.
void WriteFile(const std::string& path, const std::string& text);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_WRITE_FILE_H_
