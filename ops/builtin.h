// Registration of Tenon's own operator families.
#ifndef TENON_OPS_BUILTIN_H_
#define TENON_OPS_BUILTIN_H_

#include "tenon/ops/layout/layout_inference.h"
#include "tenon/ops/registry.h"

namespace tenon::ops {

void RegisterUnaryOps(OpRegistry& registry);
void RegisterBinaryOps(OpRegistry& registry);
void RegisterFixedPointOps(OpRegistry& registry);
void RegisterReduceOps(OpRegistry& registry);
void RegisterShapeOps(OpRegistry& registry);      // reshape, squeeze, transpose, concatenate, ...
void RegisterBroadcastOps(OpRegistry& registry);  // broadcast_to, tile, repeat, ...
void RegisterIndexOps(OpRegistry& registry);      // take, strided_slice, gather, one_hot, ...
void RegisterScanOps(OpRegistry& registry);       // cumsum, cumprod
void RegisterRecurrentOps(OpRegistry& registry);  // nn.rnn, nn.gru, nn.lstm
void RegisterScatterOps(OpRegistry& registry);    // scatter_elements, scatter_nd, ...
void RegisterSparseOps(OpRegistry& registry);     // sparse_to_dense, nn.sparse_dense, ...
void RegisterSortOps(OpRegistry& registry);       // sort, argsort, topk, unique, searchsorted
void RegisterRegionOps(OpRegistry& registry);     // strided_set, sliding_window, ...
void RegisterCreateOps(OpRegistry& registry);     // full, zeros, arange, ...
void RegisterConvOps(OpRegistry& registry);
void RegisterLayoutOps(OpRegistry& registry);  // layout_transform, convolutions over blocks
void RegisterMatmulOps(OpRegistry& registry);
void RegisterPoolOps(OpRegistry& registry);
void RegisterNormOps(OpRegistry& registry);  // batch_norm, layer_norm, softmax, dropout, bias_add
void RegisterPadOps(OpRegistry& registry);
void RegisterBatchSpaceOps(OpRegistry& registry);  // space_to_batch_nd, batch_to_space_nd
void RegisterDeviceOps(OpRegistry& registry);      // on_device, device_copy
void RegisterCodegenOps(OpRegistry& registry);     // compiler_begin, compiler_end
void RegisterReferenceOps(OpRegistry& registry);   // ref, ref_read, ref_write
void RegisterFourierOps(OpRegistry& registry);     // dft, stft
void RegisterCorrelationOps(OpRegistry& registry);
void RegisterImageOps(OpRegistry& registry);
void RegisterRunTimeOps(OpRegistry& registry);    // argwhere, sparse_fill_empty_rows
void RegisterVisionOps(OpRegistry& registry);     // roi_align, non_max_suppression
void RegisterDetectorOps(OpRegistry& registry);   // multibox_prior, roi_pool, yolo_reorg
void RegisterDetectionOps(OpRegistry& registry);  // multibox_transform_loc, proposal, ...
void RegisterLossOps(OpRegistry& registry);
void RegisterQnnOps(OpRegistry& registry);  // after the operators on real numbers

inline void RegisterBuiltinOps(OpRegistry& registry) {
  RegisterUnaryOps(registry);
  RegisterBinaryOps(registry);
  RegisterFixedPointOps(registry);
  RegisterReduceOps(registry);
  RegisterShapeOps(registry);
  RegisterBroadcastOps(registry);
  RegisterIndexOps(registry);
  RegisterScanOps(registry);
  RegisterRecurrentOps(registry);
  RegisterScatterOps(registry);
  RegisterSparseOps(registry);
  RegisterSortOps(registry);
  RegisterRegionOps(registry);
  RegisterCreateOps(registry);
  RegisterConvOps(registry);
  RegisterLayoutOps(registry);
  RegisterMatmulOps(registry);
  RegisterPoolOps(registry);
  RegisterNormOps(registry);
  RegisterPadOps(registry);
  RegisterBatchSpaceOps(registry);
  RegisterDeviceOps(registry);
  RegisterCodegenOps(registry);
  RegisterReferenceOps(registry);
  RegisterFourierOps(registry);
  RegisterCorrelationOps(registry);
  RegisterImageOps(registry);
  RegisterVisionOps(registry);
  RegisterRunTimeOps(registry);
  RegisterDetectorOps(registry);
  RegisterDetectionOps(registry);
  RegisterLossOps(registry);
  RegisterQnnOps(registry);
  AttachLayoutInference(registry);
}

}  // namespace tenon::ops

#endif  // TENON_OPS_BUILTIN_H_
