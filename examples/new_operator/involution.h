// What the steps make of involution, and how C++ code calls it.
//
//   ir::Expr y = involution::Involution(x, kernels, {.kernel_size = 7, .groups = 4});
#ifndef INVOLUTION_H_
#define INVOLUTION_H_

#include <optional>
#include <string>
#include <vector>

#include "involution_attrs.h"
#include "tenon/tenon.h"

namespace involution {

inline constexpr char kName[] = "example.involution";

// Step 2: data (N, C, H, W) and kernels (N, groups * kernel_size^2, OH, OW) give (N, C, OH, OW).
void Types(tenon::ops::TypeCall& call);

// Step 3: both inputs and the result follow the layout of the data.
tenon::ops::LayoutAnswer Layouts(const tenon::ops::LayoutQuestion& question);

// Step 4: the tensor expressions. The first defines the operator; the second has no sum.
std::vector<tenon::te::Tensor> Compute(const tenon::strategies::TeCall& call);
std::vector<tenon::te::Tensor> ComputeByOneTap(const tenon::strategies::TeCall& call);

// Step 5: the schedules, and the conditions of the rows.
void ScheduleRows(const tenon::strategies::OpSchedule& s);
void ScheduleChannels(const tenon::strategies::OpSchedule& s);
std::optional<std::string> RefuseUnlessChannelsLast(const tenon::strategies::TeCall& call);
std::optional<std::string> RefuseUnlessOneTap(const tenon::strategies::TeCall& call);

// Step 6: the node of ONNX models, both ways.
inline constexpr char kOnnxDomain[] = "org.example";
inline constexpr char kOnnxType[] = "Involution";
std::vector<tenon::ir::Expr> FromOnnx(const tenon::OnnxNode& node);
tenon::OnnxNodeToWrite ToOnnx(const tenon::ir::CallNode& call);

// Step 7: the builder. involution.cc registers all of the above.
tenon::ir::Expr Involution(const tenon::ir::Expr& data, const tenon::ir::Expr& kernels,
                           Attrs attrs);

}  // namespace involution

#endif  // INVOLUTION_H_
