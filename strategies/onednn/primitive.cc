// Primitives are made through oneDNN's C++ API and run through its C API: an execution through the
// C++ API builds a hash map, which costs more than a small kernel.
#include "tenon/strategies/onednn/primitive.h"

#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <variant>

#include "tenon/jit/runtime/parallel_runtime.h"
#include "tenon/support/alignment.h"
#include "tenon/support/arithmetic.h"

namespace tenon::strategies::onednn {
namespace {

using dnnl::algorithm;
using dnnl::memory;

dnnl_stream_t ThreadStream() {
  thread_local const dnnl::stream stream(Engine());
  return stream.get();
}

void AppendPostOps(const std::vector<PostOp>& post_ops, const memory::desc& result,
                   dnnl::primitive_attr* attr) {
  dnnl::post_ops chain;
  for (const PostOp& op : post_ops) {
    const auto eltwise = [&](algorithm kind, float alpha = 0, float beta = 0) {
      AppendFunction(kind, alpha, beta, &chain);
    };
    switch (op.kind) {
      case PostOp::Kind::kRelu:
        eltwise(algorithm::eltwise_relu, op.alpha);
        break;
      case PostOp::Kind::kClip:
        eltwise(algorithm::eltwise_clip, op.alpha, op.beta);
        break;
      case PostOp::Kind::kSigmoid:
        eltwise(algorithm::eltwise_logistic);
        break;
      case PostOp::Kind::kTanh:
        eltwise(algorithm::eltwise_tanh);
        break;
      case PostOp::Kind::kGelu:
        eltwise(algorithm::eltwise_gelu_erf);
        break;
      case PostOp::Kind::kSwish:
        eltwise(algorithm::eltwise_swish, op.alpha);
        break;
      case PostOp::Kind::kHardSwish:
        AppendHardSwish(&chain);
        break;
      case PostOp::Kind::kLinear:
        eltwise(algorithm::eltwise_linear, op.alpha, op.beta);
        break;
      case PostOp::Kind::kAddTensor:
        chain.append_binary(algorithm::binary_add, result);
        break;
      case PostOp::Kind::kMulTensor:
        chain.append_binary(algorithm::binary_mul, result);
        break;
    }
  }
  attr->set_post_ops(chain);
}

// The primitive, for that many threads. oneDNN's exceptions become a refusal or an error of Tenon.
OrRefused<Made> MakePrimitive(const Maker& make, const std::string& what, int threads,
                              const Knowns& known) {
  const jit::ScopedTeam team(threads);
  try {
    return make(known);
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_unimplemented)
      return Refused{StrCat("oneDNN has no code for this ", what)};
    if (error.status == dnnl_out_of_memory) throw std::bad_alloc();
    throw Error(absl::StatusCode::kInternal, StrCat("oneDNN: ", what, ": ", error.what()));
  }
}

void Check(dnnl_status_t status) {
  CheckInvariant(status == dnnl_success, "a oneDNN primitive that was made runs");
}

// What is run on one number of threads.
class Variant {
 public:
  explicit Variant(Made made) : made_(std::move(made)) {
    workspace_bytes_ = RoundUp(made_.chosen.scratchpad.get_size(), kAlignment);
    for (Argument& argument : made_.arguments) {
      if (!argument.is_packed) continue;
      argument.packed_offset = workspace_bytes_;
      workspace_bytes_ += RoundUp(argument.desc.get_size(), kAlignment);
    }
  }

  const Made& made() const { return made_; }
  std::size_t workspace_bytes() const { return workspace_bytes_; }

  void Call(void* const* buffers, void* workspace) const {
    std::unique_ptr<Binding> binding = TakeBinding();
    for (std::size_t i = 0; i < made_.arguments.size(); ++i) {
      const Argument& argument = made_.arguments[i];
      if (argument.is_fixed) continue;
      void* data = *buffers++;
      if (argument.is_packed) {
        void* packed = static_cast<char*>(workspace) + argument.packed_offset;
        const memory from(argument.buffer_desc, Engine(), data);
        const memory to(argument.desc, Engine(), packed);
        if (argument.pack) {
          const dnnl_exec_arg_t pack[] = {{DNNL_ARG_FROM, from.get()}, {DNNL_ARG_TO, to.get()}};
          Check(dnnl_primitive_execute(argument.pack.get(), ThreadStream(), 2, pack));
        } else {
          PackByElement(from, to);
        }
        data = packed;
      }
      Check(dnnl_memory_set_data_handle(binding->memories[i].get(), data));
    }
    Check(dnnl_memory_set_data_handle(binding->memories.back().get(), workspace));
    Check(dnnl_primitive_execute(made_.chosen.primitive.get(), ThreadStream(),
                                 static_cast<int>(binding->arguments.size()),
                                 binding->arguments.data()));
    const std::lock_guard<std::mutex> lock(mutex_);
    idle_.push_back(std::move(binding));
  }

 private:
  // Memory objects for one call at a time; making them again would cost more than a small kernel.
  struct Binding {
    std::vector<memory> memories;
    std::vector<dnnl_exec_arg_t> arguments;
  };

  std::unique_ptr<Binding> TakeBinding() const {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Binding> binding = std::move(idle_.back());
        idle_.pop_back();
        return binding;
      }
    }
    auto binding = std::make_unique<Binding>();
    for (const Argument& argument : made_.arguments) {
      binding->memories.push_back(argument.is_fixed ? argument.fixed
                                                    : memory(argument.desc, Engine(), nullptr));
      binding->arguments.push_back({argument.id, binding->memories.back().get()});
    }
    binding->memories.emplace_back(made_.chosen.scratchpad, Engine(), nullptr);
    binding->arguments.push_back({DNNL_ARG_SCRATCHPAD, binding->memories.back().get()});
    return binding;
  }

  Made made_;
  std::size_t workspace_bytes_ = 0;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Binding>> idle_;
};

// oneDNN shares work out among as many threads as there could be when the primitive was made. A
// team of fewer threads would leave part of it undone. So a call takes a primitive for the threads
// that it gets, either that of compile time or one that is made when it is first needed.
class OneDnnKernel : public jit::Callable {
 public:
  // `made` is what `make` makes for that many threads.
  OneDnnKernel(std::string what, Maker make, int threads, Made made)
      : what_(std::move(what)),
        make_(std::move(make)),
        threads_(threads),
        implementation_(StrCat("onednn ", made.chosen.implementation)) {
    variants_.emplace(threads_, std::make_unique<Variant>(std::move(made)));
    first_ = variants_.at(threads_).get();
  }

  std::size_t workspace_bytes() const override { return first_->workspace_bytes(); }
  std::string implementation() const override { return implementation_; }

  void Call(void* const* buffers, void* workspace) const override {
    const int threads = jit::TeamThreads();
    const jit::ScopedTeam team(threads);
    if (threads == threads_) return first_->Call(buffers, workspace);
    const Variant& variant = VariantFor(threads);
    const auto bytes = static_cast<std::int64_t>(variant.workspace_bytes());
    const std::unique_ptr<void, void (*)(void*)> memory(jit::TakeMemory(bytes), jit::GiveMemory);
    if (memory == nullptr) throw std::bad_alloc();
    variant.Call(buffers, memory.get());
  }

 private:
  const Variant& VariantFor(int threads) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::unique_ptr<Variant>& variant = variants_[threads];
    if (variant == nullptr) {
      Knowns known;
      for (const Argument& argument : first_->made().arguments) {
        if (argument.is_fixed) known.emplace(argument.id, Known{argument.fixed, true});
      }
      OrRefused<Made> made = MakePrimitive(make_, what_, threads, known);
      if (const auto* refused = std::get_if<Refused>(&made))
        throw Unimplemented(StrCat(refused->why, " on ", threads, " threads"));
      variant = std::make_unique<Variant>(std::get<Made>(std::move(made)));
    }
    return *variant;
  }

  std::string what_;
  Maker make_;
  int threads_;
  std::string implementation_;
  const Variant* first_ = nullptr;
  mutable std::mutex mutex_;
  mutable std::map<int, std::unique_ptr<Variant>> variants_;
};

}  // namespace

bool IsReference(std::string_view implementation) {
  bool starts = true;  // a part of the name
  for (std::size_t i = 0; i < implementation.size(); ++i) {
    if (starts && implementation.substr(i).starts_with("ref")) return true;
    starts = implementation[i] == ':' || implementation[i] == '+';
  }
  return false;
}

const dnnl::engine& Engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::primitive_attr MakeAttr(const std::vector<PostOp>& post_ops, const memory::desc& result) {
  dnnl::primitive_attr attr;
  // The caller gives the scratchpad: one inside the primitive would make calls from two threads
  // collide.
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  AppendPostOps(post_ops, result, &attr);
  return attr;
}

Argument Buffer(int id, const memory::desc& desc) {
  Argument argument;
  argument.id = id;
  argument.desc = desc;
  return argument;
}

void AddKnown(int id, const memory::desc& given, const NDArray& data, Knowns* known) {
  if (data.defined()) known->emplace(id, Known{memory(given, Engine(), data.raw()), false});
}

Argument Weight(int id, const memory::desc& given, const memory::desc& wanted,
                const Knowns& known) {
  Argument argument = Buffer(id, wanted);
  if (const auto found = known.find(id); found != known.end()) {
    argument.is_fixed = true;
    memory source = found->second.memory;
    if (found->second.is_owned && source.get_desc() == wanted) {
      argument.fixed = source;
      return argument;
    }
    argument.fixed = memory(wanted, Engine());
    if (!ReordersRight(source.get_desc(), wanted)) {
      PackByElement(source, argument.fixed);
      return argument;
    }
    dnnl::stream stream(Engine());
    dnnl::reorder(source, argument.fixed).execute(stream, source, argument.fixed);
    stream.wait();
  } else if (given != wanted) {
    argument.is_packed = true;
    argument.buffer_desc = given;
    if (ReordersRight(given, wanted))
      argument.pack =
          dnnl::reorder(dnnl::reorder::primitive_desc(Engine(), given, Engine(), wanted));
  }
  return argument;
}

void AddTensorOperands(const std::vector<PostOp>& post_ops, const memory::desc& result,
                       std::vector<Argument>* arguments) {
  for (std::size_t i = 0; i < post_ops.size(); ++i) {
    const PostOp::Kind kind = post_ops[i].kind;
    if (kind != PostOp::Kind::kAddTensor && kind != PostOp::Kind::kMulTensor) continue;
    const int id = DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(i)) | DNNL_ARG_SRC_1;
    arguments->push_back(Buffer(id, result));
  }
}

void RequireElements(const NDArray& array, std::int64_t count, std::string_view what,
                     DataType type) {
  if (!array.defined()) return;
  if (array.dtype() != type || array.size() != count) {
    throw InvalidArgument(StrCat("oneDNN: the ", what, " is ", array.dtype().ToString(), " ",
                                 ShapeToString(array.shape()), "; it must have ", count, " ",
                                 type.ToString(), " elements"));
  }
}

MadeKernel MakeKernel(std::string_view what, Maker make, const Knowns& known) {
  const int threads = jit::TeamThreads();
  OrRefused<Made> made = MakePrimitive(make, std::string(what), threads, known);
  if (auto* refused = std::get_if<Refused>(&made)) return std::move(*refused);
  const std::string& name = std::get<Made>(made).chosen.implementation;
  if (IsReference(name))
    return Refused{StrCat("oneDNN would run its reference code (", name, ") for this ", what)};
  return std::make_shared<OneDnnKernel>(std::string(what), std::move(make), threads,
                                        std::get<Made>(std::move(made)));
}

}  // namespace tenon::strategies::onednn
