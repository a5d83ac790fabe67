// Types and extents as Relax text.
//
//   TypeText text(Where::kBody, &symbols);
//   text.Of(type);   // "R.Tensor((1, n), dtype=\"float32\")", and n is among the symbols
#ifndef TENON_RELAX_TYPE_TEXT_H_
#define TENON_RELAX_TYPE_TEXT_H_

#include <string>
#include <string_view>

#include "tenon/ir/type.h"
#include "tenon/relax/read_type.h"

namespace tenon::relax {

class TypeText {
 public:
  // `symbols` gets the variables of the extents. In a signature, types that the text cannot express
  // are refused; in a body the text says less than they do.
  TypeText(Where where, Symbols* symbols) : where_(where), symbols_(symbols) {}

  // Throws InvalidArgument for a type that the text cannot express.
  std::string Of(const ir::Type& type) const;
  // Whether the text, in a signature, says all of the type.
  static bool Says(const ir::Type& type);

 private:
  std::string Tensor(const ir::TensorTypeNode& tensor) const;

  const Where where_;
  Symbols* const symbols_;
};

// Whether Python takes the text for a name that is not one of its own words.
bool IsName(std::string_view text);

}  // namespace tenon::relax

#endif  // TENON_RELAX_TYPE_TEXT_H_
