// Single calls that are built with care, since random arguments rarely fit. Only
// verify/draw/random_module.cc and verify/draw_*.cc include this header.
//
//   draft.TryToKeep([&] { return DrawConv2D(draft); });
#ifndef TENON_VERIFY_DRAW_MODULE_DRAWERS_H_
#define TENON_VERIFY_DRAW_MODULE_DRAWERS_H_

#include "tenon/verify/draw/module_draft.h"

namespace tenon::verify {

// Each throws InvalidArgument where no value of the draft fits.
ir::Expr DrawActivation(ModuleDraft& draft);
ir::Expr DrawBatchMatmul(ModuleDraft& draft);
ir::Expr DrawBatchNorm(ModuleDraft& draft);
ir::Expr DrawBiasAdd(ModuleDraft& draft);
ir::Expr DrawBinary(ModuleDraft& draft);
// Three products of a value, each with the same kind of call after it.
ir::Expr DrawBranches(ModuleDraft& draft);
ir::Expr DrawBroadcast(ModuleDraft& draft);  // of a value with one that fits in it
ir::Expr DrawCast(ModuleDraft& draft);
ir::Expr DrawConcatenate(ModuleDraft& draft);
ir::Expr DrawConv2D(ModuleDraft& draft);
ir::Expr DrawDense(ModuleDraft& draft);
ir::Expr DrawLayout(ModuleDraft& draft);  // to another one, also with blocks of channels
ir::Expr DrawPadded(ModuleDraft& draft);  // a pool of an image that is padded before
// Bytes as floats and back, each with one scale for all channels or one for each.
ir::Expr DrawPerChannel(ModuleDraft& draft);
ir::Expr DrawPool(ModuleDraft& draft);
// Of matrices, with a weight that later calls may read, too.
ir::Expr DrawProduct(ModuleDraft& draft);
// Floats become bytes. Bytes stay, become floats or are summed in products.
ir::Expr DrawQuantized(ModuleDraft& draft);
ir::Expr DrawReduce(ModuleDraft& draft);
ir::Expr DrawReshape(ModuleDraft& draft);
ir::Expr DrawScalar(ModuleDraft& draft);
// Adds a large number and takes it off again, clips to bounds that may cross, or divides products
// of integers that wrap around.
ir::Expr DrawRounding(ModuleDraft& draft);
// What tells denormals from zeros, zeros by their signs, or NaN and infinities from numbers.
ir::Expr DrawSpecial(ModuleDraft& draft);
ir::Expr DrawScale(ModuleDraft& draft);      // by a constant with one value per channel
ir::Expr DrawStatistic(ModuleDraft& draft);  // mostly of the last axis, which stays with extent 1
ir::Expr DrawTranspose(ModuleDraft& draft);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_MODULE_DRAWERS_H_
