#include "tenon/onnx/tensor.h"

#include <atomic>
#include <cstring>
#include <utility>

#include "tenon/onnx/narrow_type.h"
#include "tenon/support/alignment.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/bfloat16.h"
#include "tenon/support/error.h"
#include "tenon/support/on_threads.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {

using onnx::TensorProto;

namespace {

constexpr std::pair<TensorProto::DataType, DataType> kTypes[] = {
    {TensorProto::FLOAT, Float32},   {TensorProto::DOUBLE, Float64},
    {TensorProto::FLOAT16, Float16}, {TensorProto::BFLOAT16, BFloat16},
    {TensorProto::INT8, Int8},       {TensorProto::INT16, Int16},
    {TensorProto::INT32, Int32},     {TensorProto::INT64, Int64},
    {TensorProto::UINT8, UInt8},     {TensorProto::UINT16, UInt16},
    {TensorProto::UINT32, UInt32},   {TensorProto::UINT64, UInt64},
    {TensorProto::BOOL, Bool}};

}  // namespace

DataType ToDataType(int onnx_type, const std::string& what) {
  for (const auto& [onnx, type] : kTypes) {
    if (onnx == onnx_type) return type;
  }
  throw Unimplemented(
      StrCat(what, " has the ONNX element type ", onnx_type, ", which is not supported"));
}

TensorProto::DataType ToOnnxType(DataType type) {
  for (const auto& [onnx, known] : kTypes) {
    if (known == type) return onnx;
  }
  throw Unimplemented(StrCat("ONNX has no element type ", type.ToString()));
}

void ToTensorProto(const NDArray& array, const std::string& name, TensorProto* tensor) {
  tensor->set_name(name);
  tensor->set_data_type(ToOnnxType(array.dtype()));
  for (const std::int64_t extent : array.shape()) tensor->add_dims(extent);
  tensor->set_raw_data(array.raw(), array.bytes());
}

namespace {

// Most of the time goes into new pages, so threads share the work. Each part is forgotten when it
// is copied: a large weight is never in memory twice.
void CopyBytes(const RawData& raw, char* to) {
  constexpr std::size_t kPart = std::size_t{1} << 20;
  const std::string_view bytes = raw.bytes;
  std::atomic<std::size_t> next{0};
  OnThreads(CeilDiv(bytes.size(), kPart), [&] {
    for (std::size_t at = next.fetch_add(kPart); at < bytes.size(); at = next.fetch_add(kPart)) {
      const std::string_view part = bytes.substr(at, kPart);
      std::memcpy(to + at, part.data(), part.size());
      if (raw.forget) raw.forget(part);
    }
  });
}

// Typed fields hold narrow types in wider ones. The low bytes are the value.
template <typename Field>
void CopyTyped(const Field& field, const NDArray& array, const std::string& what) {
  if (static_cast<std::int64_t>(field.size()) != array.size())
    throw InvalidArgument(StrCat(what, " has ", field.size(), " values for the shape ",
                                 ShapeToString(array.shape())));
  const std::size_t bytes = array.dtype().bytes();
  auto* out = static_cast<char*>(array.raw());
  for (int i = 0; i < field.size(); ++i) {
    const auto value = field.Get(i);
    std::memcpy(out + static_cast<std::size_t>(i) * bytes, &value, bytes);
  }
}

}  // namespace

namespace {

template <typename T>
std::vector<double> ReadAs(const NDArray& array) {
  const T* first = static_cast<const T*>(array.raw());
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < array.size(); ++i) numbers.push_back(static_cast<double>(first[i]));
  return numbers;
}

std::vector<double> ReadBFloat16(const NDArray& array) {
  const auto* first = static_cast<const std::uint16_t*>(array.raw());
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < array.size(); ++i) numbers.push_back(FromBFloat16(first[i]));
  return numbers;
}

constexpr std::pair<DataType, std::vector<double> (*)(const NDArray&)> kReaders[] = {
    {Float32, ReadAs<float>},        {Float64, ReadAs<double>},
    {Float16, ReadAs<_Float16>},     {BFloat16, ReadBFloat16},
    {Int8, ReadAs<std::int8_t>},     {Int16, ReadAs<std::int16_t>},
    {Int32, ReadAs<std::int32_t>},   {Int64, ReadAs<std::int64_t>},
    {UInt8, ReadAs<std::uint8_t>},   {UInt16, ReadAs<std::uint16_t>},
    {UInt32, ReadAs<std::uint32_t>}, {UInt64, ReadAs<std::uint64_t>},
    {Bool, ReadAs<std::uint8_t>}};

}  // namespace

std::vector<double> NumbersOf(const NDArray& array) {
  for (const auto& [type, read] : kReaders) {
    if (type == array.dtype()) return read(array);
  }
  throw Unimplemented(StrCat("numbers of the type ", array.dtype().ToString()));
}

namespace {

std::size_t CheckedBytes(const Shape& shape, DataType dtype, const std::string& what) {
  try {
    return NumBytes(shape, dtype);
  } catch (const Error& error) {
    throw InvalidArgument(StrCat(what, ": ", error.message()));
  }
}

// A tensor of a type that a wider one carries. The typed field has a number for each byte.
NDArray UnpackedOf(const TensorProto& tensor, const NarrowType& type, const std::string& what,
                   const std::optional<RawData>& raw) {
  const Shape shape(tensor.dims().begin(), tensor.dims().end());
  CheckedBytes(shape, type.carrier, what);
  std::string made;
  std::string_view bytes = raw ? raw->bytes : std::string_view(tensor.raw_data());
  if (!raw && !tensor.has_raw_data()) {
    for (const std::int32_t byte : tensor.int32_data()) made.push_back(static_cast<char>(byte));
    bytes = made;
  }
  const auto wanted = static_cast<std::size_t>(type.BytesOf(NumElements(shape)));
  if (bytes.size() != wanted)
    throw InvalidArgument(StrCat(what, " has ", bytes.size(), " bytes of data; ", type.name, " ",
                                 ShapeToString(shape), " needs ", wanted));
  return Unpacked(type, bytes, shape);
}

}  // namespace

std::size_t RawBytesOf(const TensorProto& tensor, const std::string& what) {
  const Shape shape(tensor.dims().begin(), tensor.dims().end());
  const NarrowType* narrow = FindNarrowType(tensor.data_type());
  if (narrow == nullptr) return CheckedBytes(shape, ToDataType(tensor.data_type(), what), what);
  CheckedBytes(shape, narrow->carrier, what);
  return static_cast<std::size_t>(narrow->BytesOf(NumElements(shape)));
}

NDArray ToNDArray(const TensorProto& tensor, const std::string& what,
                  const std::optional<RawData>& raw) {
  if (tensor.data_location() == TensorProto::EXTERNAL && !raw)
    throw Unimplemented(
        StrCat(what, " keeps its data in another file, which is not supported here"));
  if (const NarrowType* narrow = FindNarrowType(tensor.data_type()))
    return UnpackedOf(tensor, *narrow, what, raw);
  const DataType dtype = ToDataType(tensor.data_type(), what);
  const Shape shape(tensor.dims().begin(), tensor.dims().end());
  const std::size_t all_bytes = CheckedBytes(shape, dtype, what);
  // Memory is taken only after the data is known to be there.
  const bool is_raw = raw || tensor.has_raw_data();
  const std::string_view bytes = raw ? raw->bytes : std::string_view(tensor.raw_data());
  const std::size_t have =
      is_raw ? bytes.size()
             : static_cast<std::size_t>(tensor.float_data_size() + tensor.int32_data_size() +
                                        tensor.int64_data_size() + tensor.double_data_size() +
                                        tensor.uint64_data_size());
  const std::size_t wanted = is_raw ? all_bytes : all_bytes / dtype.bytes();
  if (have != wanted)
    throw InvalidArgument(StrCat(what, " has ", have, is_raw ? " bytes" : " values", " of data; ",
                                 dtype.ToString(), " ", ShapeToString(shape), " needs ", wanted));
  if (wanted > 0 && !dtype.is_bool() && raw && raw->owner != nullptr &&
      reinterpret_cast<std::uintptr_t>(bytes.data()) % kAlignment == 0)
    return NDArray::View(shape, dtype, const_cast<char*>(bytes.data()), raw->owner);
  NDArray array = NDArray::Empty(shape, dtype);
  if (wanted == 0) return array;
  if (is_raw) {
    CopyBytes(raw.value_or(RawData{bytes, nullptr}), static_cast<char*>(array.raw()));
  } else if (dtype == Float32) {
    CopyTyped(tensor.float_data(), array, what);
  } else if (dtype == Float64) {
    CopyTyped(tensor.double_data(), array, what);
  } else if (dtype == Int64) {
    CopyTyped(tensor.int64_data(), array, what);
  } else if (dtype == UInt64 || dtype == UInt32) {
    CopyTyped(tensor.uint64_data(), array, what);
  } else {
    CopyTyped(tensor.int32_data(), array, what);
  }
  NormalizeBools(array);
  return array;
}

}  // namespace tenon::onnx_import
