// The loops of scans (te/scan.h). Only files inside schedule/ include this header.
//
//   Stmt all = scans.Root(scan);              // all steps, for whoever reads the results
//   inside = scans.Place(scan, inside);       // the steps' part that `inside` reads
#ifndef TENON_SCHEDULE_SCAN_NESTS_H_
#define TENON_SCHEDULE_SCAN_NESTS_H_

#include <unordered_map>
#include <vector>

#include "tenon/schedule/attachments.h"
#include "tenon/schedule/lowering.h"

namespace tenon::schedule {

class ScanNests {
 public:
  ScanNests(Lowering& lowering, Attachments& attachments)
      : lowering_(lowering), attachments_(attachments) {}

  // The steps of a scan at the root, which compute all of its results.
  loop::Stmt Root(const Stage& scan);
  // Puts all steps of a scan that `inside` needs before it, with their memory.
  loop::Stmt Place(const Stage& scan, const loop::Stmt& inside);
  // `stmt` with memory around it for an output of a scan at the root. That is the whole, or the
  // steps that are read again, by a later step or by `readers`.
  loop::Stmt AllocateRoot(const Stage& scan, std::size_t output, const loop::Stmt& readers,
                          const loop::Stmt& stmt);

 private:
  loop::Stmt Step(const Stage& scan, ScanParts* parts);

  Lowering& lowering_;
  Attachments& attachments_;
  std::unordered_map<const Stage*, loop::Stmt> root_steps_;  // what a step of the scan runs
};

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_SCAN_NESTS_H_
