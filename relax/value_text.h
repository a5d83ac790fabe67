// Values of attributes in Relax text: None, True, 3, 1.0, "text", [1, 2], R.dtype("float32"),
// float("inf"). They read back exactly.
//
//   ValueText(attrs::Value(0.5)) == "0.5";
//   attrs::Value value = ReadValue(&cursor);
#ifndef TENON_RELAX_VALUE_TEXT_H_
#define TENON_RELAX_VALUE_TEXT_H_

#include <string>

#include "tenon/attrs/value.h"
#include "tenon/relax/cursor.h"

namespace tenon::relax {

std::string ValueText(const attrs::Value& value);
// Also R.shape([1, 2]), R.prim_value(1), T.int64(1) and the like. A tuple is a list.
attrs::Value ReadValue(Cursor* text);

}  // namespace tenon::relax

#endif  // TENON_RELAX_VALUE_TEXT_H_
