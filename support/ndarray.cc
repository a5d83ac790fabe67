#include "tenon/support/ndarray.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include <sys/mman.h>

#include "tenon/support/alignment.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon {
namespace {

// Weights of many megabytes are written once. Without huge pages, most of that time would go into
// page faults.
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLarge = 2 * kHugePage;

std::shared_ptr<const void> Allocate(std::size_t bytes) {
  const auto alignment = std::align_val_t(bytes >= kLarge ? kHugePage : kAlignment);
  // At least one cache line, so that an empty array still has an address.
  void* data = ::operator new(std::max(bytes, kAlignment), alignment);
  // Only a hint: where the system cannot follow it, pages are small.
  if (bytes >= kLarge) madvise(data, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return std::shared_ptr<const void>(
      data, [alignment](const void* old) { ::operator delete(const_cast<void*>(old), alignment); });
}

// New pages of the system, which are already zero.
std::shared_ptr<const void> MapZeros(std::size_t bytes) {
  const std::size_t mapped = bytes + kHugePage;
  void* base = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) throw std::bad_alloc();
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  auto* data = static_cast<char*>(base) + (kHugePage - address % kHugePage) % kHugePage;
  madvise(data, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return std::shared_ptr<const void>(data, [base, mapped](const void*) { munmap(base, mapped); });
}

}  // namespace

void RequireFewAxes(std::int64_t axes) {
  if (axes > kMaxAxes)
    throw InvalidArgument(StrCat("a tensor of ", axes, " axes; there may be ", kMaxAxes));
}

std::int64_t NumElements(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  bool is_empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) {
      throw InvalidArgument(
          StrCat("shape ", ShapeToString(shape), " has the negative extent ", extent));
    }
    is_empty = is_empty || extent == 0;
    if (extent != 0 && __builtin_mul_overflow(count, extent, &count)) {
      throw InvalidArgument(StrCat("shape ", ShapeToString(shape), " has too many elements"));
    }
  }
  return is_empty ? 0 : count;
}

std::size_t NumBytes(std::span<const std::int64_t> shape, DataType dtype) {
  if (dtype.is_void() || dtype.lanes() != 1) {
    throw InvalidArgument(StrCat("an array cannot have the element type ", dtype.ToString()));
  }
  RequireFewAxes(static_cast<std::int64_t>(shape.size()));
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(NumElements(shape), static_cast<std::int64_t>(dtype.bytes()),
                             &bytes)) {
    throw InvalidArgument(
        StrCat("shape ", ShapeToString(shape), " of ", dtype.ToString(), " has too many bytes"));
  }
  return static_cast<std::size_t>(bytes);
}

std::string ShapeToString(std::span<const std::int64_t> shape) {
  return StrCat("(", StrJoin(shape, ", "), shape.size() == 1 ? ",)" : ")");
}

NDArray NDArray::Empty(Shape shape, DataType dtype) {
  auto buffer = Allocate(NumBytes(shape, dtype));
  void* data = const_cast<void*>(buffer.get());
  return View(std::move(shape), dtype, data, std::move(buffer));
}

NDArray NDArray::Zeros(Shape shape, DataType dtype) {
  const std::size_t bytes = NumBytes(shape, dtype);
  if (bytes < kLarge) {
    NDArray array = Empty(std::move(shape), dtype);
    std::memset(array.data_, 0, bytes);
    return array;
  }
  auto buffer = MapZeros(bytes);
  void* data = const_cast<void*>(buffer.get());
  return View(std::move(shape), dtype, data, std::move(buffer));
}

NDArray NDArray::View(Shape shape, DataType dtype, void* data, std::shared_ptr<const void> owner) {
  NumBytes(shape, dtype);  // throws if a count of bytes would wrap
  NDArray array;
  array.size_ = NumElements(shape);
  if (data == nullptr && array.size_ > 0) {
    throw InvalidArgument(StrCat("a view of shape ", ShapeToString(shape),
                                 " has elements, but no memory: its pointer is null"));
  }
  array.shape_ = std::move(shape);
  array.dtype_ = dtype;
  array.data_ = data;
  // An ownerless view still counts as defined.
  array.buffer_ =
      owner != nullptr ? std::move(owner) : std::shared_ptr<const void>(data, [](const void*) {});
  return array;
}

void NormalizeBools(const NDArray& array) {
  if (!array.dtype().is_bool()) return;
  auto* bytes = static_cast<std::uint8_t*>(array.raw());
  for (std::int64_t i = 0; i < array.size(); ++i) bytes[i] = bytes[i] != 0 ? 1 : 0;
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
