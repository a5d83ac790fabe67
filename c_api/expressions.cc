// Operators and expressions by name.
#include <cstring>
#include <vector>

#include "tenon/c_api/arrays.h"
#include "tenon/c_api/handles.h"
#include "tenon/compiler/load_plugin.h"
#include "tenon/ops/attrs_by_key.h"
#include "tenon/ops/call_op.h"
#include "tenon/ops/registry.h"
#include "tenon/strategies/strategy.h"

namespace tenon::c_api {
namespace {

std::vector<ir::Expr> ExprsOf(const TenonExpr* const* handles, std::size_t count,
                              const char* what) {
  std::vector<ir::Expr> exprs;
  if (count > 0) Required(handles, what);
  for (std::size_t i = 0; i < count; ++i)
    exprs.push_back(Required(handles[i], StrCat(what, " ", i).c_str()).expr);
  return exprs;
}

}  // namespace
}  // namespace tenon::c_api

using tenon::c_api::ExprsOf;
using tenon::c_api::Give;
using tenon::c_api::Required;
using tenon::c_api::RequiredText;
using tenon::c_api::Run;

TenonError* tenon_load_plugin(const char* path) {
  return Run(__func__, [&] { tenon::LoadPlugin(RequiredText(path, "path")); });
}

TenonError* tenon_op_names(TenonText** names) {
  return Run(__func__, [&] {
    std::string text;
    for (const std::string& name : tenon::ops::OpRegistry::Global().Names()) text += name + "\n";
    Give(std::move(text), names);
  });
}

TenonError* tenon_op_signature(const char* op, TenonText** signature) {
  return Run(__func__, [&] { Give(tenon::ops::SignatureOf(RequiredText(op, "op")), signature); });
}

TenonError* tenon_make_attrs(const char* type_key, const char* fields, TenonText** json) {
  return Run(__func__, [&] {
    Give(tenon::ops::AttrsOfKey(RequiredText(type_key, "type_key"), RequiredText(fields, "fields"))
             .ToJson(),
         json);
  });
}

TenonError* tenon_variable(const char* name, const char* dtype, const int64_t* shape, int rank,
                           TenonExpr** variable) {
  return Run(__func__, [&] {
    if (rank < 0) throw tenon::InvalidArgument(tenon::StrCat("rank is ", rank));
    if (rank > 0) Required(shape, "shape");
    const std::string type = RequiredText(dtype, "dtype");
    const auto element = tenon::DataType::Parse(type);
    if (!element)
      throw tenon::InvalidArgument(
          tenon::StrCat("dtype is \"", type, "\"; element types are as float32, int64 or bool"));
    std::vector<tenon::ir::Dim> dims;
    for (int i = 0; i < rank; ++i) {
      if (shape[i] < -1)
        throw tenon::InvalidArgument(tenon::StrCat("extent ", i, " is ", shape[i],
                                                   "; extents are at least 0, or -1: not known"));
      dims.push_back(shape[i] == -1 ? tenon::ir::Dim() : tenon::ir::Dim(shape[i]));
    }
    Give(tenon::ir::Expr(tenon::ir::Var::Make(RequiredText(name, "name"),
                                              tenon::ir::TensorType(dims, *element))),
         variable);
  });
}

TenonError* tenon_constant(const DLTensor* data, TenonExpr** constant) {
  return Run(__func__, [&] {
    const tenon::NDArray array = tenon::c_api::Borrowed(Required(data, "data"));
    Give(tenon::ir::Expr(tenon::ir::Constant::Make(array.Clone())), constant);
  });
}

TenonError* tenon_call_op(const char* op, const TenonExpr* const* args, size_t num_args,
                          const char* attrs, TenonExpr** call) {
  return Run(__func__, [&] {
    Give(tenon::ops::CallOpWithJson(RequiredText(op, "op"), ExprsOf(args, num_args, "argument"),
                                    attrs == nullptr ? "" : attrs),
         call);
  });
}

TenonError* tenon_tuple(const TenonExpr* const* fields, size_t num_fields, TenonExpr** tuple) {
  return Run(__func__, [&] {
    Give(tenon::ir::Expr(tenon::ir::Tuple::Make(ExprsOf(fields, num_fields, "field"))), tuple);
  });
}

TenonError* tenon_tuple_field(const TenonExpr* tuple, int index, TenonExpr** field) {
  return Run(__func__, [&] {
    if (index < 0) throw tenon::InvalidArgument(tenon::StrCat("index is ", index));
    Give(tenon::ir::Expr(tenon::ir::TupleGetItem::Make(Required(tuple, "tuple").expr, index)),
         field);
  });
}

void tenon_expr_free(TenonExpr* expr) { delete expr; }
