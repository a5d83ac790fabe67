#include "tenon/ir/parse_extents.h"

#include "tenon/ir/type_reader.h"
#include "tenon/support/strings.h"

namespace tenon::ir {
namespace {

class ExtentsReader : public TypeReader {
 public:
  explicit ExtentsReader(const std::string& text) : TypeReader(text, "extents") {}

  std::vector<Dim> Read() {
    std::vector<Dim> extents = Extents();
    if (token_.kind != TokenKind::kEnd)
      Fail(token_, StrCat(Shown(token_), " comes after the extents"));
    return extents;
  }
};

}  // namespace

std::vector<Dim> ParseExtents(const std::string& text) { return ExtentsReader(text).Read(); }

std::string ToText(const std::vector<Dim>& extents) {
  const auto add = [](std::string* out, const Dim& dim) { *out += dim.ToString(); };
  return StrCat("(", StrJoin(extents, ", ", add), ")");
}

}  // namespace tenon::ir
