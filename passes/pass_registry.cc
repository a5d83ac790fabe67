#include "tenon/passes/pass_registry.h"

#include <algorithm>
#include <utility>

#include "tenon/ir/source_text.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

std::string PlaceOf(const std::source_location& where) {
  return StrCat(where.file_name(), ":", where.line());
}

// Errors of fields begin with the name of their struct, which users of the pass do not know.
std::string_view WithoutStruct(std::string_view message, const PassDefinition& definition) {
  const attrs::Schema* schema = definition.options.schema;
  if (schema == nullptr || !message.starts_with(StrCat(schema->name, ": "))) return message;
  return message.substr(schema->name.size() + 2);
}

class PipelineParser {
 public:
  PipelineParser(std::string_view text, const PassArguments& defaults)
      : text_(text), defaults_(defaults), places_(text, "passes") {}

  Pipeline Parse() {
    Pipeline pipeline;
    SkipBlanks();
    while (position_ < text_.size()) {
      pipeline.push_back(Item());
      SkipBlanks();
      if (position_ >= text_.size()) break;
      if (text_[position_] != ',') Fail(position_, 1, "expected ',' between passes");
      ++position_;
      SkipBlanks();
    }
    return pipeline;
  }

 private:
  [[noreturn]] void Fail(std::size_t at, std::size_t length, const std::string& message) {
    throw places_.ErrorAt(at, length, message);
  }
  void SkipBlanks() {
    while (position_ < text_.size() &&
           (text_[position_] == ' ' || text_[position_] == '\n' || text_[position_] == '\t'))
      ++position_;
  }

  Pass Item() {
    const std::size_t begin = position_;
    while (position_ < text_.size() && IsNameCharacter(text_[position_])) ++position_;
    if (position_ == begin) Fail(begin, 1, "expected the name of a pass");
    const std::string name(text_.substr(begin, position_ - begin));
    const PassDefinition& definition = Placed(begin, name.size(), [&]() -> const PassDefinition& {
      return PassRegistry::Global().Find(name);
    });
    std::string_view options;
    const std::size_t brace = position_;
    if (position_ < text_.size() && text_[position_] == '{') {
      const std::size_t end = text_.find('}', position_);
      if (end == std::string_view::npos) Fail(position_, 1, "this brace is never closed");
      options = text_.substr(position_ + 1, end - position_ - 1);
      position_ = end + 1;
    }
    return Placed(brace < position_ ? brace : begin,
                  brace < position_ ? position_ - brace : name.size(), [&] {
                    try {
                      return definition.make(ReadOptions(options, definition.options), defaults_);
                    } catch (const Error& error) {
                      Error named(error.code(),
                                  StrCat(name, ": ", WithoutStruct(error.message(), definition)));
                      for (const std::string& note : error.notes()) named.AddNote(note);
                      const std::string form = definition.options.ToString();
                      if (!form.empty()) named.AddNote(StrCat(name, form));
                      throw named;
                    }
                  });
  }

  // Runs `make`; an error that it throws is shown at the place, with its code.
  template <typename Make>
  auto Placed(std::size_t at, std::size_t length, Make make) -> decltype(make()) {
    try {
      return make();
    } catch (const Error& error) {
      if (error.code() == absl::StatusCode::kInternal) throw;
      const Error place = places_.ErrorAt(at, length, "");
      Error placed(error.code(), error.message());
      placed.At(place.span()).AddNote(place.notes().front());
      for (const std::string& note : error.notes()) placed.AddNote(note);
      throw placed;
    }
  }

  const std::string_view text_;
  const PassArguments& defaults_;
  ir::SourceText places_;
  std::size_t position_ = 0;
};

}  // namespace

PassRegistry& PassRegistry::Global() {
  static auto& registry = *new PassRegistry();
  return registry;
}

PassRegistry::PassRegistry() {
  for (const PassRow& row : PassTable()) {
    Register({.name = std::string(row.name),
              .summary = std::string(row.summary),
              .options = {.schema = row.options == nullptr ? nullptr : &row.options(),
                          .further = row.further_options},
              .make = [&row](const GivenOptions& options, const PassArguments& defaults) {
                PassArguments arguments = defaults;
                // Without options the caller's defaults hold.
                if (row.apply != nullptr && options.any) row.apply(options, &arguments);
                return MakePass(row, arguments);
              }});
  }
}

void PassRegistry::Register(PassDefinition definition, std::source_location where) {
  const std::string name = definition.name;
  if (name.empty() || !std::all_of(name.begin(), name.end(), IsNameCharacter))
    throw InvalidArgument(
        StrCat("'", name, "' is no name of a pass; names are of letters, digits, ", "'.' and '_'"));
  if (!definition.make) throw InvalidArgument(StrCat("the pass ", name, " makes nothing"));
  const auto [entry, is_new] = entries_.emplace(name, Entry{std::move(definition), where});
  if (!is_new)
    throw AlreadyExists(StrCat("the pass ", name, " is registered at ", PlaceOf(where),
                               ", but was at ", PlaceOf(entry->second.where), " already"));
  order_.push_back(name);
}

const PassDefinition& PassRegistry::Find(const std::string& name) const {
  const auto found = entries_.find(name);
  if (found != entries_.end()) return found->second.definition;
  throw NotFound(StrCat("there is no pass named ", name, "; passes are ", StrJoin(order_, ", "),
                        DidYouMean("; ", name, order_)));
}

std::vector<std::string> PassRegistry::Names() const { return order_; }

std::string PassRegistry::Help() const {
  return StrJoin(order_, ", ", [&](std::string* text, const std::string& name) {
    StrAppend(text, name, entries_.at(name).definition.options.ToString());
  });
}

Pipeline ParsePipeline(std::string_view text, const PassArguments& defaults) {
  return PipelineParser(text, defaults).Parse();
}

}  // namespace tenon::passes
