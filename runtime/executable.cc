// A run binds inputs, fresh result arrays and a block of working memory to their storages, then
// calls the kernels in plan order. A block that is the one of the run before is bound already. All
// other pointers are the same in every run, so they are set once, when the workspace is made.
#include "tenon/runtime/executable.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <utility>

#include "tenon/jit/runtime/parallel_runtime.h"
#include "tenon/jit/runtime/timeline.h"
#include "tenon/runtime/check_inputs.h"
#include "tenon/runtime/device_copy.h"
#include "tenon/runtime/owners.h"
#include "tenon/runtime/program.h"
#include "tenon/runtime/run_time_extents.h"
#include "tenon/runtime/thread_trial.h"
#include "tenon/runtime/working_memory.h"
#include "tenon/support/alignment.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/error.h"
#include "tenon/support/present.h"
#include "tenon/support/strings.h"

namespace tenon::runtime {
namespace {

NDArray Bytes(std::size_t bytes) {
  return NDArray::Empty({static_cast<std::int64_t>(bytes)}, UInt8);
}

// An empty array may have no memory to point into.
void* At(void* data, std::size_t offset) {
  return offset == 0 ? data : static_cast<char*>(data) + offset;
}

bool MakesNothing(const Node& node) {
  return std::ranges::all_of(node.outputs,
                             [](const Entry& output) { return NumElements(output.shape) == 0; });
}

}  // namespace

// Working memory of one run at a time, with the argument lists of all kernels laid out.
class Session::Workspace {
 public:
  explicit Workspace(const Executable& executable);
  std::vector<NDArray> Run(const Inputs& inputs, std::vector<NodeTime>* times);
  // The inputs in the order of the plan's input nodes, already checked.
  std::vector<NDArray> RunInOrder(const std::vector<const NDArray*>& inputs,
                                  std::vector<NodeTime>* times);
  // Throws InvalidArgument for arrays of other shapes than RunInOrder takes.
  void RequireShapes(const std::vector<const NDArray*>& inputs) const;
  const std::optional<ThreadChoice>& thread_choice() const { return trial_.choice(); }

 private:
  struct Step {
    const jit::Callable* kernel = nullptr;  // null: a copy between devices
    int node = 0;
    std::size_t first_argument = 0;
  };

  // An argument that lies in a storage.
  struct Slot {
    std::size_t argument;
    std::size_t offset;
  };
  void Bind(int storage_id, void* data) {
    for (const Slot& slot : slots_[static_cast<std::size_t>(storage_id)])
      arguments_[slot.argument] = At(data, slot.offset);
  }
  void BindArena(void* data) {
    if (arena_ == data) return;
    arena_ = data;
    for (const auto& [id, offset] : arena_storages_) {
      working_[static_cast<std::size_t>(id)] = At(data, offset);
      Bind(id, At(data, offset));
    }
  }

  const NDArray& InputAt(const std::vector<const NDArray*>& inputs, int node) const {
    const auto at = std::lower_bound(input_nodes_.begin(), input_nodes_.end(), node);
    return *inputs[static_cast<std::size_t>(at - input_nodes_.begin())];
  }

  void CallKernels(std::vector<NodeTime>* times);

  // The parts outlive the workspace: whoever owns it also holds the executable.
  const Executable::Parts& parts_;
  std::shared_ptr<WorkingMemory> memory_;
  std::size_t arena_bytes_ = 0;
  const void* arena_ = nullptr;  // the block whose addresses are bound
  NDArray kernel_workspace_;
  // Storages in the arena, with the bytes before them.
  std::vector<std::pair<int, std::size_t>> arena_storages_;
  std::vector<void*> working_;            // their addresses, by id
  std::vector<void*> arguments_;          // of all steps, one after the other
  std::vector<std::vector<Slot>> slots_;  // by storage id
  std::vector<Step> steps_;
  std::vector<int> input_nodes_;
  std::vector<InputInfo> inputs_;  // of input_nodes_
  // Which storages hold results: their memory goes to the caller. If such a storage served
  // something much larger before, the caller gets a copy of the result alone.
  std::vector<bool> is_result_;
  ThreadTrial trial_;
};

struct Executable::State {
  Parts parts;
  std::mutex mutex;
  std::vector<std::unique_ptr<Session::Workspace>> idle;
  ~State();
};

Executable::State::~State() = default;

namespace {

constexpr const char* kMovedFrom =
    "the executable has been moved from; use the one that it moved to";

}  // namespace

Session::Workspace::Workspace(const Executable& executable)
    : parts_(Present(executable.state_, kMovedFrom).parts),
      memory_(parts_.memory != nullptr ? parts_.memory : std::make_shared<WorkingMemory>()),
      inputs_(executable.inputs()) {
  const Plan& plan = parts_.plan;
  const std::size_t storages = plan.storage_bytes.size();
  slots_.resize(storages);
  is_result_.resize(storages, false);
  std::vector<void*> address(storages, nullptr);
  std::vector<bool> is_working(storages, false);
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
    const Node& node = plan.nodes[n];
    if (node.kind == NodeKind::kInput) input_nodes_.push_back(static_cast<int>(n));
    if (IsComputed(node.kind)) {
      for (const Entry& output : node.outputs) is_working[output.storage_id] = true;
    } else if (node.kind == NodeKind::kConstant) {
      address[node.outputs[0].storage_id] = parts_.constants[node.constant].raw();
    }
  }
  for (const EntryRef head : plan.heads) {
    const int id = plan.entry(head).storage_id;
    const bool fills =
        2 * plan.entry(head).bytes() >= plan.storage_bytes[static_cast<std::size_t>(id)];
    is_result_[id] = is_result_[id] || (is_working[id] && fills);
  }
  for (std::size_t id = 0; id < storages; ++id) {
    if (!is_working[id] || is_result_[id]) continue;
    arena_storages_.emplace_back(static_cast<int>(id), arena_bytes_);
    arena_bytes_ += RoundUp(plan.storage_bytes[id], kAlignment);
  }
  working_.resize(storages, nullptr);
  std::size_t kernel_bytes = 0;
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
    const Node& node = plan.nodes[n];
    if (!IsComputed(node.kind) || MakesNothing(node)) continue;
    const jit::Callable* kernel =
        node.kind == NodeKind::kKernel ? parts_.kernels[node.kernel].get() : nullptr;
    steps_.push_back({kernel, static_cast<int>(n), arguments_.size()});
    if (kernel != nullptr) kernel_bytes = std::max(kernel_bytes, kernel->workspace_bytes());
    const auto add_argument = [&](const Entry& entry) {
      slots_[entry.storage_id].push_back({arguments_.size(), entry.offset});
      arguments_.push_back(At(address[entry.storage_id], entry.offset));
    };
    for (const EntryRef input : node.inputs) add_argument(plan.entry(input));
    for (const Entry& output : node.outputs) add_argument(output);
  }
  kernel_workspace_ = Bytes(kernel_bytes);
}

std::vector<NDArray> Session::Workspace::Run(const Inputs& inputs, std::vector<NodeTime>* times) {
  return RunInOrder(InOrder(inputs_, inputs), times);
}

void Session::Workspace::RequireShapes(const std::vector<const NDArray*>& inputs) const {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Node& node = parts_.plan.nodes[static_cast<std::size_t>(input_nodes_[i])];
    if (inputs[i]->shape() == node.outputs[0].shape) continue;
    throw InvalidArgument(StrCat("a part of the program is given an array of shape ",
                                 ShapeToString(inputs[i]->shape()), "; it takes ",
                                 ShapeToString(node.outputs[0].shape)));
  }
}

void Session::Workspace::CallKernels(std::vector<NodeTime>* times) {
  const jit::ScopedFlushDenormals flush;
  using Clock = std::chrono::steady_clock;
  for (const Step& step : steps_) {
    const Clock::time_point start = times != nullptr ? Clock::now() : Clock::time_point();
    void* const* arguments = arguments_.data() + step.first_argument;
    if (step.kernel != nullptr) {
      step.kernel->Call(arguments, kernel_workspace_.raw());
    } else {
      const Node& copy = parts_.plan.nodes[step.node];
      const Entry& source = parts_.plan.entry(copy.inputs[0]);
      CopyBetweenDevices(source.device, arguments[0], copy.outputs[0].device, arguments[1],
                         source.bytes());
    }
    if (times == nullptr) continue;
    const Clock::time_point end = Clock::now();
    const auto elapsed = std::chrono::duration_cast<std::chrono::nanoseconds>(end - start);
    if (jit::Timeline* const timeline = jit::Timeline::Current(); timeline != nullptr)
      timeline->EndKernel(parts_.plan.nodes[step.node].name, start, end);
    times->push_back({parts_.plan.nodes[step.node].name,
                      step.kernel != nullptr ? step.kernel->implementation() : std::string("copy"),
                      elapsed.count(), parts_.plan.nodes[step.node].origins});
  }
}

std::vector<NDArray> Session::Workspace::RunInOrder(const std::vector<const NDArray*>& inputs,
                                                    std::vector<NodeTime>* times) {
  const Plan& plan = parts_.plan;
  const WorkingMemory::Block arena(*memory_, arena_bytes_);
  BindArena(arena.data());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    Bind(plan.nodes[input_nodes_[i]].outputs[0].storage_id, inputs[i]->raw());
  std::vector<NDArray> given(plan.storage_bytes.size());
  for (std::size_t result = 0; result < plan.heads.size(); ++result) {
    const int id = plan.entry(plan.heads[result]).storage_id;
    if (!is_result_[id] || given[id].defined()) continue;
    given[id] = memory_->results().Take(result, plan.storage_bytes[id]);
    Bind(id, given[id].raw());
  }
  if (times == nullptr) {
    trial_.Run([&] { CallKernels(nullptr); });
  } else {
    trial_.Untimed([&] { CallKernels(times); });
  }
  std::vector<NDArray> results;
  std::vector<bool> is_handed_out(given.size(), false);
  for (const EntryRef head : plan.heads) {
    const Entry& entry = plan.entry(head);
    const NDArray& storage = given[entry.storage_id];
    if (storage.defined() && !is_handed_out[entry.storage_id]) {
      is_handed_out[entry.storage_id] = true;
      results.push_back(NDArray::View(entry.shape, entry.dtype, At(storage.raw(), entry.offset),
                                      std::make_shared<NDArray>(storage)));
      continue;
    }
    // The result may be part of an input, a constant, working memory or an earlier result. The
    // caller gets a copy, so that writing to one result changes nothing else.
    NDArray copy = NDArray::Empty(entry.shape, entry.dtype);
    const int viewed = Viewed(plan, head).entry.node;
    const Node& node = plan.nodes[viewed];
    void* origin = storage.defined()                  ? storage.raw()
                   : node.kind == NodeKind::kConstant ? parts_.constants[node.constant].raw()
                   : node.kind == NodeKind::kInput    ? InputAt(inputs, viewed).raw()
                                                      : working_[entry.storage_id];
    if (copy.bytes() != 0) std::memcpy(copy.raw(), At(origin, entry.offset), copy.bytes());
    results.push_back(std::move(copy));
  }
  return CutToExtents(std::move(results), plan.extents);
}

Executable::Executable(Parts parts) : state_(std::make_shared<State>()) {
  for (const Node& node : parts.plan.nodes) {
    for (const Entry& output : node.outputs) {
      CheckInvariant(output.storage_id >= 0, "a plan that is run has its storage assigned");
    }
  }
  state_->parts = std::move(parts);
}

const Plan& Executable::plan() const { return Present(state_, kMovedFrom).parts.plan; }
const std::vector<std::shared_ptr<const jit::Callable>>& Executable::kernels() const {
  return Present(state_, kMovedFrom).parts.kernels;
}
const std::vector<NDArray>& Executable::constants() const {
  return Present(state_, kMovedFrom).parts.constants;
}
Executable Executable::WithResultNames(std::vector<std::string> names) const {
  Executable named = *this;
  named.result_names_ = std::move(names);
  return named;
}
int Executable::threads() const { return Present(state_, kMovedFrom).parts.threads; }

const Program* Executable::program() const {
  return Present(state_, kMovedFrom).parts.program.get();
}

bool Executable::is_symbolic() const {
  return Present(state_, kMovedFrom).parts.bind != nullptr ||
         (program() != nullptr && program()->solve != nullptr);
}

std::vector<InputInfo> Executable::inputs() const {
  if (is_symbolic() || program() != nullptr) return Present(state_, kMovedFrom).parts.inputs;
  std::vector<InputInfo> inputs;
  for (const Node& node : plan().nodes) {
    if (node.kind != NodeKind::kInput) continue;
    const Entry& entry = node.outputs[0];
    inputs.push_back({node.name, entry.dtype, {entry.shape.begin(), entry.shape.end()}});
  }
  return inputs;
}

Executable Executable::Bound(const Inputs& inputs) const {
  const auto& bind = Present(state_, kMovedFrom).parts.bind;
  return bind != nullptr ? bind(inputs) : *this;
}
absl::StatusOr<Executable> Executable::Bind(const Inputs& inputs) const {
  return CatchErrors([&] { return Bound(inputs).WithResultNames(result_names_); });
}

template <typename Body>
std::vector<NDArray> Executable::WithWorkspace(const Body& body) const {
  State& state = Present(state_, kMovedFrom);
  std::unique_ptr<Session::Workspace> workspace;
  {
    const std::lock_guard<std::mutex> lock(state.mutex);
    if (!state.idle.empty()) {
      workspace = std::move(state.idle.back());
      state.idle.pop_back();
    }
  }
  if (workspace == nullptr) workspace = std::make_unique<Session::Workspace>(*this);
  std::vector<NDArray> results = body(*workspace);
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.idle.push_back(std::move(workspace));
  return results;
}

std::vector<NDArray> Executable::RunOnce(const Inputs& inputs, int threads,
                                         std::vector<NodeTime>* times) const {
  const jit::ScopedThreads scope(threads);
  if (program() != nullptr)
    return RunProgram(*program(), Present(state_, kMovedFrom).parts.inputs, inputs, times);
  return WithWorkspace([&](Session::Workspace& workspace) { return workspace.Run(inputs, times); });
}

std::vector<NDArray> Executable::RunPart(const std::vector<const NDArray*>& inputs,
                                         std::vector<NodeTime>* times) const {
  return WithWorkspace([&](Session::Workspace& workspace) {
    workspace.RequireShapes(inputs);
    return workspace.RunInOrder(inputs, times);
  });
}

absl::StatusOr<std::vector<NDArray>> Executable::Run(const Inputs& inputs) const {
  return CatchErrors([&] { return Bound(inputs).RunOnce(inputs, threads(), nullptr); });
}

std::optional<ThreadChoice> Executable::thread_choice() const {
  State& state = Present(state_, kMovedFrom);
  const std::lock_guard<std::mutex> lock(state.mutex);
  return state.idle.empty() ? std::nullopt : state.idle.back()->thread_choice();
}

int Executable::num_kernel_calls() const {
  if (program() != nullptr) {
    int total = 0;
    for (const ProgramPart& part : program()->parts) {
      const Executable& of_part = part.executable;
      total += of_part.plan().nodes.empty() ? static_cast<int>(of_part.kernels().size())
                                            : of_part.num_kernel_calls();
    }
    return total;
  }
  return static_cast<int>(
      std::count_if(plan().nodes.begin(), plan().nodes.end(),
                    [](const Node& node) { return node.kind == NodeKind::kKernel; }));
}

std::size_t Executable::working_bytes() const {
  if (program() != nullptr) {
    std::size_t bytes = 0;
    for (const ProgramPart& part : program()->parts) bytes += part.executable.working_bytes();
    return bytes;
  }
  std::vector<bool> counted(plan().storage_bytes.size(), false);
  std::size_t total = 0;
  for (const Node& node : plan().nodes) {
    if (!IsComputed(node.kind)) continue;
    for (const Entry& output : node.outputs) {
      if (counted[output.storage_id]) continue;
      counted[output.storage_id] = true;
      total += plan().storage_bytes[output.storage_id];
    }
  }
  return total;
}

Session::Session(const Executable& executable, Options options)
    : executable_(executable),
      workspace_(executable.is_symbolic() || executable.program() != nullptr
                     ? nullptr
                     : std::make_unique<Workspace>(executable)),
      threads_(options.threads > 0 ? options.threads : executable.threads()) {
  if (options.threads < 0 || options.threads > jit::kMaxThreads)
    throw InvalidArgument(StrCat("a session of ", options.threads, " threads; it must be 1 to ",
                                 jit::kMaxThreads, ", or 0 as the executable says"));
}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

std::optional<ThreadChoice> Session::thread_choice() const {
  return workspace_ == nullptr ? std::nullopt : workspace_->thread_choice();
}

absl::StatusOr<std::vector<NDArray>> Session::Run(const Inputs& inputs) {
  return RunProfiled(inputs, nullptr);
}

absl::StatusOr<std::vector<NDArray>> Session::RunProfiled(const Inputs& inputs,
                                                          std::vector<NodeTime>* times) {
  return CatchErrors([&] {
    if (workspace_ == nullptr) return executable_.Bound(inputs).RunOnce(inputs, threads_, times);
    const jit::ScopedThreads threads(threads_);
    return workspace_->Run(inputs, times);
  });
}

}  // namespace tenon::runtime
