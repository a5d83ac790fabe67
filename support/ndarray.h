// Dense row-major host arrays: constants of a graph, inputs and outputs of a run.
//
// An NDArray is a cheap value handle; copies share the elements. Storage is 64-byte aligned.
// Concurrent reads are safe.
//
//   NDArray a = NDArray::FromVector<float>({2, 3}, {1, 2, 3, 4, 5, 6});
//   a.data<float>()[5] == 6;
#ifndef TENON_SUPPORT_NDARRAY_H_
#define TENON_SUPPORT_NDARRAY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tenon/support/data_type.h"

namespace tenon {

using Shape = std::vector<std::int64_t>;

// An array has at most so many axes. Work that grows with their number, or faster, ends by it.
inline constexpr std::int64_t kMaxAxes = 64;
// Throws InvalidArgument for more axes than that.
void RequireFewAxes(std::int64_t axes);

// Number of elements. Throws InvalidArgument on a negative extent, and when the product of the
// extents above 0 overflows int64; so the product of any of the extents fits as well.
std::int64_t NumElements(std::span<const std::int64_t> shape);
// Bytes of an array of this shape. Throws InvalidArgument as above, for too many axes, for a void
// or vector type, and for more bytes than int64 counts.
std::size_t NumBytes(std::span<const std::int64_t> shape, DataType dtype);
std::string ShapeToString(std::span<const std::int64_t> shape);  // "(1, 3, 48, 192)"

// The DataType of a C++ element type (bool, [u]int{8,16,32,64}_t, float, double).
template <typename T>
constexpr DataType DataTypeOf();

class NDArray {
 public:
  NDArray() = default;  // null: no elements, void type
  // Uninitialised elements. Throws InvalidArgument on a bad shape, bad_alloc when memory runs out.
  static NDArray Empty(Shape shape, DataType dtype);
  static NDArray Zeros(Shape shape, DataType dtype);
  // A view over memory owned by `owner`; `data` must hold the elements row-major. Throws as
  // NumBytes does.
  static NDArray View(Shape shape, DataType dtype, void* data, std::shared_ptr<const void> owner);
  template <typename T>
  static NDArray FromVector(Shape shape, const std::vector<T>& values);
  template <typename T>
  static NDArray Scalar(T value) {
    return FromVector<T>({}, std::vector<T>{value});
  }

  bool defined() const { return buffer_ != nullptr; }
  const Shape& shape() const { return shape_; }
  DataType dtype() const { return dtype_; }
  std::int64_t size() const { return size_; }
  std::size_t bytes() const { return static_cast<std::size_t>(size_) * dtype_.bytes(); }
  void* raw() const { return data_; }

  // Elements as T; throws InvalidArgument when T is not the element type.
  template <typename T>
  T* data() const {
    RequireType(DataTypeOf<T>());
    return static_cast<T*>(data_);
  }
  template <typename T>
  std::vector<T> ToVector() const {
    const T* first = data<T>();
    return std::vector<T>(first, first + size_);
  }

  // The same elements under another shape with as many elements.
  NDArray Reshape(Shape shape) const;
  NDArray Clone() const;
  // Same dtype, shape and bytes.
  bool SameBytes(const NDArray& other) const;

 private:
  void RequireType(DataType wanted) const;

  Shape shape_;
  DataType dtype_ = DataType::Void();
  std::int64_t size_ = 0;
  void* data_ = nullptr;
  std::shared_ptr<const void> buffer_;
};

template <typename T>
constexpr DataType DataTypeOf() {
  if constexpr (std::is_same_v<T, bool>) {
    return Bool;
  } else if constexpr (std::is_floating_point_v<T>) {
    return DataType(TypeCode::kFloat, sizeof(T) * 8);
  } else {
    static_assert(std::is_integral_v<T>);
    return DataType(std::is_signed_v<T> ? TypeCode::kInt : TypeCode::kUInt, sizeof(T) * 8);
  }
}

// Sets every nonzero byte of a bool array to 1; other arrays are unchanged. A file may hold any
// byte, but readers of bools expect only 0 and 1.
void NormalizeBools(const NDArray& array);

// Copies `count` values into freshly made storage; `FromVector` checks the count.
NDArray MakeFilled(Shape shape, DataType dtype, const void* values, std::int64_t count);

template <typename T>
NDArray NDArray::FromVector(Shape shape, const std::vector<T>& values) {
  if constexpr (std::is_same_v<T, bool>) {
    const std::vector<std::uint8_t> bytes(values.begin(), values.end());
    return MakeFilled(std::move(shape), Bool, bytes.data(),
                      static_cast<std::int64_t>(bytes.size()));
  } else {
    return MakeFilled(std::move(shape), DataTypeOf<T>(), values.data(),
                      static_cast<std::int64_t>(values.size()));
  }
}

}  // namespace tenon

#endif  // TENON_SUPPORT_NDARRAY_H_
