// One compile for every shape: shapes_benchmark MODEL.onnx NAME=LOW..HIGH[/STEP]...
// [INPUT=VALUE]... [INPUT=EXTENT,EXTENT...]...
// [--rounds N] [--threads T] [--profile] [--show KERNEL] [--alone] [--out FILE.json] [--arrays
// FOLDER] draws values for the model's open extents, runs the symbolic executable on each, and
// races it against a compile for these extents. Results are compared before times count. INPUT is a
// scalar that always has this value, or has these extents, of which names are variables. FOLDER
// gets the inputs of each shape and the first result (ROUND_NUMBER.npy, ROUND_result.npy), which a
// peer is compared with.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <sys/resource.h>

#include "tenon/onnx/model.h"
#include "tenon/ops/registry.h"
#include "tenon/runtime/npy.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tenon.h"

namespace tenon::benchmarks {
namespace {

using Clock = std::chrono::steady_clock;

struct Range {
  std::int64_t low = 1, high = 1, step = 1;
};

struct Options {
  std::string model;
  std::map<std::string, Range> ranges;              // by variable
  std::map<std::string, std::int64_t> constants;    // by input
  std::map<std::string, std::vector<Dim>> extents;  // by input
  int rounds = 20;
  int threads = 1;
  bool races_static = true;
  bool profiles = false;  // prints the kernels by time
  std::string shows;      // prints the loops of kernels whose names contain it
  std::string out;        // the figures as JSON
  std::string arrays;     // a folder
};

// The time of each kernel, the best of a few runs.
std::vector<runtime::NodeTime> BestTimes(const Executable& executable,
                                         const runtime::Inputs& inputs) {
  constexpr int kRuns = 8;
  Session session(executable);
  std::vector<runtime::NodeTime> best;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<runtime::NodeTime> times;
    ValueOrThrow(session.RunProfiled(inputs, &times));
    if (best.empty()) best = times;
    for (std::size_t i = 0; i < times.size(); ++i)
      best[i].nanoseconds = std::min(best[i].nanoseconds, times[i].nanoseconds);
  }
  return best;
}

// The kernels of a run, slowest first.
void Profile(const char* title, const Executable& executable, const runtime::Inputs& inputs) {
  constexpr std::size_t kMax = 200;
  std::vector<runtime::NodeTime> times = BestTimes(executable, inputs);
  std::sort(times.begin(), times.end(),
            [](const auto& a, const auto& b) { return a.nanoseconds > b.nanoseconds; });
  std::printf("  %s\n", title);
  for (std::size_t i = 0; i < std::min(times.size(), kMax); ++i)
    std::printf("    %9.3f ms  %-72s %s\n", static_cast<double>(times[i].nanoseconds) / 1e6,
                times[i].node.c_str(), StrJoin(times[i].origins, " ").c_str());
}

// The loops of kernels whose names contain `part`.
void Show(const Executable& symbolic, const runtime::Inputs& inputs, const std::string& part) {
  const Executable bound = ValueOrThrow(symbolic.Bind(inputs));
  for (const runtime::Node& node : bound.plan().nodes) {
    if (node.kernel >= 0 && node.name.find(part) != std::string::npos)
      std::printf("%s\n", bound.kernels()[static_cast<std::size_t>(node.kernel)]
                              ->Text(jit::KernelText::kLoops)
                              .c_str());
  }
}

double Milliseconds(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

std::int64_t ToNumber(const std::string& text) { return std::strtoll(text.c_str(), nullptr, 10); }

Options Parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto equals = argument.find('=');
    const auto dots = argument.find("..");
    if (argument == "--rounds" && i + 1 < argc) {
      options.rounds = static_cast<int>(ToNumber(argv[++i]));
    } else if (argument == "--threads" && i + 1 < argc) {
      options.threads = static_cast<int>(ToNumber(argv[++i]));
    } else if (argument == "--profile") {
      options.profiles = true;
    } else if (argument == "--show" && i + 1 < argc) {
      options.shows = argv[++i];
    } else if (argument == "--out" && i + 1 < argc) {
      options.out = argv[++i];
    } else if (argument == "--arrays" && i + 1 < argc) {
      options.arrays = argv[++i];
    } else if (argument == "--alone") {
      options.races_static = false;
    } else if (equals != std::string::npos && dots != std::string::npos) {
      const auto slash = argument.find('/');
      options.ranges[argument.substr(0, equals)] = {
          .low = ToNumber(argument.substr(equals + 1)),
          .high = ToNumber(argument.substr(dots + 2)),
          .step = slash == std::string::npos ? 1 : ToNumber(argument.substr(slash + 1))};
    } else if (equals != std::string::npos && argument.find(',') != std::string::npos) {
      std::vector<Dim>& extents = options.extents[argument.substr(0, equals)];
      for (const std::string& extent : StrSplit(argument.substr(equals + 1), ',')) {
        const auto number = ParseNumber<std::int64_t>(extent);
        extents.push_back(number ? Dim(*number) : Dim::Symbol(extent));
      }
    } else if (equals != std::string::npos) {
      options.constants[argument.substr(0, equals)] = ToNumber(argument.substr(equals + 1));
    } else {
      options.model = argument;
    }
  }
  if (options.model.empty())
    throw InvalidArgument("usage: shapes_benchmark MODEL.onnx NAME=LOW..HIGH[/STEP]...");
  return options;
}

// Pages that this process was given so far.
long PageFaults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

double TimeOf(const Executable& executable, const runtime::Inputs& inputs) {
  const Clock::time_point start = Clock::now();
  ValueOrThrow(executable.Run(inputs));
  return Milliseconds(Clock::now() - start);
}

// The least time of each executable. They take turns, for about half a second or a few runs.
std::vector<double> Race(const std::vector<const Executable*>& racers,
                         const runtime::Inputs& inputs) {
  constexpr double kMilliseconds = 500;
  constexpr int kMinTurns = 7, kMaxTurns = 500;
  std::vector<double> best(racers.size(), 1e30);
  const Clock::time_point start = Clock::now();
  for (int turn = 0;
       turn < kMinTurns || (turn < kMaxTurns && Milliseconds(Clock::now() - start) < kMilliseconds);
       ++turn) {
    for (std::size_t i = 0; i < racers.size(); ++i)
      best[i] = std::min(best[i], TimeOf(*racers[i], inputs));
  }
  return best;
}

// Of the largest element, and of results that are small beside the numbers that they come from.
void RequireClose(const std::vector<NDArray>& got, const std::vector<NDArray>& expected) {
  constexpr double kTolerance = 2e-3, kFloor = 1e-6;
  for (std::size_t r = 0; r < expected.size(); ++r) {
    if (expected[r].dtype() != Float32) continue;
    double largest = 0, error = 0;
    for (std::int64_t i = 0; i < expected[r].size(); ++i) {
      const double a = got[r].data<float>()[i], b = expected[r].data<float>()[i];
      largest = std::max(largest, std::abs(b));
      error = std::max(error, std::abs(a - b));
    }
    if (!(error <= kTolerance * largest + kFloor))
      throw DataLoss(StrCat("result ", r, " differs by ", error, " of ", largest));
  }
}

// A model with one value for each of its variables.
struct Drawn {
  runtime::Inputs inputs;
  std::map<std::string, Shape> shapes;
  std::vector<std::string> names;  // of the inputs, in the model's order
  std::string text;
};

Drawn Draw(const ir::Module& module, const std::map<std::string, Range>& ranges,
           std::mt19937* random) {
  Dim::Values values;
  for (const auto& [name, range] : ranges) {
    const auto steps = static_cast<std::uint64_t>((range.high - range.low) / range.step + 1);
    values[name] = range.low + static_cast<std::int64_t>((*random)() % steps) * range.step;
  }
  Drawn drawn;
  for (const ir::Expr& param : module.Main().params) {
    const auto* type = param.checked_type().As<ir::TensorTypeNode>();
    Shape shape;
    for (const Dim& dim : type->shape) {
      const auto extent = dim.Evaluate(values);
      if (!extent) throw InvalidArgument(StrCat("no range is given for ", dim.ToString()));
      shape.push_back(*extent);
    }
    NDArray array = NDArray::Empty(shape, type->dtype);
    for (std::int64_t i = 0; i < array.size(); ++i) {
      if (type->dtype == Float32)
        array.data<float>()[i] = static_cast<float>((*random)() % 2000) / 1000 - 1;
      if (type->dtype == Int64) array.data<std::int64_t>()[i] = (*random)() % 2;
    }
    const std::string name = ir::Var(param).name();
    StrAppend(&drawn.text, drawn.text.empty() ? "" : " ", name, ShapeToString(shape));
    drawn.inputs[name] = array;
    drawn.shapes[name] = shape;
    drawn.names.push_back(name);
  }
  return drawn;
}

void WriteArrays(const std::string& folder, int round, const Drawn& drawn, const NDArray& result) {
  const auto write = [&](const auto& what, const NDArray& array) {
    const absl::Status written =
        runtime::WriteNpy(StrCat(folder, "/", round, "_", what, ".npy"), array);
    if (!written.ok()) throw FromStatus(written);
  };
  for (std::size_t i = 0; i < drawn.names.size(); ++i) write(i, drawn.inputs.at(drawn.names[i]));
  write("result", result);
}

void Run(const Options& options) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  const auto model = ValueOrThrow(onnx_import::OnnxModel::Load(options.model));
  const CompileOptions compile = {.threads = options.threads};
  onnx_import::ImportOptions import = {
      .symbolic = true, .extents = options.extents, .evaluate = strategies::EvaluateCall};
  for (const auto& [name, value] : options.constants)
    import.constants[name] = NDArray::FromVector<std::int64_t>({}, {value});
  const Clock::time_point start = Clock::now();
  const ir::Module module = ValueOrThrow(model.Import(import));
  const double imported = Milliseconds(Clock::now() - start);
  const Executable symbolic = ValueOrThrow(Compile(module, compile));
  const double compiled_all = Milliseconds(Clock::now() - start);
  std::printf("import %.1f ms, compile %.1f ms, %zu kernels\n", imported, compiled_all - imported,
              symbolic.kernels().size());
  import.symbolic = false;
  std::string figures;  // a JSON object for each shape
  double fixed_compiles = 0;
  std::mt19937 random(1);
  double log_ratio = 0, worst = 0;
  int count = 0, recompiles = 0;
  for (int round = 0; round < options.rounds; ++round) {
    const Drawn drawn = Draw(module, options.ranges, &random);
    const long faults_before = PageFaults();
    const std::size_t remade_before = RemadeKernels();
    const Clock::time_point new_shape = Clock::now();
    ValueOrThrow(symbolic.Bind(drawn.inputs));
    const double bind = Milliseconds(Clock::now() - new_shape);
    const double first = bind + TimeOf(symbolic, drawn.inputs);
    const std::size_t remade = RemadeKernels() - remade_before;
    recompiles += remade > 0 ? 1 : 0;
    std::printf("%-24s bind %6.3f first %8.3f (%ld pages, %zu kernels)", drawn.text.c_str(), bind,
                first, PageFaults() - faults_before, remade);
    if (options.races_static) {
      const Clock::time_point begin = Clock::now();
      import.shapes = drawn.shapes;
      const Executable fixed = ValueOrThrow(Compile(ValueOrThrow(model.Import(import)), compile));
      const double compiled = Milliseconds(Clock::now() - begin);
      const auto results = ValueOrThrow(symbolic.Run(drawn.inputs));
      RequireClose(results, ValueOrThrow(fixed.Run(drawn.inputs)));
      if (!options.arrays.empty()) WriteArrays(options.arrays, round, drawn, results[0]);
      const auto times = Race({&symbolic, &fixed}, drawn.inputs);
      const double ratio = times[0] / times[1];
      std::printf(" next %8.3f ms; compiled for it in %7.1f ms: %8.3f ms, ratio %.2f", times[0],
                  compiled, times[1], ratio);
      fixed_compiles += compiled;
      StrAppend(&figures, figures.empty() ? "" : ",\n", "{\"shape\": \"", drawn.text,
                "\", \"inputs\": ", drawn.names.size(), ", \"bind\": ", FormatShortest(bind),
                ", \"first\": ", FormatShortest(first), ", \"next\": ", FormatShortest(times[0]),
                ", \"own\": ", FormatShortest(times[1]), "}");
      log_ratio += std::log(ratio);
      worst = std::max(worst, ratio);
      ++count;
      if (options.profiles) {
        std::printf("\n");
        Profile("compiled for it:", fixed, drawn.inputs);
      }
    } else {
      std::printf(" next %8.3f ms", Race({&symbolic}, drawn.inputs)[0]);
    }
    std::printf("\n");
    if (options.profiles) Profile("compiled once:", symbolic, drawn.inputs);
    if (!options.shows.empty()) Show(symbolic, drawn.inputs, options.shows);
    std::fflush(stdout);
  }
  if (count == 0) return;
  std::printf("geometric mean %.3f, worst %.2f, recompiles %d\n", std::exp(log_ratio / count),
              worst, recompiles);
  if (options.out.empty()) return;
  std::ofstream out(options.out);
  out << "{\"compile\": " << compiled_all << ", \"own compile\": " << fixed_compiles / count
      << ", \"recompiles\": " << recompiles << ", \"shapes\": [\n"
      << figures << "]}\n";
}

}  // namespace
}  // namespace tenon::benchmarks

int main(int argc, char** argv) {
  try {
    tenon::benchmarks::Run(tenon::benchmarks::Parse(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
