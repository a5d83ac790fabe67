#include "tenon/runtime/dlpack.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::runtime {
namespace {

// kDLBool, which headers before DLPack 0.8 lack.
constexpr std::uint8_t kDLBoolOfOneByte = 6;

// What a shared tensor keeps alive: the elements and its shape.
struct Shared {
  NDArray array;
  std::vector<std::int64_t> shape;
  DLManagedTensor tensor;
};

DLDataType ToDLDataType(DataType type) {
  DLDataType result{};
  result.bits = static_cast<std::uint8_t>(type.bits());
  result.lanes = 1;
  switch (type.code()) {
    case TypeCode::kInt:
      result.code = kDLInt;
      break;
    case TypeCode::kUInt:
      result.code = kDLUInt;
      break;
    case TypeCode::kBool:
      result.code = kDLBoolOfOneByte;
      result.bits = 8;
      break;
    case TypeCode::kFloat:
      result.code = kDLFloat;
      break;
    case TypeCode::kBFloat:
      result.code = kDLBfloat;
      break;
    case TypeCode::kHandle:
      Unreachable("an array never holds handles");
  }
  return result;
}

std::optional<DataType> FromDLDataType(DLDataType type) {
  if (type.lanes != 1) return std::nullopt;
  switch (type.code) {
    case kDLInt:
      return DataType::Parse(StrCat("int", type.bits));
    case kDLUInt:
      return DataType::Parse(StrCat("uint", type.bits));
    case kDLFloat:
      return DataType::Parse(StrCat("float", type.bits));
    case kDLBfloat:
      return DataType::Parse(StrCat("bfloat", type.bits));
    case kDLBoolOfOneByte:
      return type.bits == 8 ? std::optional(Bool) : std::nullopt;
    default:
      return std::nullopt;
  }
}

// Requires that the elements of the shape can be counted.
bool IsCompact(const DLTensor& tensor) {
  if (tensor.strides == nullptr) return true;
  std::int64_t expected = 1;
  for (int d = 0; d < tensor.ndim; ++d) {
    if (tensor.shape[d] == 0) return true;  // an empty tensor has no elements to place
  }
  for (int d = tensor.ndim - 1; d >= 0; --d) {
    if (tensor.shape[d] != 1 && tensor.strides[d] != expected) return false;
    expected *= tensor.shape[d];
  }
  return true;
}

// A copy in which other bytes of bools than 0 and 1 are 1, if there are such: what is shared may
// not be changed.
std::optional<NDArray> WithBools(const Shape& shape, DataType dtype, void* data) {
  const auto* bytes = static_cast<const std::uint8_t*>(data);
  if (!dtype.is_bool() ||
      std::all_of(bytes, bytes + NumElements(shape), [](std::uint8_t byte) { return byte <= 1; }))
    return std::nullopt;
  NDArray copy = NDArray::View(shape, dtype, data, nullptr).Clone();
  NormalizeBools(copy);
  return copy;
}

}  // namespace

DLManagedTensor* ToDLPack(const NDArray& array) {
  auto* shared = new Shared{array, array.shape(), {}};
  shared->tensor.dl_tensor = DLTensor{.data = array.raw(),
                                      .device = {kDLCPU, 0},
                                      .ndim = static_cast<int>(shared->shape.size()),
                                      .dtype = ToDLDataType(array.dtype()),
                                      .shape = shared->shape.data(),
                                      .strides = nullptr,
                                      .byte_offset = 0};
  shared->tensor.manager_ctx = shared;
  shared->tensor.deleter = [](DLManagedTensor* self) {
    delete static_cast<Shared*>(self->manager_ctx);
  };
  return &shared->tensor;
}

absl::StatusOr<NDArray> FromDLPack(DLManagedTensor* managed) {
  return CatchErrors([&] {
    if (managed == nullptr) throw InvalidArgument("DLPack: the tensor is null");
    const DLTensor& tensor = managed->dl_tensor;
    if (tensor.device.device_type != kDLCPU) {
      throw InvalidArgument(StrCat("DLPack: the tensor is on device type ",
                                   tensor.device.device_type, "; only CPU memory (", kDLCPU,
                                   ") is accepted"));
    }
    const std::optional<DataType> dtype = FromDLDataType(tensor.dtype);
    if (!dtype) {
      throw InvalidArgument(StrCat("DLPack: no element type for code ", tensor.dtype.code, ", ",
                                   tensor.dtype.bits, " bits, ", tensor.dtype.lanes, " lanes"));
    }
    if (tensor.ndim < 0)
      throw InvalidArgument(StrCat("DLPack: the tensor has ", tensor.ndim, " axes"));
    RequireFewAxes(tensor.ndim);
    if (tensor.shape == nullptr && tensor.ndim > 0)
      throw InvalidArgument(
          StrCat("DLPack: the tensor has ", tensor.ndim, " axes and no shape: it is null"));
    Shape shape(tensor.shape, tensor.shape + tensor.ndim);
    // Every refusal happens before ownership passes.
    const std::size_t bytes = NumBytes(shape, *dtype);
    if (!IsCompact(tensor)) {
      throw InvalidArgument(
          "DLPack: the tensor is strided; only compact row-major tensors are accepted");
    }
    if (tensor.data == nullptr && bytes > 0) {
      throw InvalidArgument(
          StrCat("DLPack: the tensor has no data for its ", bytes, " bytes of elements"));
    }
    void* data = bytes == 0 ? nullptr : static_cast<char*>(tensor.data) + tensor.byte_offset;
    std::optional<NDArray> copy = WithBools(shape, *dtype, data);
    // An empty tensor may have no address; an owner that holds a null pointer would own nothing.
    std::shared_ptr<const void> owner(static_cast<const void*>(managed), [managed](const void*) {
      if (managed->deleter != nullptr) managed->deleter(managed);
    });
    if (bytes == 0) return NDArray::Empty(std::move(shape), *dtype);
    if (copy) return *std::move(copy);
    return NDArray::View(std::move(shape), *dtype, data, std::move(owner));
  });
}

}  // namespace tenon::runtime
