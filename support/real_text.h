// Real numbers of any magnitude in a text.
//
//   ParseReal<float>("1e-50") == 0.0F;
//   std::isinf(*ParseReal<float>("1e39"));
#ifndef TENON_SUPPORT_REAL_TEXT_H_
#define TENON_SUPPORT_REAL_TEXT_H_

#include <optional>
#include <string_view>

namespace tenon {

// The value of T that is nearest to the number that the whole of `text` spells, which is an
// infinity for a number beyond all of T. Nothing for any other text, "inf" and "nan" among them.
// T is float or double.
template <typename T>
std::optional<T> ParseReal(std::string_view text);

}  // namespace tenon

#endif  // TENON_SUPPORT_REAL_TEXT_H_
