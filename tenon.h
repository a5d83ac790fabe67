// Everything that a program or a plug-in using Tenon needs. What reads and writes ONNX is in the
// library tenon::onnx, what reads and writes Relax text in tenon::relax, the rest in
// tenon::compiler.
#ifndef TENON_TENON_H_
#define TENON_TENON_H_

#include "tenon/compiler/build.h"
#include "tenon/compiler/code_generator.h"
#include "tenon/compiler/compile.h"
#include "tenon/compiler/dynamic_model.h"
#include "tenon/compiler/export.h"
#include "tenon/compiler/lower_program.h"
#include "tenon/compiler/named_passes.h"
#include "tenon/compiler/partition_onednn.h"
#include "tenon/compiler/remade_kernels.h"
#include "tenon/compiler/save_executable.h"
#include "tenon/ir/flatten.h"
#include "tenon/ir/text_format.h"
#include "tenon/ir/visit.h"
#include "tenon/loop/print.h"
#include "tenon/onnx/export.h"
#include "tenon/onnx/model.h"
#include "tenon/onnx/register_onnx.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/call_op.h"
#include "tenon/ops/layout/layout_rules.h"
#include "tenon/passes/bind_params.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/layout/convert_layout.h"
#include "tenon/passes/partition/annotate_target.h"
#include "tenon/passes/partition/merge_compiler_regions.h"
#include "tenon/passes/partition/merge_composite_functions.h"
#include "tenon/passes/partition/partition_graph.h"
#include "tenon/passes/pattern/fuse_ops_by_pattern.h"
#include "tenon/passes/pattern/pattern_rewrite.h"
#include "tenon/passes/pipeline.h"
#include "tenon/relax/relax_form.h"
#include "tenon/relax/text_format.h"
#include "tenon/runtime/npy.h"
#include "tenon/runtime/saved_executable.h"
#include "tenon/schedule/lower.h"
#include "tenon/schedule/record.h"
#include "tenon/schedule/schedule.h"
#include "tenon/strategies/auto_schedule.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/strategies/register_op.h"
#include "tenon/strategies/tensor_function.h"
#include "tenon/te/extern.h"
#include "tenon/te/integer_power.h"
#include "tenon/te/interpret.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/te/scan.h"
#include "tenon/te/tensor_intrinsic.h"

namespace tenon {

using schedule::Schedule;

}  // namespace tenon

#endif  // TENON_TENON_H_
