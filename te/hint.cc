#include "tenon/te/hint.h"

#include <cstddef>

#include "tenon/support/strings.h"

namespace tenon::te {
namespace {

// Names in the order of the enumerators.
constexpr const char* kRows[] = {"even", "uneven", "tall", "of reader"};
constexpr const char* kSums[] = {"plain", "dot", "word dot"};
constexpr const char* kForms[] = {"lines", "steps", "aligned steps", "copies", "vectors", "panel"};
constexpr const char* kParts[] = {"weights", "image", "tiles", "product", "results"};

template <std::size_t n, typename Enum>
const char* NameIn(const char* const (&names)[n], Enum value) {
  return names[static_cast<std::size_t>(value)];
}

struct Writer {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(ReadsRepeatedly) const { return "reads repeatedly"; }
  std::string operator()(Stored) const { return "stored"; }
  std::string operator()(WrittenOut) const { return "written out"; }
  std::string operator()(const RegisterTile& tile) const {
    const std::string terms =
        tile.terms_at_once == 0 ? "" : StrCat(", terms at once: ", tile.terms_at_once);
    return StrCat("register tile (rows: ", NameIn(kRows, tile.rows),
                  ", sum: ", NameIn(kSums, tile.sum), terms, ")");
  }
  std::string operator()(const TileInput& input) const {
    return StrCat("tile input (", NameIn(kForms, input.form), ")");
  }
  std::string operator()(const WinogradStage& stage) const {
    return StrCat("Winograd (", NameIn(kParts, stage.part), ")");
  }
  std::string operator()(RecurrentSums) const { return "recurrent sums"; }
};

}  // namespace

std::string ToString(const Hint& hint) { return std::visit(Writer(), hint); }

}  // namespace tenon::te
