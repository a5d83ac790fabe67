#include "tenon/ops/given_extents.h"

#include "tenon/ir/parse_extents.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

using ir::Dim;

std::string NameOf(const ExtentPlace& place) { return StrCat("x", place.field, "_", place.axis); }

}  // namespace

std::vector<Dim> GivenExtents(TypeCall& call, const std::string& shape,
                              const std::vector<const ir::TensorTypeNode*>& fields) {
  std::map<std::string, Dim> extents;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    for (std::size_t axis = 0; axis < fields[f]->shape.size(); ++axis)
      extents.emplace(NameOf({f, axis}), fields[f]->shape[axis]);
  }
  std::vector<Dim> given = ir::ParseExtents(shape, [&](const std::string& name) {
    const auto extent = extents.find(name);
    if (extent == extents.end())
      call.Refuse(StrCat("shape has ", name, ", which is no extent of a field of the tuple"));
    return extent->second;
  });
  for (const Dim& dim : given) {
    if (call.Exceeds(0, dim))
      call.Refuse(StrCat("shape has the extent ", dim.ToString(), "; extents are at least 0"));
  }
  return given;
}

// Variables whose names begin with # may be 0, others may not (support/dim.h). So the names have a
// # until the text is written.
std::string TextOfExtents(const std::vector<Dim>& shape,
                          const std::map<std::string, ExtentPlace>& places) {
  std::map<std::string, Dim> names;
  for (const auto& [symbol, place] : places)
    names.emplace(symbol, Dim::Symbol("#" + NameOf(place)));
  std::vector<Dim> renamed;
  for (const Dim& dim : shape) renamed.push_back(dim.Substitute(names));
  std::string text = ir::ToText(renamed);
  std::erase(text, '#');
  return text;
}

}  // namespace tenon::ops
