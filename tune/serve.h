// The other end of a ProcessCrew: the process that measures.
//
//   Serve(kServeSocket, introduction, &worker);
#ifndef TENON_TUNE_SERVE_H_
#define TENON_TUNE_SERVE_H_

#include "tenon/tune/jobs.h"
#include "tenon/tune/worker.h"

namespace tenon::tune {

// Of this process, for a target and a number of threads; 0: all cores.
Introduction IntroductionOf(const Target& target, int threads);

// Does the jobs that come over the socket until its other end is closed. The process ends with its
// parent, also in the middle of a job.
void Serve(int socket, const Introduction& introduction, Worker* worker);

}  // namespace tenon::tune

#endif  // TENON_TUNE_SERVE_H_
