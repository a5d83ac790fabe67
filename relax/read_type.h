// Types and extents in Relax text.
//
// An annotation may say less than a type: the rank without the extents, the extents without the
// element type, or only that there is an object.
//
//   Annotation a = TypeReader(&cursor, &symbols, Where::kSignature).Read();
//   ir::Type type = a.ToType(cursor);     // refuses what is no whole type
//   a.Holds(call.checked_type());         // whether they agree
#ifndef TENON_RELAX_READ_TYPE_H_
#define TENON_RELAX_READ_TYPE_H_

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tenon/ir/type.h"
#include "tenon/relax/cursor.h"

namespace tenon::relax {

enum class AnnotationKind { kTensor, kTuple, kCallable, kAnything };

struct Annotation {
  AnnotationKind kind = AnnotationKind::kAnything;
  Token at;
  // Of a tensor.
  std::optional<std::vector<Dim>> shape = std::nullopt;
  std::optional<DataType> dtype = std::nullopt;
  // Of a tuple; of a function: its parameters, and the result last. Nothing for any of them.
  std::optional<std::vector<Annotation>> parts = std::nullopt;

  bool is_complete() const;
  // Throws InvalidArgument at the annotation if it is not complete.
  ir::Type ToType(const Cursor& text) const;
  // Whether nothing of the type contradicts it.
  bool Holds(const ir::Type& type) const;
  // Whether the type says all that it says.
  bool FollowsFrom(const ir::Type& type) const;
};

// The variables of extents that a function knows.
using Symbols = std::set<std::string, std::less<>>;

// In a signature extents are expressions in strings, whose variables become known by that. In a
// body they must be known.
enum class Where { kSignature, kBody };

// What a name in an extent stands for that is not in Symbols; nothing for one that is not known.
// The cursor is after the name.
using OtherExtents = std::function<std::optional<Dim>(const Token& name)>;

// "R.Tensor((1, n), dtype="float32")" and the other annotations.
Annotation ReadAnnotation(Cursor* text, Symbols* symbols, Where where,
                          const OtherExtents& others = {});
// "(1, n * 2)" or "[1, 2]".
std::vector<Dim> ReadShape(Cursor* text, Symbols* symbols, Where where,
                           const OtherExtents& others = {});
// "float32" in quotes.
DataType ReadElementType(Cursor* text);

}  // namespace tenon::relax

#endif  // TENON_RELAX_READ_TYPE_H_
