// Which part of each tensor is needed for a part of a result.
//
//   for (const TensorRegion& part : RegionsNeeded(C, {{0, 16}, {j, 8}}))
//     std::puts(Print(part).c_str());       // "A: [0, 18) x [j, j + 8)"
#ifndef TENON_SCHEDULE_INPUT_REGIONS_H_
#define TENON_SCHEDULE_INPUT_REGIONS_H_

#include <string>
#include <vector>

#include "tenon/schedule/region.h"
#include "tenon/te/tensor.h"

namespace tenon::schedule {

struct TensorRegion {
  te::Tensor tensor;
  std::vector<Range> region;  // one range per dimension
};

// For every tensor that computing `region` of `output` reads, placeholders and computed ones, a box
// that covers what is read, in terms of the variables of `region`. Readers come before what they
// read. A dimension is whole if the box is not known to be smaller, as for indices that are
// computed from data and for what external operations and scans read. Reads that a condition guards
// count, too. Throws InvalidArgument for a region of another rank.
std::vector<TensorRegion> RegionsNeeded(const te::Tensor& output, const std::vector<Range>& region);

std::string Print(const TensorRegion& part);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_INPUT_REGIONS_H_
