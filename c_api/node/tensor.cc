#include "tenon/c_api/node/tensor.h"

#include <cstring>
#include <string>

namespace tenon::node {
namespace {

struct ElementType {
  const char* name;
  DLDataType type;
  napi_typedarray_type array;
};
constexpr std::uint8_t kBool = 6;  // kDLBool, which older headers lack
constexpr ElementType kElements[] = {{"float32", {kDLFloat, 32, 1}, napi_float32_array},
                                     {"float64", {kDLFloat, 64, 1}, napi_float64_array},
                                     {"float16", {kDLFloat, 16, 1}, napi_uint16_array},
                                     {"bfloat16", {kDLBfloat, 16, 1}, napi_uint16_array},
                                     {"int8", {kDLInt, 8, 1}, napi_int8_array},
                                     {"int16", {kDLInt, 16, 1}, napi_int16_array},
                                     {"int32", {kDLInt, 32, 1}, napi_int32_array},
                                     {"int64", {kDLInt, 64, 1}, napi_bigint64_array},
                                     {"uint8", {kDLUInt, 8, 1}, napi_uint8_array},
                                     {"uint16", {kDLUInt, 16, 1}, napi_uint16_array},
                                     {"uint32", {kDLUInt, 32, 1}, napi_uint32_array},
                                     {"uint64", {kDLUInt, 64, 1}, napi_biguint64_array},
                                     {"bool", {kBool, 8, 1}, napi_uint8_array}};

const ElementType& ElementOf(const std::string& dtype) {
  for (const ElementType& known : kElements) {
    if (dtype == known.name) return known;
  }
  throw Refusal{"there is no dtype " + dtype};
}

}  // namespace

Tensor::Tensor(const Call& call, napi_value object)
    : dtype_(call.Text(call.Get(object, "dtype"), "dtype")) {
  (void)ElementOf(dtype_);
  shape = call.Shape(call.Get(object, "shape"));
  data_ = call.Get(object, "data");
}

void Tensor::FindElements(const Call& call) {
  const ElementType& element = ElementOf(dtype_);
  napi_typedarray_type type{};
  std::size_t length = 0;
  void* data = nullptr;
  Require(napi_get_typedarray_info(call.env(), data_, &type, &length, &data, nullptr, nullptr),
          "data must be a typed array");
  std::uint64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0 || (extent > 0 && count > (std::uint64_t{1} << 53) / extent))
      throw Refusal{"shape has an extent that is no size"};
    count *= static_cast<std::uint64_t>(extent);
  }
  if (type != element.array || length != count)
    throw Refusal{"data must be the typed array of " + dtype_ + " with " + std::to_string(count) +
                  " elements, as the shape says"};
  tensor = {.data = data,
            .device = {kDLCPU, 0},
            .ndim = static_cast<int>(shape.size()),
            .dtype = element.type,
            .shape = shape.data()};
}

napi_value ToJavaScript(const Call& call, const DLTensor& tensor) {
  const ElementType* element = nullptr;
  for (const ElementType& known : kElements) {
    if (known.type.code == tensor.dtype.code && known.type.bits == tensor.dtype.bits)
      element = &known;
  }
  if (element == nullptr) throw Refusal{"a result has a type that JavaScript has not"};
  std::size_t count = 1;
  napi_value shape = nullptr;
  napi_create_array(call.env(), &shape);
  for (int d = 0; d < tensor.ndim; ++d) {
    napi_value extent = nullptr;
    napi_create_int64(call.env(), tensor.shape[d], &extent);
    napi_set_element(call.env(), shape, static_cast<std::uint32_t>(d), extent);
    count *= static_cast<std::size_t>(tensor.shape[d]);
  }
  const std::size_t bytes = count * tensor.dtype.bits / 8;
  void* data = nullptr;
  napi_value buffer = nullptr, array = nullptr, dtype = nullptr, object = nullptr;
  Require(napi_create_arraybuffer(call.env(), bytes, &data, &buffer), "there is no memory");
  if (bytes > 0) std::memcpy(data, static_cast<char*>(tensor.data) + tensor.byte_offset, bytes);
  napi_create_typedarray(call.env(), element->array, count, buffer, 0, &array);
  napi_create_string_utf8(call.env(), element->name, NAPI_AUTO_LENGTH, &dtype);
  napi_create_object(call.env(), &object);
  napi_set_named_property(call.env(), object, "dtype", dtype);
  napi_set_named_property(call.env(), object, "shape", shape);
  napi_set_named_property(call.env(), object, "data", array);
  return object;
}

}  // namespace tenon::node
