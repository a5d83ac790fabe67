// Lists of boxes. Where rounding may decide which ones are kept, there is no definition.
#include <algorithm>

#include "tenon/ops/boxes/detection_attrs.h"
#include "tenon/ops/boxes/vision_attrs.h"
#include "tenon/verify/define/defined_boxes.h"

namespace tenon::verify {
namespace {

using ops::Ints;

Definitions ValidCounts(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::GetValidCountsAttrs>();
  const Shape& shape = call.shape(0);
  const Real threshold =
      Rounded(attrs.score_threshold ? static_cast<Real>(*attrs.score_threshold) : call.Arg(1),
              call.args[0].dtype());
  Definitions made(3);
  for (std::int64_t image = 0; image < shape[0]; ++image) {
    const auto element = [&](std::int64_t box, std::int64_t e) {
      return call.Arg(0, (image * shape[1] + box) * shape[2] + e);
    };
    Ints kept;
    for (std::int64_t box = 0; box < shape[1]; ++box) {
      if (element(box, attrs.score_index) > threshold &&
          (attrs.id_index < 0 || element(box, attrs.id_index) >= 0))
        kept.push_back(box);
    }
    AddWhole(static_cast<Whole>(kept.size()), &made[0]);
    kept.resize(At(shape[1]), -1);
    for (const std::int64_t box : kept) {
      for (std::int64_t e = 0; e < shape[2]; ++e)
        made[1].Add({.real = box < 0 ? -1 : element(box, e)}, 0);
      AddWhole(box, &made[2]);
    }
  }
  return made;
}

Definitions NonMaximumSuppression(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::NonMaximumSuppressionAttrs>();
  const Shape& shape = call.shape(0);
  const Real threshold = Rounded(call.Arg(4), call.args[0].dtype());
  const std::int64_t most = IndexAt(call.args[3], 0);
  bool is_doubtful = false;
  Definitions made(attrs.return_indices ? 2 : 1);
  for (std::int64_t image = 0; image < shape[0]; ++image) {
    const auto element = [&](std::int64_t box, std::int64_t e) {
      return call.Arg(0, (image * shape[1] + box) * shape[2] + e);
    };
    const auto box_of = [&](std::int64_t box) {
      return Box::Of([&](std::int64_t d) { return element(box, attrs.coord_start + d); });
    };
    const std::int64_t valid = std::min(IndexAt(call.args[1], image), shape[1]);
    Ints order = Ranked(valid, [&](std::int64_t box) { return element(box, attrs.score_index); });
    if (attrs.top_k > 0) order.resize(std::min(order.size(), At(attrs.top_k)));
    const Suppression suppression{
        [&](std::int64_t better, std::int64_t box) {
          const bool are_alike = attrs.force_suppress || attrs.id_index < 0 ||
                                 element(better, attrs.id_index) == element(box, attrs.id_index);
          const Real overlap = OverlapOf(box_of(better), box_of(box));
          is_doubtful |= IsDoubtful(overlap, threshold);
          return are_alike && overlap >= threshold;
        },
        most > 0 ? At(most) : At(shape[1])};
    const Ints kept = suppression.Of(order);
    Ints listed;
    if (attrs.return_indices || attrs.invalid_to_bottom) {
      listed = kept;
    } else {
      for (const std::int64_t box : order)
        listed.push_back(std::ranges::count(kept, box) != 0 ? box : -1);
    }
    listed.resize(At(shape[1]), -1);
    for (const std::int64_t box : listed) {
      if (attrs.return_indices) {
        AddWhole(box < 0 ? -1 : IndexAt(call.args[2], image * shape[1] + box), &made[0]);
        continue;
      }
      for (std::int64_t e = 0; e < shape[2]; ++e)
        made[0].Add({.real = box < 0 ? -1 : element(box, e)}, 0);
    }
    if (attrs.return_indices) AddWhole(static_cast<Whole>(kept.size()), &made[1]);
  }
  return is_doubtful ? Definitions() : made;
}

// Of boxes (image, box, 4) in argument 0, whose overlap must be above the threshold.
struct ByThreshold {
  const DefinedCall& call;
  const Real threshold;
  bool is_doubtful = false;

  Ints Kept(std::int64_t image, std::int64_t most, Real lowest, bool takes_lowest,
            const std::function<Real(std::int64_t)>& score) {
    const std::int64_t count = call.shape(0)[1];
    const auto box_of = [&](std::int64_t box) {
      return Box::Of([&](std::int64_t d) { return call.Arg(0, (image * count + box) * 4 + d); });
    };
    Ints order = Ranked(count, score);
    std::erase_if(order, [&](std::int64_t box) {
      return takes_lowest ? score(box) < lowest : score(box) <= lowest;
    });
    const Suppression suppression{[&](std::int64_t better, std::int64_t box) {
                                    const Real overlap = OverlapOf(box_of(better), box_of(box));
                                    is_doubtful |= IsDoubtful(overlap, threshold);
                                    return overlap > threshold;
                                  },
                                  At(std::max<std::int64_t>(most, 0))};
    return suppression.Of(order);
  }
};

Definitions AllClasses(const DefinedCall& call) {
  const Shape& scores = call.shape(1);
  ByThreshold by{call, call.Arg(3)};
  Definitions made(2);
  Whole found = 0;
  for (std::int64_t image = 0; image < scores[0]; ++image) {
    for (std::int64_t c = 0; c < scores[1]; ++c) {
      const auto score = [&](std::int64_t box) {
        return call.Arg(1, (image * scores[1] + c) * scores[2] + box);
      };
      for (const std::int64_t box :
           by.Kept(image, IndexAt(call.args[2], 0), call.Arg(4), false, score)) {
        for (const std::int64_t value : {image, c, box}) AddWhole(value, &made[0]);
        ++found;
      }
    }
  }
  while (made[0].elements.size() < At(call.results[0].size())) AddWhole(0, &made[0]);
  AddWhole(found, &made[1]);
  return by.is_doubtful ? Definitions() : made;
}

Definitions Regular(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::RegularNonMaximumSuppressionAttrs>();
  const Shape& shape = call.shape(1);
  const std::int64_t background = shape[2] - attrs.num_classes;
  ByThreshold by{call, Rounded(attrs.iou_threshold, Float32)};
  struct Row {
    std::int64_t c, box;
    Real score;
  };
  Definitions made(4);
  for (std::int64_t image = 0; image < shape[0]; ++image) {
    std::vector<Row> rows;
    for (std::int64_t c = 0; c < attrs.num_classes; ++c) {
      const auto score = [&](std::int64_t box) {
        return call.Arg(1, (image * shape[1] + box) * shape[2] + c + background);
      };
      for (const std::int64_t box : by.Kept(image, attrs.max_detections_per_class,
                                            Rounded(attrs.score_threshold, Float32), true, score))
        rows.push_back({c, box, score(box)});
    }
    std::ranges::stable_sort(rows, [](const Row& a, const Row& b) { return a.score > b.score; });
    if (rows.size() > At(attrs.max_detections)) rows.resize(At(attrs.max_detections));
    AddWhole(static_cast<Whole>(rows.size()), &made[3]);
    for (std::int64_t i = 0; i < attrs.max_detections; ++i) {
      const bool is_row = At(i) < rows.size();
      for (std::int64_t d = 0; d < 4; ++d)
        made[0].Add(
            {.real = is_row ? call.Arg(0, (image * shape[1] + rows[At(i)].box) * 4 + d) : 0}, 0);
      AddWhole(is_row ? rows[At(i)].c : 0, &made[1]);
      made[2].Add({.real = is_row ? rows[At(i)].score : 0}, 0);
    }
  }
  return by.is_doubtful ? Definitions() : made;
}

}  // namespace

void AddBoxDefinitions(DefinitionTable* table) {
  DefinitionTable& t = *table;
  t["vision.all_class_non_max_suppression"] = AllClasses;
  t["vision.get_valid_counts"] = ValidCounts;
  t["vision.non_max_suppression"] = NonMaximumSuppression;
  t["vision.regular_non_max_suppression"] = Regular;
}

}  // namespace tenon::verify
