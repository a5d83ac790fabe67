// Many kernels, run by the JIT and as C that gcc compiles, and what they wrote compared.
#ifndef TENON_TESTS_JIT_C_COMPARISON_H_
#define TENON_TESTS_JIT_C_COMPARISON_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/jit/c/c_source.h"
#include "tenon/jit/kernel.h"
#include "tenon/schedule/lower.h"
#include "tenon/tests/testing/c_library.h"

namespace tenon::jit {

inline constexpr DataType kEveryType[] = {Bool,     Int8,    Int16,  Int32,  Int64,
                                          UInt8,    UInt16,  UInt32, UInt64, Float16,
                                          BFloat16, Float32, Float64};

// The number that element `i` means, and for floats the distance to the next number of the type.
inline double NumberAt(const NDArray& a, std::int64_t i, double* ulp = nullptr) {
  const char* at =
      static_cast<const char*>(a.raw()) + i * static_cast<std::int64_t>(a.dtype().bytes());
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, a.dtype().bytes());
  double value = 0;
  int digits = 53, lowest = -1022;
  if (a.dtype() == Float64) {
    value = std::bit_cast<double>(bits);
  } else if (a.dtype() == Float32 || a.dtype() == BFloat16) {
    const auto wide = static_cast<std::uint32_t>(a.dtype() == BFloat16 ? bits << 16 : bits);
    value = std::bit_cast<float>(wide);
    digits = a.dtype() == BFloat16 ? 8 : 24;
    lowest = -126;
  } else if (a.dtype() == Float16) {
    const int exponent = static_cast<int>(bits >> 10 & 31),
              fraction = static_cast<int>(bits & 1023);
    value = exponent == 31  ? (fraction != 0 ? std::nan("") : HUGE_VAL)
            : exponent == 0 ? std::ldexp(fraction, -24)
                            : std::ldexp(1024 + fraction, exponent - 25);
    if ((bits >> 15) != 0) value = -value;
    digits = 11;
    lowest = -14;
  } else if (a.dtype().is_int()) {
    const int shift = 64 - a.dtype().bits();
    value = static_cast<double>(static_cast<std::int64_t>(bits << shift) >> shift);
  } else {
    value = static_cast<double>(bits);
  }
  if (ulp != nullptr && value != 0 && std::isfinite(value))
    *ulp = std::ldexp(1.0, std::max(std::ilogb(value), lowest) - (digits - 1));
  return value;
}

// Numbers of `type`: special ones first, then random bits. No denormals: whether a conversion to
// bfloat16 keeps them depends on the machine.
inline NDArray Numbers(DataType type, std::int64_t count, unsigned seed, double limit = 1e6) {
  NDArray a = NDArray::Zeros({count}, type);
  std::mt19937_64 random(seed);
  const auto bytes = type.bytes();
  const auto put = [&](std::int64_t i, std::uint64_t bits) {
    std::memcpy(static_cast<char*>(a.raw()) + i * static_cast<std::int64_t>(bytes), &bits, bytes);
  };
  const auto float_bits = [&](float value) -> std::uint64_t {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (type == Float64) return std::bit_cast<std::uint64_t>(static_cast<double>(value));
    if (type == BFloat16) return bits >> 16;
    if (type == Float32) return bits;
    // float16, cut off
    if (std::isnan(value)) return 0x7e00;
    const std::uint64_t sign = bits >> 31 << 15;
    const float size = std::abs(value);
    if (size >= 65536) return sign | 0x7c00;
    if (size < 0x1p-14F) return sign | static_cast<std::uint64_t>(size * 0x1p24F);
    return sign | ((std::bit_cast<std::uint32_t>(size) - 0x38000000U) >> 13);
  };
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> specials = {0.0F,
                                       -0.0F,
                                       1,
                                       -1,
                                       0.5F,
                                       -0.5F,
                                       1.5F,
                                       2.5F,
                                       -2.5F,
                                       127,
                                       128,
                                       -128,
                                       -129,
                                       255,
                                       256,
                                       32767,
                                       -32768,
                                       65535,
                                       2147483648.0F,
                                       -2147483648.0F,
                                       1e19F,
                                       -1e19F,
                                       inf,
                                       -inf,
                                       std::numeric_limits<float>::quiet_NaN(),
                                       1e-3F,
                                       65504,
                                       3e38F};
  std::uniform_real_distribution<double> values(-8, std::log2(limit));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto n = static_cast<std::size_t>(i);
    if (type.is_bool()) {
      put(i, random() & 1);
    } else if (type.is_float()) {
      if (n < specials.size() && limit >= 1e6) {
        put(i, float_bits(specials[n]));
      } else {
        const double value = std::exp2(values(random)) * ((random() & 1) != 0 ? 1 : -1);
        type == Float64 ? put(i, std::bit_cast<std::uint64_t>(value))
                        : put(i, float_bits(static_cast<float>(value)));
      }
    } else {
      const std::uint64_t top = std::uint64_t{1} << (type.bits() - 1);
      const std::uint64_t ends[] = {0, 1, ~std::uint64_t{0}, top, top - 1, top + 1, 2, 3, 7};
      put(i, n < std::size(ends) ? ends[n] : random() >> (random() % 64));
    }
  }
  return a;
}

// `count` numbers in another order, so that pairs of special ones meet.
inline NDArray Rotated(const NDArray& a, std::int64_t by) {
  NDArray b = a.Clone();
  const auto bytes = static_cast<std::int64_t>(a.dtype().bytes());
  for (std::int64_t i = 0; i < a.size(); ++i)
    std::memcpy(static_cast<char*>(b.raw()) + i * bytes,
                static_cast<const char*>(a.raw()) + (i * 7 + by) % a.size() * bytes,
                static_cast<std::size_t>(bytes));
  return b;
}

class CComparison {
 public:
  // `ulps`: how far apart floats may be; 0: the same number (0 and -0 are, and so are all NaN).
  // `absolute` is allowed on top.
  void Add(const loop::Function& function, std::vector<NDArray> arrays, double ulps = 0,
           double absolute = 0) {
    functions_.push_back(function);
    arrays_.push_back(std::move(arrays));
    ulps_.push_back(ulps);
    absolute_.push_back(absolute);
  }

  void Check(const std::string& compiler = kStrictC) const {
    CFile file("comparison");
    for (const loop::Function& f : functions_) file.AddKernel(f);
    const CLibrary library(file.Source(), compiler);
    ASSERT_EQ(library.failure(), "");
    const auto kernels = CompileAll(functions_);
    ASSERT_TRUE(kernels.ok()) << kernels.status();
    for (std::size_t k = 0; k < functions_.size(); ++k) {
      std::vector<NDArray> wanted, given;
      for (const NDArray& a : arrays_[k]) {
        wanted.push_back(a.Clone());
        given.push_back(a.Clone());
      }
      const absl::Status status = (*kernels)[k].Run(wanted);
      ASSERT_TRUE(status.ok()) << status;
      ASSERT_EQ(library.Call(functions_[k].name, given), 0) << functions_[k].name;
      for (std::size_t a = 0; a < wanted.size(); ++a) Compare(k, a, wanted[a], given[a]);
    }
  }

 private:
  void Compare(std::size_t k, std::size_t a, const NDArray& wanted, const NDArray& given) const {
    if (wanted.SameBytes(given)) return;
    int wrong = 0;
    for (std::int64_t i = 0; i < wanted.size() && wrong < 3; ++i) {
      double ulp = 0;
      const double x = NumberAt(wanted, i, &ulp), y = NumberAt(given, i);
      if (x == y && (wanted.dtype().is_float() || std::abs(x) < 0x1p53)) continue;
      if (std::isnan(x) && std::isnan(y)) continue;
      const auto bytes = wanted.dtype().bytes();
      const auto at = static_cast<std::size_t>(i) * bytes;
      if (std::memcmp(static_cast<const char*>(wanted.raw()) + at,
                      static_cast<const char*>(given.raw()) + at, bytes) == 0)
        continue;
      if (std::abs(x - y) <= ulps_[k] * ulp + absolute_[k]) continue;
      ++wrong;
      ADD_FAILURE() << functions_[k].name << ", array " << a << ", element " << i << ": JIT " << x
                    << ", C " << y << ", one ULP is " << ulp;
    }
  }

  std::vector<loop::Function> functions_;
  std::vector<std::vector<NDArray>> arrays_;
  std::vector<double> ulps_, absolute_;
};

}  // namespace tenon::jit

#endif  // TENON_TESTS_JIT_C_COMPARISON_H_
