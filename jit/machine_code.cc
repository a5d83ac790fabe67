// The cache holds object files under the keys of their content. Under the key of what a function is
// made from it holds a record: the key of its object, the symbol in it and the numbers that the
// function passes. A function whose record is found need not be lowered.
//
// Which functions share code depends on all functions of a call, and so may, within what sums in
// any order allow, the bits of a result. So these functions have one record together: results do
// not depend on what else is in the cache.
#include "tenon/jit/machine_code.h"

#include <algorithm>
#include <atomic>
#include <istream>
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
    // An origin does not say what a caller's own transforms do. Objects are made after them.
    if (!options_.pipeline.transforms.empty()) return;
    std::vector<std::string> together;
    bool all_known = true;
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      std::optional<std::string> own = OriginKey(functions_[i], context_);
      if (shared_[i] == 0) {
        records_[i] = std::move(own);
      } else {
        all_known = all_known && own;
        together.push_back(own.value_or(""));
      }
    }
    if (all_known && !together.empty()) shared_record_ = KeyOfAll(together);
  }

  // Takes what the cache holds. Gives the functions that it does not: of those that may share code
  // all or none.
  std::vector<std::size_t> LoadKnown() {
    std::vector<std::size_t> shared;
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      if (shared_[i] != 0) shared.push_back(i);
    }
    const bool misses_shared = !shared_record_ || !LoadRecord(*shared_record_, shared);
    std::vector<std::size_t> unknown;
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      const bool is_unknown =
          shared_[i] != 0
              ? misses_shared
              : part_.Has(i) && !(records_[i] && LoadRecord(*records_[i], std::span(&i, 1)));
      if (is_unknown) unknown.push_back(i);
    }
    return unknown;
  }

  // Takes the code of these functions. Without that of one it takes none.
  bool LoadRecord(const std::string& key, std::span<const std::size_t> functions) {
    const std::optional<std::string> record = cache_.Load(key);
    if (!record) return false;
    std::istringstream fields(*record);
    std::unordered_map<std::string, std::size_t> known;  // objects by their keys
    std::vector<MachineCode::Object> objects;
    std::vector<MachineCode::Use> uses(functions.size());
    for (MachineCode::Use& use : uses) {
      const std::string object = ReadUse(fields, &use);
      const auto [entry, is_new] = known.try_emplace(object, made_.objects.size() + objects.size());
      if (is_new) {
        std::optional<std::string> bytes = cache_.Load(object);
        if (!bytes) return false;
        objects.push_back({.bytes = std::move(*bytes), .externs = {}});
      }
      use.object = entry->second;
    }
    std::ranges::move(objects, std::back_inserter(made_.objects));
    for (std::size_t i = 0; i < functions.size(); ++i)
      made_.uses[functions[i]] = std::move(uses[i]);
    return true;
  }

  // The key of an object, how many numbers follow, these, and the symbol, which may hold any
  // character, after its length.
  static std::string TextOf(const std::string& key, const MachineCode::Use& use) {
    std::string text = StrCat(key, " ", use.numbers.size());
    for (const std::int64_t number : use.numbers) StrAppend(&text, " ", number);
    return StrCat(text, " ", use.symbol.size(), " ", use.symbol);
  }
  static std::string ReadUse(std::istream& fields, MachineCode::Use* use) {
    std::string key;
    std::size_t count = 0, length = 0;
    fields >> key >> count;
    for (std::int64_t number = 0; use->numbers.size() < count && fields >> number;)
      use->numbers.push_back(number);
    fields >> length;
    fields.ignore();
    use->symbol.resize(length);
    fields.read(use->symbol.data(), static_cast<std::streamsize>(length));
    return key;
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
    std::vector<std::string> objects(groups.size()), keys(groups.size());
    std::atomic<std::int64_t> stored = 0;
    std::atomic<bool> compiled = false;
    CompileEach(groups.size(), options_.target, [&](std::size_t at, LazyCompiler& compiler) {
      Group& group = groups[at];
      Generalize(&group);
      if (is_cached_) {
        keys[at] = ObjectKey(group.code.function, context_);
        if (std::optional<std::string> known = cache_.Load(keys[at])) {
          objects[at] = std::move(*known);
          return;
        }
      }
      compiled = true;
      objects[at] = CompileToObject(group.code.function, options_, *compiler);
      if (is_cached_) {
        cache_.Store(keys[at], objects[at]);
        stored += static_cast<std::int64_t>(objects[at].size());
      }
    });
    std::vector<std::string> object_keys(functions_.size());
    for (std::size_t at = 0; at < groups.size(); ++at) {
      for (std::size_t m = 0; m < groups[at].members.size(); ++m) {
        const std::size_t i = groups[at].members[m];
        made_.uses[i] = {.object = made_.objects.size(),
                         .symbol = EntrySymbol(groups[at].code.function.name),
                         .numbers = groups[at].code.numbers[m]};
        object_keys[i] = keys[at];
      }
      made_.objects.push_back(
          {.bytes = std::move(objects[at]), .externs = std::move(externs_[groups[at].members[0]])});
    }
    made_.is_compiled = compiled;
    if (is_cached_) StoreRecords(object_keys);
    if (stored > 0) cache_.TrimAfter(stored);
  }

  // The keys of functions that were known, or are of another part, are empty.
  void StoreRecords(const std::vector<std::string>& object_keys) const {
    std::string shared;
    bool is_whole = shared_record_.has_value();
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      if (object_keys[i].empty()) {
        is_whole = is_whole && shared_[i] == 0;
      } else if (shared_[i] != 0) {
        StrAppend(&shared, TextOf(object_keys[i], made_.uses[i]), " ");
      } else if (records_[i]) {
        cache_.Store(*records_[i], TextOf(object_keys[i], made_.uses[i]));
      }
    }
    if (is_whole) cache_.Store(*shared_record_, shared);
  }

  void Generalize(Group* group) const {
    std::vector<const loop::Skeleton*> skeletons;
    for (const std::size_t i : group->members) skeletons.push_back(&skeletons_[i]);
    const loop::Function& first = finals_[group->members[0]];
    group->code = group->members.size() == 1 ? loop::Generalized{.function = first, .numbers = {{}}}
                                             : loop::Generalize(first, skeletons);
  }

  const std::span<const loop::Function> functions_, finals_;
  const CompileOptions& options_;
  OrcSession& session_;
  const Part part_;
  const ObjectCache cache_;
  const KeyContext context_;
  const bool is_cached_;
  std::vector<std::uint8_t> shared_;  // by function: whether it may share code
  // The keys of the records of those that may not, and of the one of all that may.
  std::vector<std::optional<std::string>> records_;
  std::optional<std::string> shared_record_;
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
