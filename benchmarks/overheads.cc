// What a call costs beside its work: kernels of one element, and the extents of a new shape,
// against a call through a pointer.
#include "tenon/benchmarks/compiled_graph.h"
#include "tenon/benchmarks/families.h"
#include "tenon/support/dim_program.h"

namespace tenon::benchmarks {
namespace {

// As a plug-in's function would be called.
__attribute__((noinline)) void AddOne(const float* x, float* y) {
  *y = *x + 1;
  asm volatile("" : : "r"(y) : "memory");
}

Contestant Floor() {
  const Tensor x = RandomArray({1});
  const Tensor y = Tensor::Zeros({1}, Float32);
  void (*volatile function)(const float*, float*) = AddOne;
  return {Role::kFloor, "call through a pointer",
          [=, call = function] { call(x.data<float>(), y.data<float>()); }};
}

jit::Kernel OneElement() {
  const te::Tensor a = te::Placeholder({1}, Float32, "a");
  const te::Tensor b = te::Compute(
      {1}, [&](te::Var i) { return a(i) + 1.0F; }, "b");
  return jit::Build(Schedule(b), {a, b}, "add_one").value();
}

Executable OneElementGraph() {
  return Compile(Parse("fn (%x: Tensor[(1), float32]) { add(%x, 1f) }"),
                 {.threads = 1, .library = LibraryChoice::kTe})
      .value();
}

Contestants PrepareUnchecked() {
  const jit::Kernel kernel = OneElement();
  const Tensor x = RandomArray({1});
  const Tensor y = Tensor::Zeros({1}, Float32);
  const std::vector<void*> buffers = {x.raw(), y.raw()};
  kernel.RunUnchecked(buffers.data(), nullptr);
  Require(y.data<float>()[0] == x.data<float>()[0] + 1, "wrong result");
  return {{Role::kTenon, "one element",
           [=, keep_x = x, keep_y = y] { kernel.RunUnchecked(buffers.data(), nullptr); }},
          Floor()};
}

Contestants PrepareChecked() {
  const jit::Kernel kernel = OneElement();
  const Tensor x = RandomArray({1});
  const Tensor y = Tensor::Zeros({1}, Float32);
  Require(kernel(x, y).ok(), "the kernel refuses");
  return {{Role::kTenon, "one element", [=] { (void)kernel(x, y).ok(); }}, Floor()};
}

Contestants PrepareExecutable() {
  const Executable executable = OneElementGraph();
  const runtime::Inputs inputs = {{"x", RandomArray({1})}};
  Require(executable.Run(inputs).ok(), "the graph refuses");
  return {{Role::kTenon, "one element", [=] { (void)executable.Run(inputs).ok(); }}, Floor()};
}

Contestants PrepareSession() {
  auto session = std::make_shared<Session>(OneElementGraph(), Session::Options{.threads = 1});
  const runtime::Inputs inputs = {{"x", RandomArray({1})}};
  Require(session->Run(inputs).ok(), "the graph refuses");
  return {{Role::kTenon, "one element", [=] { (void)session->Run(inputs).ok(); }}, Floor()};
}

// The extents that a network of images has on its way, of which each layer's differ from those
// before it.
Contestants PrepareShapeProgram() {
  constexpr std::size_t kValues = 100;
  DimProgram program({"n", "h", "w"});
  Dim h = Dim::Symbol("h"), w = Dim::Symbol("w");
  std::vector<int> values;
  while (values.size() < kValues) {
    h = FloorDiv(h - 1, 2) + 3;
    w = w * 2 + 1;
    values.push_back(program.Add(h));
    values.push_back(program.Add(Dim::Symbol("n") * w));
    if (values.size() % 10 == 0) h = h * 32, w = FloorDiv(w, 32);
  }
  const std::vector<std::int64_t> symbols = {4, 480, 320};
  const auto results = program.Evaluate(symbols);
  Require(results.has_value(), "an extent does not fit");
  Require((*results)[static_cast<std::size_t>(values[0])] == 242, "wrong extent");
  return {{Role::kTenon, "100 values", [=] { (void)program.Evaluate(symbols); }}, Floor()};
}

}  // namespace

void AddOverheads(std::vector<Race>& races) {
  races.push_back({.table = "overhead",
                   .name = "Kernel::RunUnchecked",
                   .aim = {.seconds = 100e-9},
                   .prepare = PrepareUnchecked});
  races.push_back({.table = "overhead", .name = "Kernel::operator()", .prepare = PrepareChecked});
  races.push_back({.table = "overhead",
                   .name = "shape program, 100 values",
                   .aim = {.seconds = 1e-6},
                   .prepare = PrepareShapeProgram});
  races.push_back({.table = "overhead", .name = "Session::Run", .prepare = PrepareSession});
  races.push_back({.table = "overhead", .name = "Executable::Run", .prepare = PrepareExecutable});
}

}  // namespace tenon::benchmarks
