#include "tenon/compiler/named_passes.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "tenon/compiler/code_generator.h"
#include "tenon/compiler/partition_onednn.h"
#include "tenon/ops/author_code.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/bind_params.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/partition/annotate_target.h"
#include "tenon/runtime/npz.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon {
namespace {

using passes::GivenOptions;
using passes::Pass;
using passes::PassArguments;
using passes::PassDefinition;

struct BindParamsOptions {
  static constexpr const char* kTypeKey = "BindParams";
  std::string file;
  std::string function = "main";
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("file", &BindParamsOptions::file, "a .npz file of arrays by parameter")
            .Required(),
        attrs::Field("function", &BindParamsOptions::function, "whose parameters they are"));
  }
};

struct FuseByPatternOptions {
  static constexpr const char* kTypeKey = "FuseOpsByPattern";
  std::string patterns = kOneDnnName;
  bool bind_constants = false;
  bool annotate_codegen = false;
  std::string names = "module";
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("patterns", &FuseByPatternOptions::patterns,
                     "a code generator, or a table of patterns"),
        attrs::Field("bind_constants", &FuseByPatternOptions::bind_constants,
                     "whether constants stay in the functions"),
        attrs::Field("annotate_codegen", &FuseByPatternOptions::annotate_codegen,
                     "whether functions name their code generator"),
        attrs::Field("names", &FuseByPatternOptions::names, "whose names of operators are used")
            .OneOf("module relay relax"));
  }
};

struct PartitionOptions {
  static constexpr const char* kTypeKey = "PartitionFor";
  std::string generator;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("generator", &PartitionOptions::generator, "a code generator").Required());
  }
};

Pass MakeBindParams(const GivenOptions& given, const PassArguments&) {
  const auto& options = given.fields.As<BindParamsOptions>();
  passes::ParamValues values;
  for (auto& [name, array] : ValueOrThrow(runtime::ReadNpz(options.file)))
    values.emplace_back(name, std::move(array));
  return {.name = "BindParams", .function = [values, options](const ir::Module& m) {
            return passes::InferType(passes::BindParams(m, options.function, values));
          }};
}

// The patterns of the caller's generators if the text has no options, or those of a generator that
// it names.
std::vector<passes::FusionPattern> PatternsFor(const GivenOptions& given,
                                               const PassArguments& defaults) {
  std::vector<passes::FusionPattern> patterns;
  for (const std::string& generator : defaults.generators) {
    if (given.any || generator.find('=') != std::string::npos) continue;
    for (passes::FusionPattern& pattern : PatternsNamed(generator))
      patterns.push_back(std::move(pattern));
  }
  return patterns.empty() ? PatternsNamed(given.fields.As<FuseByPatternOptions>().patterns)
                          : patterns;
}

Pass MakeFuseOpsByPattern(const GivenOptions& given, const PassArguments& defaults) {
  const auto& options = given.fields.As<FuseByPatternOptions>();
  const passes::FusePatternOptions fuse{
      .bind_constants = options.bind_constants,
      .annotate_codegen = options.annotate_codegen,
      .names = options.names == "relay"   ? std::optional(ops::OperatorNames::kRelay)
               : options.names == "relax" ? std::optional(ops::OperatorNames::kRelax)
                                          : std::nullopt};
  return {.name = "FuseOpsByPattern",
          .function = [patterns = PatternsFor(given, defaults), fuse](const ir::Module& m) {
            return passes::FuseOpsByPattern(m, patterns, fuse);
          }};
}

Pass MakeAnnotateTarget(const GivenOptions& given, const PassArguments& defaults) {
  std::vector<passes::CodeGenerator> generators;
  for (const std::string& text : given.any ? given.further : defaults.generators)
    generators.push_back(ParseAnnotator(text));
  if (generators.empty())
    throw InvalidArgument(StrCat("it needs a code generator: {", kOneDnnName,
                                 "} or {NAME=OPERATOR+OPERATOR}, or ", "--codegen=", kOneDnnName,
                                 " or --codegen=NAME=OPERATOR,OPERATOR for all passes"));
  return {.name = "AnnotateTarget", .function = [generators](const ir::Module& m) {
            return passes::AnnotateTarget(passes::InferType(m), generators);
          }};
}

Pass MakePartition(const GivenOptions& given, const PassArguments&) {
  const std::string generator = given.fields.As<PartitionOptions>().generator;
  CodeGeneratorRegistry::Global().PatternsOf(generator);  // throws for an unknown one
  return {.name = "PartitionFor",
          .function = [generator](const ir::Module& m) { return PartitionFor(m, generator); }};
}

Pass MakePartitionForOneDnn(const GivenOptions&, const PassArguments&) {
  return {.name = "PartitionForOneDnn", .function = PartitionForOneDnn};
}

struct PatternTable {
  std::function<std::vector<passes::FusionPattern>()> patterns;
  ops::AuthorSite site;
};
std::map<std::string, PatternTable>& PatternTables() {
  static auto& tables = *new std::map<std::string, PatternTable>();
  return tables;
}

// Runs a registration; its errors become start-up errors.
template <typename Register>
bool Registered(const ops::AuthorSite& site, std::uint64_t headers, const Register& run) {
  if (!ops::Admits(site, headers)) return false;
  const absl::Status status = CatchErrors(run);
  if (!status.ok()) ops::OpRegistry::Global().AddStartupError(std::string(status.message()));
  return status.ok();
}

}  // namespace

passes::CodeGenerator ParseAnnotator(const std::string& text) {
  const std::size_t sign = text.find('=');
  if (sign == std::string::npos) return CodeGeneratorRegistry::Global().AnnotatorOf(text);
  std::set<std::string> known;
  std::string operators = text.substr(sign + 1);
  std::replace(operators.begin(), operators.end(), '+', ',');
  for (const std::string& op : StrSplit(operators, ',')) {
    ops::OpRegistry::Global().Get(op);  // throws for an unknown operator
    known.insert(op);
  }
  return {text.substr(0, sign), [known](const ir::Expr& call) {
            return known.contains(call.As<ir::CallNode>()->op()->name);
          }};
}

void RegisterNamedPasses() {
  static std::once_flag once;
  std::call_once(once, [] {
    auto& registry = passes::PassRegistry::Global();
    registry.Register({.name = "BindParams",
                       .summary = "replaces parameters by the constants of a file",
                       .options = {&attrs::SchemaOf<BindParamsOptions>()},
                       .make = MakeBindParams});
    registry.Register({.name = "AnnotateTarget",
                       .summary = "marks the calls that code generators take",
                       .options = {nullptr, "GENERATOR[=OPERATOR+OPERATOR]"},
                       .make = MakeAnnotateTarget});
    registry.Register({.name = "FuseOpsByPattern",
                       .summary = "makes functions of what patterns match",
                       .options = {&attrs::SchemaOf<FuseByPatternOptions>()},
                       .make = MakeFuseOpsByPattern});
    registry.Register({.name = "PartitionFor",
                       .summary = "moves what a code generator takes into functions for it",
                       .options = {&attrs::SchemaOf<PartitionOptions>()},
                       .make = MakePartition});
    registry.Register({.name = "PartitionForOneDnn",
                       .summary = "PartitionFor{dnnl}",
                       .make = MakePartitionForOneDnn});
  });
}

PassArguments DefaultPassArguments() { return {.evaluate = strategies::EvaluateCall}; }

bool RegisterPass(PassDefinition definition, std::source_location where, std::uint64_t headers) {
  const ops::AuthorSite site{definition.name, where};
  return Registered(site, headers, [&] {
    RegisterNamedPasses();  // so that their names are taken
    if (auto make = std::move(definition.make)) {
      definition.make = [make, site](const GivenOptions& options, const PassArguments& defaults) {
        Pass pass =
            ops::RunAuthorCode(site, "its options", [&] { return make(options, defaults); });
        pass.name = site.name;
        pass.function = [run = std::move(pass.function), site](const ir::Module& m) {
          return ops::RunAuthorCode(site, "the pass", [&] { return run(m); });
        };
        return pass;
      };
    }
    passes::PassRegistry::Global().Register(std::move(definition), where);
  });
}

bool RegisterPatterns(std::string name,
                      std::function<std::vector<passes::FusionPattern>()> patterns,
                      std::source_location where, std::uint64_t headers) {
  const ops::AuthorSite site{name, where};
  return Registered(site, headers, [&] {
    if (name.empty() || !patterns)
      throw InvalidArgument(
          StrCat(site.ToString(), ": a table of patterns needs a name and patterns"));
    const auto [entry, is_new] = PatternTables().emplace(name, PatternTable{patterns, site});
    if (!is_new)
      throw AlreadyExists(StrCat("the table of patterns ", site.ToString(),
                                 " is there already: ", entry->second.site.ToString()));
  });
}

std::vector<passes::FusionPattern> PatternsNamed(const std::string& name) {
  const auto found = PatternTables().find(name);
  if (found != PatternTables().end())
    return ops::RunAuthorCode(found->second.site, "its patterns",
                              [&] { return found->second.patterns(); });
  std::vector<std::string> names = CodeGeneratorRegistry::Global().Names();
  for (const auto& [table, unused] : PatternTables()) names.push_back(table);
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw NotFound(StrCat("there are no patterns named ", name, "; there are ",
                          StrJoin(names, ", "), DidYouMean("; ", name, names)));
  return CodeGeneratorRegistry::Global().PatternsOf(name);
}

}  // namespace tenon
