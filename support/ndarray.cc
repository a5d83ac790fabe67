#include "tenon/support/ndarray.h"

#include <cstring>
#include <new>
#include <utility>

#include "tenon/support/alignment.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon {
namespace {}  // namespace

std::int64_t NumElements(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0) {
      throw InvalidArgument(
          StrCat("shape ", ShapeToString(shape), " has the negative extent ", extent));
    }
    if (__builtin_mul_overflow(count, extent, &count)) {
      throw InvalidArgument(StrCat("shape ", ShapeToString(shape), " has too many elements"));
    }
  }
  return count;
}

std::string ShapeToString(std::span<const std::int64_t> shape) {
  return StrCat("(", StrJoin(shape, ", "), shape.size() == 1 ? ",)" : ")");
}

NDArray NDArray::Empty(Shape shape, DataType dtype) {
  if (dtype.is_void() || dtype.lanes() != 1) {
    throw InvalidArgument(StrCat("an array cannot have the element type ", dtype.ToString()));
  }
  NDArray array;
  array.size_ = NumElements(shape);
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(array.size_, static_cast<std::int64_t>(dtype.bytes()), &bytes)) {
    throw InvalidArgument(StrCat("shape ", ShapeToString(shape), " has too many bytes"));
  }
  array.shape_ = std::move(shape);
  array.dtype_ = dtype;
  // At least one cache line, so that an empty array still has an address.
  const std::size_t allocated = std::max<std::size_t>(static_cast<std::size_t>(bytes), kAlignment);
  array.data_ = ::operator new(allocated, std::align_val_t(kAlignment));
  array.buffer_ = std::shared_ptr<const void>(array.data_, [](const void* data) {
    ::operator delete(const_cast<void*>(data), std::align_val_t(kAlignment));
  });
  return array;
}

NDArray NDArray::Zeros(Shape shape, DataType dtype) {
  NDArray array = Empty(std::move(shape), dtype);
  std::memset(array.data_, 0, array.bytes());
  return array;
}

NDArray NDArray::View(Shape shape, DataType dtype, void* data, std::shared_ptr<const void> owner) {
  NDArray array;
  array.size_ = NumElements(shape);
  array.shape_ = std::move(shape);
  array.dtype_ = dtype;
  array.data_ = data;
  // An ownerless view still counts as defined.
  array.buffer_ =
      owner != nullptr ? std::move(owner) : std::shared_ptr<const void>(data, [](const void*) {});
  return array;
}

NDArray MakeFilled(Shape shape, DataType dtype, const void* values, std::int64_t count) {
  NDArray array = NDArray::Empty(std::move(shape), dtype);
  if (array.size() != count) {
    throw InvalidArgument(StrCat("shape ", ShapeToString(array.shape()), " has ", array.size(),
                                 " elements, but ", count, " values are given"));
  }
  if (count > 0) std::memcpy(array.raw(), values, array.bytes());
  return array;
}

NDArray NDArray::Reshape(Shape shape) const {
  if (NumElements(shape) != size_) {
    throw InvalidArgument(StrCat("cannot view shape ", ShapeToString(shape_), " as ",
                                 ShapeToString(shape), ": the element counts differ"));
  }
  NDArray array = *this;
  array.shape_ = std::move(shape);
  return array;
}

NDArray NDArray::Clone() const {
  NDArray array = Empty(shape_, dtype_);
  std::memcpy(array.data_, data_, bytes());
  return array;
}

bool NDArray::SameBytes(const NDArray& other) const {
  return dtype_ == other.dtype_ && shape_ == other.shape_ &&
         (data_ == other.data_ || bytes() == 0 || std::memcmp(data_, other.data_, bytes()) == 0);
}

void NDArray::RequireType(DataType wanted) const {
  if (dtype_ != wanted) {
    throw InvalidArgument(StrCat("the array holds ", dtype_.ToString(),
                                 " elements; they cannot be read as ", wanted.ToString()));
  }
}

}  // namespace tenon
