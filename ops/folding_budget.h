// What folding of constants may cost, in time and memory: a few bytes of a model can ask for any
// amount of both. What is beyond the budget is left to kernels, which are there at run time.
//
// Both parts grow with the constants that a module has, so that weights of any size can be
// prepared. The figures stand in docs/limits.md.
#ifndef TENON_OPS_FOLDING_BUDGET_H_
#define TENON_OPS_FOLDING_BUDGET_H_

namespace tenon::ops {

class FoldingBudget {
 public:
  static constexpr double kSteps = 0x1p28;
  static constexpr double kStepsPerByte = 8;
  static constexpr double kBytes = 0x1p30;
  static constexpr double kBytesPerByte = 4;

  // For a module whose constants have so many bytes.
  explicit FoldingBudget(double constant_bytes)
      : steps_(kSteps + kStepsPerByte * constant_bytes),
        bytes_(kBytes + kBytesPerByte * constant_bytes) {}

  // Pays for a call: `steps` of the interpreter, each of one element of one stage, and `bytes` of
  // results and intermediate values. False when that is more than is left; then nothing is paid.
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
