// Calls of operators by name, for code that knows neither their builders nor their structs.
//
//   Expr y = CallOp("nn.conv2d", {x, w}, {{"strides", {2, 2}}, {"data_layout", "NHWC"}});
#ifndef TENON_OPS_CALL_OP_H_
#define TENON_OPS_CALL_OP_H_

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tenon/attrs/attrs.h"
#include "tenon/ir/expr.h"

namespace tenon::ops {

// A value of a field: a bool, a number, a text, a type, or a list of these.
struct FieldArgument {
  FieldArgument(std::string field, attrs::Value given)
      : name(std::move(field)), value(std::move(given)) {}
  template <typename T>
  FieldArgument(std::string field, std::initializer_list<T> given)
      : name(std::move(field)), value(attrs::List(given.begin(), given.end())) {}

  std::string name;
  attrs::Value value;
};

// Throws NotFound for an unknown operator, with the nearest name; InvalidArgument for a null
// argument or another number of them than the operator takes, naming these, and for what the
// attributes do not allow.
ir::Expr CallOp(const std::string& name, std::vector<ir::Expr> args,
                std::initializer_list<FieldArgument> fields);
ir::Expr CallOp(const std::string& name, std::vector<ir::Expr> args,
                const attrs::FieldValues& fields);
// `json` is an object with fields of the attributes. Empty: all have their defaults.
ir::Expr CallOpWithJson(const std::string& name, std::vector<ir::Expr> args,
                        const std::string& json);

// "nn.relu(data: Tensor)", "clip(data: Tensor, *, a_min: a number, a_max: a number)"; attributes
// that have defaults end in "= default". Throws NotFound.
std::string SignatureOf(const std::string& name);

}  // namespace tenon::ops

#endif  // TENON_OPS_CALL_OP_H_
