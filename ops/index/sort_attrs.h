// Attributes of operators that order elements.
#ifndef TENON_OPS_INDEX_SORT_ATTRS_H_
#define TENON_OPS_INDEX_SORT_ATTRS_H_

#include <optional>
#include <string>

#include "tenon/attrs/attrs.h"

namespace tenon::ops {

struct ArgsortAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.ArgsortAttrs";
  std::int64_t axis = -1;
  bool is_ascend = true;
  DataType dtype = DataType::Void();
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("axis", &ArgsortAttrs::axis, "axis to sort along"),
        attrs::Field("is_ascend", &ArgsortAttrs::is_ascend, "the smallest element comes first"),
        attrs::Field("dtype", &ArgsortAttrs::dtype,
                     "element type of the indices, int32 when void"));
  }
};

struct TopKAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.TopKAttrs";
  std::optional<std::int64_t> k;
  std::int64_t axis = -1;
  std::string ret_type = "both";
  bool is_ascend = false;
  DataType dtype = DataType::Void();
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("k", &TopKAttrs::k, "number of elements; all when less than 1 or not given"),
        attrs::Field("axis", &TopKAttrs::axis, "axis to sort along"),
        attrs::Field("ret_type", &TopKAttrs::ret_type, "the values, their indices, or both")
            .OneOf("both values indices"),
        attrs::Field("is_ascend", &TopKAttrs::is_ascend, "the smallest elements, not the largest"),
        attrs::Field("dtype", &TopKAttrs::dtype, "element type of the indices, int32 when void"));
  }
};

struct SearchSortedAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.SearchSortedAttrs";
  bool right = false;
  DataType dtype = Int32;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("right", &SearchSortedAttrs::right, "after equal elements, not before them"),
        attrs::Field("dtype", &SearchSortedAttrs::dtype, "element type of the result"));
  }
};

struct UniqueAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.UniqueAttrs";
  bool sorted = true;
  bool return_counts = false;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("sorted", &UniqueAttrs::sorted,
                     "in ascending order, else in that of first occurrences"),
        attrs::Field("return_counts", &UniqueAttrs::return_counts, "say how often each occurs"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_INDEX_SORT_ATTRS_H_
