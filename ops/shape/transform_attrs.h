// Attributes of operators that move, slice, concatenate or create elements.
#ifndef TENON_OPS_SHAPE_TRANSFORM_ATTRS_H_
#define TENON_OPS_SHAPE_TRANSFORM_ATTRS_H_

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tenon/attrs/attrs.h"
#include "tenon/ops/ints.h"

namespace tenon::ops {

struct ConcatenateAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.ConcatenateAttrs";
  std::int64_t axis = 0;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("axis", &ConcatenateAttrs::axis, "axis to concatenate along"));
  }
};

struct StackAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.StackAttrs";
  std::int64_t axis = 0;
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("axis", &StackAttrs::axis, "position of the new axis"));
  }
};

struct ExpandDimsAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.ExpandDimsAttrs";
  std::int64_t axis = 0;
  std::int64_t num_newaxis = 1;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("axis", &ExpandDimsAttrs::axis, "position of the new axes").Required(),
        attrs::Field("num_newaxis", &ExpandDimsAttrs::num_newaxis, "how many axes to insert")
            .AtLeast(0)
            .AtMost(64));
  }
};

struct ReshapeAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.ReshapeAttrs";
  Ints newshape;
  bool allowzero = false;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("newshape", &ReshapeAttrs::newshape,
                     "extents; 0 copies one, -1 is inferred, -2 copies the rest, -3 merges two, "
                     "-4 splits one into the next two")
            .AtLeast(-4)
            .Required(),
        attrs::Field("allowzero", &ReshapeAttrs::allowzero, "0 means an extent of zero"));
  }
};

struct ReshapeLikeAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.ReshapeLikeAttrs";
  std::int64_t lhs_begin = 0;
  std::optional<std::int64_t> lhs_end;
  std::int64_t rhs_begin = 0;
  std::optional<std::int64_t> rhs_end;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("lhs_begin", &ReshapeLikeAttrs::lhs_begin, "first axis that is replaced"),
        attrs::Field("lhs_end", &ReshapeLikeAttrs::lhs_end, "axis after the last replaced one"),
        attrs::Field("rhs_begin", &ReshapeLikeAttrs::rhs_begin, "first axis of the pattern"),
        attrs::Field("rhs_end", &ReshapeLikeAttrs::rhs_end, "axis after the last of the pattern"));
  }
};

struct SqueezeAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.SqueezeAttrs";
  std::optional<Ints> axis;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("axis", &SqueezeAttrs::axis, "axes to drop; all of extent 1 when not given"));
  }
};

struct TransposeAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.TransposeAttrs";
  std::optional<Ints> axes;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("axes", &TransposeAttrs::axes,
                     "for each axis of the result the input axis; reversed when not given")
            .NoDefault());
  }
};

struct SplitAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.SplitAttrs";
  std::variant<std::int64_t, Ints> indices_or_sections = std::int64_t{1};
  std::int64_t axis = 0;
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("indices_or_sections", &SplitAttrs::indices_or_sections,
                                      "a number of equal parts, or ascending cut points")
                             .Required(),
                         attrs::Field("axis", &SplitAttrs::axis, "axis to cut"));
  }
};

struct StridedSliceAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.StridedSliceAttrs";
  Ints begin, end, strides;
  std::string slice_mode = "end";
  std::optional<Ints> axes;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("begin", &StridedSliceAttrs::begin, "first index of each axis").Required(),
        attrs::Field("end", &StridedSliceAttrs::end, "index after the last, or a length")
            .Required(),
        attrs::Field("strides", &StridedSliceAttrs::strides, "steps; 1 where not given")
            .NoDefault(),
        attrs::Field("slice_mode", &StridedSliceAttrs::slice_mode,
                     "end: `end` is an index; size: `end` is a length, -1 to the end")
            .OneOf("end size"),
        attrs::Field("axes", &StridedSliceAttrs::axes, "axes that the lists speak of").NoDefault());
  }
};

struct TileAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.TileAttrs";
  Ints reps;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("reps", &TileAttrs::reps, "copies along each axis").AtLeast(0).Required());
  }
};

struct RepeatAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.RepeatAttrs";
  std::int64_t repeats = 1;
  std::optional<std::int64_t> axis;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("repeats", &RepeatAttrs::repeats, "copies of each element")
            .AtLeast(1)
            .Required(),
        attrs::Field("axis", &RepeatAttrs::axis, "axis to repeat along; 0 when not given"));
  }
};

struct ReverseAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.ReverseAttrs";
  std::int64_t axis = 0;
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("axis", &ReverseAttrs::axis, "axis to flip").NoDefault());
  }
};

struct SliceLikeAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.SliceLikeAttrs";
  std::optional<Ints> axes;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("axes", &SliceLikeAttrs::axes, "axes to crop; all common ones if not given")
            .NoDefault());
  }
};

struct MeshgridAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.MeshgridAttrs";
  std::string indexing = "ij";
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("indexing", &MeshgridAttrs::indexing,
                                      "ij: matrix order; xy: the first two axes swapped")
                             .OneOf("ij xy"));
  }
};

struct InitOpAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.InitOpAttrs";
  std::optional<Ints> shape;
  DataType dtype = DataType::Void();
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("shape", &InitOpAttrs::shape, "extents of the result").AtLeast(0).Required(),
        attrs::Field("dtype", &InitOpAttrs::dtype, "element type of the result"));
  }
};

struct ArangeAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.ArangeAttrs";
  double start = 0, stop = 0, step = 1;
  DataType dtype = Float32;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("start", &ArangeAttrs::start, "first value").Required(),
        attrs::Field("stop", &ArangeAttrs::stop, "bound that is not reached").Required(),
        attrs::Field("step", &ArangeAttrs::step, "difference of neighbours").Required(),
        attrs::Field("dtype", &ArangeAttrs::dtype, "element type of the result").Required());
  }
};

struct ShapeOfAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.ShapeOfAttrs";
  DataType dtype = Int32;
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("dtype", &ShapeOfAttrs::dtype, "element type of the result"));
  }
};

struct TriluAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.TriluAttrs";
  bool upper = true;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("upper", &TriluAttrs::upper, "keep the upper triangle, else the lower"));
  }
};

struct PadAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.PadAttrs";
  std::vector<Ints> pad_width;
  std::string pad_mode = "constant";
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("pad_width", &PadAttrs::pad_width,
                                      "for each axis (before, after); negative crops")
                             .Required(),
                         attrs::Field("pad_mode", &PadAttrs::pad_mode, "what the new elements are")
                             .OneOf("constant edge reflect"));
  }
};

struct MirrorPadAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.MirrorPadAttrs";
  std::string mode = "SYMMETRIC";
  std::vector<Ints> pad_width;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("mode", &MirrorPadAttrs::mode, "whether the edge itself is repeated")
            .OneOf("SYMMETRIC REFLECT"),
        attrs::Field("pad_width", &MirrorPadAttrs::pad_width, "for each axis (before, after)")
            .Required());
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_SHAPE_TRANSFORM_ATTRS_H_
