// The cache holds object files under the keys of their content. Under the key of what a function is
// made from it holds a record: the key of its object, the symbol in it and the numbers that the
// function passes. A function whose record is found need not be lowered.
//
// Which functions share code depends on all functions of a call, and so may, within what sums in
// any order allow, the bits of a result. So their records count for these functions together only:
// results do not depend on what else is in the cache.
#include "tenon/jit/machine_code.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <utility>

#include <malloc.h>

#include "tenon/jit/compile_functions.h"
#include "tenon/jit/host_target.h"
#include "tenon/jit/llvm/function_codegen.h"
#include "tenon/jit/object/extern_addresses.h"
#include "tenon/jit/object/object_cache.h"
#include "tenon/jit/object/object_key.h"
#include "tenon/loop/skeleton.h"
#include "tenon/loop/verify.h"
#include "tenon/loop/visit.h"
#include "tenon/support/strings.h"

namespace tenon::jit {
namespace {

std::string CompileToObject(const loop::Function& function, const CompileOptions& options,
                            TargetCompiler& compiler) {
  llvm::LLVMContext context;
  const std::unique_ptr<llvm::Module> module =
      GenerateModule(context, function, CodegenOptionsFor(options));
  compiler.Prepare(*module);
  compiler.Optimize(*module, EffortFor(options));
  return compiler.EmitObject(*module);
}

// Functions that share an object.
struct Group {
  std::vector<std::size_t> members;
  loop::Generalized code;
};

class Maker {
 public:
  Maker(std::span<const loop::Function> functions, std::span<const loop::Function> finals,
        const CompileOptions& options, OrcSession& session, Part part)
      : functions_(functions),
        finals_(finals),
        options_(options),
        session_(session),
        part_(part),
        cache_(options.cache_dir, options.cache_bytes),
        context_{.machine = StrCat(options.target.cpu, " ", options.target.vector_registers),
                 .cpu_features = LlvmFeatures(options.target),
                 .codegen = CodegenOptionsFor(options)},
        is_cached_(!options.cache_dir.empty() && !context_.generator.empty()),
        shared_(functions.size()),
        records_(functions.size()),
        externs_(functions.size()),
        skeletons_(functions.size()) {
    made_.uses.resize(functions.size());
    for (std::size_t i = 0; i < functions.size(); ++i)
      shared_[i] =
          !options.check_bounds && (options.runs_once || !functions[i].scalars.empty()) ? 1 : 0;
  }

  MachineCode Make() {
    if (is_cached_) NameRecords();
    const std::vector<std::size_t> unknown = LoadKnown();
    Lower(unknown);
    Compile(Grouped(unknown));
    // LLVM takes many small pieces of memory. What it frees, the allocator keeps unless it is
    // asked.
    if (made_.is_compiled) malloc_trim(0);
    return std::move(made_);
  }

 private:
  // An origin says all of a function alone. Those that may share code need the origins of all that
  // they may share it with.
  void NameRecords() {
    std::vector<std::string> together;
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      records_[i] = OriginKey(functions_[i], context_);
      if (shared_[i] != 0) together.push_back(records_[i].value_or(""));
    }
    const bool all_known = std::ranges::none_of(together, &std::string::empty);
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      if (shared_[i] == 0) continue;
      records_[i] = all_known ? std::optional(KeyAmong(*records_[i], together)) : std::nullopt;
    }
  }

  // Takes what the cache holds. Gives the functions that it does not: of those that may share code
  // all or none.
  std::vector<std::size_t> LoadKnown() {
    std::unordered_map<std::string, std::optional<std::size_t>> objects;  // by their keys
    std::vector<std::uint8_t> known(functions_.size());
    bool misses_shared = false;
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      known[i] = records_[i] && LoadRecord(i, &objects) ? 1 : 0;
      misses_shared = misses_shared || (known[i] == 0 && shared_[i] != 0);
    }
    std::vector<std::size_t> unknown;
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      if (shared_[i] != 0 ? misses_shared : known[i] == 0 && part_.Has(i)) unknown.push_back(i);
    }
    return unknown;
  }

  bool LoadRecord(std::size_t i,
                  std::unordered_map<std::string, std::optional<std::size_t>>* objects) {
    const std::optional<std::string> record = cache_.Load(*records_[i]);
    if (!record) return false;
    std::istringstream fields(*record);
    std::string key;
    std::size_t count = 0;
    fields >> key >> count;
    MachineCode::Use use;
    for (std::int64_t number = 0; use.numbers.size() < count && fields >> number;)
      use.numbers.push_back(number);
    use.symbol.assign(std::istreambuf_iterator<char>(fields.ignore()), {});
    const auto [entry, is_new] = objects->try_emplace(key);
    if (is_new) {
      if (std::optional<std::string> bytes = cache_.Load(key)) {
        entry->second = made_.objects.size();
        made_.objects.push_back({.bytes = std::move(*bytes), .externs = {}});
      }
    }
    if (!entry->second) return false;
    use.object = *entry->second;
    made_.uses[i] = std::move(use);
    return true;
  }

  void Lower(const std::vector<std::size_t>& unknown) {
    CompileEach(unknown.size(), options_.target, [&](std::size_t at, LazyCompiler&) {
      const std::size_t i = unknown[at];
      loop::Verify(functions_[i]);
      externs_[i] = ExternAddresses(functions_[i], session_);
      if (shared_[i] == 0 || !externs_[i].empty() || HasFreeSumOfNumbers(finals_[i].body)) return;
      skeletons_[i] = loop::SkeletonOf(finals_[i]);
    });
  }

  // LLVM chooses the order of such a sum, among others by the number of its terms.
  static bool HasFreeSumOfNumbers(const loop::Stmt& body) {
    bool has = false;
    loop::VisitStmts(body, [&](const loop::Stmt& stmt) {
      const auto* store = stmt.As<loop::StoreNode>();
      has = has ||
            (store != nullptr && loop::MayReassociate(*store) && !store->value.dtype().is_vector());
    });
    return has;
  }

  std::vector<Group> Grouped(const std::vector<std::size_t>& unknown) const {
    std::unordered_map<std::string, std::size_t> by_skeleton;
    std::vector<Group> groups;
    for (const std::size_t i : unknown) {
      const std::string& bytes = skeletons_[i].bytes;
      const auto [entry, is_new] = bytes.empty() ? std::pair(by_skeleton.end(), true)
                                                 : by_skeleton.emplace(bytes, groups.size());
      if (is_new) groups.emplace_back();
      groups[is_new ? groups.size() - 1 : entry->second].members.push_back(i);
    }
    std::erase_if(groups, [&](const Group& group) { return !part_.Has(group.members[0]); });
    return groups;
  }

  void Compile(std::vector<Group> groups) {
    std::vector<std::string> objects(groups.size());
    std::atomic<bool> stored = false, compiled = false;
    CompileEach(groups.size(), options_.target, [&](std::size_t at, LazyCompiler& compiler) {
      Group& group = groups[at];
      Generalize(&group);
      const auto compile = [&] {
        compiled = true;
        return CompileToObject(group.code.function, options_, *compiler);
      };
      if (!is_cached_) {
        objects[at] = compile();
        return;
      }
      const std::string key = ObjectKey(group.code.function, context_);
      if (std::optional<std::string> known = cache_.Load(key)) {
        objects[at] = std::move(*known);
      } else {
        objects[at] = compile();
        cache_.Store(key, objects[at]);
        stored = true;
      }
      for (std::size_t m = 0; m < group.members.size(); ++m) {
        const std::optional<std::string>& record = records_[group.members[m]];
        if (record) cache_.Store(*record, RecordOf(key, group, m));
      }
    });
    for (std::size_t at = 0; at < groups.size(); ++at) {
      for (std::size_t m = 0; m < groups[at].members.size(); ++m)
        made_.uses[groups[at].members[m]] = {.object = made_.objects.size(),
                                             .symbol = SymbolOf(groups[at]),
                                             .numbers = groups[at].code.numbers[m]};
      made_.objects.push_back(
          {.bytes = std::move(objects[at]), .externs = std::move(externs_[groups[at].members[0]])});
    }
    made_.is_compiled = compiled;
    if (stored) cache_.Trim();
  }

  void Generalize(Group* group) const {
    std::vector<const loop::Skeleton*> skeletons;
    for (const std::size_t i : group->members) skeletons.push_back(&skeletons_[i]);
    const loop::Function& first = finals_[group->members[0]];
    group->code = group->members.size() == 1 ? loop::Generalized{.function = first, .numbers = {{}}}
                                             : loop::Generalize(first, skeletons);
  }

  static std::string SymbolOf(const Group& group) { return EntrySymbol(group.code.function.name); }

  static std::string RecordOf(const std::string& key, const Group& group, std::size_t member) {
    const std::vector<std::int64_t>& numbers = group.code.numbers[member];
    std::string record = StrCat(key, " ", numbers.size());
    for (const std::int64_t number : numbers) record += StrCat(" ", number);
    return StrCat(record, " ", SymbolOf(group));  // which may hold any character
  }

  const std::span<const loop::Function> functions_, finals_;
  const CompileOptions& options_;
  OrcSession& session_;
  const Part part_;
  const ObjectCache cache_;
  const KeyContext context_;
  const bool is_cached_;
  std::vector<std::uint8_t> shared_;                 // by function: whether it may share code
  std::vector<std::optional<std::string>> records_;  // their keys
  std::vector<SymbolAddresses> externs_;
  std::vector<loop::Skeleton> skeletons_;  // of no bytes where code is not shared
  MachineCode made_;
};

}  // namespace

MachineCode MakeMachineCode(std::span<const loop::Function> functions,
                            std::span<const loop::Function> finals, const CompileOptions& options,
                            OrcSession& session, Part part) {
  return Maker(functions, finals, options, session, part).Make();
}

}  // namespace tenon::jit
