// Step 5: how it is computed: schedules, and rows with conditions. involution.cc makes the table.
#include <algorithm>
#include <limits>

#include "involution.h"

namespace involution {
namespace {

namespace te = tenon::te;
using tenon::schedule::Stage;
using tenon::strategies::OpSchedule;
using tenon::strategies::TeCall;

// Of a stage of four loops: threads share the two outermost, vectors of at most `run` elements lie
// along the last one. Gives what is left of it, and the vectors.
std::pair<te::IterVar, te::IterVar> ShareAndVectorize(Stage& stage, std::int64_t run,
                                                      const OpSchedule& s) {
  const std::int64_t lanes = s.target.Lanes(s.results[0].dtype().bytes());
  stage.Parallel(stage.Fuse(stage.axis(0), stage.axis(1)));
  auto [rest, vector] = stage.Split(stage.axis(3), std::min(lanes, run));
  stage.Vectorize(vector);
  return {rest, vector};
}

// The sums of a vector stay in registers. Operators after them read what is just stored.
void ScheduleTiles(const OpSchedule& s, std::int64_t run) {
  Stage& own = s.schedule[s.results[0]];
  const auto [rest, vector] = ShareAndVectorize(own, run, s);
  own.Reorder({rest, own.reduce_axis(0), own.reduce_axis(1), vector});
  for (const te::Tensor& output : s.outputs) {
    if (Stage& stage = s.schedule[output]; &stage != &own) ShareAndVectorize(stage, run, s);
  }
  // The image with zeros around it, where there are any.
  for (const te::Tensor& read : te::InputsOf(*s.results[0].op())) {
    if (!(read == s.inputs[0]) && !(read == s.inputs[1]))
      ShareAndVectorize(s.schedule[read], run, s);
  }
}

}  // namespace

void ScheduleRows(const OpSchedule& s) {
  ScheduleTiles(s, std::numeric_limits<std::int64_t>::max());
}

// Vectors stay inside a group, whose channels share one element of a kernel.
void ScheduleChannels(const OpSchedule& s) {
  const auto& attrs = s.attrs.As<Attrs>();
  const std::int64_t channels = tenon::strategies::ExtentOf(s.results[0], attrs.Axis('C'));
  ScheduleTiles(s, channels / attrs.groups);
}

std::optional<std::string> RefuseUnlessChannelsLast(const TeCall& call) {
  if (call.attrs.As<Attrs>().layout == "NHWC") return std::nullopt;
  return "channels are not last";
}

std::optional<std::string> RefuseUnlessOneTap(const TeCall& call) {
  const std::int64_t size = call.attrs.As<Attrs>().kernel_size;
  if (size == 1) return std::nullopt;
  return "windows have " + std::to_string(size * size) + " elements";
}

}  // namespace involution
