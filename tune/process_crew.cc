#include "tenon/tune/process_crew.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::tune {
namespace {

// A process that is started so often without doing a job gets no more.
constexpr int kMaxFruitlessStarts = 3;

std::string EndText(int status) {
  if (WIFSIGNALED(status))
    return StrCat("the process was ended by signal ", WTERMSIG(status), " (",
                  strsignal(WTERMSIG(status)), ")");
  return StrCat("the process ended with code ", WEXITSTATUS(status));
}

}  // namespace

ProcessCrew::ProcessCrew(std::vector<std::string> arguments, int size)
    : arguments_(std::move(arguments)), children_(static_cast<std::size_t>(size)) {
  arguments_.emplace_back(kServeOption);
  arguments_.push_back(StrCat(kServeSocket));
  for (Child& child : children_) Start(&child);
}

ProcessCrew::~ProcessCrew() {
  for (Child& child : children_) {
    if (child.process == 0) continue;
    kill(child.process, SIGKILL);
    waitpid(child.process, nullptr, 0);
  }
}

// In a group of its own, so that Ctrl-C is for this process alone.
void ProcessCrew::Start(Child* child) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    throw FailedPrecondition(StrCat("no socket for a worker: ", std::strerror(errno)));
  child->lines = Lines(sockets[0]);
  const Lines other_end(sockets[1]);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);  // answers are apart
  posix_spawn_file_actions_adddup2(&files, other_end.socket(), kServeSocket);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> argv = {const_cast<char*>("tenon")};
  for (std::string& argument : arguments_) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const int failure =
      posix_spawn(&child->process, "/proc/self/exe", &files, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (failure != 0) throw FailedPrecondition(StrCat("no worker: ", std::strerror(failure)));
  ++child->fruitless_starts;
}

void ProcessCrew::Give(int worker, const Job& job, double limit_s) {
  Child& child = children_[static_cast<std::size_t>(worker)];
  child.limit_s = limit_s;
  child.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(limit_s));
  (void)child.lines.Send(ToJson(job));  // where it has ended, Wait notices
}

void ProcessCrew::CutShort() {
  for (Child& child : children_) {
    if (child.deadline) (void)child.lines.Send(kCutShort);
  }
}

void ProcessCrew::End(int worker, const std::string& why) {
  Child& child = children_[static_cast<std::size_t>(worker)];
  int status = 0;
  kill(child.process, SIGKILL);  // it may have closed its socket and live on
  waitpid(child.process, &status, 0);
  child.process = 0;
  child.deadline.reset();
  const std::string text = why.empty() ? EndText(status) : why;
  if (child.fruitless_starts < kMaxFruitlessStarts) {
    events_.push_back({worker, Crashed{text}});
    Start(&child);
  } else {
    events_.push_back({worker, Lost{text}});
    child.lines = Lines(-1);
  }
}

void ProcessCrew::Read(int worker) {
  Child& child = children_[static_cast<std::size_t>(worker)];
  if (!child.lines.Read()) return End(worker, "");
  while (const std::optional<std::string> line = child.lines.Take()) {
    Answer answer = AnswerFromJson(*line);
    if (!std::holds_alternative<Introduction>(answer)) {
      child.deadline.reset();
      child.fruitless_starts = 0;
    }
    events_.push_back({worker, std::move(answer)});
  }
}

void ProcessCrew::KeepLimits() {
  for (int worker = 0; worker < size(); ++worker) {
    const Child& child = children_[static_cast<std::size_t>(worker)];
    if (child.deadline && Clock::now() > *child.deadline)
      End(worker, StrCat("it took longer than ", child.limit_s, " s and was ended"));
  }
}

std::optional<Event> ProcessCrew::Wait(double seconds) {
  if (events_.empty()) {
    std::vector<pollfd> sockets;  // of those that have ended for good: -1, which poll passes over
    for (const Child& child : children_)
      sockets.push_back({.fd = child.lines.socket(), .events = POLLIN, .revents = 0});
    poll(sockets.data(), sockets.size(), static_cast<int>(seconds * 1e3));
    for (int worker = 0; worker < size(); ++worker) {
      if (sockets[static_cast<std::size_t>(worker)].revents != 0) Read(worker);
    }
    KeepLimits();
  }
  if (events_.empty()) return std::nullopt;
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

}  // namespace tenon::tune
