// Every operator with a compute, compiled in all ways, against the interpreter of its tensor
// expression and against its definition written out in the cases.
#include <algorithm>
#include <numeric>
#include <regex>
#include <set>
#include <tuple>

#include "tenon/ir/visit.h"
#include "tenon/jit/kernel.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/strings.h"
#include "tenon/tests/strategies/operator_cases.h"
#include "tenon/tests/strategies/reproducible_testing.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

using operator_cases::Array;
using operator_cases::Arrays;
using operator_cases::Input;
using operator_cases::OpCase;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::IsClose;
using testing_graphs::Outcome;
using testing_graphs::Parsed;
using testing_graphs::Random;
using testing_graphs::ValueAt;

Array ToArray(const NDArray& x) {
  Array array{x.shape(), {}};
  for (std::int64_t i = 0; i < x.size(); ++i) array.values.push_back(ValueAt(x, i));
  return array;
}

NDArray ValueOf(const Input& input, int seed) {
  NDArray array = Random(input.shape, input.dtype, seed, input.low, input.high);
  for (std::size_t i = 0; i < input.values.size(); ++i) {
    if (input.dtype == Float32) array.data<float>()[i] = static_cast<float>(input.values[i]);
    if (input.dtype == Float64) array.data<double>()[i] = input.values[i];
    if (input.dtype == Int32)
      array.data<std::int32_t>()[i] = static_cast<std::int32_t>(input.values[i]);
    if (input.dtype == Int64)
      array.data<std::int64_t>()[i] = static_cast<std::int64_t>(input.values[i]);
    if (input.dtype == Bool) array.data<bool>()[i] = input.values[i] != 0;
  }
  return array;
}

std::string TextOf(const OpCase& c) {
  std::string params;
  for (const Input& input : c.inputs)
    StrAppend(&params, params.empty() ? "" : ", ", "%", input.name, ": Tensor[(",
              StrJoin(input.shape, ", "), "), ", input.dtype.ToString(), "]");
  return StrCat("def @main(", params, ") { ", c.body, " }");
}

const std::vector<OpCase>& Cases() {
  static const std::vector<OpCase> cases = [] {
    std::vector<OpCase> made;
    operator_cases::AddUnary(&made);
    operator_cases::AddBinary(&made);
    operator_cases::AddReductions(&made);
    operator_cases::AddConvolutions(&made);
    operator_cases::AddMoreConvolutions(&made);
    operator_cases::AddBlockedLayouts(&made);
    operator_cases::AddPools(&made);
    operator_cases::AddUpSamplings(&made);
    operator_cases::AddGridSamples(&made);
    operator_cases::AddResizes(&made);
    operator_cases::AddProducts(&made);
    operator_cases::AddNorms(&made);
    operator_cases::AddReshapes(&made);
    operator_cases::AddMoves(&made);
    operator_cases::AddSlices(&made);
    operator_cases::AddIndexing(&made);
    operator_cases::AddSorts(&made);
    operator_cases::AddSparse(&made);
    operator_cases::AddFourier(&made);
    operator_cases::AddCorrelations(&made);
    operator_cases::AddBoxes(&made);
    operator_cases::AddBoxLists(&made);
    operator_cases::AddDetectors(&made);
    operator_cases::AddDetections(&made);
    operator_cases::AddLosses(&made);
    operator_cases::AddRegions(&made);
    operator_cases::AddSearches(&made);
    operator_cases::AddWarps(&made);
    operator_cases::AddFixedPoints(&made);
    operator_cases::AddScans(&made);
    operator_cases::AddScatters(&made);
    operator_cases::AddSequences(&made);
    operator_cases::AddPads(&made);
    operator_cases::AddBlocks(&made);
    operator_cases::AddCreations(&made);
    return made;
  }();
  return cases;
}

class OperatorTest : public ::testing::TestWithParam<OpCase> {};

TEST_P(OperatorTest, EqualsItsDefinitionHoweverItIsCompiled) {
  const OpCase& c = GetParam();
  SCOPED_TRACE(TextOf(c));
  const ir::Module module = Parsed(TextOf(c));
  runtime::Inputs inputs;
  Arrays arrays;
  int seed = std::accumulate(c.name.begin(), c.name.end(), 0);
  for (const Input& input : c.inputs) {
    const NDArray value = ValueOf(input, ++seed * 31);
    inputs[input.name] = value;
    arrays.push_back(ToArray(value));
  }
  const std::vector<NDArray> interpreted = Interpreted(module, inputs);
  const Arrays expected = c.reference(arrays);
  ASSERT_EQ(interpreted.size(), expected.size());
  for (std::size_t r = 0; r < expected.size(); ++r) {
    SCOPED_TRACE(StrCat("the interpreter and the definition, result ", r));
    ASSERT_EQ(interpreted[r].shape(), expected[r].shape);
    const bool is_float = interpreted[r].dtype().is_float();
    for (std::int64_t i = 0; i < interpreted[r].size(); ++i) {
      double value = expected[r].values[static_cast<std::size_t>(i)];
      if (interpreted[r].dtype() == Float32) value = static_cast<float>(value);
      ASSERT_PRED3(IsClose, ValueAt(interpreted[r], i), value, is_float ? 1e-4 : 0)
          << "element " << i;
    }
  }
  for (const LibraryChoice library : {LibraryChoice::kTe, LibraryChoice::kAuto})
    for (const int opt_level : {0, 3}) {
      SCOPED_TRACE(StrCat(library == LibraryChoice::kTe ? "te" : "auto", ", level ", opt_level));
      ExpectClose(Outcome(module, inputs, {.opt_level = opt_level, .library = library}),
                  interpreted);
    }
}

TEST_P(OperatorTest, ReproducibleBitsAreTheSameInWideVectors) {
  const OpCase& c = GetParam();
  SCOPED_TRACE(TextOf(c));
  runtime::Inputs inputs;
  int seed = std::accumulate(c.name.begin(), c.name.end(), 0);
  for (const Input& input : c.inputs) inputs[input.name] = ValueOf(input, ++seed * 31);
  testing_reproducible::ExpectSameBitsInWideVectors(Parsed(TextOf(c)), inputs);
}

INSTANTIATE_TEST_SUITE_P(All, OperatorTest, ::testing::ValuesIn(Cases()), [](const auto& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

// A machine that is poorer than this one: what to take away, and what its code must then not hold.
struct Machine {
  const char* name;
  const char* mask;
  const char* foreign;  // regular expression
  friend void PrintTo(const Machine& m, std::ostream* out) { *out << m.name; }
};

// Opcodes begin a line after a tab; those of AVX and later begin with v. libmvec's functions for
// AVX-512, AVX2 and AVX have e, d and c in their names.
constexpr Machine kMachines[] = {
    {"Avx2", "-avx512f", "zmm|%k[0-7]|[xy]mm(1[6-9]|[23][0-9])|_ZGVe"},
    {"Avx", "-avx2", "zmm|%k[0-7]|\tv(pbroadcast|p?gather|perm[dq]|permp[sd])|_ZGV[ed]"},
    {"Sse42", "-avx", "[yz]mm|\tv[a-z]|_ZGV[edc]"},
    {"Sse2", "-sse3,-popcnt,-lzcnt,-bmi,-bmi2,-movbe",
     "[yz]mm|\tv[a-z]|_ZGV[edc]|\t(p?blend|round[sp]|pmull?d|pinsr[bdq]|pextr[bdq]|insertps|"
     "extractps|ptest|dpps|hadd|pshufb|palignr|pmov[sz]x|pabs|popcnt|lzcnt|tzcnt|movddup|movs[hl]"
     "dup|"
     "pm(in|ax)([su]d|sb|uw)\\b)"},
};

class PoorerMachineTest : public ::testing::TestWithParam<std::tuple<OpCase, Machine>> {};

TEST_P(PoorerMachineTest, TheOperatorRunsWithoutWhatIsTakenAway) {
  const auto& [c, machine] = GetParam();
  SCOPED_TRACE(TextOf(c));
  const ir::Module module = Parsed(TextOf(c));
  runtime::Inputs inputs;
  int seed = std::accumulate(c.name.begin(), c.name.end(), 0);
  for (const Input& input : c.inputs) inputs[input.name] = ValueOf(input, ++seed * 31);
  const CompileOptions options{.target = jit::HostTarget(machine.mask),
                               .library = LibraryChoice::kTe};
  ExpectClose(Outcome(module, inputs, options), Interpreted(module, inputs));
  const std::regex foreign(machine.foreign);
  for (const LoweredKernel& kernel : ValueOrThrow(Lower(module, options)).kernels) {
    const std::string assembly =
        ValueOrThrow(jit::Compile(std::get<loop::Function>(kernel.choice.built.kernel),
                                  {.target = jit::HostTarget(machine.mask)}))
            .Assembly();
    for (const std::string& line : StrSplit(assembly, '\n'))
      EXPECT_FALSE(std::regex_search(line, foreign)) << line;
  }
}

// Layers on every machine, everything else on one of them in turn.
std::vector<std::tuple<OpCase, Machine>> CasesOnMachines() {
  std::vector<std::tuple<OpCase, Machine>> chosen;
  std::size_t turn = 0;
  for (const OpCase& c : Cases()) {
    const std::size_t own = turn++ % std::size(kMachines);
    for (std::size_t m = 0; m < std::size(kMachines); ++m)
      if (m == own || c.name.starts_with("nn.")) chosen.emplace_back(c, kMachines[m]);
  }
  return chosen;
}

INSTANTIATE_TEST_SUITE_P(All, PoorerMachineTest, ::testing::ValuesIn(CasesOnMachines()),
                         [](const auto& info) {
                           std::string name = std::get<0>(info.param).name;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return StrCat(name, "On", std::get<1>(info.param).name);
                         });

TEST(OperatorTableTest, HoldsEveryOperatorThatHasACompute) {
  RegisterStrategies(ops::OpRegistry::Global());
  std::set<std::string> called;
  for (const OpCase& c : Cases())
    ir::VisitPostOrder(Parsed(TextOf(c)).Main().body, [&](const ir::Expr& e) {
      if (const auto* call = e.As<ir::CallNode>(); call != nullptr && call->op() != nullptr)
        called.insert(call->op()->name);
    });
  std::vector<std::string> missing;
  for (const std::string& name : ops::OpRegistry::Global().Names()) {
    const ops::OpDef& op = *ops::OpOf(ops::OpRegistry::Global().Get(name));
    // Other tests of this program register operators of their own.
    if (name.starts_with("my.")) continue;
    // Their kernels are copies, which tests/compiler/device_test.cc runs.
    if (name == "device_copy" || name == "on_device") continue;
    // recurrent_test.cc holds their definitions.
    if (name == "nn.rnn" || name == "nn.gru" || name == "nn.lstm") continue;
    // tests/passes/partition/partition_graph_test.cc compiles them.
    if (name.starts_with("annotation.compiler_")) continue;
    if (op.Column<TeCompute>() != nullptr && !called.contains(name)) missing.push_back(name);
  }
  EXPECT_THAT(missing, ::testing::IsEmpty());
  EXPECT_GT(called.size(), 100U);
}

TEST(OperatorTableTest, HasNoNameTwice) {
  std::set<std::string> names;
  for (const OpCase& c : Cases()) EXPECT_TRUE(names.insert(c.name).second) << c.name;
}

// Apart from the table: no field has elements, so nothing may be read.
TEST(OperatorEdgeTest, ConcatenationOfEmptyFieldsOnlyIsEmpty) {
  const ir::Module module = Parsed(
      "def @main(%a: Tensor[(0, 3), float32], %b: Tensor[(0, 3), float32]) "
      "{ concatenate((%a, %b), axis=0) }");
  const NDArray nothing = NDArray::Zeros({0, 3}, Float32);
  const auto results = Outcome(module, {{"a", nothing}, {"b", nothing}});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace tenon::strategies
