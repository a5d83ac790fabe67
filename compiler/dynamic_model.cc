// The cache is a list in order of use and an index into it. An entry is a future, put in before its
// compile begins, so that no two threads compile the same shapes and no lock is held meanwhile.
#include "tenon/compiler/dynamic_model.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <list>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "tenon/compiler/symbolic/hot_shapes.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon {
namespace {

using Result = absl::StatusOr<Executable>;

struct Entry {
  ShapesByName shapes;
  std::shared_future<Result> executable;
  std::shared_ptr<const int> identity;  // tells an entry from a later one of the same shapes
  std::thread::id maker;                // who compiles it
};

std::string NamesOf(const std::vector<ir::InputSpec>& inputs) {
  return StrJoin(inputs, ", ", [](std::string* out, const auto& spec) { *out += spec.name; });
}

}  // namespace

struct DynamicModel::State {
  std::vector<ir::InputSpec> inputs;
  Importer importer;
  Options options;

  std::mutex mutex;
  std::list<Entry> entries;  // the last used first
  std::map<ShapesByName, std::list<Entry>::iterator> index;
  Statistics statistics;
  // Of the symbolic model; not ok where there is none.
  std::once_flag symbolic_is_made;
  Result symbolic = absl::UnimplementedError("no importer");
  // Ends before what it imports with.
  std::optional<compiler::HotShapes> hot;

  // The results by the compile for all shapes; nothing where this model or these inputs have none.
  std::optional<std::vector<NDArray>> RunSymbolic(const ShapesByName& shapes,
                                                  const runtime::Inputs& inputs);
  Result CompiledFor(const ShapesByName& shapes) const;
  void Check(const ShapesByName& shapes) const;
  Result Compiled(const ShapesByName& shapes);
  void Forget(const ShapesByName& shapes, const std::shared_ptr<const int>& identity);
};

Result DynamicModel::State::CompiledFor(const ShapesByName& shapes) const {
  return CatchErrors(
      [&] { return ValueOrThrow(Compile(ValueOrThrow(importer(shapes)), options.compile)); });
}

std::optional<std::vector<NDArray>> DynamicModel::State::RunSymbolic(
    const ShapesByName& shapes, const runtime::Inputs& inputs) {
  if (options.symbolic == nullptr) return std::nullopt;
  std::call_once(symbolic_is_made, [&] {
    symbolic = CatchErrors(
        [&] { return ValueOrThrow(Compile(ValueOrThrow(options.symbolic()), options.compile)); });
  });
  const auto refuse = [&](const std::string& why) {
    const std::lock_guard<std::mutex> lock(mutex);
    statistics.symbolic_refusal = why;
    return std::nullopt;
  };
  if (!symbolic.ok()) return refuse(std::string(symbolic.status().message()));
  if (!symbolic->is_symbolic()) return refuse("the model leaves no extent open");
  using Clock = std::chrono::steady_clock;
  const compiler::HotShapes::Turn turn = hot->Next(shapes);
  const auto start = Clock::now();
  absl::StatusOr<std::vector<NDArray>> results =
      turn.executable ? turn.executable->Run(inputs) : symbolic->Run(inputs);
  if (turn.is_timed)
    hot->Report(shapes, turn, std::chrono::duration<double>(Clock::now() - start).count());
  // Empty inputs, for instance. What the model itself refuses is refused again.
  if (!results.ok()) return refuse(std::string(results.status().message()));
  if (turn.executable == nullptr) {
    const std::lock_guard<std::mutex> lock(mutex);
    ++statistics.symbolic;
  }
  return *std::move(results);
}

// Extents of one name are equal in all inputs.
void DynamicModel::State::Check(const ShapesByName& shapes) const {
  std::map<std::string, std::pair<std::int64_t, std::string>> named;
  for (const ir::InputSpec& spec : inputs) {
    const auto found = shapes.find(spec.name);
    if (found == shapes.end())
      throw InvalidArgument(StrCat("the input ", spec.name, " is missing; its shape is ",
                                   spec.ExtentsToString(), ", its type ", spec.dtype.ToString()));
    const Shape& shape = found->second;
    if (!spec.Fits(shape))
      throw InvalidArgument(StrCat("the input ", spec.name, " has the shape ", ShapeToString(shape),
                                   "; the model takes ", spec.ExtentsToString()));
    for (std::size_t i = 0; spec.extents && i < shape.size(); ++i) {
      const ir::Dim& dim = (*spec.extents)[i];
      if (dim.is_static() || dim.is_any()) continue;
      const auto [first, fresh] = named.try_emplace(dim.ToString(), shape[i], spec.name);
      if (!fresh && first->second.first != shape[i])
        throw InvalidArgument(StrCat("the input ", spec.name, " has ", shape[i], " for the extent ",
                                     dim.ToString(), ", the input ", first->second.second, " has ",
                                     first->second.first, "; they must be equal"));
    }
  }
  for (const auto& [name, shape] : shapes) {
    const auto same = [&, &key = name](const ir::InputSpec& spec) { return spec.name == key; };
    if (std::none_of(inputs.begin(), inputs.end(), same))
      throw InvalidArgument(
          StrCat("there is no input ", name, "; the model's inputs are ", NamesOf(inputs)));
  }
}

void DynamicModel::State::Forget(const ShapesByName& shapes,
                                 const std::shared_ptr<const int>& identity) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = index.find(shapes);
  if (found == index.end() || found->second->identity != identity) return;
  entries.erase(found->second);
  index.erase(found);
}

Result DynamicModel::State::Compiled(const ShapesByName& shapes) {
  std::promise<Result> promise;
  std::shared_future<Result> future;
  std::shared_ptr<const int> identity;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (const auto found = index.find(shapes); found != index.end()) {
      entries.splice(entries.begin(), entries, found->second);
      future = found->second->executable;
      const bool is_made = future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
      if (!is_made && found->second->maker == std::this_thread::get_id())
        return absl::FailedPreconditionError(
            "the importer of a dynamic model runs the model for the shapes that it imports");
    } else {
      identity = std::make_shared<const int>();
      entries.push_front(
          {shapes, promise.get_future().share(), identity, std::this_thread::get_id()});
      index.emplace(shapes, entries.begin());
      if (entries.size() > options.cache) {
        index.erase(entries.back().shapes);
        entries.pop_back();
        ++statistics.forgotten;
      }
    }
  }
  if (!identity) return future.get();
  Result result = CompiledFor(shapes);
  if (result.ok()) {
    const std::lock_guard<std::mutex> lock(mutex);
    ++statistics.compiled;
  } else {
    Forget(shapes, identity);
  }
  promise.set_value(result);
  return result;
}

DynamicModel::DynamicModel(std::vector<ir::InputSpec> inputs, Importer importer, Options options)
    : state_(std::make_shared<State>()) {
  if (options.cache < 1)
    throw InvalidArgument("the cache of a dynamic model keeps at least 1 shape");
  const CompileOptions& compile = options.compile;
  const std::pair<const void*, const char*> reports[] = {
      {compile.pass_report, "pass_report"},
      {compile.fusion_report, "fusion_report"},
      {compile.folding_report, "folding_report"}};
  for (const auto& [report, name] : reports) {
    if (report != nullptr)
      throw InvalidArgument(
          StrCat("a dynamic model takes no ", name, "; its compiles run at the same time"));
  }
  std::set<std::string> names;
  for (const ir::InputSpec& spec : inputs) {
    if (!names.insert(spec.name).second)
      throw InvalidArgument(StrCat("two inputs have the name ", spec.name));
  }
  state_->inputs = std::move(inputs);
  state_->importer = std::move(importer);
  state_->options = std::move(options);
  state_->hot.emplace(
      compiler::HotShapes::Options{.after = state_->options.hot_after,
                                   .most = state_->options.cache},
      [state = state_.get()](const ShapesByName& shapes) { return state->CompiledFor(shapes); });
}

const std::vector<ir::InputSpec>& DynamicModel::inputs() const { return state_->inputs; }

absl::StatusOr<Executable> DynamicModel::Specialize(const ShapesByName& shapes) const {
  return CatchErrors([&] {
    state_->Check(shapes);
    return ValueOrThrow(state_->Compiled(shapes));
  });
}

absl::StatusOr<std::vector<NDArray>> DynamicModel::Run(const runtime::Inputs& inputs) const {
  return CatchErrors([&] {
    ShapesByName shapes;
    for (const auto& [name, array] : inputs) shapes[name] = array.shape();
    state_->Check(shapes);
    // Before anything is compiled for a run that cannot be.
    for (const ir::InputSpec& spec : state_->inputs) {
      const DataType given = inputs.find(spec.name)->second.dtype();
      if (given != spec.dtype)
        throw InvalidArgument(StrCat("the input ", spec.name, " has the type ", given.ToString(),
                                     "; the model takes ", spec.dtype.ToString()));
    }
    if (std::optional<std::vector<NDArray>> results = state_->RunSymbolic(shapes, inputs))
      return *std::move(results);
    return ValueOrThrow(ValueOrThrow(state_->Compiled(shapes)).Run(inputs));
  });
}

DynamicModel::Statistics DynamicModel::statistics() const {
  const compiler::HotShapes::Statistics hot = state_->hot->statistics();
  const std::lock_guard<std::mutex> lock(state_->mutex);
  Statistics statistics = state_->statistics;
  statistics.hot_compiled = hot.compiled;
  statistics.hot_kept = hot.kept;
  statistics.hot_dropped = hot.dropped;
  return statistics;
}

}  // namespace tenon
