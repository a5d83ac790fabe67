// Kernels as the reference system writes them for its target "c", from the graph of two additions,
// a sum and an addition.
#include "tenon/compiler/export.h"
#include "tenon/jit/c/c_reference.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/c_library.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Parsed;
using testing_graphs::Random;
using testing_graphs::RandomInputs;

ir::Module Boundary() {
  return Parsed(
      "def @main(%x: Tensor[(20, 20), float32]) {\n"
      "  %0 = add(%x, %x);\n  %1 = add(%0, %0);\n  %2 = sum(%1, axis=[-1]);\n  add(%2, %2)\n}");
}

std::string SourceOf(const ir::Module& module, const ExportOptions& options = {}) {
  const Lowered lowered =
      ValueOrThrow(Lower(module, {.library = LibraryChoice::kTe, .fusion = FusionMode::kRelay}));
  return ValueOrThrow(ReferenceCSource(lowered, options));
}

// A packed kernel, from its first line to its last, without its prologue.
std::string LoopsOf(const std::string& source, const std::string& kernel) {
  const std::size_t begin = source.find("TENON_DLL int32_t " + kernel + "(void* args");
  const std::size_t checks = source.find("_strides == NULL)) {\n  }\n  for", begin);
  const std::size_t loops = source.find("  for", checks);
  return source.substr(loops, source.find("\n}\n", loops) + 3 - loops);
}

TEST(ReferenceCTest, S001_38_TheReferenceFormNamesItsTargetAndItsHeaders) {
  EXPECT_THAT(SourceOf(Boundary()),
              ::testing::StartsWith("// target: c -keys=cpu -link-params=0\n"
                                    "#define TENON_EXPORTS\n"
                                    "#include \"dlpack/dlpack.h\"\n"
                                    "#include \"tenon_packed_runtime.h\"\n"
                                    "#include <math.h>\n"
                                    "#ifdef __cplusplus\n"
                                    "extern \"C\"\n"
                                    "#endif\n"
                                    "TENON_DLL int32_t tvmgen_default_fused_add_add_sum("));
}

TEST(ReferenceCTest, S001_39_S001_40_TheReferenceFormTakesItsTensorsApart) {
  EXPECT_THAT(
      SourceOf(Boundary()),
      HasSubstr("TENON_DLL int32_t tvmgen_default_fused_add_add_sum(void* args, void* "
                "arg_type_ids, int32_t num_args, void* out_ret_value, void* out_ret_tcode, void* "
                "resource_handle) {\n"
                "  void* arg0 = (((TenonValue*)args)[0].v_handle);\n"
                "  int32_t arg0_code = ((int32_t*)arg_type_ids)[(0)];\n"
                "  void* arg1 = (((TenonValue*)args)[1].v_handle);\n"
                "  int32_t arg1_code = ((int32_t*)arg_type_ids)[(1)];\n"
                "  const float* placeholder = (const float*)(((DLTensor*)arg0)[0].data);\n"
                "  void* arg0_shape = (((DLTensor*)arg0)[0].shape);\n"
                "  void* arg0_strides = (((DLTensor*)arg0)[0].strides);\n"
                "  int32_t dev_id = (((DLTensor*)arg0)[0].device.device_id);\n"
                "  float* T_add_red = (float*)(((DLTensor*)arg1)[0].data);\n"
                "  void* arg1_shape = (((DLTensor*)arg1)[0].shape);\n"
                "  void* arg1_strides = (((DLTensor*)arg1)[0].strides);\n"
                "  if (!(arg0_strides == NULL)) {\n  }\n"
                "  if (!(arg1_strides == NULL)) {\n  }\n"));
}

TEST(ReferenceCTest, S001_39_EachKernelIsExportedWithTheSixArguments) {
  for (const char* kernel : {"fused_add_add_sum", "fused_add"})
    EXPECT_THAT(
        SourceOf(Boundary()),
        HasSubstr(StrCat("#ifdef __cplusplus\nextern \"C\"\n#endif\n"
                         "TENON_DLL int32_t tvmgen_default_",
                         kernel,
                         "(void* args, void* arg_type_ids, int32_t num_args, void* "
                         "out_ret_value, void* out_ret_tcode, void* resource_handle) {\n")));
}

// The row starts at zero, and no intermediate result is stored. What occurs twice is shared.
TEST(ReferenceCTest, S001_41_S001_42_TheSumOfTheExampleTakesItsProducersIn) {
  EXPECT_EQ(LoopsOf(SourceOf(Boundary()), "tvmgen_default_fused_add_add_sum"),
            "  for (int64_t ax0 = 0; ax0 < 20; ++ax0) {\n"
            "    T_add_red[ax0] = 0.0f;\n"
            "    for (int64_t k1 = 0; k1 < 20; ++k1) {\n"
            "      const float t = placeholder[(ax0 * 20) + k1] + placeholder[(ax0 * 20) + k1];\n"
            "      T_add_red[ax0] = T_add_red[ax0] + (t + t);\n"
            "    }\n"
            "  }\n"
            "  return 0;\n"
            "}\n");
}

TEST(ReferenceCTest, S001_43_TheAdditionOfTheExampleKeepsItsGuardInASerialLoop) {
  EXPECT_EQ(LoopsOf(SourceOf(Boundary()), "tvmgen_default_fused_add"),
            "  for (int64_t ax0_outer = 0; ax0_outer < 2; ++ax0_outer) {\n"
            "    for (int64_t ax0_inner_s = 0; ax0_inner_s < 16; ++ax0_inner_s) {\n"
            "      if (((ax0_outer * 16) + ax0_inner_s) < 20) {\n"
            "        const int64_t t = (ax0_outer * 16) + ax0_inner_s;\n"
            "        T_add[(ax0_outer * 16) + ax0_inner_s] = placeholder[t] + placeholder[t];\n"
            "      }\n"
            "    }\n"
            "  }\n"
            "  return 0;\n"
            "}\n");
}

// Compiles a source as a user would, in a folder with the runtime header.
class Compiled {
 public:
  explicit Compiled(const std::string& source) {
    jit::WriteText(folder_ / jit::kPackedRuntimeHeader, jit::PackedRuntimeHeader());
    // What the prologue reads and the loops do not is as in the reference.
    library_.emplace(source, StrCat(jit::kStrictC, " -Wno-unused-variable -Wno-unused-parameter -I",
                                    folder_.path().string()));
  }
  const jit::CLibrary& library() const { return *library_; }

 private:
  jit::ScopedFolder folder_;
  std::optional<jit::CLibrary> library_;
};

TEST(ReferenceCTest, TheKernelsOfTheExampleCompileAndAgree) {
  const Compiled compiled(SourceOf(Boundary()));
  ASSERT_EQ(compiled.library().failure(), "");
  const runtime::Inputs inputs = RandomInputs(Boundary(), 3);
  const NDArray sums = NDArray::Zeros({20}, Float32), result = NDArray::Zeros({20}, Float32);
  EXPECT_EQ(compiled.library().Call("tvmgen_default_fused_add_add_sum", {inputs.at("x"), sums}), 0);
  EXPECT_EQ(compiled.library().Call("tvmgen_default_fused_add", {sums, result}), 0);
  ExpectClose(std::vector<NDArray>{result}, Interpreted(Boundary(), inputs), 1e-5);
}

// Kernels of one call of each module, by their reference form.
TEST(ReferenceCTest, OtherOperatorsComputeTheSame) {
  for (const char* text :
       {"def @main(%x: Tensor[(2, 3, 7, 9), float32], %w: Tensor[(4, 3, 3, 3), float32]) { "
        "nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1])) }",
        "def @main(%x: Tensor[(2, 7, 9, 3), float32], %w: Tensor[(3, 3, 3, 4), float32]) { "
        "nn.conv2d(%x, %w, data_layout=\"NHWC\", kernel_layout=\"HWIO\", padding=[1, 1, 1, 1]) }",
        "def @main(%x: Tensor[(5, 33), float32], %w: Tensor[(17, 33), float32]) { "
        "tanh(nn.dense(%x, %w, units=17)) }",
        "def @main(%x: Tensor[(5, 32), float32], %y: Tensor[(5, 32), float32]) { "
        "maximum(%x, exp(%y)) }",
        "def @main(%x: Tensor[(3, 4, 18), float32]) { max(nn.relu(%x), axis=[1]) }"}) {
    const ir::Module module = Parsed(text);
    const runtime::Inputs inputs = RandomInputs(module, 5);
    const Lowered lowered =
        ValueOrThrow(Lower(module, {.library = LibraryChoice::kTe, .fusion = FusionMode::kRelay}));
    ASSERT_EQ(lowered.kernels.size(), 1U) << text;
    const Compiled compiled(ValueOrThrow(ReferenceCSource(lowered, {.name = "net"})));
    ASSERT_EQ(compiled.library().failure(), "") << text;
    const std::vector<NDArray> expected = Interpreted(module, inputs);
    std::vector<NDArray> arrays;
    for (const ir::Expr& param : module.Main().params)
      arrays.push_back(inputs.at(ir::Var(param).name()));
    arrays.push_back(NDArray::Zeros(expected[0].shape(), expected[0].dtype()));
    const std::string name = "tvmgen_net_" + lowered.kernels[0].name.substr(15);
    EXPECT_EQ(compiled.library().Call(name, arrays), 0) << name;
    ExpectClose(arrays.back(), expected[0], 1e-4);
  }
}

TEST(ReferenceCTest, AKernelThatCallsAFunctionIsRefusedByName) {
  const ir::Module module = Parsed("def @main(%x: Tensor[(3, 65), float32]) { sort(%x) }");
  const Lowered lowered = ValueOrThrow(Lower(module, {.library = LibraryChoice::kTe}));
  const auto source = ReferenceCSource(lowered);
  EXPECT_EQ(source.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(source.status().message()), HasSubstr("tvmgen_default_fused_sort calls"));
}

}  // namespace
}  // namespace tenon
