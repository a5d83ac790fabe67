// Each function becomes an LLVM module of its own in a context of its own, so that threads compile
// without locks, unless its object file is in the cache; the object files are then linked into the
// shared ORC session.
#include "tenon/jit/kernel.h"

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "tenon/jit/bounds/bounds_checks.h"
#include "tenon/jit/bounds/bounds_report.h"
#include "tenon/jit/c/c_source.h"
#include "tenon/jit/final_loops.h"
#include "tenon/jit/kernel_texts.h"
#include "tenon/jit/llvm/function_codegen.h"
#include "tenon/jit/machine_code.h"
#include "tenon/jit/object/code_registration.h"
#include "tenon/jit/object/orc_session.h"
#include "tenon/jit/runtime/parallel_runtime.h"
#include "tenon/loop/print.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/present.h"
#include "tenon/support/strings.h"

namespace tenon::jit {

using Entry = std::int32_t (*)(void* const* buffers, const std::int64_t* extents);

// What kernels may share.
struct Code {
  std::unique_ptr<LinkedObject> object;
  std::unique_ptr<GdbEntry> known_to_gdb;  // dies before the object
};

struct Kernel::State {
  loop::Function function;
  loop::Function final_loops;  // after the loop pipeline
  CompileOptions options;
  std::shared_ptr<const Code> code;
  Entry entry = nullptr;
  std::vector<std::int64_t> numbers;  // passed after the extents
  // Found out at the first checked call.
  mutable std::once_flag is_known;
  mutable std::vector<bool> writes;  // by parameter

  const std::vector<bool>& Writes() const {
    std::call_once(is_known, [&] {
      for (const loop::Buffer& buffer : function.buffers)
        writes.push_back(HasBody(function) && IsWritten(function, buffer));
    });
    return writes;
  }
  KernelTexts Texts() const { return {function, final_loops, options}; }
  std::int32_t Run(void* const* buffers, const std::int64_t* extents) const {
    if (options.check_bounds) return RunWithChecks(buffers, extents);
    if (numbers.empty()) return entry(buffers, extents);
    absl::InlinedVector<std::int64_t, 64> arguments(extents, extents + function.scalars.size());
    arguments.insert(arguments.end(), numbers.begin(), numbers.end());
    return entry(buffers, arguments.data());
  }
  // Throws OutOfRange.
  std::int32_t RunWithChecks(void* const* buffers, const std::int64_t* extents) const {
    BoundsReport report;
    std::vector<std::int64_t> arguments(extents, extents + function.scalars.size());
    arguments.push_back(report.address());
    const std::int32_t status = entry(buffers, arguments.data());
    if (report.is_filled) {
      throw OutOfRange(StrCat(
          "kernel ", function.name, ": ",
          Describe(
              WithBoundsChecks(final_loops).accesses.at(static_cast<std::size_t>(report.access)),
              report)));
    }
    return status;
  }
  // Whether the body is made already. The code of a function with an origin may come from the
  // cache, and then its body need not be made.
  static bool HasBody(const loop::Function& function) { return function.origin.empty(); }
  static bool IsWritten(const loop::Function& function, const loop::Buffer& buffer) {
    bool is_written = false;
    loop::VisitStmts(function.body, [&](const loop::Stmt& s) {
      const loop::Buffer* stored = loop::BufferOf(s);
      is_written = is_written || (stored != nullptr && *stored == buffer);
    });
    return is_written;
  }
};

namespace {

// Code for another machine would end the process.
void RequireRunsHere(const Target& target) {
  target.RequireVectors();
  const Target& host = HostTarget();
  if (target.triple != host.triple)
    throw InvalidArgument(StrCat("the target's triple is '", target.triple, "'; kernels run on ",
                                 host.triple, ", the host"));
  for (const std::string& feature : target.features) {
    if (!host.Has(feature))
      throw InvalidArgument(
          StrCat("the target has ", feature, ", which the host, where kernels run, lacks"));
  }
}

[[noreturn]] void RefuseArray(const loop::Function& function, std::size_t index,
                              const std::string& problem) {
  throw InvalidArgument(StrCat("kernel ", function.name, ", argument ", index, " (",
                               function.buffers[index]->name, "): ", problem));
}

using Extents = std::unordered_map<loop::Expr, std::int64_t, loop::ExprHash, loop::ExprSame>;

void CheckExtent(const loop::Function& function, std::size_t index, std::size_t dimension,
                 const NDArray& array, std::int64_t wanted) {
  if (array.shape()[dimension] == wanted) return;
  RefuseArray(function, index,
              StrCat("has the shape ", ShapeToString(array.shape()), "; dimension ", dimension,
                     " must be ", wanted));
}

// Checks type, rank and constant extents of one array; its symbolic ones get their values or must
// have those that they got before.
void BindArray(const loop::Function& function, std::size_t index, const NDArray& array,
               Extents* extents) {
  const loop::Buffer& buffer = function.buffers[index];
  if (array.dtype() != buffer->dtype) {
    RefuseArray(
        function, index,
        StrCat("holds ", array.dtype().ToString(), "; it must hold ", buffer->dtype.ToString()));
  }
  if (array.shape().size() != buffer->shape.size()) {
    RefuseArray(function, index,
                StrCat("has the shape ", ShapeToString(array.shape()), "; it must have ",
                       buffer->shape.size(), " dimensions"));
  }
  for (std::size_t d = 0; d < buffer->shape.size(); ++d) {
    const loop::Expr& extent = buffer->shape[d];
    if (const auto* imm = extent.As<loop::IntImmNode>()) {
      CheckExtent(function, index, d, array, imm->value);
    } else if (extent.kind() == loop::ExprKind::kVar) {
      CheckExtent(function, index, d, array,
                  extents->emplace(extent, array.shape()[d]).first->second);
    }
  }
}

// Checks the extents that are computed from the symbolic ones, such as n + 2.
void CheckComputedExtents(const loop::Function& function, std::span<const NDArray> arrays,
                          const Extents& extents) {
  loop::ExprMap values;
  for (const auto& [var, value] : extents) values.emplace(var, value);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const std::vector<loop::Expr>& shape = function.buffers[i]->shape;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (shape[d].kind() == loop::ExprKind::kIntImm || shape[d].kind() == loop::ExprKind::kVar)
        continue;
      const loop::Expr extent = loop::Simplify(loop::Substitute(shape[d], values));
      const auto* imm = extent.As<loop::IntImmNode>();
      if (imm == nullptr) {
        RefuseArray(function, i,
                    StrCat("dimension ", d, " must be ", loop::Print(shape[d]),
                           ", which has no value for these arrays"));
      }
      CheckExtent(function, i, d, arrays[i], imm->value);
    }
  }
}

// Checks the arrays against the buffers and reads the symbolic extents off them.
std::vector<std::int64_t> BindExtents(const loop::Function& function,
                                      std::span<const NDArray> arrays) {
  if (arrays.size() != function.buffers.size()) {
    throw InvalidArgument(StrCat("kernel ", function.name, " takes ", function.buffers.size(),
                                 " arrays; ", arrays.size(), " are given"));
  }
  Extents extents;
  for (std::size_t i = 0; i < arrays.size(); ++i) BindArray(function, i, arrays[i], &extents);
  std::vector<std::int64_t> values;
  for (const loop::Var& scalar : function.scalars) {
    const auto found = extents.find(scalar);
    CheckInvariant(found != extents.end(), "every symbolic extent is the extent of a parameter");
    values.push_back(found->second);
  }
  CheckComputedExtents(function, arrays, extents);
  return values;
}

// Code may read an array before or after it writes another, in any order.
void RequireApart(const loop::Function& function, std::span<const NDArray> arrays,
                  const std::vector<bool>& writes) {
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (!writes[i]) continue;
    const auto begin = [](const NDArray& array) {
      return reinterpret_cast<std::uintptr_t>(array.raw());
    };
    const auto bytes = [](const NDArray& array) {
      return static_cast<std::uintptr_t>(array.size() * array.dtype().bytes());
    };
    for (std::size_t j = 0; j < arrays.size(); ++j) {
      if (i == j || bytes(arrays[i]) == 0 || bytes(arrays[j]) == 0) continue;
      if (begin(arrays[i]) < begin(arrays[j]) + bytes(arrays[j]) &&
          begin(arrays[j]) < begin(arrays[i]) + bytes(arrays[i]))
        RefuseArray(function, i,
                    StrCat("is written and shares memory with argument ", j, " (",
                           function.buffers[j]->name,
                           "); arrays that are written must not overlap others"));
    }
  }
}

class KernelCallable : public Callable {
 public:
  KernelCallable(Kernel kernel, std::vector<std::int64_t> extents)
      : kernel_(std::move(kernel)), extents_(std::move(extents)) {}
  void Call(void* const* buffers, void*) const override {
    kernel_.RunUnchecked(buffers, extents_.data());
  }
  std::string implementation() const override { return "tenon"; }
  std::string Text(KernelText kind) const override { return kernel_.Text(kind); }

 private:
  Kernel kernel_;
  std::vector<std::int64_t> extents_;
};

std::vector<loop::Function> FinalsOf(std::span<const loop::Function> functions,
                                     const CompileOptions& options) {
  std::vector<loop::Function> finals;
  for (const loop::Function& function : functions)
    finals.push_back(AfterPipeline(function, options.may_reassociate(), options.pipeline));
  return finals;
}

constexpr const char* kNoCode =
    "the kernel has no code: it was not compiled, or has been moved from";

}  // namespace

const std::string& Kernel::name() const { return Present(state_, kNoCode).function.name; }
const loop::Function& Kernel::function() const { return Present(state_, kNoCode).function; }

absl::Status Kernel::Run(std::span<const NDArray> arrays) const {
  return CatchErrors([&] {
    const State& state = Present(state_, kNoCode);
    const std::vector<std::int64_t> extents = BindExtents(state.function, arrays);
    RequireApart(state.function, arrays, state.Writes());
    std::vector<void*> buffers;
    for (const NDArray& array : arrays) buffers.push_back(array.raw());
    RunUnchecked(buffers.data(), extents.data());
  });
}

void Kernel::RunUnchecked(void* const* buffers, const std::int64_t* extents) const {
  // This is done here, so that every way into the code and every number of threads gives the same
  // bits.
  const ScopedFlushDenormals flush;
  const State& state = Present(state_, kNoCode);
  const std::int32_t status = state.Run(buffers, extents);
  if (status == kOutOfMemory) {
    throw Error(absl::StatusCode::kResourceExhausted,
                StrCat("kernel ", name(), ": out of memory for an intermediate result"));
  }
}

std::shared_ptr<const Callable> Kernel::AsCallable(std::vector<std::int64_t> extents) const {
  CheckInvariant(Present(state_, kNoCode).function.scalars.size() == extents.size(),
                 "a step of a compiled graph has a value for each symbolic extent");
  return std::make_shared<KernelCallable>(*this, std::move(extents));
}

std::string Kernel::Text(KernelText kind) const {
  return Present(state_, kNoCode).Texts().Text(kind);
}

std::string Kernel::LlvmIr(bool optimized) const {
  return Present(state_, kNoCode).Texts().LlvmIr(optimized);
}

std::string Kernel::CSource() const {
  return ValueOrThrow(jit::CSource(Present(state_, kNoCode).function));
}

namespace {

// By object: what all functions compute that run its code.
std::vector<std::string> PlacesByObject(std::span<const loop::Function> functions,
                                        const MachineCode& code) {
  std::vector<std::string> all(code.objects.size());
  for (std::size_t i = 0; i < functions.size(); ++i) {
    std::string& places = all[code.uses[i].object];
    const bool is_more = !places.empty() && !functions[i].places.empty();
    StrAppend(&places, is_more ? ", " : "", functions[i].places);
  }
  return all;
}

}  // namespace

absl::StatusOr<Kernel> Compile(const loop::Function& function, const CompileOptions& options) {
  absl::StatusOr<std::vector<Kernel>> kernels = CompileAll({&function, 1}, options);
  if (!kernels.ok()) return kernels.status();
  return std::move((*kernels)[0]);
}

absl::StatusOr<std::vector<Kernel>> CompileAll(std::span<const loop::Function> functions,
                                               const CompileOptions& options) {
  return CatchErrors([&] {
    RequireRunsHere(options.target);
    std::vector<loop::Function> finals = FinalsOf(functions, options);
    const std::shared_ptr<OrcSession> session = OrcSession::Shared();
    const MachineCode made = MakeMachineCode(functions, finals, options, *session);
    const std::vector<std::string> places = PlacesByObject(functions, made);
    std::vector<std::shared_ptr<Code>> codes(made.objects.size());
    std::vector<Kernel> kernels(functions.size());
    for (std::size_t i = 0; i < functions.size(); ++i) {
      const MachineCode::Use& use = made.uses[i];
      const MachineCode::Object& object = made.objects[use.object];
      std::shared_ptr<Code>& code = codes[use.object];
      const bool is_new = code == nullptr;
      if (is_new) {
        code = std::make_shared<Code>();
        code->object = session->Link(object.bytes, object.externs);
      }
      void* entry = code->object->Address(use.symbol);
      if (is_new)
        code->known_to_gdb = RegisterCode(object.bytes, use.symbol, entry, places[use.object]);
      auto state = std::make_shared<Kernel::State>();
      state->function = functions[i];
      state->final_loops = std::move(finals[i]);
      state->options = options;
      state->code = code;
      state->entry = reinterpret_cast<Entry>(entry);
      state->numbers = use.numbers;
      kernels[i].state_ = std::move(state);
    }
    return kernels;
  });
}

absl::StatusOr<int> FillCache(std::span<const loop::Function> functions,
                              const CompileOptions& options, int part, int parts) {
  return CatchErrors([&] {
    if (part < 0 || part >= parts)
      throw InvalidArgument(StrCat("part ", part, " of ", parts, "; parts are counted from 0"));
    RequireRunsHere(options.target);
    (void)MakeMachineCode(
        functions, FinalsOf(functions, options), options, *OrcSession::Shared(),
        {.number = static_cast<std::size_t>(part), .of = static_cast<std::size_t>(parts)});
    return (static_cast<int>(functions.size()) - part + parts - 1) / parts;
  });
}

}  // namespace tenon::jit
