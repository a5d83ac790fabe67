#include "tenon/tune/serve.h"

#include <csignal>
#include <cstdlib>

#include <sys/prctl.h>
#include <unistd.h>

#include "tenon/tune/cores.h"
#include "tenon/tune/lines.h"
#include "tenon/tune/process_crew.h"

namespace tenon::tune {

Introduction IntroductionOf(const Target& target, int threads) {
  char host[256] = "this host";
  gethostname(host, sizeof host - 1);
  return {.host = host,
          .target = TargetText(target),
          .threads = ThreadsOn(target, threads),
          .cores = CoresOfThisProcess()};
}

void Serve(int socket, const Introduction& introduction, Worker* worker) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Lines lines(socket);
  bool is_cut_short = false;
  const auto stopped = [&] {
    if (!is_cut_short && lines.HasMore()) {
      if (!lines.Read()) std::_Exit(1);  // nobody waits for the answer
      // No job comes before the answer to this one.
      while (const auto line = lines.Take()) is_cut_short = is_cut_short || *line == kCutShort;
    }
    return is_cut_short;
  };
  if (!lines.Send(ToJson(Answer(introduction)))) return;
  while (lines.Read()) {
    while (const auto line = lines.Take()) {
      if (*line == kCutShort) continue;  // of a race that is over
      is_cut_short = false;
      if (!lines.Send(ToJson(worker->Do(JobFromJson(*line), stopped)))) return;
    }
  }
}

}  // namespace tenon::tune
