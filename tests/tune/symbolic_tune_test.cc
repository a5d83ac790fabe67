// Tuning of models of variable extents: one record serves all shapes.
#include "tenon/tests/testing/graph_testing.h"
#include "tenon/tests/tune/records_testing.h"
#include "tenon/tune/best.h"
#include "tenon/tune/contest.h"
#include "tenon/tune/kernel.h"
#include "tenon/tune/tune.h"

namespace tenon::tune {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Parsed;

class SymbolicTuneTest : public RecordsTest {};

// One layer, twice: of n rows and of 2 * n.
ir::Module Layers(const std::string& extent) {
  return Parsed(StrCat("def @main(%x: Tensor[(", extent,
                       ", 48), float32], %w: Tensor[(48, 48), float32]) {\n"
                       "  %0 = nn.relu(nn.dense(%x, %w));\n"
                       "  %1 = concatenate((%0, %x));\n"
                       "  nn.relu(nn.dense(%1, %w))\n}"));
}

runtime::Inputs RandomInputsFor(std::int64_t n) {
  return testing_graphs::RandomInputs(Layers(StrCat(n)), 3);
}

std::vector<ModelKernel> KernelsFor(const Shapes& shapes) {
  const CompileOptions options = {.threads = 1, .library = LibraryChoice::kTe};
  return KernelsOf(Lower(Layers("n"), options).value(), shapes);
}

const ModelKernel& LayerOf(const std::vector<ModelKernel>& kernels) {
  for (const ModelKernel& kernel : kernels) {
    if (kernel.text.find("nn.dense") != std::string::npos) return kernel;
  }
  throw NotFound("no kernel has the product");
}

TEST_F(SymbolicTuneTest, AKernelIsRacedForTheExtentsOfAllItsCalls) {
  const std::vector<ModelKernel> kernels = KernelsFor({{{"n", 3}}, {{"n", 6}}, {{"n", 7}}});
  const ModelKernel& layer = LayerOf(kernels);
  EXPECT_EQ(layer.nodes.size(), 2U);
  EXPECT_EQ(layer.shapes.size(), 6U);
  EXPECT_THAT(layer.RacedShapes(),
              ElementsAre(Dim::Values{{"d0", 3}}, Dim::Values{{"d0", 6}}, Dim::Values{{"d0", 7}},
                          Dim::Values{{"d0", 12}}, Dim::Values{{"d0", 14}}));
  EXPECT_EQ(RangesText(layer.RacedShapes()), "d0=3..14");
}

TEST_F(SymbolicTuneTest, OfManyShapesSomeAreRacedWithTheLeastAndTheGreatest) {
  Shapes shapes;
  for (std::int64_t n = 1; n <= 50; ++n) shapes.push_back({{"n", n}});
  const std::vector<ModelKernel> kernels = KernelsFor(shapes);
  const Shapes raced = LayerOf(kernels).RacedShapes();
  EXPECT_EQ(raced.size(), ModelKernel::kMaxShapes);
  EXPECT_EQ(RangesText(raced), "d0=1..100");
}

TEST_F(SymbolicTuneTest, ARecordDecidesForAllShapesAndResultsStayRight) {
  const std::vector<ModelKernel> kernels = KernelsFor({{{"n", 5}}});
  const ModelKernel& layer = LayerOf(kernels);
  for (const char* text :
       {"te.dense.plain", "te.dense.tiled rows=3 vectors=1", "te.dense.tiled rows=4 vectors=2"}) {
    std::filesystem::remove(Path("r.sqlite"));
    Records records = Open("r.sqlite");
    Record won = MakeRecord(layer, {.threads = 1}, "run");
    EXPECT_EQ(won.shapes, "d0=5..10");
    won.choice = text;
    won.over = ChoiceText(layer.chosen.implementation, layer.chosen.config.Values());
    won.ratio = 0.5;
    won.rounds = 40;
    ASSERT_TRUE(records.Add(won, layer.text).ok());
    CompileOptions options = {.threads = 1};
    options.measured = ChoicesFor(records, options.target, 1).value();
    std::string explained;
    const Lowered lowered = Lower(Layers("n"), options).value();
    for (const LoweredKernel& kernel : lowered.kernels)
      explained += StrCat(kernel.choice.Explanation(), "\n");
    EXPECT_THAT(explained, AllOf(HasSubstr(RowOf(text)),
                                 HasSubstr("measured: 0.50 x of default, 40 rounds, d0=5..10, ")));
    const Executable executable = Compile(Layers("n"), options).value();
    for (const std::int64_t n : {1, 2, 5, 17}) {
      const runtime::Inputs inputs = RandomInputsFor(n);
      ExpectClose(executable.Run(inputs).value(), Interpreted(Layers(StrCat(n)), inputs));
    }
  }
}

TEST_F(SymbolicTuneTest, ASearchKeepsWhatItRacedWithTheShapes) {
  Records records = Open("r.sqlite");
  int raced = 0;  // one is enough, however long a machine takes
  const TuneOptions options{.compile = {.threads = 1},
                            .shapes = {{{"n", 1}}, {{"n", 33}}},
                            .seconds = 120,
                            .progress = [&](const TuneProgress& now) { raced = now.raced; },
                            .stopped = [&] { return raced > 0; }};
  const TuneReport report = Tune(Layers("n"), options, &records).value();
  EXPECT_GT(report.raced, 0);
  const std::vector<Record> found = records.Find().value();
  ASSERT_FALSE(found.empty());
  for (const Record& record : found) EXPECT_EQ(record.shapes, "d0=1..66");
  for (const KernelReport& kernel : report.kernels) {
    EXPECT_TRUE(kernel.wrong.empty()) << kernel.wrong.at(0);
    EXPECT_GT(kernel.model_s, 0);
    EXPECT_GT(kernel.floor_s, 0);
  }
}

TEST_F(SymbolicTuneTest, ShapesThatDoNotFitTheModelAreRefusedInWords) {
  Records records = Open("r.sqlite");
  const auto error_of = [&](const std::string& extent, const Shapes& shapes) {
    return std::string(Tune(Layers(extent), {.compile = {.threads = 1}, .shapes = shapes}, &records)
                           .status()
                           .message());
  };
  EXPECT_THAT(error_of("n", {}), HasSubstr("say the shapes that it is to be measured for"));
  EXPECT_THAT(error_of("n", {{{"m", 4}}}), HasSubstr("do not give the extent"));
  EXPECT_THAT(error_of("4", {{{"n", 4}}}), HasSubstr("this one has numbers alone"));
}

}  // namespace
}  // namespace tenon::tune
