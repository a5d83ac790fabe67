// What folding of constants may cost in time and memory: a few bytes of a model can ask for any
// amount of both. Calls beyond the budget are left to kernels at run time.
//
// Both parts grow with the constants of the module, so that weights of any size can be prepared.
// The figures are in docs/limits.md.
#ifndef TENON_OPS_FOLDING_BUDGET_H_
#define TENON_OPS_FOLDING_BUDGET_H_

namespace tenon::ops {

class FoldingBudget {
 public:
  static constexpr double kSteps = 0x1p28;
  static constexpr double kStepsPerByte = 8;
  static constexpr double kBytes = 0x1p30;
  static constexpr double kBytesPerByte = 4;

  // The budget of a module whose constants have this many bytes.
  explicit FoldingBudget(double constant_bytes)
      : steps_(kSteps + kStepsPerByte * constant_bytes),
        bytes_(kBytes + kBytesPerByte * constant_bytes) {}

  // Pays for a call: `steps` of the interpreter, each of which makes one element of one stage, and
  // `bytes` of results and intermediate values. Returns false, and pays nothing, when less than
  // that is left.
  bool Pay(double steps, double bytes) {
    if (!(steps <= steps_ && bytes <= bytes_)) return false;
    steps_ -= steps;
    bytes_ -= bytes;
    return true;
  }

 private:
  double steps_, bytes_;
};

}  // namespace tenon::ops

#endif  // TENON_OPS_FOLDING_BUDGET_H_
