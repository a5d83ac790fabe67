// Written against the oneDNN 2.x C++ API for making primitives and its C API for running them: an
// execution through the C++ API builds a hash map, which costs more than a small kernel.
#include "tenon/strategies/onednn/primitive.h"

#include <mutex>
#include <utility>

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
      chain.append_eltwise(1.0F, kind, alpha, beta);
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
        eltwise(algorithm::eltwise_hardswish);
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

class OneDnnKernel : public jit::Callable {
 public:
  OneDnnKernel(dnnl::primitive primitive, std::vector<Argument> arguments,
               const memory::desc& scratchpad, std::string implementation)
      : primitive_(std::move(primitive)),
        arguments_(std::move(arguments)),
        scratchpad_(scratchpad),
        implementation_(std::move(implementation)) {
    workspace_bytes_ = RoundUp(scratchpad_.get_size(), kAlignment);
    for (Argument& argument : arguments_) {
      if (!argument.is_packed) continue;
      argument.packed_offset = workspace_bytes_;
      workspace_bytes_ += RoundUp(argument.desc.get_size(), kAlignment);
    }
  }

  std::size_t workspace_bytes() const override { return workspace_bytes_; }
  std::string implementation() const override { return implementation_; }

  void Call(void* const* buffers, void* workspace) const override {
    std::unique_ptr<Binding> binding = TakeBinding();
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const Argument& argument = arguments_[i];
      if (argument.is_fixed) continue;
      void* data = *buffers++;
      if (argument.is_packed) {
        void* packed = static_cast<char*>(workspace) + argument.packed_offset;
        const memory from(argument.buffer_desc, Engine(), data);
        const memory to(argument.desc, Engine(), packed);
        const dnnl_exec_arg_t pack[] = {{DNNL_ARG_FROM, from.get()}, {DNNL_ARG_TO, to.get()}};
        Check(dnnl_primitive_execute(argument.pack.get(), ThreadStream(), 2, pack));
        data = packed;
      }
      Check(dnnl_memory_set_data_handle(binding->memories[i].get(), data));
    }
    Check(dnnl_memory_set_data_handle(binding->memories.back().get(), workspace));
    Check(dnnl_primitive_execute(primitive_.get(), ThreadStream(),
                                 static_cast<int>(binding->arguments.size()),
                                 binding->arguments.data()));
    const std::lock_guard<std::mutex> lock(mutex_);
    idle_.push_back(std::move(binding));
  }

 private:
  // Memory objects for one call at a time; making them anew would cost more than a small kernel.
  struct Binding {
    std::vector<memory> memories;
    std::vector<dnnl_exec_arg_t> arguments;
  };

  static void Check(dnnl_status_t status) {
    CheckInvariant(status == dnnl_success, "a oneDNN primitive that was made runs");
  }

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
    for (const Argument& argument : arguments_) {
      binding->memories.push_back(argument.is_fixed ? argument.fixed
                                                    : memory(argument.desc, Engine(), nullptr));
      binding->arguments.push_back({argument.id, binding->memories.back().get()});
    }
    binding->memories.emplace_back(scratchpad_, Engine(), nullptr);
    binding->arguments.push_back({DNNL_ARG_SCRATCHPAD, binding->memories.back().get()});
    return binding;
  }

  dnnl::primitive primitive_;
  std::vector<Argument> arguments_;
  memory::desc scratchpad_;
  std::string implementation_;
  std::size_t workspace_bytes_ = 0;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Binding>> idle_;
};

}  // namespace

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

std::string CheckedImplementation(const char* name, std::string_view what) {
  const std::string text = name;
  if (text.starts_with("ref") || text.find(":ref") != std::string::npos) {
    throw Unimplemented(StrCat("oneDNN would run its reference code (", text, ") for this ", what));
  }
  return StrCat("onednn ", text);
}

Argument Buffer(int id, const memory::desc& desc) {
  Argument argument;
  argument.id = id;
  argument.desc = desc;
  return argument;
}

Argument Weight(int id, const memory::desc& given, const memory::desc& wanted,
                const NDArray& data) {
  Argument argument = Buffer(id, wanted);
  if (data.defined()) {
    argument.is_fixed = true;
    argument.fixed = memory(wanted, Engine());
    dnnl::stream stream(Engine());
    memory source(given, Engine(), data.raw());
    dnnl::reorder(source, argument.fixed).execute(stream, source, argument.fixed);
    stream.wait();
  } else if (given != wanted) {
    argument.is_packed = true;
    argument.buffer_desc = given;
    argument.pack = dnnl::reorder(dnnl::reorder::primitive_desc(Engine(), given, Engine(), wanted));
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

std::unique_ptr<jit::Callable> MakeKernel(dnnl::primitive primitive,
                                          std::vector<Argument> arguments,
                                          const memory::desc& scratchpad,
                                          std::string implementation) {
  return std::make_unique<OneDnnKernel>(std::move(primitive), std::move(arguments), scratchpad,
                                        std::move(implementation));
}

}  // namespace tenon::strategies::onednn
