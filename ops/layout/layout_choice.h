// The layouts that an operator can be asked to compute in: a column that ConvertLayout reads.
//
//   if (const auto* choice = OpOf(call)->Column<LayoutChoice>())
//     LayoutAnswer answer = choice->answer(call.attrs, "NHWC", "HWIO");
#ifndef TENON_OPS_LAYOUT_LAYOUT_CHOICE_H_
#define TENON_OPS_LAYOUT_LAYOUT_CHOICE_H_

#include <functional>
#include <string>

#include "tenon/ops/layout/layout_inference.h"

namespace tenon::ops {

struct LayoutChoice {
  // The default layouts, of which others are orders; no kernel: empty.
  std::string data, kernel;
  // What a call in these layouts takes and gives.
  std::function<LayoutAnswer(const attrs::Attrs& attrs, const std::string& data,
                             const std::string& kernel)>
      answer;
  // Whether it can be put into blocks of channels (NCHW16c), as the built-in convolutions can.
  bool takes_blocks = false;
};

}  // namespace tenon::ops

#endif  // TENON_OPS_LAYOUT_LAYOUT_CHOICE_H_
