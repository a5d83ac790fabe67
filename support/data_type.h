// Element types of tensors and scalar expressions, with a lane count for vectors.
//
// DataType is a small value. `Void()` (0 bits) means "not given". Text form: "float32", "int8",
// "uint8", "bool", "bfloat16", "float32x16", "void".
//
//   DataType t = Float32;  t.bits() == 32;  t.WithLanes(16).ToString() == "float32x16";
#ifndef TENON_SUPPORT_DATA_TYPE_H_
#define TENON_SUPPORT_DATA_TYPE_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon {

// Numbering follows DLPack's DLDataTypeCode where the kinds agree.
enum class TypeCode : std::uint8_t {
  kInt = 0,
  kUInt = 1,
  kFloat = 2,
  kBFloat = 4,
  kBool = 6,
  kHandle = 3
};

class DataType {
 public:
  constexpr DataType() = default;
  constexpr DataType(TypeCode code, int bits, int lanes = 1)
      : code_(code),
        bits_(static_cast<std::uint8_t>(bits)),
        lanes_(static_cast<std::uint16_t>(lanes)) {}
  static constexpr DataType Void() { return DataType(TypeCode::kHandle, 0, 0); }

  constexpr TypeCode code() const { return code_; }
  constexpr int bits() const { return bits_; }
  constexpr int lanes() const { return lanes_; }
  // Bytes of one element in memory (bool takes one byte).
  constexpr std::size_t bytes() const { return (bits_ + 7U) / 8U * lanes_; }

  constexpr bool is_void() const { return bits_ == 0; }
  constexpr bool is_bool() const { return code_ == TypeCode::kBool; }
  constexpr bool is_int() const { return code_ == TypeCode::kInt; }
  constexpr bool is_uint() const { return code_ == TypeCode::kUInt; }
  // Signed or unsigned integer (bool not included).
  constexpr bool is_integral() const { return is_int() || is_uint(); }
  // float16, float32, float64 or bfloat16.
  constexpr bool is_float() const {
    return code_ == TypeCode::kFloat || code_ == TypeCode::kBFloat;
  }
  // float16 or bfloat16: formats of storage, on which kernels calculate in float32.
  constexpr bool is_half() const { return is_float() && bits_ == 16; }
  constexpr bool is_vector() const { return lanes_ > 1; }

  constexpr DataType WithLanes(int lanes) const { return DataType(code_, bits_, lanes); }
  constexpr DataType element() const { return WithLanes(1); }

  std::string ToString() const;
  // Parses the text form; nothing for a name that is not a type of Tenon.
  static std::optional<DataType> Parse(std::string_view text);

  friend constexpr auto operator<=>(const DataType&, const DataType&) = default;

 private:
  TypeCode code_ = TypeCode::kHandle;
  std::uint8_t bits_ = 0;
  std::uint16_t lanes_ = 0;
};

inline constexpr DataType Bool{TypeCode::kBool, 1};
inline constexpr DataType Int8{TypeCode::kInt, 8};
inline constexpr DataType Int16{TypeCode::kInt, 16};
inline constexpr DataType Int32{TypeCode::kInt, 32};
inline constexpr DataType Int64{TypeCode::kInt, 64};
inline constexpr DataType UInt8{TypeCode::kUInt, 8};
inline constexpr DataType UInt16{TypeCode::kUInt, 16};
inline constexpr DataType UInt32{TypeCode::kUInt, 32};
inline constexpr DataType UInt64{TypeCode::kUInt, 64};
inline constexpr DataType Float16{TypeCode::kFloat, 16};
inline constexpr DataType BFloat16{TypeCode::kBFloat, 16};
inline constexpr DataType Float32{TypeCode::kFloat, 32};
inline constexpr DataType Float64{TypeCode::kFloat, 64};

}  // namespace tenon

#endif  // TENON_SUPPORT_DATA_TYPE_H_
