// The convention is that of the graph executors that Tenon's users come from: `args` points to
// 8-byte values, `arg_type_ids` to their type codes; a tensor has code 7 or 13 and its value is a
// DLTensor, DLPack's struct. Symbolic extents are read off the shapes: the first time that one
// stands alone as an extent binds it, every other extent is compared.
#include "tenon/jit/c/c_packed.h"

#include <algorithm>
#include <unordered_set>

#include "tenon/jit/c/c_function_codegen.h"
#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::jit {
namespace {

using loop::Expr;

}  // namespace

const char* PackedSupport() {
  return R"(/* DLPack's DLTensor. */
typedef struct {
  void* data;
  struct {
    int32_t device_type, device_id;
  } device;
  int32_t ndim;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} TenonTensor;

/* Whether an argument is a tensor in this machine's memory with the given rank and element type,
   row-major without gaps. */
static inline bool tenon_is_tensor(const TenonTensor* tensor, int32_t type_code, int32_t ndim,
                                   int code, int bits) {
  int64_t stride = 1, elements = 1;
  int32_t d;
  const bool is_tensor = type_code == 3 || type_code == 7 || type_code == 13;
  if (!is_tensor || tensor == NULL || tensor->device.device_type != 1 || tensor->ndim != ndim ||
      tensor->dtype.code != code || tensor->dtype.bits != bits || tensor->dtype.lanes != 1)
    return false;
  if (tensor->strides == NULL) return true;
  for (d = 0; d < ndim; ++d) elements = tensor->shape[d] == 0 ? 0 : elements;
  if (elements == 0) return true; /* Steps between no elements are any numbers. */
  for (d = ndim - 1; d >= 0; --d) {
    if (tensor->shape[d] != 1 && tensor->strides[d] != stride) return false;
    stride *= tensor->shape[d];
  }
  return true;
}

static inline void* tenon_data(const TenonTensor* tensor) {
  return (char*)tensor->data + tensor->byte_offset;
}

)";
}

bool HasPacked(const loop::Function& function) {
  return std::all_of(
      function.scalars.begin(), function.scalars.end(), [&](const loop::Var& scalar) {
        return std::any_of(
            function.buffers.begin(), function.buffers.end(), [&](const loop::Buffer& buffer) {
              return std::any_of(buffer->shape.begin(), buffer->shape.end(),
                                 [&](const Expr& extent) { return extent.get() == scalar.get(); });
            });
      });
}

std::string PackedPrototype(const std::string& name) {
  return StrCat("int32_t ", name,
                "(void* args, void* arg_type_ids, int32_t num_args, void* out_ret_value, ",
                "void* out_ret_tcode, void* resource_handle)");
}

std::string PackedBody(const loop::Function& function, const std::string& direct,
                       CHelpers& helpers) {
  CNames names;
  CPrototypes externs;
  CExprCodegen exprs(names, helpers, externs);
  for (const char* taken : {"args", "arg_type_ids", "num_args", "out_ret_value", "out_ret_tcode",
                            "resource_handle", "arg", "codes"})
    names.Unique(taken);
  for (const loop::Var& scalar : function.scalars) exprs.Name(scalar);

  CBlock out;
  out.Open("{");
  const std::size_t count = function.buffers.size();
  out.Line("TenonTensor* const* arg = (TenonTensor* const*)args;");
  out.Line("const int32_t* codes = (const int32_t*)arg_type_ids;");
  for (const loop::Var& scalar : function.scalars)
    out.Line(StrCat("int64_t ", exprs.Name(scalar), ";"));
  out.Line("(void)out_ret_value;");
  out.Line("(void)out_ret_tcode;");
  out.Line("(void)resource_handle;");
  out.Line(StrCat("if (num_args != ", count, ") return 2;"));
  for (std::size_t i = 0; i < count; ++i) {
    const loop::Buffer& buffer = function.buffers[i];
    out.Line(StrCat("if (!tenon_is_tensor(arg[", i, "], codes[", i, "], ", buffer->shape.size(),
                    ", ", static_cast<int>(buffer->dtype.code()), ", ",
                    buffer->dtype.is_bool() ? 8 : buffer->dtype.bits(), ")) return 2;"));
  }
  std::unordered_set<const void*> bound;
  const auto each_extent = [&](const auto& visit) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto& shape = function.buffers[i]->shape;
      for (std::size_t d = 0; d < shape.size(); ++d)
        visit(shape[d], StrCat("arg[", i, "]->shape[", d, "]"));
    }
  };
  each_extent([&](const Expr& extent, const std::string& given) {
    if (extent.kind() == loop::ExprKind::kVar && bound.insert(extent.get()).second)
      out.Line(StrCat(exprs.Name(extent), " = ", given, ";"));
  });
  for (const loop::Var& scalar : function.scalars)
    CheckInvariant(bound.contains(scalar.get()),
                   "every symbolic extent is the extent of a parameter");
  each_extent([&](const Expr& extent, const std::string& given) {
    const std::string wanted = WithoutOuterParentheses(exprs.Value(extent, out));
    out.Line(StrCat("if (", given, " != ", wanted, ") return 2;"));
  });
  std::vector<std::string> arguments;
  const std::vector<CParameter> parameters = CParameters(function);
  for (std::size_t i = 0; i < count; ++i)
    arguments.push_back(StrCat("(", parameters[i].type, ")tenon_data(arg[", i, "])"));
  for (const loop::Var& scalar : function.scalars) arguments.push_back(exprs.Name(scalar));
  out.Line(StrCat("return ", direct, "(", StrJoin(arguments, ", "), ");"));
  out.Close();
  return out.Text();
}

}  // namespace tenon::jit
