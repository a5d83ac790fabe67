// Attributes of operators that read or write elements by index, and of operators that run along an
// axis.
#ifndef TENON_OPS_INDEX_INDEX_ATTRS_H_
#define TENON_OPS_INDEX_INDEX_ATTRS_H_

#include <optional>
#include <string>

#include "tenon/attrs/attrs.h"

namespace tenon::ops {

struct TakeAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.TakeAttrs";
  std::int64_t batch_dims = 0;
  std::optional<std::int64_t> axis;
  std::string mode = "clip";
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("batch_dims", &TakeAttrs::batch_dims, "leading axes that both share")
            .AtLeast(0),
        attrs::Field("axis", &TakeAttrs::axis, "axis that is indexed; the flat data if not given"),
        attrs::Field("mode", &TakeAttrs::mode,
                     "what an index out of range does: it takes the nearest element, or counts on "
                     "from the other end; fast is clip")
            .OneOf("clip wrap fast"));
  }
};

struct GatherAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.GatherAttrs";
  std::int64_t axis = 0;
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("axis", &GatherAttrs::axis, "axis that is indexed"));
  }
};

struct GatherNDAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.GatherNDAttrs";
  std::int64_t batch_dims = 0;
  std::optional<std::int64_t> index_rank;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("batch_dims", &GatherNDAttrs::batch_dims, "leading axes that both share")
            .AtLeast(0),
        attrs::Field("index_rank", &GatherNDAttrs::index_rank, "length of an index tuple"));
  }
};

struct OneHotAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.OneHotAttrs";
  std::int64_t depth = 1;
  std::int64_t axis = -1;
  DataType dtype = DataType::Void();
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("depth", &OneHotAttrs::depth, "extent of the new axis").AtLeast(1),
        attrs::Field("axis", &OneHotAttrs::axis, "position of the new axis"),
        attrs::Field("dtype", &OneHotAttrs::dtype, "element type; that of on_value if not given"));
  }
};

struct ReverseSequenceAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.ReverseSequenceAttrs";
  std::int64_t seq_axis = 1;
  std::int64_t batch_axis = 0;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("seq_axis", &ReverseSequenceAttrs::seq_axis, "axis whose start is flipped"),
        attrs::Field("batch_axis", &ReverseSequenceAttrs::batch_axis,
                     "axis along which the lengths run"));
  }
};

struct ScanopAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.ScanopAttrs";
  std::optional<std::int64_t> axis;
  DataType dtype = DataType::Void();
  bool exclusive = false;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("axis", &ScanopAttrs::axis, "axis to run along; the flat data if not given"),
        attrs::Field("dtype", &ScanopAttrs::dtype,
                     "element type of the result; that of the data when void"),
        attrs::Field("exclusive", &ScanopAttrs::exclusive, "an element does not count itself"));
  }
};

struct ScatterElementsAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.ScatterElementsAttrs";
  std::int64_t axis = 0;
  std::string reduction = "update";
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("axis", &ScatterElementsAttrs::axis, "axis that is indexed"),
                         attrs::Field("reduction", &ScatterElementsAttrs::reduction,
                                      "what happens to the element at the index")
                             .OneOf("update add mul min max"));
  }
};

struct ScatterNDAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.ScatterNDAttrs";
  std::string mode = "update";
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("mode", &ScatterNDAttrs::mode, "what happens to the elements at the index")
            .OneOf("update add mul min max"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_INDEX_INDEX_ATTRS_H_
