// Source of the names: "Vector Function Application Binary Interface", Intel, 2015, as glibc's
// libmvec implements it.
#include "tenon/jit/llvm/vector_math.h"

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::jit {

std::optional<std::string_view> LibmName(loop::Intrinsic intrinsic) {
  using loop::Intrinsic;
  switch (intrinsic) {
    case Intrinsic::kExp:
      return "exp";
    case Intrinsic::kLog:
      return "log";
    case Intrinsic::kLog2:
      return "log2";
    case Intrinsic::kLog10:
      return "log10";
    case Intrinsic::kLog1p:
      return "log1p";
    case Intrinsic::kSin:
      return "sin";
    case Intrinsic::kCos:
      return "cos";
    case Intrinsic::kTan:
      return "tan";
    case Intrinsic::kAsin:
      return "asin";
    case Intrinsic::kAcos:
      return "acos";
    case Intrinsic::kAtan:
      return "atan";
    case Intrinsic::kSinh:
      return "sinh";
    case Intrinsic::kCosh:
      return "cosh";
    case Intrinsic::kTanh:
      return "tanh";
    case Intrinsic::kAsinh:
      return "asinh";
    case Intrinsic::kAcosh:
      return "acosh";
    case Intrinsic::kAtanh:
      return "atanh";
    case Intrinsic::kErf:
      return "erf";
    case Intrinsic::kPow:
      return "pow";
    case Intrinsic::kAtan2:
      return "atan2";
    default:
      return std::nullopt;
  }
}

std::string LibmvecName(std::string_view libm_name, DataType element, int lanes, int arguments) {
  const int bits = element.bits() * lanes;
  CheckInvariant(bits == 128 || bits == 256 || bits == 512, "libmvec is called at whole registers");
  const char isa = bits == 512 ? 'e' : bits == 256 ? 'd' : 'b';
  return StrCat("_ZGV", std::string(1, isa), "N", lanes,
                std::string(static_cast<std::size_t>(arguments), 'v'), "_", libm_name,
                element.bits() == 32 ? "f" : "");
}

}  // namespace tenon::jit
