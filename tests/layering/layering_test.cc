// Folder = layer: reads every #include of the project and refuses the arrows that the table below
// does not have.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon_test_paths.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;

// Direct arrows; what a room may include is their transitive closure. The same table stands in
// docs/architecture.md.
const std::map<std::string, std::set<std::string>>& Arrows() {
  static const auto& arrows = *new std::map<std::string, std::set<std::string>>{
      {"support", {}},
      {"attrs", {"support"}},
      {"ir", {"attrs"}},
      {"ops", {"ir"}},
      {"passes", {"ops"}},
      {"loop", {"support"}},
      {"te", {"loop"}},
      {"schedule", {"te"}},
      {"jit", {"loop"}},
      {"strategies", {"ops", "schedule", "jit"}},
      {"runtime", {"support", "jit"}},
      {"compiler", {"passes", "strategies", "runtime"}},
      {"onnx", {"ops", "passes"}},
      {"relax", {"ops", "passes"}},
      {"c_api", {"compiler", "onnx", "relax"}},
      {"models", {"ops"}},
      {"verify", {"compiler", "onnx"}},
      {"quantize", {"compiler"}},
      {"tune", {"compiler", "verify"}},
      {"tools", {"compiler", "onnx", "relax", "models", "quantize", "verify", "tune"}},
  };
  return arrows;
}

// Subfolders of rooms, and which others of their room they may include. Files at the top of a room
// may include all; a subfolder may include those that are named, of the top, in the first row.
const std::map<std::string, std::map<std::string, std::set<std::string>>>& Insides() {
  static const auto& insides =
      *new std::map<std::string, std::map<std::string, std::set<std::string>>>{
          {"compiler",
           {{"", {"compile.h", "lower_program.h", "remade_kernels.h"}},
            {"control", {"plan", "symbolic"}},
            {"export", {}},
            {"plan", {}},
            {"symbolic", {"plan"}}}},
          {"jit",
           {{"",
             {"compile_functions.h", "final_loops.h", "host_target.h", "kernel.h",
              "library_functions.h"}},
            {"bounds", {}},
            {"c", {"llvm"}},
            {"llvm", {"bounds"}},
            {"object", {"bounds", "llvm", "runtime"}},
            {"runtime", {}}}},
          {"loop",
           {{"", {"block.h", "expr.h", "index_arithmetic.h", "print.h", "stmt.h", "visit.h"}},
            {"simplify", {}},
            {"transform", {"simplify"}}}},
          {"onnx",
           {{"",
             {"external_data.h", "local_functions.h", "narrow_type.h", "opset.h", "register_onnx.h",
              "tensor.h"}},
            {"convert", {}},
            {"write", {}}}},
          {"ops",
           {{"",
             {"builders.h", "builtin.h", "data_op.h", "ints.h", "op.h", "pass_rules.h",
              "registry.h", "shape_rules.h", "type_relation.h"}},
            {"boxes", {"extents", "index"}},
            {"conv", {"layout"}},
            {"device", {}},
            {"elementwise", {"layout"}},
            {"extents", {}},
            {"image", {"extents", "layout"}},
            {"index", {"layout", "shape"}},
            {"layout", {"conv", "reduce", "shape"}},
            {"matmul", {"layout"}},
            {"norm", {"layout"}},
            {"pool", {"conv", "image", "layout"}},
            {"quantize", {"conv", "matmul", "pool", "shape"}},
            {"recurrent", {}},
            {"reduce", {"index", "layout", "shape"}},
            {"shape", {"extents", "layout"}}}},
          {"passes",
           {{"", {"effects.h", "infer_type.h", "legalize.h"}},
            {"affine", {"simplify"}},
            {"combine", {}},
            {"control", {"fusion"}},
            {"device", {}},
            {"fusion", {}},
            {"layout", {}},
            {"partition", {"fusion"}},
            {"pattern", {"fusion"}},
            {"precision", {}},
            {"quantize", {"simplify"}},
            {"simplify", {"precision"}}}},
          {"strategies",
           {{"",
             {"auto_schedule.h", "built.h", "config.h", "generic_schedule.h", "lower_function.h",
              "lower_outputs.h", "op_schedule.h", "planned_extent.h", "strategy.h",
              "te_compute.h"}},
            {"author", {}},
            {"choice", {"lower"}},
            {"lower", {}},
            {"onednn", {}},
            {"onednn/v2", {"onednn"}},
            {"onednn/v3", {"onednn"}},
            {"schedule", {}},
            {"te", {"schedule", "te/matmul"}},
            {"te/boxes", {"schedule", "te", "te/sort"}},
            {"te/conv", {"schedule", "te/matmul", "te/shape"}},
            {"te/image", {"te"}},
            {"te/matmul", {"schedule"}},
            {"te/pool", {"schedule"}},
            {"te/recurrent", {"schedule"}},
            {"te/shape", {"schedule", "te"}},
            {"te/sort", {"schedule", "te"}}}},
          {"verify",
           {{"", {"array_values.h", "fuzz_onnx.h", "fuzz_passes.h", "interpret.h"}},
            {"check", {"define", "draw"}},
            {"define", {}},
            {"draw", {"define"}}}},
      };
  return insides;
}

std::set<std::string> MayInclude(const std::string& room) {
  std::set<std::string> reached = {room};
  std::function<void(const std::string&)> visit = [&](const std::string& from) {
    for (const std::string& to : Arrows().at(from)) {
      if (reached.insert(to).second) visit(to);
    }
  };
  visit(room);
  return reached;
}

struct Include {
  std::string file;  // relative to the source root
  std::string room;
  std::string target;  // what stands between the quotes or angle brackets
};

std::vector<Include> ReadIncludes() {
  std::vector<Include> includes;
  for (const auto& [room, unused] : Arrows()) {
    const fs::path folder = fs::path(TENON_SOURCE_DIR) / room;
    if (!fs::exists(folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cc") continue;
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) {
        if (!line.starts_with("#include ")) continue;
        const std::size_t open = line.find_first_of("\"<");
        const std::size_t close = line.find_first_of("\">", open + 1);
        includes.push_back({fs::relative(entry.path(), TENON_SOURCE_DIR), room,
                            line.substr(open + 1, close - open - 1)});
      }
    }
  }
  return includes;
}

TEST(LayeringTest, IncludesPointOneWay) {
  std::vector<std::string> violations;
  int own_includes = 0;
  for (const Include& include : ReadIncludes()) {
    if (!include.target.starts_with("tenon/")) continue;
    ++own_includes;
    const std::string path = include.target.substr(6);
    // tenon/tenon.h is the umbrella for users; no room may use it.
    const std::string target = path.substr(0, path.find('/'));
    if (!MayInclude(include.room).contains(target)) {
      violations.push_back(include.file + " includes " + include.target);
    }
  }
  EXPECT_GT(own_includes, 10) << "the test reads no sources";
  EXPECT_THAT(violations, IsEmpty());
}

// "passes/fusion/fuse_ops.h" as {"passes", "fusion", "fuse_ops.h"}; the second may be empty.
std::array<std::string, 3> Parts(const std::string& path) {
  const std::size_t room = path.find('/');
  const std::size_t file = path.rfind('/');
  const std::string sub = file > room ? path.substr(room + 1, file - room - 1) : "";
  return {path.substr(0, room), sub, path.substr(file + 1)};
}

TEST(LayeringTest, SubfoldersIncludeWhatTheirRoomsTableSays) {
  std::vector<std::string> violations;
  for (const Include& include : ReadIncludes()) {
    const auto inside = Insides().find(include.room);
    if (inside == Insides().end() || !include.target.starts_with("tenon/")) continue;
    const auto [room, sub, file] = Parts(include.file);
    const auto [other_room, other, header] = Parts(include.target.substr(6));
    if (sub.empty() || other_room != room || other == sub) continue;
    const auto row = inside->second.find(sub);
    const bool allowed =
        row != inside->second.end() &&
        (other.empty() ? inside->second.at("").contains(header) : row->second.contains(other));
    if (!allowed) violations.push_back(include.file + " includes " + include.target);
  }
  EXPECT_THAT(violations, IsEmpty());
}

TEST(LayeringTest, LlvmHeadersStayInJit) {
  std::vector<std::string> violations;
  for (const Include& include : ReadIncludes()) {
    if (include.target.starts_with("llvm") && include.room != "jit") {
      violations.push_back(include.file + " includes " + include.target);
    }
  }
  EXPECT_THAT(violations, IsEmpty());
}

// Decisions are made for the Target that they are given. The host is asked where nobody gave one,
// where a text says how the target differs, and where a library runs that picks its code itself.
TEST(LayeringTest, TheHostIsAskedForWhereATargetIsMade) {
  const std::set<std::string> makers = {"c_api/options.cc",
                                        "compiler/compile.h",
                                        "compiler/export.h",
                                        "strategies/auto_schedule.h",
                                        "strategies/lower_function.cc",
                                        "strategies/lower_function.h",
                                        "strategies/lower_outputs.h",
                                        "strategies/onednn/adapter.cc",
                                        "tools/compile_command.cc",
                                        "tools/model.cc",
                                        "verify/fuzz_loops.cc"};
  std::set<std::string> askers;
  for (const auto& [room, unused] : Arrows()) {
    if (room == "jit") continue;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(TENON_SOURCE_DIR) / room)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cc") continue;
      std::stringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      // Comments show how a target is made.
      for (std::string line; std::getline(text, line);) {
        const std::size_t comment = line.find("//");
        if (line.find("HostTarget(") < comment || line.find("Target::Host(") < comment)
          askers.insert(fs::relative(entry.path(), TENON_SOURCE_DIR));
      }
    }
  }
  EXPECT_EQ(askers, makers);
}

TEST(LayeringTest, OneDnnHeadersStayInItsAdapter) {
  const std::string room = "strategies/onednn/";
  const std::set<std::string> doors = {room + "library.h", room + "primitive.h"};
  std::vector<std::string> violations;
  for (const Include& include : ReadIncludes()) {
    const bool is_tenon = include.target.starts_with("tenon/");
    const bool is_onednn = !is_tenon && include.target.find("dnnl") != std::string::npos;
    const bool is_door = is_tenon && doors.contains(include.target.substr(6));
    const bool is_adapter =
        include.file.starts_with(room + "adapter") || include.file == room + "primitive.h" ||
        include.file == room + "primitive.cc" || include.file.starts_with(room + "v2/") ||
        include.file.starts_with(room + "v3/");
    if ((is_onednn && !doors.contains(include.file)) || (is_door && !is_adapter))
      violations.push_back(include.file + " includes " + include.target);
  }
  EXPECT_THAT(violations, IsEmpty());
}

TEST(LayeringTest, EverySourceFileIsListedInItsCMakeLists) {
  std::vector<std::string> unlisted;
  for (const auto& [room, unused] : Arrows()) {
    const fs::path folder = fs::path(TENON_SOURCE_DIR) / room;
    if (!fs::exists(folder / "CMakeLists.txt")) continue;
    std::stringstream lists;
    lists << std::ifstream(folder / "CMakeLists.txt").rdbuf();
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.path().extension() != ".cc") continue;
      const std::string path = fs::relative(entry.path(), folder);
      if (lists.str().find(path) == std::string::npos) unlisted.push_back(room + "/" + path);
    }
  }
  EXPECT_THAT(unlisted, IsEmpty());
}

// Lines of the largest class of a file, and of the file.
struct Size {
  int of_class = 0, of_file = 0;
};
Size SizeOf(const fs::path& path) {
  std::ifstream in(path);
  Size size;
  int opened = 0;
  for (std::string line; std::getline(in, line);) {
    ++size.of_file;
    if (line.starts_with("class ") && !line.ends_with(";")) opened = size.of_file;
    if (!line.starts_with("};") || opened == 0) continue;
    size.of_class = std::max(size.of_class, size.of_file - opened + 1);
    opened = 0;
  }
  return size;
}

// A class that outgrows this is split by concept, and a file by what it holds.
TEST(LayeringTest, ClassesAndFilesAreSmall) {
  constexpr Size kMax = {.of_class = 250, .of_file = 600};
  std::vector<std::string> large;
  for (const auto& [room, unused] : Arrows()) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(TENON_SOURCE_DIR) / room)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cc") continue;
      const std::string file = fs::relative(entry.path(), TENON_SOURCE_DIR);
      const Size size = SizeOf(entry.path());
      if (size.of_class > kMax.of_class || size.of_file > kMax.of_file)
        large.push_back(file + ": a class of " + std::to_string(size.of_class) + " lines of " +
                        std::to_string(size.of_file));
    }
  }
  EXPECT_THAT(large, IsEmpty());
}

}  // namespace
}  // namespace tenon
