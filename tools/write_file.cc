#include "tenon/tools/write_file.h"

#include <fstream>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::tools {

void WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw NotFound(StrCat("the file ", path, " cannot be written"));
}

}  // namespace tenon::tools
