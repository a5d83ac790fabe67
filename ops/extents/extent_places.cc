// Variables whose names begin with # may be 0, others may not (support/dim.h). So the names that
// stand for them have a # until the text is written.
#include "tenon/ops/extents/extent_places.h"

#include <optional>
#include <set>

#include "tenon/ir/flatten.h"
#include "tenon/ir/parse_extents.h"
#include "tenon/ops/extents/given_extents.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::ops {

using ir::Dim;

void ExtentPlaces::Add(const ir::Expr& value) {
  const auto* tensor = value.checked_type().As<ir::TensorTypeNode>();
  if (tensor == nullptr) return;
  for (std::size_t axis = 0; axis < tensor->shape.size(); ++axis) {
    if (const auto symbol = tensor->shape[axis].symbol())
      places_.try_emplace(*symbol, Place{value, axis});
  }
}

void ExtentPlaces::AddExpressions(const ir::Expr& value) {
  for (const ir::Type& type : ir::Flatten(value.checked_type())) {
    const auto* tensor = type.As<ir::TensorTypeNode>();
    if (tensor == nullptr) continue;
    for (const Dim& extent : tensor->shape) {
      if (extent.is_symbolic() && !extent.symbol()) expressions_.insert(extent.ToString());
    }
  }
}

bool ExtentPlaces::HasExtent(const Dim& dim) const {
  const auto symbol = dim.symbol();
  return symbol ? Find(*symbol) != nullptr : expressions_.contains(dim.ToString());
}

std::set<std::string> ExtentPlaces::Symbols() const {
  std::set<std::string> symbols;
  for (const auto& [symbol, place] : places_) symbols.insert(symbol);
  return symbols;
}

const ExtentPlaces::Place* ExtentPlaces::Find(const std::string& symbol) const {
  const auto found = places_.find(symbol);
  return found == places_.end() ? nullptr : &found->second;
}

ExtentPlaces::NamedShape ExtentPlaces::NamesIn(const std::vector<Dim>& shape) const {
  std::set<std::string> symbols;
  for (const Dim& dim : shape) dim.AddSymbols(&symbols);
  NamedShape named;
  std::map<std::string, Dim> names;
  for (const std::string& symbol : symbols) {
    const Place* place = Find(symbol);
    if (place == nullptr)
      throw Unimplemented(StrCat("the shape ", ir::ToText(shape), " has the variable ", symbol,
                                 ", and no value has the extent ", symbol, " alone"));
    names.emplace(symbol, Dim::Symbol("#" + NameOfExtent(named.others.size(), place->axis)));
    named.others.push_back(place->value);
  }
  std::vector<Dim> renamed;
  for (const Dim& dim : shape) renamed.push_back(dim.Substitute(names));
  named.text = ir::ToText(renamed);
  std::erase(named.text, '#');
  return named;
}

bool MayBeEqual(const Dim& a, const Dim& b) {
  if (a.is_any() || b.is_any()) return false;
  if (a == b) return true;
  const std::optional<std::int64_t> above = (a - b).LowerBound(), below = (b - a).LowerBound();
  return !(above && *above > 0) && !(below && *below > 0);
}

}  // namespace tenon::ops
