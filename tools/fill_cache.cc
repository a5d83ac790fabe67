// MPI ends a rank that waits for others at its end for too long. So all wait for each other before:
// rank 0 hears how much each has compiled, and then answers.
#include "tenon/tools/fill_cache.h"

#include <cerrno>
#include <chrono>
#include <iostream>
#include <optional>
#include <system_error>
#include <thread>

#include <unistd.h>

#include "tenon/jit/object/object_cache.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tools/start_ranks.h"
#include "tenon/tune/ranks.h"

namespace tenon::tools {
namespace {

// The next message.
std::string WaitFor(tune::Ranks& ranks) {
  while (true) {
    if (auto message = ranks.Receive()) return message->second;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void Tell(tune::Ranks& ranks, int to, const std::string& text) {
  if (!ranks.Send(to, text)) throw FailedPrecondition(StrCat("rank ", to, " cannot be reached"));
}

}  // namespace

void FillCacheByAll(const ir::Module& module, const Lowered& lowered,
                    const CompileOptions& options) {
  if (options.cache_dir.empty())
    throw InvalidArgument(
        "--emit=cache fills the folder of compiled code, and there is none; name it by "
        "--cache-dir");
  // Without a folder that it can write, a compile keeps nothing, and says nothing of it.
  if (access(options.cache_dir.c_str(), W_OK | X_OK) != 0)
    throw InvalidArgument(StrCat("the folder ", options.cache_dir,
                                 " cannot be filled: ", std::generic_category().message(errno)));
  const std::string refusal = jit::ObjectCache(options.cache_dir, 1).Refusal();
  if (!refusal.empty())
    throw InvalidArgument(StrCat("the folder ", options.cache_dir, " cannot be filled: ", refusal));
  std::optional<tune::Ranks> ranks;
  if (tune::Ranks::AreExpected()) ranks.emplace(StartRanks());
  const int rank = ranks ? ranks->rank() : 0, size = ranks ? ranks->size() : 1;
  const int own = ValueOrThrow(FillCache(lowered, options, rank, size));
  if (rank > 0) {
    Tell(*ranks, 0, std::to_string(own));
    (void)WaitFor(*ranks);
    return;
  }
  int all = own;
  for (int i = 1; i < size; ++i) all += ParseNumber<int>(WaitFor(*ranks)).value_or(0);
  // All machine code is there. What else a compile keeps follows from it.
  (void)ValueOrThrow(Compile(module, options));
  for (int i = 1; i < size; ++i) Tell(*ranks, i, "end");
  std::cout << options.cache_dir << " has the code of " << all
            << (all == 1 ? " function" : " functions")
            << (size > 1 ? StrCat(", compiled by ", size, " processes") : "") << "\n";
}

}  // namespace tenon::tools
