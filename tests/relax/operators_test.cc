#include "tenon/passes/infer_type.h"
#include "tenon/relax/relax_form.h"
#include "tenon/tests/relax/relax_text.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::relax {
namespace {

using ::testing::HasSubstr;

// What a call of Relax is in Relay text. x is (2, 3, 4, 4), w is (5, 3, 3, 3), v is (4,), m is
// (4, 4), all of float32, and i is (2,) of int64.
struct Spelling {
  const char* relax;
  const char* relay;
  friend void PrintTo(const Spelling& s, std::ostream* out) { *out << s.relax; }
};

constexpr char kParams[] =
    "x: R.Tensor((2, 3, 4, 4), \"float32\"), w: R.Tensor((5, 3, 3, 3), \"float32\"), "
    "v: R.Tensor((4,), \"float32\"), c: R.Tensor((3,), \"float32\"), "
    "m: R.Tensor((4, 4), \"float32\"), i: R.Tensor((2,), \"int64\")";

class OperatorTest : public ::testing::TestWithParam<Spelling> {};

TEST_P(OperatorTest, IsThatOfRelay) {
  const ir::Module module = Read(Main(kParams, StrCat("    return ", GetParam().relax, "\n")));
  const ir::Module expected = passes::InferType(Parse(
      StrCat("def @main(%x: Tensor[(2, 3, 4, 4), float32], %w: Tensor[(5, 3, 3, 3), float32], "
             "%v: Tensor[(4), float32], %c: Tensor[(3), float32], %m: Tensor[(4, 4), float32], "
             "%i: Tensor[(2), int64]) {",
             GetParam().relay, "}")));
  EXPECT_TRUE(ir::StructuralEqual(module, expected)) << Print(module) << "\nis not\n"
                                                     << Print(expected);
  ExpectRoundTrip(module);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, OperatorTest,
    ::testing::Values(
        Spelling{"R.nn.conv2d(x, w)", "nn.conv2d(%x, %w, padding=[0, 0, 0, 0])"},
        Spelling{"R.nn.conv2d(x, w, 2, 1)",
                 "nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 1, 1, 1])"},
        Spelling{"R.nn.conv2d(x, w, strides=[2], padding=(1, 0, 2, 1), out_dtype=None)",
                 "nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 0, 2, 1])"},
        Spelling{"R.nn.max_pool2d(x, pool_size=2)",
                 "nn.max_pool2d(%x, pool_size=[2, 2], padding=[0, 0, 0, 0])"},
        Spelling{"R.nn.max_pool2d(x)", "nn.max_pool2d(%x, pool_size=[1, 1], padding=[0, 0, 0, 0])"},
        Spelling{"R.nn.avg_pool2d(x, pool_size=[2, 2], strides=[2, 2], count_include_pad=True)",
                 "nn.avg_pool2d(%x, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0], "
                 "count_include_pad=True)"},
        Spelling{"R.nn.adaptive_avg_pool2d(x, 1)", "nn.adaptive_avg_pool2d(%x, output_size=[1])"},
        Spelling{"R.nn.adaptive_avg_pool2d(x, output_size=None)", "nn.adaptive_avg_pool2d(%x)"},
        Spelling{"R.nn.batch_norm(x, c, c, c, c, axis=1, epsilon=0.001, center=True, scale=True, "
                 "momentum=0.1, training=False)[0]",
                 "%0 = nn.batch_norm(%x, %c, %c, %c, %c, epsilon=0.001f); %0.0"},
        Spelling{"R.nn.layer_norm(x, v, v, axes=[-1])", "nn.layer_norm(%x, %v, %v)"},
        Spelling{"R.nn.group_norm(x, c, c, num_groups=1, channel_axis=1, axes=[2, 3])",
                 "nn.group_norm(%x, %c, %c, num_groups=1)"},
        Spelling{"R.nn.softmax(x, axis=1)", "nn.softmax(%x, axis=1)"},
        Spelling{"R.nn.log_softmax(x)", "nn.log_softmax(%x)"},
        Spelling{"R.nn.leakyrelu(x)", "nn.leaky_relu(%x, alpha=0.01f)"},
        Spelling{"R.nn.dropout(x, rate=0.25)[0]", "%0 = nn.dropout(%x, rate=0.25f); %0.0"},
        Spelling{"R.nn.silu(x)", "multiply(%x, sigmoid(%x))"},
        Spelling{"R.nn.pad(x, (0, 0, 0, 0, 1, 2, 3, 4), pad_value=1.5)",
                 "nn.pad(%x, 1.5f, pad_width=[[0, 0], [0, 0], [1, 2], [3, 4]])"},
        Spelling{"R.reshape(x, R.shape([6, -1]))", "reshape(%x, newshape=[6, -1])"},
        Spelling{"R.reshape(x, (6, 16))", "reshape(%x, newshape=[6, 16])"},
        Spelling{"R.flatten(x)", "reshape(%x, newshape=[-1])"},
        Spelling{"R.permute_dims(x, axes=[0, 2, 3, 1])", "transpose(%x, axes=[0, 2, 3, 1])"},
        Spelling{"R.permute_dims(m)", "transpose(%m, axes=None)"},
        Spelling{"R.concat((x, x), axis=1)", "concatenate((%x, %x), axis=1)"},
        Spelling{"R.concat([x, x])", "concatenate((%x, %x))"},
        Spelling{"R.expand_dims(v, axis=[0])", "expand_dims(%v, axis=0)"},
        Spelling{"R.squeeze(R.expand_dims(v, 0), 0)", "squeeze(expand_dims(%v, axis=0), axis=[0])"},
        Spelling{"R.expand_dims(v, axis=[0, 2])", "expand_dims(expand_dims(%v, axis=0), axis=2)"},
        Spelling{"R.expand_dims(v, [-1, 1])", "expand_dims(%v, axis=1, num_newaxis=2)"},
        Spelling{"R.split(x, 3, axis=1)[1]", "%0 = split(%x, indices_or_sections=3, axis=1); %0.1"},
        Spelling{"R.split(R.flatten(x), 5)[4]",
                 "%0 = split(reshape(%x, newshape=[-1]), indices_or_sections=[20, 40, 60, 80]); "
                 "%0.4"},
        Spelling{"R.multiply(x, R.prim_value(T.float32(2)))", "multiply(%x, 2f)"},
        Spelling{"R.split(x, [1, 2], axis=1)", "split(%x, indices_or_sections=[1, 2], axis=1)"},
        Spelling{"R.broadcast_to(v, (2, 4))", "broadcast_to(%v, shape=[2, 4])"},
        Spelling{"R.tile(v, 2)", "tile(%v, reps=[2])"},
        Spelling{"R.repeat(v, 2, 0)", "repeat(%v, repeats=2, axis=0)"},
        Spelling{"R.flip(x, 2)", "reverse(%x, axis=2)"},
        Spelling{"R.take(x, i, axis=1)", "take(%x, %i, axis=1)"},
        Spelling{"R.strided_slice(x, axes=[1], begin=[0], end=[2])",
                 "strided_slice(%x, begin=[0], end=[2], axes=[1])"},
        Spelling{"R.strided_slice(x, axes=[1], begin=[0], end=[2], strides=None)",
                 "strided_slice(%x, begin=[0], end=[2], axes=[1])"},
        Spelling{"R.strided_slice(x, (R.prim_value(1),), (R.prim_value(0),), (R.prim_value(2),), "
                 "assume_inbound=False)",
                 "strided_slice(%x, begin=[0], end=[2], axes=[1])"},
        Spelling{"R.mean(x, axis=[2, 3], keepdims=True)", "mean(%x, axis=[2, 3], keepdims=True)"},
        Spelling{"R.sum(x)", "sum(%x)"}, Spelling{"R.max(x, -1)", "max(%x, axis=[-1])"},
        Spelling{"R.variance(x, axis=1)",
                 "variance(%x, mean(%x, axis=[1], keepdims=True), axis=[1])"},
        Spelling{"R.argmax(x, axis=1)", "cast(argmax(%x, axis=[1]), dtype=\"int64\")"},
        Spelling{"R.argsort(v, descending=True)", "argsort(%v, is_ascend=False, dtype=\"int32\")"},
        Spelling{"R.sort(v)", "sort(%v)"},
        Spelling{"R.topk(v, k=2)[1]", "%0 = topk(%v, k=2, dtype=\"int32\"); %0.1"},
        Spelling{"R.cumsum(v, axis=0)", "cumsum(%v, axis=0)"},
        Spelling{"R.astype(x, \"float16\")", "cast(%x, dtype=\"float16\")"},
        Spelling{"R.clip(x, R.prim_value(0), 6.0)", "clip(%x, a_min=0f, a_max=6f)"},
        Spelling{"R.clip(x, R.prim_value(T.float32(\"-inf\")), float(\"inf\"))",
                 "clip(%x, a_min=-inf, a_max=inf)"},
        Spelling{"R.where(R.less(x, x), x, x)", "where(less(%x, %x), %x, %x)"},
        Spelling{"R.full((2, 3), R.const(1.0, \"float32\"), dtype=\"float32\")",
                 "full(1f, shape=[2, 3], dtype=\"float32\")"},
        Spelling{"R.zeros(R.shape([2, 3]), \"float32\")", "zeros(shape=[2, 3], dtype=\"float32\")"},
        Spelling{"R.arange(R.prim_value(5))",
                 "arange(start=0f, stop=5f, step=1f, dtype=\"int64\")"},
        Spelling{"R.arange(1, 5, 2, dtype=\"int32\")",
                 "arange(start=1f, stop=5f, step=2f, dtype=\"int32\")"},
        Spelling{"R.matmul(m, m)", "nn.matmul(%m, %m)"},
        Spelling{"R.matmul(x, m)", "nn.matmul(%x, %m)"},
        Spelling{"R.matmul(x, v)", "squeeze(nn.matmul(%x, expand_dims(%v, axis=1)), axis=[-1])"},
        Spelling{"R.linear(x, m, v)", "add(nn.matmul(%x, transpose(%m, axes=[1, 0])), %v)"},
        Spelling{"R.einsum((m, m), \"ij,jk->ik\")", "einsum((%m, %m), equation=\"ij,jk->ik\")"},
        Spelling{"R.gather_nd(m, R.reshape(i, (1, 2)))",
                 "gather_nd(%m, transpose(reshape(%i, newshape=[1, 2]), axes=[1, 0]))"},
        Spelling{"R.gather_elements(v, i, axis=0)", "gather(%v, %i)"},
        Spelling{"R.square(x)", "multiply(%x, %x)"}, Spelling{"R.triu(m, 1)", "trilu(%m, 1i64)"},
        Spelling{"R.one_hot(i, R.const(1.0, \"float32\"), R.const(0.0, \"float32\"), depth=3)",
                 "one_hot(%i, 1f, 0f, depth=3)"},
        Spelling{"R.one_hot(i, R.prim_value(T.float32(1)), R.prim_value(T.float32(-0.5)), depth=3)",
                 "one_hot(%i, 1f, -0.5f, depth=3)"},
        Spelling{"R.one_hot(i, R.prim_value(1), R.prim_value(0), 3)",
                 "one_hot(%i, 1i64, 0i64, depth=3)"},
        Spelling{"R.image.resize2d(x, R.shape([8, 8]), layout=\"NCHW\")",
                 "image.resize2d(%x, size=[8, 8], cubic_alpha=-0.75f)"},
        Spelling{"R.image.resize2d(x, 8, roi=None)",
                 "image.resize2d(%x, size=[8, 8], cubic_alpha=-0.75f)"},
        Spelling{"R.relay.nn.bias_add(x, c)", "nn.bias_add(%x, %c)"},
        Spelling{"R.nn.bias_add(x, c, axis=1)", "nn.bias_add(%x, %c)"}));

TEST(OperatorTest, OtherGroupsAreRefused) {
  EXPECT_THAT(RefusalOf(Main(kParams,
                             "    return R.nn.group_norm(x, c, c, num_groups=1, channel_axis=1, "
                             "axes=[3])\n")),
              HasSubstr("those beside the batch and the channels are: 2, 3"));
}

TEST(RelaxFormTest, ABiasOfNoChannelsIsAdded) {
  const ir::Module module =
      InRelaxForm(Parse("def @main(%x: Tensor[(1, 0, 2), float32], %b: Tensor[(0), float32]) { "
                        "nn.bias_add(%x, %b) }"));
  EXPECT_EQ(ir::ToString(module.Main().body.checked_type()), "Tensor[(1, 0, 2), float32]");
  ExpectRoundTrip(module);
}

TEST(OperatorTest, AMissingArgumentIsNamed) {
  EXPECT_THAT(RefusalOf(Main(kParams, "    return R.nn.pad(x)\n")),
              HasSubstr("R.nn.pad needs pad_width"));
}

}  // namespace
}  // namespace tenon::relax
