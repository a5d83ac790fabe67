#include "tenon/onnx/convert/named_shape.h"

#include <map>
#include <set>

#include "tenon/ir/parse_extents.h"
#include "tenon/ops/given_extents.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {

NamedShape NamesIn(const KnownExtents& extents, const std::vector<Dim>& shape) {
  std::set<std::string> symbols;
  for (const Dim& dim : shape) dim.AddSymbols(&symbols);
  NamedShape named;
  std::map<std::string, ops::ExtentPlace> places;
  for (const std::string& symbol : symbols) {
    const KnownExtents::Place* place = extents.Find(symbol);
    if (place == nullptr)
      throw Unimplemented(StrCat("a value would have the shape ", ir::ToText(shape),
                                 ", and no value has the extent ", symbol, " alone"));
    places.emplace(symbol, ops::ExtentPlace{named.others.size(), place->axis});
    named.others.push_back(place->value);
  }
  named.text = ops::TextOfExtents(shape, places);
  return named;
}

}  // namespace tenon::onnx_import
