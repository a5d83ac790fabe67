// Types in Relay text: tensors with extents that are expressions, tuples, functions, references.
// Only files of ir/ include this header.
#ifndef TENON_IR_TYPE_READER_H_
#define TENON_IR_TYPE_READER_H_

#include <string>
#include <vector>

#include "tenon/ir/token_reader.h"
#include "tenon/ir/type.h"

namespace tenon::ir {

class TypeReader : public TokenReader {
 public:
  using TokenReader::TokenReader;

 protected:
  Type ParseType();
  std::vector<Dim> Extents();
  // What a name in an extent stands for.
  virtual Dim Variable(const std::string& name) { return Dim::Symbol(name); }
  // Names that stand for any type here. Such a type is not known until inference.
  std::vector<std::vector<std::string>> type_parameters_;

 private:
  std::vector<Type> TypesUntilClose();
  Dim Extent();
  Dim Product();
  Dim Factor();
  Dim ExtentCall(const Token& name);
  Dim Number();
  DataType ElementType(const Token& name);
};

}  // namespace tenon::ir

#endif  // TENON_IR_TYPE_READER_H_
