// Passes by name, with options: those of the table, those of the rooms above, and users'.
//
//   Pipeline pipeline = ParsePipeline("InferType, FuseOps{extended}, my.pass{count=2}");
//   Module out = RunPasses(pipeline, module, {.opt_level = 3});
//
// Registering is not thread-safe: do it at start-up and when plug-ins are loaded.
#ifndef TENON_PASSES_PASS_REGISTRY_H_
#define TENON_PASSES_PASS_REGISTRY_H_

#include <functional>
#include <map>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/passes/pass_manager.h"
#include "tenon/passes/pass_options.h"
#include "tenon/passes/pass_table.h"

namespace tenon::passes {

struct PassDefinition {
  std::string name;
  std::string summary;  // "removes bindings that nobody reads"
  OptionsForm options = {};
  // The pass with these options. `defaults` is what the caller of ParsePipeline gives to all.
  std::function<Pass(const GivenOptions& options, const PassArguments& defaults)> make;
};

class PassRegistry {
 public:
  // Has the rows of PassTable().
  static PassRegistry& Global();

  // Throws AlreadyExists for a name that is taken, naming both places; InvalidArgument for a name
  // that cannot stand in a text and for a definition that makes nothing.
  void Register(PassDefinition definition,
                std::source_location where = std::source_location::current());
  // Throws NotFound with the nearest name.
  const PassDefinition& Find(const std::string& name) const;
  bool Has(const std::string& name) const { return entries_.contains(name); }
  std::vector<std::string> Names() const;  // in the order of registration
  // "FuseOps{mode=relay|extended}, ...": for help texts.
  std::string Help() const;

 private:
  struct Entry {
    PassDefinition definition;
    std::source_location where;
  };
  PassRegistry();
  std::map<std::string, Entry> entries_;
  std::vector<std::string> order_;
};

// "A, B{option, name=value}". Throws NotFound for an unknown pass and InvalidArgument for wrong
// options, both with the text and a caret as a note, and with what is allowed.
Pipeline ParsePipeline(std::string_view text, const PassArguments& defaults = {});

}  // namespace tenon::passes

#endif  // TENON_PASSES_PASS_REGISTRY_H_
