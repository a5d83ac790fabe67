#include "tenon/passes/pass_table.h"

#include <algorithm>
#include <array>

#include "tenon/passes/affine/backward_fold_scale_axis.h"
#include "tenon/passes/affine/fold_scale_axis.h"
#include "tenon/passes/affine/forward_fold_scale_axis.h"
#include "tenon/passes/combine/combine_parallel_batch_matmul.h"
#include "tenon/passes/combine/combine_parallel_conv2d.h"
#include "tenon/passes/combine/combine_parallel_op_batch.h"
#include "tenon/passes/control/outline_branches.h"
#include "tenon/passes/control/references_to_values.h"
#include "tenon/passes/device/plan_devices.h"
#include "tenon/passes/device/rewrite_annotated_ops.h"
#include "tenon/passes/fusion/defuse_ops.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/layout/alter_op_layout.h"
#include "tenon/passes/legalize.h"
#include "tenon/passes/name_run_time_extents.h"
#include "tenon/passes/partition/embed_composites.h"
#include "tenon/passes/partition/merge_compiler_regions.h"
#include "tenon/passes/partition/merge_composite_functions.h"
#include "tenon/passes/partition/partition_graph.h"
#include "tenon/passes/precision/canonicalize_cast.h"
#include "tenon/passes/precision/to_mixed_precision.h"
#include "tenon/passes/precision/widen_half_floats.h"
#include "tenon/passes/quantize/canonicalize_qnn.h"
#include "tenon/passes/quantize/fake_quantization_to_integer.h"
#include "tenon/passes/quantize/fold_quantized.h"
#include "tenon/passes/quantize/require_integers.h"
#include "tenon/passes/simplify/canonicalize_ops.h"
#include "tenon/passes/simplify/dead_code.h"
#include "tenon/passes/simplify/div_to_mul.h"
#include "tenon/passes/simplify/drop_padded_taps.h"
#include "tenon/passes/simplify/eliminate_common_subexpr.h"
#include "tenon/passes/simplify/fast_math.h"
#include "tenon/passes/simplify/flatten_atrous_conv.h"
#include "tenon/passes/simplify/fold_explicit_padding.h"
#include "tenon/passes/simplify/simplify_expr.h"
#include "tenon/passes/simplify/simplify_fc_transpose.h"
#include "tenon/passes/simplify/simplify_inference.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::Module;

// A pass that reads only the module.
template <Module (*kPass)(const Module&)>
Module Plain(const Module& module, const PassArguments&) {
  return kPass(module);
}
// A pass that leaves new expressions without types.
template <Module (*kPass)(const Module&)>
Module ThenInfer(const Module& module, const PassArguments&) {
  return InferType(kPass(module));
}

// --- options in a text

struct FuseOpsOptions {
  static constexpr const char* kTypeKey = "FuseOps";
  std::string mode = "relay";
  std::int64_t max_depth = FuseOptions().max_depth;
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("mode", &FuseOpsOptions::mode, "how calls are grouped")
                             .OneOf("relay extended"),
                         attrs::Field("max_depth", &FuseOpsOptions::max_depth, "calls in a group")
                             .AtLeast(std::int64_t{1})
                             .AtMost(std::int64_t{1} << 20));
  }
  void Apply(PassArguments* arguments) const {
    arguments->fuse.mode = mode == "extended" ? FusionMode::kExtended : FusionMode::kRelay;
    arguments->fuse.max_depth = static_cast<int>(max_depth);
  }
};
struct FoldConstantOptions {
  static constexpr const char* kTypeKey = "FoldConstant";
  bool fold_qnn = false;
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("fold_qnn", &FoldConstantOptions::fold_qnn,
                                      "whether quantised operators are folded, too"));
  }
  void Apply(PassArguments* arguments) const { arguments->fold_qnn = fold_qnn; }
};
struct FakeQuantizationOptions {
  static constexpr const char* kTypeKey = "FakeQuantizationToInteger";
  bool hard_fail = false;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("hard_fail", &FakeQuantizationOptions::hard_fail,
                     "whether an operator that stays in floating point is an error"));
  }
  void Apply(PassArguments* arguments) const { arguments->hard_fail = hard_fail; }
};
struct DeadCodeTextOptions {
  static constexpr const char* kTypeKey = "DeadCodeElimination";
  bool inline_once = false;
  bool ignore_impurity = false;
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("inline_once", &DeadCodeTextOptions::inline_once,
                                      "whether a value that is read once stands where it is read"),
                         attrs::Field("ignore_impurity", &DeadCodeTextOptions::ignore_impurity,
                                      "whether no call is taken to have effects"));
  }
  void Apply(PassArguments* arguments) const {
    arguments->dead_code = {.inline_once = inline_once, .ignore_impurity = ignore_impurity};
  }
};
struct ToMixedPrecisionOptions {
  static constexpr const char* kTypeKey = "ToMixedPrecision";
  std::string type = "bfloat16";
  bool keep_output_type = true;
  std::string missing_op_mode = "float32";
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("type", &ToMixedPrecisionOptions::type, "type of the operands of products")
            .OneOf("bfloat16 float16"),
        attrs::Field("keep_output_type", &ToMixedPrecisionOptions::keep_output_type,
                     "whether results keep their types"),
        attrs::Field("missing_op_mode", &ToMixedPrecisionOptions::missing_op_mode,
                     "what becomes of operators that are in no list")
            .OneOf("float32 error"));
  }
  void Apply(PassArguments* arguments) const {
    arguments->mixed_type = type == "float16" ? Float16 : BFloat16;
    arguments->keep_output_type = keep_output_type;
    arguments->refuse_unlisted = missing_op_mode == "error";
  }
};
struct InlineOptions {
  static constexpr const char* kTypeKey = "Inline";
  std::string rule = "marked";
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("rule", &InlineOptions::rule, "which functions").OneOf("marked all"));
  }
  void Apply(PassArguments* arguments) const {
    arguments->inline_rule = rule == "all" ? InlineRule::kAll : InlineRule::kMarked;
  }
};
struct BranchOptions {
  static constexpr const char* kTypeKey = "CombineParallel";
  std::int64_t min_branches = 3;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("min_branches", &BranchOptions::min_branches, "fewer are not joined")
            .AtLeast(std::int64_t{2})
            .AtMost(std::int64_t{1} << 20));
  }
  void Apply(PassArguments* arguments) const {
    arguments->min_branches = static_cast<int>(min_branches);
  }
};
struct DenseOptions {
  static constexpr const char* kTypeKey = "CombineParallelDense";
  std::string form = "batch";
  std::int64_t min_branches = 3;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("form", &DenseOptions::form, "what the joined product is").OneOf("batch flat"),
        attrs::Field("min_branches", &DenseOptions::min_branches, "fewer are not joined")
            .AtLeast(std::int64_t{2})
            .AtMost(std::int64_t{1} << 20));
  }
  void Apply(PassArguments* arguments) const {
    arguments->dense_form = form == "flat" ? DenseForm::kFlat : DenseForm::kBatch;
    arguments->min_branches = static_cast<int>(min_branches);
  }
};
struct OpBatchOptions {
  static constexpr const char* kTypeKey = "CombineParallelOpBatch";
  std::string op = PassArguments().batched_op;
  std::string batch_op = PassArguments().batch_op;
  std::int64_t min_branches = 3;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("op", &OpBatchOptions::op, "the operator of the calls"),
        attrs::Field("batch_op", &OpBatchOptions::batch_op, "the operator of the joined call"),
        attrs::Field("min_branches", &OpBatchOptions::min_branches, "fewer are not joined")
            .AtLeast(std::int64_t{2})
            .AtMost(std::int64_t{1} << 20));
  }
  void Apply(PassArguments* arguments) const {
    arguments->batched_op = op;
    arguments->batch_op = batch_op;
    arguments->min_branches = static_cast<int>(min_branches);
  }
};
struct DeviceOptions {
  static constexpr const char* kTypeKey = "RewriteAnnotatedOps";
  std::string device = Device().ToString();
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("device", &DeviceOptions::device,
                                      "where values are that no annotation places"));
  }
  void Apply(PassArguments* arguments) const {
    const std::optional<Device> parsed = Device::Parse(device);
    if (!parsed)
      throw InvalidArgument(StrCat("device is ", device, "; it is a device such as cpu or cuda:1"));
    arguments->device = *parsed;
  }
};

// The last columns of a row whose options are a struct.
template <typename Options>
void ApplyOptions(const GivenOptions& given, PassArguments* arguments) {
  given.fields.As<Options>().Apply(arguments);
}

void ApplyLayouts(const GivenOptions& given, PassArguments* arguments) {
  if (given.further.empty()) return;
  arguments->layouts.clear();
  for (const std::string& layout : given.further) AddDesiredLayout(layout, &arguments->layouts);
}

void ApplyWeights(const GivenOptions& given, PassArguments* arguments) {
  arguments->weights = given.further;
}

constexpr Facts kNone;
constexpr Facts kTyped{Fact::kTyped};
constexpr Facts kUnquantized{Fact::kUnquantized};
constexpr Facts kFused{Fact::kFused};
constexpr Facts kUnfused = kTyped | kUnquantized;
constexpr Facts kAll = kUnfused | kFused;

constexpr auto kExact = Values::kKept;
constexpr auto kOther = Values::kChanged;
constexpr auto kWhole = Flow::kWhole;
constexpr auto kStraight = Flow::kStraight;

constexpr std::array kPasses = {
    PassRow{"InferType", Plain<InferType>, kNone, kTyped, kAll, kExact, kWhole,
            "infers every type, or reports every error"},
    PassRow{"SimplifyInference", ThenInfer<SimplifyInference>, kTyped, kTyped, kUnfused, kExact, kStraight,
            "writes batch_norm and dropout as inference needs them"},
    PassRow{"FoldConstant",
            [](const Module& m, const PassArguments& a) {
              return a.fold_qnn ? FoldQuantized(m, a.evaluate, a.target)
                                : FoldConstant(m, a.evaluate);
            },
            kTyped, kNone, kAll, kExact, kStraight, "computes calls whose arguments are constants",
            attrs::SchemaOf<FoldConstantOptions>, {}, ApplyOptions<FoldConstantOptions>},
    PassRow{"CanonicalizeOps", ThenInfer<CanonicalizeOps>, kTyped, kTyped, kUnfused, kExact, kStraight,
            "replaces bias_add by add"},
    PassRow{"SimplifyExpr", Plain<SimplifyExpr>, kTyped, kNone, kUnfused, kExact, kStraight,
            "simplifies single calls by algebra"},
    PassRow{"EliminateCommonSubexpr", Plain<EliminateCommonSubexpr>, kTyped, kNone, kUnfused,
            kExact, kStraight, "computes equal calls once"},
    PassRow{"FoldExplicitPadding", Plain<FoldExplicitPadding>, kTyped, kNone, kUnfused, kExact, kStraight,
            "moves a pad into the padding of its reader"},
    PassRow{"FlattenAtrousConv", Plain<FlattenAtrousConv>, kTyped, kNone, kUnfused, kExact, kStraight,
            "dilates a convolution between space_to_batch_nd and batch_to_space_nd"},
    PassRow{"DropPaddedTaps", Plain<DropPaddedTaps>, kTyped, kNone, kUnfused, kExact, kStraight,
            "cuts off taps of convolutions that only meet padding"},
    PassRow{"CombineParallelConv2D",
            [](const Module& m, const PassArguments& a) {
              return CombineParallelConv2D(m, a.min_branches);
            },
            kTyped, kNone, kUnfused, kExact, kStraight, "joins convolutions of the same data",
            attrs::SchemaOf<BranchOptions>, {}, ApplyOptions<BranchOptions>},
    PassRow{"CombineParallelDense",
            [](const Module& m, const PassArguments& a) {
              return CombineParallelDense(m, a.min_branches, a.dense_form);
            },
            kTyped, kNone, kUnfused, kExact, kStraight, "joins dense layers of the same data",
            attrs::SchemaOf<DenseOptions>, {}, ApplyOptions<DenseOptions>},
    PassRow{"CombineParallelBatchMatmul",
            [](const Module& m, const PassArguments& a) {
              return CombineParallelBatchMatmul(m, a.min_branches);
            },
            kTyped, kNone, kUnfused, kExact, kStraight, "joins batched products of the same data",
            attrs::SchemaOf<BranchOptions>, {}, ApplyOptions<BranchOptions>},
    PassRow{"CombineParallelOpBatch",
            [](const Module& m, const PassArguments& a) {
              return CombineParallelOpBatch(m, a.batched_op, a.batch_op, a.min_branches);
            },
            kTyped, kNone, kUnfused, kExact, kStraight, "joins calls of an operator into one of a batch",
            attrs::SchemaOf<OpBatchOptions>, {}, ApplyOptions<OpBatchOptions>},
    PassRow{"FastMath", Plain<FastMath>, kTyped, kNone, kUnfused, kExact, kStraight,
            "gives exp, erf, tanh and softmax their fast names"},
    PassRow{"SimplifyFCTranspose",
            [](const Module& m, const PassArguments& a) {
              return InferType(SimplifyFCTranspose(m, a.weights));
            },
            kTyped, kTyped, kUnfused, kExact, kStraight, "takes weights that the caller has transposed",
            nullptr, "PARAMETER", ApplyWeights},
    PassRow{"AlterOpLayout",
            [](const Module& m, const PassArguments&) { return InferType(AlterOpLayout(m)); },
            kTyped, kTyped, kUnfused, kExact, kStraight, "puts convolutions and products into blocks of channels"},
    PassRow{"ConvertLayout",
            [](const Module& m, const PassArguments& a) { return ConvertLayout(m, a.layouts); },
            kTyped, kNone, kUnfused, kExact, kStraight, "puts operators into the layouts that are asked for",
            nullptr, "OPERATOR=DATA[:KERNEL]", ApplyLayouts},
    PassRow{"CanonicalizeCast", ThenInfer<CanonicalizeCast>, kTyped, kTyped, kUnfused, kExact, kStraight,
            "repeats a widening cast for each of its readers"},
    PassRow{"DefuseOps", ThenInfer<DefuseOps>, kTyped, kTyped, kUnfused, kExact, kStraight,
            "inlines primitive functions: the inverse of FuseOps"},
    PassRow{"DivToMul", ThenInfer<DivToMul>, kTyped, kTyped, kUnfused, kExact, kStraight,
            "replaces division by a constant by multiplication"},
    PassRow{"FoldAffine",
            [](const Module& m, const PassArguments& a) { return FoldAffine(m, a.folding); },
            kTyped, kNone, kUnfused, kExact, kStraight,
            "folds scales and shifts around a product into its weight", nullptr, {}, nullptr,
            [](Module* m, const PassArguments& a) { return FoldAffine(m, a.folding); }},
    PassRow{"BackwardFoldScaleAxis", ThenInfer<BackwardFoldScaleAxis>, kTyped, kTyped, kUnfused,
            kExact, kStraight, "folds a scale after a product into its weight"},
    PassRow{"ForwardFoldScaleAxis", ThenInfer<ForwardFoldScaleAxis>, kTyped, kTyped, kUnfused,
            kExact, kStraight, "folds a scale before a product into its weight"},
    PassRow{"FoldScaleAxis",
            [](const Module& m, const PassArguments& a) {
              return InferType(FoldScaleAxis(m, a.evaluate));
            },
            kTyped, kTyped, kUnfused, kExact, kStraight, "runs these two and FoldConstant"},
    PassRow{"CanonicalizeQnn",
            [](const Module& m, const PassArguments& a) { return CanonicalizeQnn(m, a.target); },
            kTyped, kUnquantized, kTyped, kExact, kStraight,
            "replaces quantised operators by operators on integers"},
    PassRow{"Legalize",
            [](const Module& m, const PassArguments& a) { return Legalize(m, a.target); }, kTyped,
            kNone, kUnfused, kExact, kStraight, "replaces calls by what the target has for them"},
    PassRow{"FakeQuantizationToInteger",
            [](const Module& m, const PassArguments& a) {
              const Module integers = FakeQuantizationToInteger(m);
              return a.hard_fail ? RequireIntegers(integers) : integers;
            },
            kTyped, kNone, kTyped, kOther, kStraight,
            "replaces operators between dequantize and quantize by quantised ones",
            attrs::SchemaOf<FakeQuantizationOptions>, {}, ApplyOptions<FakeQuantizationOptions>},
    PassRow{"DeadCodeElimination",
            [](const Module& m, const PassArguments& a) {
              return DeadCodeElimination(m, a.dead_code);
            },
            kNone, kNone, kAll, kExact, kWhole, "removes bindings that nobody reads",
            attrs::SchemaOf<DeadCodeTextOptions>, {}, ApplyOptions<DeadCodeTextOptions>},
    PassRow{"EmbedComposites", Plain<EmbedComposites>, kTyped, kNone, kUnfused, kExact, kStraight,
            "puts composite functions where they are called, as primitive ones"},
    PassRow{"Inline",
            [](const Module& m, const PassArguments& a) { return Inline(m, a.inline_rule); }, kNone,
            kNone, kUnquantized, kExact, kWhole, "puts functions where they are called",
            attrs::SchemaOf<InlineOptions>, {}, ApplyOptions<InlineOptions>},
    PassRow{"NameRunTimeExtents", Plain<NameRunTimeExtents>, kNone, kNone, kUnquantized, kExact, kWhole,
            "gives a variable to each extent that values decide"},
    PassRow{"MergeCompilerRegions", ThenInfer<MergeCompilerRegions>, kTyped, kTyped, kUnfused,
            kExact, kStraight, "joins neighbouring regions of one code generator"},
    PassRow{"MergeCompositeFunctions",
            [](const Module& m, const PassArguments&) { return MergeCompositeFunctions(m); }, kNone,
            kNone, kUnquantized, kExact, kStraight, "joins composites of one code generator in a function"},
    PassRow{"PartitionGraph",
            [](const Module& m, const PassArguments&) { return PartitionGraph(m); }, kNone, kNone,
            kUnquantized, kExact, kStraight, "makes functions of the regions of code generators"},
    PassRow{"RemoveUnusedFunctions",
            [](const Module& m, const PassArguments&) { return RemoveUnusedFunctions(m); }, kNone,
            kNone, kAll, kExact, kWhole, "removes functions that @main does not reach"},
    PassRow{"ReferencesToValues", Plain<ReferencesToValues>, kNone, kNone, kUnquantized, kExact,
            kWhole, "turns reads of references into the values that were last written"},
    PassRow{"OutlineBranches", Plain<OutlineBranches>, kTyped, kTyped, kUnquantized, kExact, kWhole,
            "makes the branches of ifs functions of their own"},
    PassRow{"RestoreBranches", Plain<RestoreBranches>, kTyped, kTyped, kUnquantized, kExact,
            kWhole, "puts such functions back into their ifs"},
    PassRow{"FuseOps", [](const Module& m, const PassArguments& a) { return FuseOps(m, a.fuse); },
            kTyped, kFused, kAll, kExact, kStraight, "groups calls that share loops in primitive functions",
            attrs::SchemaOf<FuseOpsOptions>, {}, ApplyOptions<FuseOpsOptions>},
    PassRow{"PlanDevices", [](const Module& m, const PassArguments&) { return PlanDevices(m); },
            kTyped, kNone, kUnfused, kExact, kStraight, "gives every value a device, and inserts copies"},
    PassRow{"RewriteAnnotatedOps",
            [](const Module& m, const PassArguments& given) {
              return RewriteAnnotatedOps(m, given.device);
            },
            kTyped, kNone, kUnfused, kExact, kStraight, "replaces annotation.on_device by copies",
            attrs::SchemaOf<DeviceOptions>, {}, ApplyOptions<DeviceOptions>},
    PassRow{"ToMixedPrecision",
            [](const Module& m,
               const PassArguments& a) {
              std::vector<std::string> unlisted;
              const Module mixed = ToMixedPrecision(m, {.type = a.mixed_type,
                                                        .keep_output_type = a.keep_output_type,
                                                        .unlisted = &unlisted});
              if (a.refuse_unlisted && !unlisted.empty())
                throw InvalidArgument(
                    StrCat("no list says whether these operators keep enough accuracy: ",
                           StrJoin(unlisted, ", "), "; missing_op_mode=float32 computes them so"));
              return mixed;
            },
            kTyped, kNone, kUnfused, kOther, kStraight, "computes products on operands of 16 bits",
            attrs::SchemaOf<ToMixedPrecisionOptions>, {}, ApplyOptions<ToMixedPrecisionOptions>},
    PassRow{"WidenHalfFloats", Plain<WidenHalfFloats>, kTyped, kNone, kUnfused, kOther, kStraight,
            "sums 16-bit floats in float32"},
};

std::function<bool(Module*)> InPlace(const PassRow& row, const PassArguments& arguments) {
  if (row.in_place == nullptr) return nullptr;
  return [in_place = row.in_place, arguments](Module* m) { return in_place(m, arguments); };
}

}  // namespace

std::span<const PassRow> PassTable() { return kPasses; }

const PassRow* FindRow(std::string_view name) {
  const auto row = std::ranges::find(kPasses, name, &PassRow::name);
  return row == kPasses.end() ? nullptr : row;
}

Pass MakePass(const PassRow& row, const PassArguments& arguments, int min_opt_level) {
  return {.name = std::string(row.name),
          .min_opt_level = min_opt_level,
          .function = [function = row.function,
                       arguments](const Module& m) { return function(m, arguments); },
          .keeps_values = row.values == Values::kKept,
          .needs = row.needs,
          .makes = row.makes,
          .keeps = row.keeps,
          .flow = row.flow,
          .in_place = InPlace(row, arguments)};
}

}  // namespace tenon::passes
