// Products of values with forms in integers. Only files inside passes/quantize/ include this
// header.
//
//   std::optional<QuantizedForm> sums = ProductForm(conv2d, data_form, weight_form, shape);
#ifndef TENON_PASSES_QUANTIZE_QUANTIZED_PRODUCTS_H_
#define TENON_PASSES_QUANTIZE_QUANTIZED_PRODUCTS_H_

#include "tenon/passes/quantize/quantized_form.h"

namespace tenon::passes {

// Whether it is a product that ProductForm knows.
bool IsProduct(const ir::Expr& op);

// The sums of the product `call`, whose result has that shape, of bytes with these forms. Nothing
// where scales go along an axis that is summed over, or where int32 may not hold a sum.
std::optional<QuantizedForm> ProductForm(const ir::CallNode& call, const QuantizedForm& a,
                                         const QuantizedForm& b, const Shape& shape);

}  // namespace tenon::passes

#endif  // TENON_PASSES_QUANTIZE_QUANTIZED_PRODUCTS_H_
