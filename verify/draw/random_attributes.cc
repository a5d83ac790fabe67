#include "tenon/verify/draw/random_attributes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::verify {
namespace {

// Of a field's values, some by far: `extreme_percent`.
struct Values {
  Random& random;
  int extreme_percent = 0;
};

std::int64_t FarInteger(Random& random) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  return random.Of(std::vector<std::int64_t>{
      -kMax - 1, -9, 5, 6, 7, 40, std::int64_t{1} << 31, std::int64_t{1} << 32,
      std::int64_t{1} << 61, (std::int64_t{1} << 61) + 1, (std::int64_t{1} << 62) + 1, kMax});
}

attrs::Value RandomInteger(const attrs::FieldInfo& field, const Values& values) {
  Random& random = values.random;
  if (random.Chance(values.extreme_percent)) return attrs::Value(FarInteger(random));
  const std::int64_t lowest = std::clamp<std::int64_t>(field.range.min, -1, 16);
  const std::int64_t highest = std::clamp<std::int64_t>(field.range.max, lowest, lowest + 5);
  return attrs::Value(lowest + random.Below(highest - lowest + 1));
}

attrs::Value RandomList(const attrs::FieldInfo& field, std::int64_t length, const Values& values) {
  attrs::List list;
  for (std::int64_t i = 0; i < length; ++i) list.push_back(RandomInteger(field, values));
  return attrs::Value(list);
}

attrs::Value RandomWord(const attrs::FieldInfo& field, Random& random) {
  if (field.range.choices == nullptr) return field.default_value;
  return attrs::Value(std::string(random.Of(StrSplit(field.range.choices, ' '))));
}

// A value of the kind of the default; without a default, of any kind.
attrs::Value DrawValue(const attrs::FieldInfo& field, const Values& values) {
  Random& random = values.random;
  const attrs::Value& usual = field.default_value;
  const auto number = [&] {
    // Ends of types, and what lies beyond them.
    static const std::vector<double>& far = *new std::vector<double>{
        HUGE_VAL, -HUGE_VAL, 1e300, -1e300, 0x1p64, 0x1p63, -0x1p63, 0x1p32, 255, -129, 127.5};
    if (random.Chance(25)) return attrs::Value(random.Of(far));
    return attrs::Value(static_cast<double>(random.Below(17) - 8) / 4);
  };
  const auto type = [&] {
    static const std::vector<DataType>& all =
        *new std::vector<DataType>{Float64, BFloat16, BFloat16, BFloat16, Float16, Float16, Int8,
                                   UInt8,   Int16,    UInt16,   UInt32,   Int64,   UInt64,  Bool};
    if (random.Chance(40)) return attrs::Value(random.Of(all));
    return attrs::Value(random.Chance(50) ? Float32 : Int32);
  };
  if (usual.As<bool>() != nullptr) return attrs::Value(random.Chance(50));
  if (usual.As<double>() != nullptr) return number();
  if (usual.As<DataType>() != nullptr) return type();
  if (usual.As<std::string>() != nullptr) return RandomWord(field, random);
  if (usual.As<std::int64_t>() != nullptr) return RandomInteger(field, values);
  if (const auto* list = usual.As<attrs::List>()) {
    const bool as_long = !list->empty() && random.Chance(70);
    return RandomList(field, as_long ? static_cast<std::int64_t>(list->size()) : random.Below(5),
                      values);
  }
  switch (random.Below(9)) {
    case 0:
      return number();
    case 1:
      return type();
    case 2:
      return RandomWord(field, random);
    case 3: {
      attrs::List pairs;
      for (std::int64_t n = random.Below(5); n > 0; --n)
        pairs.push_back(RandomList(field, 2, values));
      return attrs::Value(pairs);
    }
    case 4:
    case 5:
    case 6:
      return RandomList(field, random.Below(6), values);
    default:
      return RandomInteger(field, values);
  }
}

// A value that the field accepts, or nothing.
std::optional<attrs::Value> DrawAcceptedValue(const ops::OpDef& op, const attrs::FieldInfo& field,
                                              const Values& values) {
  constexpr int kTries = 20;
  const std::shared_ptr<void> scratch = op.schema->make_default();
  for (int i = 0; i < kTries; ++i) {
    attrs::Value value = DrawValue(field, values);
    if (CatchErrors([&] { field.Set(scratch.get(), value); }).ok()) return value;
  }
  return std::nullopt;
}

}  // namespace

attrs::Attrs DrawAttributes(const ops::OpDef& op, Random& random, int extreme_percent) {
  if (op.schema == nullptr) return {};
  const Values drawn{random, extreme_percent};
  attrs::FieldValues values;
  for (const attrs::FieldInfo& field : op.schema->fields) {
    if (!field.is_required && !random.Chance(30)) continue;
    if (auto value = DrawAcceptedValue(op, field, drawn)) values[field.name] = *std::move(value);
  }
  return attrs::Attrs::FromFields(*op.schema, values);
}

attrs::Attrs WithOtherField(const ops::OpDef& op, const attrs::Attrs& attributes, Random& random) {
  if (!attributes.defined() || attributes.schema()->fields.empty()) return attributes;
  const attrs::FieldInfo& field = random.Of(attributes.schema()->fields);
  const auto value = DrawAcceptedValue(op, field, Values{random});
  return value ? attributes.With(field.name, *value) : attributes;
}

attrs::Attrs WithOtherInteger(const attrs::Attrs& attributes, Random& random) {
  if (!attributes.defined() || attributes.schema()->fields.empty()) return attributes;
  const attrs::FieldInfo& field = random.Of(attributes.schema()->fields);
  const auto other = [&](std::int64_t value) {
    // As unsigned numbers, which wrap around.
    const std::uint64_t step = random.Chance(50) ? 1 : ~std::uint64_t{0};
    return random.Chance(50) ? static_cast<std::int64_t>(static_cast<std::uint64_t>(value) + step)
                             : FarInteger(random);
  };
  attrs::Value value = attributes.Get(field.name);
  if (const auto* number = value.As<std::int64_t>()) {
    value = attrs::Value(other(*number));
  } else if (const auto* list = value.As<attrs::List>(); list != nullptr && !list->empty()) {
    attrs::List changed = *list;
    attrs::Value& one = changed[At(random.Below(static_cast<std::int64_t>(changed.size())))];
    if (const auto* item = one.As<std::int64_t>()) one = attrs::Value(other(*item));
    value = attrs::Value(std::move(changed));
  }
  attrs::Attrs made = attributes;
  (void)CatchErrors([&] { made = attributes.With(field.name, value); });
  return made;
}

}  // namespace tenon::verify
