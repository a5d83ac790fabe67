// Everything that a program using Tenon needs.
#ifndef TENON_TENON_H_
#define TENON_TENON_H_

#include "tenon/compiler/build.h"
#include "tenon/compiler/compile.h"
#include "tenon/compiler/dynamic_model.h"
#include "tenon/compiler/export.h"
#include "tenon/compiler/partition_onednn.h"
#include "tenon/ir/text_format.h"
#include "tenon/onnx/model.h"
#include "tenon/ops/builders.h"
#include "tenon/passes/bind_params.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/partition/merge_composite_functions.h"
#include "tenon/passes/pattern/fuse_ops_by_pattern.h"
#include "tenon/passes/pattern/pattern_rewrite.h"
#include "tenon/runtime/npy.h"
#include "tenon/schedule/schedule.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/strategies/register_op.h"
#include "tenon/te/extern.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/te/scan.h"
#include "tenon/te/tensor_intrinsic.h"

namespace tenon {

using schedule::Schedule;

}  // namespace tenon

#endif  // TENON_TENON_H_
