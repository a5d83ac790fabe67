// Results have the names that the model gives them, wherever the model goes.
#include "tenon/ir/result_names.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tenon/compiler/export.h"
#include "tenon/compiler/save_executable.h"
#include "tenon/onnx/export.h"
#include "tenon/onnx/model.h"
#include "tenon/relax/text_format.h"
#include "tenon/runtime/saved_executable.h"
#include "tenon/tests/onnx/any_shapes.h"

namespace tenon::onnx_import {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Exporters name values by numbers and by paths.
const Names kNames = {"7", "out/*put*/", "7.1"};

Model ThreeResults() {
  Model model;
  NamedInput(model, "x", {"n", "3"});
  for (const std::string& name : kNames) model.Output(name);
  model.Node("Relu", {"x"}, {kNames[0]});
  model.Node("Exp", {kNames[0]}, {kNames[1]});
  model.Node("Softmax", {kNames[1]}, {kNames[2]});
  return model;
}

// A program: how many columns there are is decided by the values.
Model FoundElements() {
  Model model;
  model.Input("x", {4, 3}).Output("places").Output("doubled");
  model.Node("NonZero", {"x"}, {"places"});
  model.Node("Add", {"places", "places"}, {"doubled"});
  return model;
}

ir::Module Static(const Model& model) { return ValueOrThrow(Imported(model, {{"x", {2, 3}}})); }
ir::Module Symbolic(const Model& model) {
  return ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes()));
}

class Folder {
 public:
  Folder() : path_(fs::path(testing::TempDir()) / "result_names") { fs::create_directories(path_); }
  ~Folder() { fs::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

TEST(ResultNamesTest, ExecutablesHaveThoseOfTheModel) {
  EXPECT_EQ(ir::ResultNamesOf(Static(ThreeResults())), kNames);
  EXPECT_EQ(ValueOrThrow(Compile(Static(ThreeResults()))).result_names(), kNames);
  const Executable any = ValueOrThrow(Compile(Symbolic(ThreeResults())));
  EXPECT_EQ(any.result_names(), kNames);
  const NDArray x = testing_graphs::Random({5, 3}, 1);
  const Executable bound = ValueOrThrow(any.Bind({{"x", x}}));
  EXPECT_EQ(bound.result_names(), kNames);
  testing_graphs::ExpectClose(ValueOrThrow(bound.Run({{"x", x}})),
                              ValueOrThrow(any.Run({{"x", x}})));
  const Executable program = ValueOrThrow(Compile(ValueOrThrow(Imported(FoundElements()))));
  EXPECT_EQ(program.result_names(), (Names{"places", "doubled"}));
}

TEST(ResultNamesTest, ALoweredModelKeepsThem) {
  for (const ir::Module& module : {Static(ThreeResults()), Symbolic(ThreeResults())}) {
    const Lowered lowered = ValueOrThrow(Lower(module));
    EXPECT_EQ(ir::ResultNamesOf(lowered.module), kNames);
    EXPECT_EQ(ValueOrThrow(Link(lowered)).result_names(), kNames);
  }
}

TEST(ResultNamesTest, SavedExecutablesKeepThem) {
  const Folder folder;
  const CompileOptions options = {.library = LibraryChoice::kTe};
  ASSERT_EQ(SaveExecutable(ValueOrThrow(Lower(Static(ThreeResults()), options)), folder / "plan"),
            absl::OkStatus());
  const auto plan = ValueOrThrow(runtime::LoadExecutable(folder / "plan"));
  EXPECT_EQ(plan.result_names, kNames);
  EXPECT_EQ(plan.executable.result_names(), kNames);
  const ir::Module found = ValueOrThrow(Imported(FoundElements()));
  ASSERT_EQ(SaveExecutable(ValueOrThrow(LowerProgram(found, options)), folder / "program"),
            absl::OkStatus());
  EXPECT_EQ(ValueOrThrow(runtime::LoadExecutable(folder / "program")).executable.result_names(),
            (Names{"places", "doubled"}));
}

// A name must not end the comment that it stands in.
TEST(ResultNamesTest, HeadersOfExportedCodeNameThem) {
  const Folder folder;
  const Lowered lowered =
      ValueOrThrow(Lower(Static(ThreeResults()), {.library = LibraryChoice::kTe}));
  ASSERT_EQ(ExportCSource(lowered, folder / "net.c"), absl::OkStatus());
  std::stringstream header;
  header << std::ifstream(folder / "net.h").rdbuf();
  EXPECT_THAT(header.str(), AllOf(HasSubstr("outputs[0]: 7, float32 (2, 3)"),
                                  HasSubstr("outputs[1]: out/*put*?, float32 (2, 3)"),
                                  HasSubstr("outputs[2]: 7.1, float32 (2, 3)")));
}

TEST(ResultNamesTest, WrittenModelsHaveThem) {
  const std::string bytes = ValueOrThrow(onnx_export::ExportOnnx(Static(ThreeResults())));
  EXPECT_EQ(ValueOrThrow(OnnxModel::Parse(bytes, "written")).results(), kNames);
  const NDArray x = testing_graphs::Random({2, 3}, 1);
  testing_graphs::ExpectClose(testing_graphs::Outcome(ValueOrThrow(Imported(bytes)), {{"x", x}}),
                              testing_graphs::Outcome(Static(ThreeResults()), {{"x", x}}));
}

// A result that is an input, and one that is given twice.
TEST(ResultNamesTest, NamesThatAreTakenStayWhereTheyAre) {
  Model model;
  model.Input("x", {2, 3}).Output("x").Output("y").Output("y");
  model.Node("Exp", {"x"}, {"y"});
  const std::string bytes = ValueOrThrow(onnx_export::ExportOnnx(ValueOrThrow(Imported(model))));
  const NDArray x = testing_graphs::Random({2, 3}, 1);
  testing_graphs::ExpectClose(testing_graphs::Outcome(ValueOrThrow(Imported(bytes)), {{"x", x}}),
                              testing_graphs::Outcome(ValueOrThrow(Imported(model)), {{"x", x}}));
}

TEST(ResultNamesTest, RelaxTextKeepsThem) {
  const std::string text = relax::PrintRelax(Static(ThreeResults()), {.metadata = true});
  EXPECT_EQ(ir::ResultNamesOf(ValueOrThrow(relax::ParseRelax(text))), kNames);
}

TEST(ResultNamesTest, AnAttributeThatIsNoListOfNamesNamesNothing) {
  const ir::Module module;
  EXPECT_THAT(ir::ResultNamesOf(module), IsEmpty());
  for (const attrs::Value& value :
       {attrs::Value("y"), attrs::Value(attrs::List{attrs::Value("y"), attrs::Value(true)})})
    EXPECT_THAT(ir::ResultNamesOf(module.WithAttrs({{"result_names", value}})), IsEmpty());
  EXPECT_EQ(ir::ResultNamesOf(ir::WithResultNames(module, {"y"})), Names{"y"});
  EXPECT_TRUE(ir::WithResultNames(ir::WithResultNames(module, {"y"}), {}).attrs().empty());
}

// Values in the file have such names, too, which are not those of the results.
TEST(ResultNamesTest, AWrittenModelHasThemWhateverItsValuesAreNamed) {
  Model model;
  model.Input("x", {1}).Output("v2").Output("v1");
  model.Node("Add", {"x", "x"}, {"twice"});
  model.Node("Mul", {"twice", "x"}, {"v2"});
  model.Node("Sub", {"twice", "x"}, {"v1"});
  const std::string written = ValueOrThrow(onnx_export::ExportOnnx(ValueOrThrow(Imported(model))));
  const ir::Module again = ValueOrThrow(Imported(written));
  EXPECT_EQ(ir::ResultNamesOf(again), (Names{"v2", "v1"}));
  const auto results =
      testing_graphs::Outcome(again, {{"x", NDArray::FromVector<float>({1}, {3})}});
  EXPECT_EQ(results.at(0).ToVector<float>(), std::vector<float>{18});
  EXPECT_EQ(results.at(1).ToVector<float>(), std::vector<float>{3});
}

}  // namespace
}  // namespace tenon::onnx_import
