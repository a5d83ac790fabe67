// Options of a pass that is named in a text: FuseOps{mode=extended, max_depth=16}.
//
// A pass has a struct of options with a field list (attrs/field.h). An option is given by name; the
// first ones may be given by position. A list stands in brackets: {entry_functions=[main, f]}.
//
//   attrs::Attrs options = ReadOptions("extended, max_depth=16", {&attrs::SchemaOf<FuseText>()});
#ifndef TENON_PASSES_PASS_OPTIONS_H_
#define TENON_PASSES_PASS_OPTIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "tenon/attrs/attrs.h"

namespace tenon::passes {

// What options a pass takes.
struct OptionsForm {
  const attrs::Schema* schema = nullptr;  // null: none of a fixed name
  // What further entries are, in words: "OPERATOR=LAYOUT". Empty: there are none.
  std::string_view further = {};

  // "{mode=relay|extended, max_depth=256}"; empty when there are no options.
  std::string ToString() const;
};

struct GivenOptions {
  attrs::Attrs fields;               // null without a schema
  std::vector<std::string> further;  // entries as text
  bool any = false;                  // whether there are any
};

// `text` is what stands between the braces. Throws InvalidArgument for an option that is not known,
// is given twice, has a wrong value or is lacking, with what is allowed.
GivenOptions ReadOptions(std::string_view text, const OptionsForm& form);

}  // namespace tenon::passes

#endif  // TENON_PASSES_PASS_OPTIONS_H_
