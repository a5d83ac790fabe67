// Operators that move, slice, join, pad or create elements.
#include <algorithm>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tests/strategies/operator_cases.h"

namespace tenon::operator_cases {
namespace {

Reference SameValues(Shape shape) {
  return [=](const Arrays& in) { return Arrays{Reshaped(in[0], shape)}; };
}

// Python's slice of an axis.
std::vector<std::int64_t> Slice(std::int64_t begin, std::int64_t end, std::int64_t step,
                                std::int64_t extent) {
  const auto bound = [&](std::int64_t at) {
    if (at < 0) at += extent;
    return step > 0 ? std::clamp<std::int64_t>(at, 0, extent)
                    : std::clamp<std::int64_t>(at, -1, extent - 1);
  };
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = bound(begin); step > 0 ? i < bound(end) : i > bound(end); i += step)
    chosen.push_back(i);
  return chosen;
}

}  // namespace

void AddReshapes(std::vector<OpCase>* cases) {
  const auto reshape = [&](const char* name, const char* codes, const Shape& to) {
    cases->push_back({StrCat("reshape_", name),
                      {F("x", {2, 6, 4, 5})},
                      StrCat("reshape(%x, newshape=[", codes, "])"),
                      SameValues(to)});
  };
  reshape("infers", "0, -1", {2, 120});
  reshape("copies_the_rest", "-2", {2, 6, 4, 5});
  reshape("merges", "-3, -2", {12, 4, 5});
  reshape("splits", "0, -4, 2, -1, -2", {2, 2, 3, 4, 5});
  reshape("merges_the_last", "0, 0, -3", {2, 6, 20});
  reshape("plainly", "5, 3, 16", {5, 3, 16});
  cases->push_back({"reshape_of_nothing",
                    {F("x", {0, 5})},
                    "reshape(%x, newshape=[5, 0], allowzero=True)",
                    SameValues({5, 0})});
  cases->push_back(
      {"reshape_to_rank_0", {F("x", {1, 1})}, "reshape(%x, newshape=[])", SameValues({})});
  cases->push_back({"reshape_like",
                    {F("x", {3, 10}), F("y", {5, 6})},
                    "reshape_like(%x, %y)",
                    SameValues({5, 6})});
  cases->push_back({"reshape_to_extents",
                    {F("x", {6, 10}), I("y", {3, 7})},
                    "reshape_to_extents(%x, (%y,), shape=\"(x0_0, 2*x0_1 - 10, 5)\")",
                    SameValues({3, 4, 5})});
  cases->push_back({"reshape_like_partly",
                    {F("x", {30, 7}), F("y", {15, 2, 7})},
                    "reshape_like(%x, %y, lhs_begin=0, lhs_end=1, rhs_begin=0, rhs_end=2)",
                    SameValues({15, 2, 7})});
  cases->push_back(
      {"batch_flatten", {F("x", {3, 5, 7})}, "nn.batch_flatten(%x)", SameValues({3, 35})});
  cases->push_back({"expand_dims",
                    {F("x", {3, 5})},
                    "expand_dims(%x, axis=1, num_newaxis=2)",
                    SameValues({3, 1, 1, 5})});
  cases->push_back({"squeeze", {F("x", {1, 3, 1, 5})}, "squeeze(%x)", SameValues({3, 5})});
  cases->push_back(
      {"squeeze_axis", {F("x", {1, 3, 1, 5})}, "squeeze(%x, axis=[-2])", SameValues({1, 3, 5})});
  // Computed before and after, so that the reshape is no mere view.
  cases->push_back({"reshape_between_operators",
                    {F("x", {3, 10})},
                    "negative(reshape(negative(%x), newshape=[5, 6]))",
                    SameValues({5, 6})});
}

void AddMoves(std::vector<OpCase>* cases) {
  cases->push_back({"transpose_reverses",
                    {F("x", {3, 17, 5})},
                    "transpose(%x)",
                    Move({5, 17, 3}, [](const Index& i) {
                      return Index{i[2], i[1], i[0]};
                    })});
  cases->push_back({"transpose_axes",
                    {F("x", {3, 17, 5})},
                    "transpose(%x, axes=[1, -1, 0])",
                    Move({17, 5, 3}, [](const Index& i) {
                      return Index{i[2], i[0], i[1]};
                    })});
  cases->push_back(
      {"transpose_of_nothing", {F("x", {0, 3})}, "transpose(%x)", Move({3, 0}, [](const Index& i) {
         return Index{i[1], i[0]};
       })});
  cases->push_back(
      {"reverse", {I("x", {3, 7})}, "reverse(%x, axis=-1)", Move({3, 7}, [](const Index& i) {
         return Index{i[0], 6 - i[1]};
       })});
  cases->push_back({"broadcast_to",
                    {F("x", {5, 1})},
                    "broadcast_to(%x, shape=[3, 5, 7], dtype=\"float32\")",
                    Move({3, 5, 7}, [](const Index& i) {
                      return Index{i[1], 0};
                    })});
  cases->push_back({"broadcast_to_like",
                    {F("x", {5, 1}), I("y", {3, 5, 7})},
                    "broadcast_to_like(%x, %y)",
                    Move({3, 5, 7}, [](const Index& i) {
                      return Index{i[1], 0};
                    })});
  cases->push_back({"broadcast_to_extents",
                    {F("x", {5, 1}), I("y", {3, 7})},
                    "broadcast_to_extents(%x, (%y,), shape=\"(x0_0, 5, 2*x0_1 - 3)\")",
                    Move({3, 5, 11}, [](const Index& i) {
                      return Index{i[1], 0};
                    })});
  cases->push_back(
      {"tile", {F("x", {3, 5})}, "tile(%x, reps=[2, 3])", Move({6, 15}, [](const Index& i) {
         return Index{i[0] % 3, i[1] % 5};
       })});
  cases->push_back({"tile_of_higher_rank",
                    {F("x", {5})},
                    "tile(%x, reps=[2, 1, 3])",
                    Move({2, 1, 15}, [](const Index& i) { return Index{i[2] % 5}; })});
  cases->push_back({"tile_of_fewer_reps",
                    {F("x", {3, 5})},
                    "tile(%x, reps=[2])",
                    Move({3, 10}, [](const Index& i) {
                      return Index{i[0], i[1] % 5};
                    })});
  cases->push_back({"repeat",
                    {F("x", {3, 5})},
                    "repeat(%x, repeats=3, axis=1)",
                    Move({3, 15}, [](const Index& i) {
                      return Index{i[0], i[1] / 3};
                    })});
  cases->push_back({"repeat_last",
                    {F("x", {3, 5})},
                    "repeat(%x, repeats=2, axis=-1)",
                    Move({3, 10}, [](const Index& i) {
                      return Index{i[0], i[1] / 2};
                    })});
  cases->push_back({"slice_like",
                    {F("x", {5, 7}), F("y", {3, 4})},
                    "slice_like(%x, %y)",
                    Move({3, 4}, [](const Index& i) { return i; })});
  cases->push_back({"slice_like_axes",
                    {F("x", {5, 7}), F("y", {3, 4})},
                    "slice_like(%x, %y, axes=[1])",
                    Move({5, 4}, [](const Index& i) { return i; })});

  cases->push_back({"split_equally",
                    {F("x", {3, 15})},
                    "split(%x, indices_or_sections=3, axis=1)",
                    [](const Arrays& in) {
                      Arrays parts;
                      for (std::int64_t p = 0; p < 3; ++p)
                        parts.push_back(Make({3, 5}, [&](const Index& i) {
                          return in[0]({i[0], p * 5 + i[1]});
                        }));
                      return parts;
                    }});
  cases->push_back({"split_at_points",
                    {F("x", {7, 3})},
                    "split(%x, indices_or_sections=[2, 2, 6], axis=0)",
                    [](const Arrays& in) {
                      Arrays parts;
                      const Shape cuts = {0, 2, 2, 6, 7};
                      for (std::size_t p = 0; p + 1 < cuts.size(); ++p)
                        parts.push_back(Make({cuts[p + 1] - cuts[p], 3}, [&](const Index& i) {
                          return in[0]({cuts[p] + i[0], i[1]});
                        }));
                      return parts;
                    }});
  const auto joined = [](std::size_t axis, Shape shape) {
    return [=](const Arrays& in) {
      return Arrays{Make(shape, [&](const Index& at) {
        Index from = at;
        for (const Array& part : in) {
          if (from[axis] < part.shape[axis]) return part(from);
          from[axis] -= part.shape[axis];
        }
        throw Unimplemented("an index beyond all parts");
      })};
    };
  };
  cases->push_back({"concatenate_first",
                    {F("a", {2, 5}), F("b", {1, 5}), F("c", {4, 5})},
                    "concatenate((%a, %b, %c), axis=0)",
                    joined(0, {7, 5})});
  cases->push_back({"concatenate_last",
                    {F("a", {3, 16}), F("b", {3, 1})},
                    "concatenate((%a, %b), axis=-1)",
                    joined(1, {3, 17})});
  cases->push_back(
      {"concatenate_one", {F("a", {3, 5})}, "concatenate((%a,), axis=0)", joined(0, {3, 5})});
  cases->push_back({"concatenate_empty_between",
                    {F("a", {2, 3}), F("b", {0, 3}), F("c", {1, 3})},
                    "concatenate((%a, %b, %c), axis=0)",
                    joined(0, {3, 3})});
  cases->push_back({"concatenate_empty_first_and_last",
                    {F("a", {0, 3}), F("b", {2, 3}), F("c", {0, 3})},
                    "concatenate((%a, %b, %c), axis=0)",
                    joined(0, {2, 3})});
  cases->push_back({"concatenate_computed",
                    {F("a", {2, 3}), F("b", {4, 3})},
                    "negative(concatenate((negative(%a), negative(%b)), axis=0))",
                    joined(0, {6, 3})});
  for (const int axis : {0, 1, -1})
    cases->push_back({StrCat("stack_axis_", axis < 0 ? "last" : std::to_string(axis)),
                      {F("a", {3, 5}), F("b", {3, 5}), F("c", {3, 5})},
                      StrCat("stack((%a, %b, %c), axis=", axis, ")"),
                      [axis](const Arrays& in) {
                        const std::size_t at = axis < 0 ? 2 : static_cast<std::size_t>(axis);
                        Shape shape = {3, 5};
                        shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), 3);
                        return Arrays{Make(shape, [&](const Index& i) {
                          Index from = i;
                          from.erase(from.begin() + static_cast<std::ptrdiff_t>(at));
                          return in[static_cast<std::size_t>(i[at])](from);
                        })};
                      }});
  for (const bool xy : {false, true})
    cases->push_back({StrCat("meshgrid_", xy ? "xy" : "ij"),
                      {F("a", {3}), F("b", {5}), F("c", {2})},
                      StrCat("meshgrid((%a, %b, %c), indexing=\"", xy ? "xy" : "ij", "\")"),
                      [xy](const Arrays& in) {
                        const Shape shape = xy ? Shape{5, 3, 2} : Shape{3, 5, 2};
                        Arrays grids;
                        for (std::size_t f = 0; f < 3; ++f)
                          grids.push_back(Make(shape, [&](const Index& i) {
                            return in[f]({i[xy && f < 2 ? 1 - f : f]});
                          }));
                        return grids;
                      }});
}

void AddSlices(std::vector<OpCase>* cases) {
  const auto slice = [&](const char* name, const Shape& from, const char* attributes,
                         const std::vector<std::vector<std::int64_t>>& chosen) {
    Shape shape;
    for (const auto& axis : chosen) shape.push_back(static_cast<std::int64_t>(axis.size()));
    cases->push_back({StrCat("strided_slice_", name),
                      {F("x", from)},
                      StrCat("strided_slice(%x, ", attributes, ")"),
                      Move(shape, [chosen](const Index& i) {
                        Index at;
                        for (std::size_t d = 0; d < i.size(); ++d)
                          at.push_back(chosen[d][static_cast<std::size_t>(i[d])]);
                        return at;
                      })});
  };
  const auto all = [](std::int64_t extent) { return Slice(0, extent, 1, extent); };
  slice("simple", {7, 17}, "begin=[1, 2], end=[5, 16]", {Slice(1, 5, 1, 7), Slice(2, 16, 1, 17)});
  slice("steps", {7, 17}, "begin=[0, 1], end=[7, 17], strides=[2, 3]",
        {Slice(0, 7, 2, 7), Slice(1, 17, 3, 17)});
  slice("backwards", {5}, "begin=[-1], end=[-6], strides=[-2]", {{4, 2, 0}});
  slice("backwards_not_to_the_end", {7}, "begin=[5], end=[1], strides=[-1]", {Slice(5, 1, -1, 7)});
  slice("from_the_end", {7, 5}, "begin=[-3, -2], end=[-1, 5]",
        {Slice(-3, -1, 1, 7), Slice(-2, 5, 1, 5)});
  slice("out_of_range_is_clamped", {7}, "begin=[-100], end=[100]", {all(7)});
  slice("of_fewer_axes", {7, 5}, "begin=[2], end=[4]", {Slice(2, 4, 1, 7), all(5)});
  slice("of_named_axes", {7, 5, 3}, "begin=[1, 1], end=[3, 4], axes=[-1, 1]",
        {all(7), Slice(1, 4, 1, 5), Slice(1, 3, 1, 3)});
  slice("to_nothing", {7, 5}, "begin=[5], end=[2]", {{}, all(5)});
  slice("by_size", {7, 5}, "begin=[1, 2], end=[3, -1], slice_mode=\"size\"",
        {{1, 2, 3}, {2, 3, 4}});
  slice("by_size_from_the_end", {7}, "begin=[-3], end=[2], slice_mode=\"size\"", {{4, 5}});
  slice("by_size_beyond_the_end", {7}, "begin=[5], end=[9], slice_mode=\"size\"", {{5, 6}});
}

void AddPads(std::vector<OpCase>* cases) {
  const auto pad = [&](const char* name, const char* call, const Shape& before, const Shape& shape,
                       const std::function<std::int64_t(std::int64_t, std::int64_t)>& source) {
    cases->push_back({name, {F("x", {5, 7}), F("v", {})}, call, [=](const Arrays& in) {
                        return Arrays{Make(shape, [&](const Index& i) {
                          Index from;
                          for (std::size_t d = 0; d < 2; ++d) {
                            const std::int64_t extent = in[0].shape[d];
                            from.push_back(source(i[d] - before[d], extent));
                            if (from[d] < 0 || from[d] >= extent) return in[1]({});
                          }
                          return in[0](from);
                        })};
                      }});
  };
  const auto none = [](std::int64_t i, std::int64_t) { return i; };
  const auto edge = [](std::int64_t i, std::int64_t n) {
    return std::clamp<std::int64_t>(i, 0, n - 1);
  };
  const auto reflect = [](std::int64_t i, std::int64_t n) {
    return i < 0 ? -i : i >= n ? 2 * n - 2 - i : i;
  };
  const auto symmetric = [](std::int64_t i, std::int64_t n) {
    return i < 0 ? -1 - i : i >= n ? 2 * n - 1 - i : i;
  };
  pad("pad_constant", "nn.pad(%x, %v, pad_width=[[1, 2], [0, 3]])", {1, 0}, {8, 10}, none);
  pad("pad_crops", "nn.pad(%x, %v, pad_width=[[-1, 2], [3, -4]])", {-1, 3}, {6, 6}, none);
  pad("pad_edge", "nn.pad(%x, %v, pad_width=[[9, 2], [1, 3]], pad_mode=\"edge\")", {9, 1}, {16, 11},
      edge);
  pad("pad_reflect", "nn.pad(%x, %v, pad_width=[[4, 2], [1, 6]], pad_mode=\"reflect\")", {4, 1},
      {11, 14}, reflect);
  pad("mirror_pad_reflect",
      "add(nn.mirror_pad(%x, pad_width=[[4, 2], [1, 6]], mode=\"REFLECT\"), multiply(%v, 0f))",
      {4, 1}, {11, 14}, reflect);
  pad("mirror_pad_symmetric",
      "add(nn.mirror_pad(%x, pad_width=[[5, 2], [1, 7]], mode=\"SYMMETRIC\"), multiply(%v, 0f))",
      {5, 1}, {12, 15}, symmetric);
  cases->push_back({"pad_of_nothing",
                    {F("x", {0, 3}), F("v", {})},
                    "nn.pad(%x, %v, pad_width=[[1, 2], [0, 0]])",
                    [](const Arrays& in) {
                      return Arrays{Make({3, 3}, [&](const Index&) { return in[1]({}); })};
                    }});
}

void AddBlocks(std::vector<OpCase>* cases) {
  // Where element `j` of a batch of `n` goes when blocks of 2 x 3 move into the batch.
  const auto to_batch = [](const Index& j, std::int64_t n, std::int64_t top, std::int64_t left) {
    const std::int64_t y = j[1] + top, x = j[2] + left;
    return Index{(y % 2 * 3 + x % 3) * n + j[0], y / 2, x / 3, j[3]};
  };
  // The element of `from` that `goes` sends to `to`, or `otherwise`.
  const auto arrived = [](const Array& from, const Index& to, double otherwise, const auto& goes) {
    double found = otherwise;
    Make(from.shape, [&](const Index& j) {
      if (goes(j) == to) found = from(j);
      return 0.0;
    });
    return found;
  };
  cases->push_back(
      {"space_to_batch",
       {F("x", {2, 3, 5, 3})},
       "nn.space_to_batch_nd(%x, block_shape=[2, 3], paddings=[[1, 2], [3, 1]], pad_value=-7f)",
       [=](const Arrays& in) {
         return Arrays{Make({12, 3, 3, 3}, [&](const Index& i) {
           return arrived(in[0], i, -7, [&](const Index& j) { return to_batch(j, 2, 1, 3); });
         })};
       }});
  cases->push_back({"batch_to_space",
                    {F("x", {18, 2, 1, 5})},
                    "nn.batch_to_space_nd(%x, block_shape=[2, 3], crops=[[1, 1], [0, 2]])",
                    [=](const Arrays& in) {
                      return Arrays{Make({3, 2, 1, 5}, [&](const Index& i) {
                        return in[0](to_batch(i, 3, 1, 0));
                      })};
                    }});
  cases->push_back({"space_to_batch_of_one_axis",
                    {F("x", {2, 6})},
                    "nn.space_to_batch_nd(%x, block_shape=[3], paddings=[[0, 0]])",
                    [](const Arrays& in) {
                      return Arrays{Make({6, 2}, [&](const Index& i) {
                        return in[0]({i[0] % 2, i[1] * 3 + i[0] / 2});
                      })};
                    }});
  cases->push_back({"space_to_batch_of_no_samples",
                    {F("x", {0, 4, 3, 1})},
                    "nn.space_to_batch_nd(%x, block_shape=[2, 3], paddings=[[0, 0], [0, 0]])",
                    [](const Arrays&) {
                      return Arrays{Make({0, 2, 1, 1}, [](const Index&) { return 0.0; })};
                    }});
  // Where the element of a 2-channel image goes when blocks of 3 x 3 become channels.
  const auto to_depth = [](const Index& j) {
    return Index{j[0], (j[2] % 3 * 3 + j[3] % 3) * 2 + j[1], j[2] / 3, j[3] / 3};
  };
  cases->push_back({"space_to_depth",
                    {F("x", {2, 2, 6, 9})},
                    "nn.space_to_depth(%x, block_size=3)",
                    [=](const Arrays& in) {
                      return Arrays{Make({2, 18, 2, 3}, [&](const Index& i) {
                        return arrived(in[0], i, kNaN, to_depth);
                      })};
                    }});
  cases->push_back({"depth_to_space",
                    {F("x", {2, 18, 2, 3})},
                    "nn.depth_to_space(%x, block_size=3)",
                    Move({2, 2, 6, 9}, to_depth)});
  cases->push_back({"depth_to_space_crd",
                    {F("x", {1, 17 * 4, 5, 3})},
                    "nn.depth_to_space(%x, block_size=2, mode=\"CRD\")",
                    Move({1, 17, 10, 6}, [](const Index& i) {
                      return Index{0, i[1] * 4 + i[2] % 2 * 2 + i[3] % 2, i[2] / 2, i[3] / 2};
                    })});
  cases->push_back({"space_to_depth_NHWC",
                    {F("x", {1, 4, 6, 5})},
                    "nn.space_to_depth(%x, block_size=2, layout=\"NHWC\")",
                    Move({1, 2, 3, 20}, [](const Index& i) {
                      return Index{0, i[1] * 2 + i[3] / 10, i[2] * 2 + i[3] / 5 % 2, i[3] % 5};
                    })});
  cases->push_back({"depth_to_space_NHWC",
                    {F("x", {1, 2, 3, 20})},
                    "nn.depth_to_space(%x, block_size=2, layout=\"NHWC\")",
                    Move({1, 4, 6, 5}, [](const Index& i) {
                      return Index{0, i[1] / 2, i[2] / 2, (i[1] % 2 * 2 + i[2] % 2) * 5 + i[3]};
                    })});
  cases->push_back({"space_to_depth_of_no_channels",
                    {F("x", {1, 0, 4, 4})},
                    "nn.space_to_depth(%x, block_size=2)",
                    [](const Arrays&) {
                      return Arrays{Array{{1, 0, 2, 2}, {}}};
                    }});
  cases->push_back({"dilate",
                    {F("x", {5, 1, 7})},
                    "nn.dilate(%x, strides=[2, 4, 3], dilation_value=-7f)",
                    [](const Arrays& in) {
                      return Arrays{Make({9, 1, 19}, [&](const Index& i) {
                        return i[0] % 2 == 0 && i[2] % 3 == 0 ? in[0]({i[0] / 2, 0, i[2] / 3}) : -7;
                      })};
                    }});
  cases->push_back(
      {"dilate_of_nothing", {F("x", {3, 0})}, "nn.dilate(%x, strides=[1, 2])", [](const Arrays&) {
         return Arrays{Array{{3, 0}, {}}};
       }});
}

void AddCreations(std::vector<OpCase>* cases) {
  const auto filled = [](Shape shape, double value) {
    return [=](const Arrays&) { return Arrays{Make(shape, [=](const Index&) { return value; })}; };
  };
  cases->push_back({"zeros", {}, "zeros(shape=[3, 5], dtype=\"float32\")", filled({3, 5}, 0)});
  cases->push_back({"ones", {}, "ones(shape=[17], dtype=\"int64\")", filled({17}, 1)});
  cases->push_back({"ones_of_rank_0", {}, "ones(shape=[], dtype=\"float32\")", filled({}, 1)});
  cases->push_back(
      {"zeros_of_nothing", {}, "zeros(shape=[0, 3], dtype=\"bool\")", filled({0, 3}, 0)});
  cases->push_back({"full",
                    {With(F("v", {}), {2.5})},
                    "full(%v, shape=[2, 3], dtype=\"float32\")",
                    filled({2, 3}, 2.5)});
  cases->push_back({"full_casts",
                    {With(F("v", {}), {2.5})},
                    "full(%v, shape=[2, 3], dtype=\"int32\")",
                    filled({2, 3}, 2)});
  cases->push_back(
      {"arange", {}, "arange(start=1f, stop=8f, step=2f, dtype=\"float32\")", [](const Arrays&) {
         return Arrays{Array{{4}, {1, 3, 5, 7}}};
       }});
  cases->push_back({"arange_down",
                    {},
                    "arange(start=3f, stop=-4f, step=-3f, dtype=\"int64\")",
                    [](const Arrays&) {
                      return Arrays{Array{{3}, {3, 0, -3}}};
                    }});
  cases->push_back({"index_along",
                    {F("x", {3, 17})},
                    "index_along(%x, axis=-1, dtype=\"int32\")",
                    [](const Arrays&) {
                      return Arrays{Make({3, 17}, [](const Index& i) { return i[1]; })};
                    }});
  cases->push_back(
      {"shape_of", {F("x", {3, 5, 7})}, "shape_of(%x, dtype=\"int64\")", [](const Arrays&) {
         return Arrays{Array{{3}, {3, 5, 7}}};
       }});
  cases->push_back(
      {"ndarray_size", {F("x", {3, 5, 7})}, "ndarray_size(%x, dtype=\"int32\")", filled({}, 105)});
}

}  // namespace tenon::operator_cases
