// Small C functions that generated text calls where C's own operators mean something other than
// those of loop/, or nothing at all. Only files inside jit/ and compiler/ that write C include this
// header.
//
// A helper becomes part of a text once it is used. All of them are static inline C99.
//
//   CHelpers helpers;
//   helpers.Use(CHelper::kFloorDiv, Int64) == "tenon_floordiv_i64";
//   file += helpers.Text();
#ifndef TENON_JIT_C_C_HELPERS_H_
#define TENON_JIT_C_C_HELPERS_H_

#include <string>
#include <unordered_set>

#include "tenon/support/data_type.h"

namespace tenon::jit {

enum class CHelper {
  kDiv,       // of integers: division by 0 gives 0, and nothing overflows
  kMod,       // likewise
  kFloorDiv,  // of integers
  kFloorMod,  // of integers and of floats
  kMin,       // NaN wins
  kMax,
  kAbs,   // of signed integers; the lowest is its own
  kSign,  // NaN stays
  kPopcount,
  kToInt,       // float to integer: saturates, NaN becomes 0; `type` to `other`
  kToBits,      // of a float32 or float64, an unsigned integer
  kFromBits,    // the reverse
  kFromMemory,  // the float that the bits of a 16-bit float mean
  kToMemory,    // the bits of the nearest 16-bit float
  kRoundTo,     // the nearest 16-bit float as a float
  kRoundToOdd,  // a double or a wide integer as a float that rounds to 16 bits as that itself would
  kFlushDenormals,
  kRestoreDenormals,
};

class CHelpers {
 public:
  // The C name of the helper for values of `type`.
  std::string Use(CHelper helper, DataType type = Int64, DataType other = Int64);
  // Definitions of all that were used, in an order that compiles.
  const std::string& Text() const { return text_; }

 private:
  std::string Define(const std::string& name, std::string text, DataType type,
                     DataType other = Int64);

  std::unordered_set<std::string> defined_;
  std::string text_;
};

}  // namespace tenon::jit

#endif  // TENON_JIT_C_C_HELPERS_H_
