// Data within a page of HTML.
#ifndef TENON_TOOLS_SCRIPT_DATA_H_
#define TENON_TOOLS_SCRIPT_DATA_H_

#include <string>

namespace tenon::tools {

// JSON that stands between <script> tags: "</script>" within a string would end it.
std::string InScript(const std::string& json);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_SCRIPT_DATA_H_
