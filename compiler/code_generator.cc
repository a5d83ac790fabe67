// A registered generator is a row of strategies::Choose (CompositeMaker). Its functions are wrapped
// once, at registration, so that errors name it and its results are checked.
#include "tenon/compiler/code_generator.h"

#include <utility>

#include "tenon/compiler/partition_onednn.h"
#include "tenon/ir/flatten.h"
#include "tenon/ops/author_code.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/partition/marked_regions.h"
#include "tenon/passes/partition/merge_composite_functions.h"
#include "tenon/passes/pipeline.h"
#include "tenon/strategies/author/author_kernel.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon {
namespace {

using ops::AuthorSite;
using ops::RunAuthorCode;
using strategies::Group;
using strategies::LibraryChoice;

AuthorSite SiteOf(const std::string& name, std::source_location where) {
  return {StrCat("the code generator ", name), where};
}

// The arguments and the results must be those of the composite: memory is planned by its types.
strategies::Built CheckedKernel(const Group& composite, const CompositeKernel& made) {
  strategies::Built built{.kernel = made.kernel, .arguments = made.arguments};
  strategies::RequireBuilt(composite, built);
  const std::vector<ir::Type> wanted = ir::Flatten(composite.function->body.checked_type());
  if (made.results.size() != wanted.size())
    throw InvalidArgument(StrCat("the kernel of ", composite.name, " writes ", made.results.size(),
                                 made.results.size() == 1 ? " result" : " results",
                                 "; the composite has ", wanted.size()));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!made.results[i])
      throw InvalidArgument(
          StrCat("the type of result ", i, " of the kernel of ", composite.name, " is null"));
    if (!ir::Equal(made.results[i], wanted[i]))
      throw InvalidArgument(StrCat("the kernel of ", composite.name, " writes ",
                                   ir::ToString(made.results[i]), " as result ", i,
                                   "; the composite's is ", ir::ToString(wanted[i])));
  }
  return built;
}

strategies::Implementation RowOf(const AuthorSite& site, const CodeGenerator& generator) {
  return {
      .name = generator.name,
      .priority = strategies::kCodeGenerator,
      .refusal = [site, refusal = generator.refusal](
                     const Group& composite) -> std::optional<std::string> {
        if (refusal == nullptr) return std::nullopt;
        return RunAuthorCode(site, "the refusal", [&] { return refusal(composite); });
      },
      .build =
          [site, build = generator.build](const Group& composite) {
            return strategies::BuildByAuthor(site, "the build", [&]() -> strategies::BuildResult {
              const auto made = build(composite);
              if (const auto* refused = std::get_if<strategies::Refused>(&made)) return *refused;
              return strategies::GuardRuns(
                  site, "a kernel", CheckedKernel(composite, std::get<CompositeKernel>(made)));
            });
          }};
}

bool IsNameAllowed(const std::string& name) {
  return !name.empty() && name != passes::kDefaultTarget && name.find('.') == std::string::npos;
}

}  // namespace

CodeGeneratorRegistry::CodeGeneratorRegistry() {
  // Its rows need operators, which may not be registered yet.
  entries_[kOneDnnName] = {.patterns = OneDnnPatterns,
                           .supports =
                               [](const ir::Expr& call) {
                                 static const passes::CodeGenerator onednn = OneDnnCodeGenerator();
                                 return onednn.supports(call);
                               },
                           .maker = {.name = kOneDnnName, .library = LibraryChoice::kLibrary},
                           .where = std::source_location::current()};
}

CodeGeneratorRegistry& CodeGeneratorRegistry::Global() {
  static auto& registry = *new CodeGeneratorRegistry;
  return registry;
}

void CodeGeneratorRegistry::Register(CodeGenerator generator, std::source_location where) {
  const AuthorSite site = SiteOf(generator.name, where);
  const auto refuse = [&](const char* message) {
    throw InvalidArgument(ops::AtSite(site, message));
  };
  if (!IsNameAllowed(generator.name))
    refuse(
        "its name must not be empty, \"default\" or have a dot, after which a composite's own name "
        "begins");
  if (generator.patterns == nullptr) refuse("it needs a function that gives its patterns");
  if (generator.build == nullptr) refuse("it needs a function that builds");
  if (const auto taken = entries_.find(generator.name); taken != entries_.end())
    throw AlreadyExists(ops::AtSite(
        site, StrCat("there is one of that name, registered at ", taken->second.where.file_name(),
                     ":", taken->second.where.line())));
  Entry entry{.patterns = nullptr,
              .supports = nullptr,
              .maker = {.name = generator.name, .row = RowOf(site, generator)},
              .where = where};
  if (generator.supports != nullptr)
    entry.supports = [site, supports = generator.supports](const ir::Expr& call) {
      return RunAuthorCode(site, "the function that says what it supports",
                           [&] { return supports(call); });
    };
  entry.patterns = [site, generator] {
    return RunAuthorCode(site, "the function that gives patterns", [&] {
      std::vector<passes::FusionPattern> patterns = generator.patterns();
      for (const passes::FusionPattern& pattern : patterns) {
        if (!pattern.name.starts_with(StrCat(generator.name, ".")))
          throw InvalidArgument(StrCat("the pattern \"", pattern.name,
                                       "\" must have a name that begins with ", generator.name,
                                       "."));
      }
      return patterns;
    });
  };
  entries_.emplace(generator.name, std::move(entry));
}

const CodeGeneratorRegistry::Entry& CodeGeneratorRegistry::Find(const std::string& name) const {
  if (const auto found = entries_.find(name); found != entries_.end()) return found->second;
  const std::vector<std::string> names = Names();
  throw NotFound(StrCat("there is no code generator ", name, "; there are ", StrJoin(names, ", "),
                        DidYouMean("; ", name, names)));
}

std::vector<passes::FusionPattern> CodeGeneratorRegistry::PatternsOf(
    const std::string& name) const {
  return Find(name).patterns();
}

passes::CodeGenerator CodeGeneratorRegistry::AnnotatorOf(const std::string& name) const {
  return {name, Find(name).supports};
}

std::vector<std::string> CodeGeneratorRegistry::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, unused] : entries_) names.push_back(name);
  return names;
}

std::vector<strategies::CompositeMaker> CodeGeneratorRegistry::Makers() const {
  std::vector<strategies::CompositeMaker> makers;
  for (const auto& [unused, entry] : entries_) makers.push_back(entry.maker);
  return makers;
}

bool RegisterCodeGenerator(CodeGenerator generator, std::source_location where,
                           std::uint64_t headers) {
  if (!ops::Admits(SiteOf(generator.name, where), headers)) return false;
  const absl::Status status =
      CatchErrors([&] { CodeGeneratorRegistry::Global().Register(std::move(generator), where); });
  if (!status.ok()) ops::OpRegistry::Global().AddStartupError(std::string(status.message()));
  return status.ok();
}

ir::Module PartitionFor(const ir::Module& module, const std::string& name,
                        passes::PassContext context) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  const std::vector<passes::FusionPattern> patterns =
      CodeGeneratorRegistry::Global().PatternsOf(name);
  // Patterns match calls, and not groups of them.
  std::erase(context.required, "FuseOps");
  context.disabled.emplace_back("FuseOps");
  const ir::Module prepared = passes::RunPasses(
      passes::DefaultPipeline(strategies::EvaluateCall, context.opt_level), module, context);
  return passes::MergeCompositeFunctions(passes::FuseOpsByPattern(prepared, patterns));
}

}  // namespace tenon
