#include "tenon/onnx/convert/named_shape.h"

#include <map>
#include <set>

#include "tenon/ir/parse_extents.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {

NamedShape NamesIn(const KnownExtents& extents, const std::vector<Dim>& shape) {
  std::set<std::string> symbols;
  for (const Dim& dim : shape) dim.AddSymbols(&symbols);
  NamedShape named;
  std::map<std::string, Dim> names;
  for (const std::string& symbol : symbols) {
    const KnownExtents::Place* place = extents.Find(symbol);
    if (place == nullptr)
      throw Unimplemented(StrCat("a value would have the shape ", ir::ToText(shape),
                                 ", and no value has the extent ", symbol, " alone"));
    names.emplace(symbol, Dim::Symbol(StrCat("x", named.others.size(), "_", place->axis)));
    named.others.push_back(place->value);
  }
  std::vector<Dim> renamed = shape;
  for (Dim& dim : renamed) dim = dim.Substitute(names);
  named.text = ir::ToText(renamed);
  return named;
}

}  // namespace tenon::onnx_import
