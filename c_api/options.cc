#include "tenon/c_api/options.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tenon/c_api/shallow_json.h"
#include "tenon/jit/host_target.h"
#include "tenon/jit/runtime/parallel_runtime.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::c_api {
namespace {

using Json = nlohmann::json;

// Takes the value if it fits.
using Setter = bool (*)(const Json& value, CompileOptions* options);

struct Option {
  const char* name;
  const char* allowed;
  Setter set;
};

template <auto Member>
bool SetBool(const Json& value, CompileOptions* options) {
  if (!value.is_boolean()) return false;
  options->*Member = value.get<bool>();
  return true;
}
template <auto Member, int kMax>
bool SetInt(const Json& value, CompileOptions* options) {
  if (!value.is_number_integer() || value < 0 || value > kMax) return false;
  options->*Member = value.get<int>();
  return true;
}
template <auto Member>
bool SetNames(const Json& value, CompileOptions* options) {
  if (!value.is_array()) return false;
  for (const Json& name : value) {
    if (!name.is_string()) return false;
    (options->*Member).push_back(name.get<std::string>());
  }
  return true;
}
// One of the words of a table.
template <typename Member, typename Value, std::size_t kCount>
bool SetWord(const std::pair<const char*, Value> (&words)[kCount], const Json& json,
             Member* member) {
  for (const auto& [word, value] : words) {
    if (json.is_string() && json.get_ref<const std::string&>() == word) {
      *member = value;
      return true;
    }
  }
  return false;
}

constexpr std::pair<const char*, LibraryChoice> kLibraries[] = {
    {"auto", LibraryChoice::kAuto},
    {"te", LibraryChoice::kTe},
    {"library", LibraryChoice::kLibrary}};
constexpr std::pair<const char*, FusionMode> kFusions[] = {{"relay", FusionMode::kRelay},
                                                           {"extended", FusionMode::kExtended}};
const std::pair<const char*, DataType> kPrecisions[] = {{"bfloat16", BFloat16},
                                                        {"float16", Float16}};

const Option kOptions[] = {
    {"cache_dir", "a text",
     [](const Json& value, CompileOptions* options) {
       if (value.is_string()) options->cache_dir = value.get<std::string>();
       return value.is_string();
     }},
    {"check_bounds", "true or false", SetBool<&CompileOptions::check_bounds>},
    {"cpu_features", "a text",
     [](const Json& value, CompileOptions* options) {
       if (value.is_string()) options->target = jit::HostTarget(value.get<std::string>());
       return value.is_string();
     }},
    {"disabled_passes", "a list of names", SetNames<&CompileOptions::disabled_passes>},
    {"fusion", "\"relay\" or \"extended\"",
     [](const Json& value, CompileOptions* options) {
       return SetWord(kFusions, value, &options->fusion);
     }},
    {"keep_nan", "true or false", SetBool<&CompileOptions::keep_nan>},
    {"library", "\"auto\", \"te\" or \"library\"",
     [](const Json& value, CompileOptions* options) {
       return SetWord(kLibraries, value, &options->library);
     }},
    {"mixed_precision", "\"bfloat16\" or \"float16\"",
     [](const Json& value, CompileOptions* options) {
       return SetWord(kPrecisions, value, &options->mixed_precision);
     }},
    {"opt_level", "0 to 4", SetInt<&CompileOptions::opt_level, 4>},
    {"reproducible", "true or false", SetBool<&CompileOptions::reproducible>},
    {"required_passes", "a list of names", SetNames<&CompileOptions::required_passes>},
    {"threads", "0 to 1024", SetInt<&CompileOptions::threads, jit::kMaxThreads>},
    {"winograd", "true or false", SetBool<&CompileOptions::winograd>},
};

}  // namespace

CompileOptions ParseOptions(const std::string& text) {
  const Json json = ParseShallow(text, "options");
  if (!json.is_object()) throw InvalidArgument("options must be a JSON object");
  CompileOptions options;
  for (const auto& [name, value] : json.items()) {
    const auto option = std::ranges::find(
        kOptions, name, [](const Option& known) { return std::string(known.name); });
    if (option == std::end(kOptions)) {
      std::vector<std::string> names;
      for (const Option& known : kOptions) names.emplace_back(known.name);
      throw InvalidArgument(StrCat("there is no option ", name, "; options are ",
                                   StrJoin(names, ", "), DidYouMean("; ", name, names)));
    }
    if (!option->set(value, &options))
      throw InvalidArgument(
          StrCat("the option ", name, " is ", value.dump(), "; it must be ", option->allowed));
  }
  return options;
}

}  // namespace tenon::c_api
