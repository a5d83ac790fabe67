// How calls of operators are written in Relax: which parameters they have, in which order, and what
// Tenon's call makes of each.
//
// An operator without a row of its own is written with its inputs and then its attributes, all
// under their own names. Attributes that Relax lacks are written by name after those of the row.
// "R.relay.NAME" names an operator of Tenon whose name means something else in Relax.
//
//   const Signature signature = SignatureOf("nn.conv2d");  // of R.nn.conv2d
//   signature.op;                                          // nn.conv2d
#ifndef TENON_RELAX_SIGNATURE_H_
#define TENON_RELAX_SIGNATURE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/ops/op.h"
#include "tenon/relax/call_builders.h"

namespace tenon::relax {

enum class Form {
  kInput,
  kOptionalInput,  // may be None or missing
  kValue,          // an attribute as it is
  kSpread,         // a list for which one number may stand
  kPadding,        // numbers for all sides, for which one number, or one an axis, may stand
  kList,           // a list of numbers, for which a number may stand
  kOneAxis,        // a list of one in Relax, a number here
  kFirstAxis,      // an axis; the first one where the attribute has none
  kReversed,       // a bool whose opposite is the attribute
  kOutLayout,      // a layout; that of the data is the attribute's ""
  kFixed,          // no attribute: only the default can be computed
  kIgnored,        // no attribute: the result does not depend on it
};

struct Parameter {
  std::string_view name;
  Form form = Form::kInput;
  std::string_view field = {};          // the attribute, where it is called differently
  std::string_view default_value = {};  // Relax's, as text, where it is not the attribute's own

  std::string_view attribute() const { return field.empty() ? name : field; }
  bool is_input() const { return form == Form::kInput || form == Form::kOptionalInput; }
};

struct Signature {
  std::string name;                   // in Relax, without "R."
  const ops::OpDef* op = nullptr;     // null where `build` makes the call
  CallBuilder build = nullptr;        // null where `op` is called
  std::vector<Parameter> parameters;  // those of the row
  // Attributes of `op` that the row lacks. They are written by name, or not at all when they have
  // their defaults.
  std::vector<const attrs::FieldInfo*> further;

  const Parameter* Find(std::string_view parameter) const;
  // "R.nn.relu(data)": for messages.
  std::string ToString() const;
};

// Throws NotFound with the nearest name, Unimplemented for what is known but cannot be computed.
Signature SignatureOf(std::string_view relax_name);
// How a call of `op` with these attributes is written.
Signature SignatureFor(const ops::OpDef& op, const attrs::Attrs& attrs = {});

}  // namespace tenon::relax

#endif  // TENON_RELAX_SIGNATURE_H_
