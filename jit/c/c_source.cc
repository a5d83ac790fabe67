#include "tenon/jit/c/c_source.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "tenon/jit/c/c_function_codegen.h"
#include "tenon/jit/c/c_packed.h"
#include "tenon/jit/final_loops.h"
#include "tenon/jit/library_functions.h"
#include "tenon/loop/verify.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::jit {
namespace {

constexpr const char* kIncludes = R"(
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

)";

constexpr const char* kMacros = R"(#ifndef TENON_EXPORT
#if defined(_WIN32)
#define TENON_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define TENON_EXPORT __attribute__((visibility("default")))
#else
#define TENON_EXPORT
#endif
#endif
#if defined(__GNUC__)
#define TENON_RESTRICT __restrict
#define TENON_ALIGNED __attribute__((aligned(64)))
#define TENON_NOINLINE __attribute__((noinline))
#pragma GCC diagnostic ignored "-Wtype-limits"
#else
#define TENON_RESTRICT
#define TENON_ALIGNED
#define TENON_NOINLINE
#endif
#if defined(_OPENMP)
#define TENON_OMP(text) _Pragma(#text)
#else
#define TENON_OMP(text)
#endif

)";

constexpr const char* kOpenExtern = "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
constexpr const char* kCloseExtern = "#ifdef __cplusplus\n}  /* extern \"C\" */\n#endif\n";

std::string List(const std::vector<CParameter>& parameters, bool restrict_pointers) {
  return StrJoin(parameters, ", ", [&](std::string* text, const CParameter& p) {
    const bool is_pointer = p.type.ends_with('*');
    StrAppend(text, p.type, is_pointer && restrict_pointers ? " TENON_RESTRICT" : "", " ", p.name);
  });
}

std::string Names(const std::vector<CParameter>& parameters) {
  return StrJoin(parameters, ", ", [](std::string* text, const CParameter& p) { *text += p.name; });
}

std::string Describe(const loop::Function& function, const std::vector<CParameter>& parameters) {
  std::string text;
  CNames names;
  CHelpers helpers;
  CPrototypes externs;
  CExprCodegen exprs(names, helpers, externs);
  for (const loop::Buffer& buffer : function.buffers) exprs.Name(buffer);
  for (const loop::Var& scalar : function.scalars) exprs.Name(scalar);
  for (std::size_t i = 0; i < function.buffers.size(); ++i) {
    const loop::Buffer& buffer = function.buffers[i];
    CBlock block;
    const auto extent = [&](std::string* out, const loop::Expr& e) {
      *out += WithoutOuterParentheses(exprs.Value(e, block));
    };
    StrAppend(&text, i > 0 ? ", " : "", parameters[i].name, ": ", buffer->dtype.ToString(), " (",
              StrJoin(buffer->shape, ", ", extent), ")");
  }
  return text;
}

}  // namespace

struct CFile::State {
  std::string title;
  CNames names;
  CHelpers helpers;
  CPrototypes externs;
  std::string guard;       // statement
  std::string natives;     // prototypes of machine code
  std::string packed;      // what packed functions need
  std::string prototypes;  // of the source
  std::string header;      // macros
  std::string declared;    // prototypes of the header, with their comments
  std::string definitions;
};

CFile::CFile(std::string title) : state_(std::make_unique<State>()) {
  state_->title = std::move(title);
}
CFile::~CFile() = default;
CFile::CFile(CFile&&) noexcept = default;
CFile& CFile::operator=(CFile&&) noexcept = default;

std::string CFile::AddKernel(const loop::Function& function, const std::string& native) {
  loop::Verify(function);
  const std::string name = Unique(function.name), direct = Unique(name + "_direct");
  std::vector<CParameter> parameters;
  CBlock body;
  body.Open("{");
  UseDenormalControl();
  std::string call;
  if (native.empty()) {
    // Sums keep the order that the header promises.
    const loop::Function final_loops = AfterPipeline(function, /*reassociate_sums=*/false);
    const CFunctionText text = GenerateC(final_loops, state_->helpers, state_->externs);
    parameters = text.parameters;
    const std::string loops = Unique(name + "_loops");
    AddDefinitions(StrCat("static TENON_NOINLINE int32_t ", loops, "(", List(parameters, true),
                          ") ", text.body, "\n"));
    call = StrCat(loops, "(", Names(parameters), ")");
  } else {
    parameters = CParameters(function);
    StrAppend(&state_->natives, "int32_t ", native, "(void* const* buffers, ",
              "const int64_t* extents);\n");
    CNames taken;
    for (const CParameter& p : parameters) taken.Unique(p.name);
    const std::string buffers = taken.Unique("buffers"), extents = taken.Unique("extents");
    const std::vector<CParameter> pointers(
        parameters.begin(),
        parameters.begin() + static_cast<std::ptrdiff_t>(function.buffers.size()));
    const std::vector<CParameter> scalars(
        parameters.begin() + static_cast<std::ptrdiff_t>(pointers.size()), parameters.end());
    const auto cast = [](std::string* out, const CParameter& p) {
      StrAppend(out, "(void*)", p.name);
    };
    if (!pointers.empty())
      body.Line(StrCat("void* const ", buffers, "[] = {", StrJoin(pointers, ", ", cast), "};"));
    if (!scalars.empty())
      body.Line(StrCat("const int64_t ", extents, "[] = {", Names(scalars), "};"));
    call = StrCat(native, "(", pointers.empty() ? "NULL" : buffers, ", ",
                  scalars.empty() ? "NULL" : extents, ")");
  }
  CNames local;
  for (const CParameter& p : parameters) local.Unique(p.name);
  const std::string state = local.Unique("state"), result = local.Unique("result");
  if (!state_->guard.empty()) body.Line(state_->guard);
  body.Line(StrCat("const unsigned ", state, " = tenon_flush_denormals();"));
  body.Line(StrCat("const int32_t ", result, " = ", call, ";"));
  body.Line(StrCat("tenon_restore_denormals(", state, ");"));
  body.Line(StrCat("return ", result, ";"));
  body.Close();
  AddFunction(StrCat("int32_t ", direct, "(", List(parameters, false), ")"), body.Text(),
              Describe(function, parameters));
  if (HasPacked(function)) {
    state_->packed = PackedSupport();
    AddFunction(PackedPrototype(name), PackedBody(function, direct, state_->helpers),
                "The same for tensors: the packed calling convention.");
  }
  return direct;
}

std::string CFile::Unique(const std::string& name) { return state_->names.Unique(name); }

void CFile::GuardKernels(const std::string& statement) { state_->guard = statement; }

void CFile::AddDefinitions(const std::string& text) { state_->definitions += text; }

void CFile::AddFunction(const std::string& prototype, const std::string& body,
                        const std::string& comment, bool comes_first) {
  StrAppend(&state_->prototypes, "TENON_EXPORT ", prototype, ";\n");
  const std::string declared = StrCat("/* ", comment, " */\n", prototype, ";\n\n");
  state_->declared = comes_first ? declared + state_->declared : state_->declared + declared;
  StrAppend(&state_->definitions, "TENON_EXPORT ", prototype, " ", body, "\n");
}

void CFile::AddToHeader(const std::string& text) { state_->header += text; }

void CFile::UseDenormalControl() {
  state_->helpers.Use(CHelper::kFlushDenormals);
  state_->helpers.Use(CHelper::kRestoreDenormals);
}

std::string CFile::Source() const {
  std::string text =
      StrCat("// ", state_->title, "\n// Made by Tenon. target: c -keys=cpu -link-params=0\n",
             kIncludes, kMacros, state_->packed, state_->helpers.Text(), kOpenExtern);
  const std::vector<std::string>& library = LibrarySymbols();
  const auto is_library = [&](const std::string& name) {
    return std::find(library.begin(), library.end(), name) != library.end();
  };
  if (!state_->externs.empty()) {
    for (const auto& [name, prototype] : state_->externs) {
      if (!is_library(name)) StrAppend(&text, "extern ", prototype, "\n");
    }
    text += "\n";
  }
  if (std::any_of(state_->externs.begin(), state_->externs.end(),
                  [&](const auto& entry) { return is_library(entry.first); }))
    StrAppend(&text, "#define TENON_LIBRARY static __attribute__((unused))\n", LibrarySource(),
              "#undef TENON_LIBRARY\n\n");
  if (!state_->natives.empty()) StrAppend(&text, state_->natives, "\n");
  StrAppend(&text, state_->prototypes, "\n", state_->definitions, kCloseExtern);
  return text;
}

std::string CFile::Header() const {
  std::string guard = "TENON_";
  for (const char c : state_->title)
    guard += std::isalnum(static_cast<unsigned char>(c)) != 0
                 ? static_cast<char>(std::toupper(static_cast<unsigned char>(c)))
                 : '_';
  guard += "_H_";
  return StrCat("/* ", state_->title, "\n   Made by Tenon. */\n#ifndef ", guard, "\n#define ",
                guard, "\n\n#include <stdint.h>\n\n", state_->header, kOpenExtern, state_->declared,
                kCloseExtern, "\n#endif /* ", guard, " */\n");
}

absl::StatusOr<std::string> CSource(const loop::Function& function) {
  return CatchErrors([&] {
    CFile file(CIdentifier(function.name));
    file.AddKernel(function);
    return file.Source();
  });
}

}  // namespace tenon::jit
