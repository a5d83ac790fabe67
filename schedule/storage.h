// How the result of a stage lies in memory. Only files inside schedule/ include this header.
//
//   const Box box(stage, buffer, region);
//   Stmt all = loop::Allocate(box.memory(), box.Move(stmt));
#ifndef TENON_SCHEDULE_STORAGE_H_
#define TENON_SCHEDULE_STORAGE_H_

#include <optional>
#include <vector>

#include "tenon/schedule/region.h"
#include "tenon/schedule/schedule.h"

namespace tenon::schedule {

// The most that a stage may ask to have on the stack.
inline constexpr std::int64_t kMaxStackBytes = 256 * 1024;

// The memory for `region` of `buffer`, an output of `stage`, once or `copies` times. Element i of a
// circular dimension lies at i modulo the region's extent.
class Box {
 public:
  // Throws InvalidArgument for a region that the stage's scope cannot hold.
  Box(const Stage& stage, loop::Buffer buffer, const std::vector<Range>& region,
      std::int64_t copies = 1, std::optional<std::size_t> circular = std::nullopt);

  const loop::Buffer& memory() const { return memory_; }
  // Moves the accesses of the tensor's buffer to that copy of the region that begins at `mins`.
  loop::Stmt Move(const loop::Stmt& stmt, const std::vector<loop::Expr>& mins,
                  const loop::Expr& copy = 0) const;

 private:
  loop::Buffer buffer_, memory_;
  bool copied_;
  std::optional<std::size_t> circular_;
  loop::Expr period_;                // of the circular dimension
  std::vector<loop::Expr> strides_;  // of an aligned region, whose memory is flat
};

std::vector<loop::Expr> MinsOf(const std::vector<Range>& region);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_STORAGE_H_
