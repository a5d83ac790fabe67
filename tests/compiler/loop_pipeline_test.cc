// The loop pipeline on kernels of models: every step verified, and every step with work to do.
#include <mutex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/compiler/compile.h"
#include "tenon/jit/kernel.h"
#include "tenon/loop/pipeline.h"
#include "tenon/models/registry.h"
#include "tenon/schedule/lower.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon {
namespace {

using testing_graphs::Parsed;

// What schedules of operators leave out: temporary arrays one after the other, a large result of
// which the schedule does not say that it is streamed, and a pragma.
loop::Function ByHand(const loop::PipelineOptions& pipeline) {
  const te::Tensor x = te::Placeholder({12288, 1024}, Float32, "x");
  te::Tensor last = x;
  std::vector<te::Tensor> made;
  for (const char* name : {"a", "b", "c", "out"}) {
    const te::Tensor from = last;
    last = te::Compute(
        {12288, 1024}, [&](te::Var i, te::Var j) { return from(i, j) + 1.0F; }, name);
    made.push_back(last);
  }
  schedule::Schedule s(last);
  for (const te::Tensor& tensor : made)
    s[tensor].Vectorize(s[tensor].Split(tensor.axis(1), 16).second);
  s[made[0]].Pragma(made[0].axis(0), "auto_unroll_max_step", 64);
  return schedule::Lower(s, {x, last}, "by_hand", {.pipeline = pipeline});
}

// A target of wide vectors, whatever the host has: nothing of it runs.
Target Wide() {
  Target target = Target::Host();
  target.vector_bytes = 64;
  target.vector_registers = 32;
  return target;
}

// The steps that change some kernel's loops.
class Changes {
 public:
  void Watch(const ir::Module& module, const Target& target) {
    const Lowered lowered = ValueOrThrow(Lower(module, {.target = target,
                                                        .library = LibraryChoice::kTe,
                                                        .verify = true,
                                                        .loop_observer = observer_}));
    for (const LoweredKernel& kernel : lowered.kernels)
      WatchLastPhase(std::get<loop::Function>(kernel.choice.built.kernel), target);
  }
  // Of a module of symbolic extents.
  void WatchSymbolic(const ir::Module& module) {
    const auto exe = Compile(
        module, {.library = LibraryChoice::kTe, .verify = true, .loop_observer = observer_});
    EXPECT_TRUE(exe.ok()) << exe.status();
  }
  void WatchByHand() {
    WatchLastPhase(ByHand({.verify = true, .observer = observer_}), Target::Host());
  }
  const std::set<std::string>& steps() const { return steps_; }

 private:
  void WatchLastPhase(const loop::Function& function, const Target& target) {
    const auto last = jit::FinalLoops(
        function, {.target = target, .pipeline = {.verify = true, .observer = observer_}});
    EXPECT_TRUE(last.ok()) << last.status();
  }

  std::mutex mutex_;
  std::set<std::string> steps_;
  const loop::PipelineObserver observer_ = [this](const loop::PipelineStep& step) {
    const std::lock_guard lock(mutex_);
    if (step.changed) steps_.emplace(step.name);
  };
};

TEST(LoopPipelineTest, EveryStepFindsWorkAndKeepsTheRules) {
  Changes changes;
  for (
      const char* text : {
          "def @main(%x: Tensor[(4099, 4096), float32]) { transpose(%x) }",
          "def @main(%x: Tensor[(4096, 4099), float32]) { transpose(%x) }",
          "def @main(%x: Tensor[(5000, 5003), float32]) { transpose(exp(%x)) }",
          "def @main(%x: Tensor[(4096, 8192), float32]) { transpose(%x) }",
          "def @main(%x: Tensor[(64, 1000, 1001), float32]) { nn.relu(%x) }",
          "def @main(%x: Tensor[(64, 1000), float32], %y: Tensor[(64, 24), float32]) {\n"
          "  nn.softmax(concatenate((%x, %y), axis=1))\n}",
          "def @main(%x: Tensor[(1, 8, 30, 30), float32], %w: Tensor[(16, 8, 3, 3), float32]) {\n"
          "  sigmoid(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], kernel_size=[3, 3], channels=16))\n}",
          "def @main(%x: Tensor[(8, 100), float32]) { argmax(%x, axis=[1]) }",
          "def @main(%x: Tensor[(8, 100), float32]) { sum(exp(%x), axis=[1]) }",
          "def @main(%x: Tensor[(30, 17), float32]) { nn.pad(%x, 0f, pad_width=[[2, 2], [2, 2]]) }",
          "def @main(%x: Tensor[(64, 1000, 1001), float32]) {\n"
          "  nn.pad(%x, 0f, pad_width=[[0, 0], [0, 0], [1, 3]])\n}",
          "def @main(%x: Tensor[(64, 1000), float32], %y: Tensor[(64, 1000), float32]) {\n"
          "  concatenate((exp(%x), %y), axis=0)\n}",
          "def @main(%x: Tensor[(64, 33), float32]) { transpose(exp(%x)) }",
          "def @main(%x: Tensor[(64, 33), float32], %w: Tensor[(7, 33), float32]) {\n"
          "  nn.dense(%x, %w)\n}",
          "def @main(%x: Tensor[(16800, 1000), float32]) { nn.softmax(%x) }",
          "def @main(%x: Tensor[(16384, 1000), float32]) { nn.relu(%x) }",
          "def @main(%x: Tensor[(64, 96), float32], %w: Tensor[(200, 96), float32]) {\n"
          "  exp(transpose(nn.dense(%x, %w)))\n}",
          "def @main(%x: Tensor[(1, 32, 28, 28), float32], %w: Tensor[(24, 32, 1, 1), float32]) {\n"
          "  exp(nn.conv2d(%x, %w, kernel_size=[1, 1], channels=24))\n}",
      }) {
    changes.Watch(Parsed(text), Wide());
  }
  for (const char* model : {"lenet", "efficientnet_b0"})
    changes.Watch(models::Build(model), Target::Host());
  changes.WatchSymbolic(
      Parsed("def @main(%x: Tensor[(n, 3, m, 4), float32]) { transpose(exp(%x)) }"));
  changes.WatchByHand();
  for (const std::string& name : loop::StepNames())
    EXPECT_TRUE(changes.steps().contains(name)) << name;
}

}  // namespace
}  // namespace tenon
