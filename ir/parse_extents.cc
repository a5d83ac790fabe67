#include "tenon/ir/parse_extents.h"

#include "tenon/ir/type_reader.h"
#include "tenon/support/strings.h"

namespace tenon::ir {
namespace {

class ExtentsReader : public TypeReader {
 public:
  ExtentsReader(const std::string& text, const ExtentOfName& meaning)
      : TypeReader(text, "extents"), meaning_(meaning) {}

  std::vector<Dim> Read() {
    std::vector<Dim> extents = Extents();
    if (token_.kind != TokenKind::kEnd)
      Fail(token_, StrCat(Shown(token_), " comes after the extents"));
    return extents;
  }

 private:
  Dim Variable(const std::string& name) override { return meaning_(name); }

  const ExtentOfName& meaning_;
};

}  // namespace

std::vector<Dim> ParseExtents(const std::string& text, const ExtentOfName& meaning) {
  return ExtentsReader(text, meaning).Read();
}

std::string ToText(const std::vector<Dim>& extents) {
  const auto add = [](std::string* out, const Dim& dim) { *out += dim.ToString(); };
  return StrCat("(", StrJoin(extents, ", ", add), ")");
}

}  // namespace tenon::ir
