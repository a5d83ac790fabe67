// A set of the values of an enum with at most 32 of them, which count from 0.
//
//   constexpr EnumSet<Fact> facts{Fact::kFlatBuffers, Fact::kNoVectorLoops};
//   facts.Has(Fact::kFlatBuffers);  // true
#ifndef TENON_SUPPORT_ENUM_SET_H_
#define TENON_SUPPORT_ENUM_SET_H_

#include <cstdint>
#include <initializer_list>

namespace tenon {

template <typename Enum>
class EnumSet {
 public:
  constexpr EnumSet() = default;
  constexpr EnumSet(std::initializer_list<Enum> values) {
    for (const Enum value : values) bits_ |= Bit(value);
  }
  constexpr bool Has(Enum value) const { return (bits_ & Bit(value)) != 0; }
  constexpr bool Has(EnumSet others) const { return (bits_ & others.bits_) == others.bits_; }
  constexpr bool empty() const { return bits_ == 0; }
  friend constexpr EnumSet operator|(EnumSet a, EnumSet b) { return EnumSet(a.bits_ | b.bits_); }
  friend constexpr EnumSet operator&(EnumSet a, EnumSet b) { return EnumSet(a.bits_ & b.bits_); }
  // The values of `a` that are not in `b`.
  friend constexpr EnumSet operator-(EnumSet a, EnumSet b) { return EnumSet(a.bits_ & ~b.bits_); }
  friend constexpr bool operator==(EnumSet, EnumSet) = default;

 private:
  constexpr explicit EnumSet(std::uint32_t bits) : bits_(bits) {}
  static constexpr std::uint32_t Bit(Enum value) {
    return std::uint32_t{1} << static_cast<unsigned>(value);
  }
  std::uint32_t bits_ = 0;
};

}  // namespace tenon

#endif  // TENON_SUPPORT_ENUM_SET_H_
