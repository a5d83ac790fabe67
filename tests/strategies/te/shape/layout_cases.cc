// Operators on blocked layouts; blocked_conv_test.cc has the convolutions' shapes.
#include "tenon/tests/strategies/operator_cases.h"

namespace tenon::operator_cases {
namespace {

// Of images and kernels in blocks of 4 channels (1 for a kernel's inputs when depthwise), with one
// row and column of zeros around the image.
Array BlockedConv(const Array& x, const Array& w, bool depthwise) {
  const std::int64_t rows = x.shape[2];
  const std::int64_t columns = x.shape[3];
  return Make({x.shape[0], w.shape[0], rows, columns, 4}, [&](const Index& at) {
    double sum = 0;
    const std::int64_t inputs = depthwise ? 1 : x.shape[1] * 4;
    for (std::int64_t c = 0; c < inputs; ++c)
      for (std::int64_t ky = 0; ky < 3; ++ky)
        for (std::int64_t kx = 0; kx < 3; ++kx) {
          const std::int64_t row = at[2] + ky - 1;
          const std::int64_t column = at[3] + kx - 1;
          if (row < 0 || row >= rows || column < 0 || column >= columns) continue;
          sum += depthwise ? x({at[0], at[1], row, column, at[4]}) * w({at[1], 0, ky, kx, 0, at[4]})
                           : x({at[0], c / 4, row, column, c % 4}) *
                                 w({at[1], c / 4, ky, kx, c % 4, at[4]});
        }
    return sum;
  });
}

}  // namespace

void AddBlockedLayouts(std::vector<OpCase>* cases) {
  cases->push_back({"layout_transform_blocks",
                    {F("x", {2, 10, 5, 7})},
                    "layout_transform(%x, src_layout=\"NCHW\", dst_layout=\"NCHW4c\")",
                    [](const Arrays& in) {
                      return Arrays{Make({2, 3, 5, 7, 4}, [&](const Index& i) {
                        const std::int64_t c = i[1] * 4 + i[4];
                        return c < 10 ? in[0]({i[0], c, i[2], i[3]}) : 0;
                      })};
                    }});
  cases->push_back({"layout_transform_of_whole_axes",
                    {F("x", {1, 33, 17, 19})},
                    "layout_transform(%x, src_layout=\"NCHW\", dst_layout=\"NHWC\")",
                    [](const Arrays& in) {
                      return Arrays{Make({1, 17, 19, 33}, [&](const Index& i) {
                        return in[0]({i[0], i[3], i[1], i[2]});
                      })};
                    }});
  cases->push_back({"contrib_conv2d_NCHWc",
                    {F("x", {1, 2, 5, 6, 4}), F("w", {3, 2, 3, 3, 4, 4})},
                    "nn.contrib_conv2d_NCHWc(%x, %w, padding=[1, 1], data_layout=\"NCHW4c\", "
                    "kernel_layout=\"OIHW4i4o\")",
                    [](const Arrays& in) { return Arrays{BlockedConv(in[0], in[1], false)}; }});
  cases->push_back({"contrib_depthwise_conv2d_NCHWc",
                    {F("x", {2, 2, 5, 9, 4}), F("w", {2, 1, 3, 3, 1, 4})},
                    "nn.contrib_depthwise_conv2d_NCHWc(%x, %w, padding=[1, 1], groups=8, "
                    "data_layout=\"NCHW4c\", kernel_layout=\"OIHW1i4o\")",
                    [](const Arrays& in) { return Arrays{BlockedConv(in[0], in[1], true)}; }});
}

}  // namespace tenon::operator_cases
