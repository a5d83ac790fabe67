// A rank has nothing to do but pass messages on, so it looks for them every few milliseconds: MPI's
// own waiting would take a whole core from who measures.
#include "tenon/tune/rank_crew.h"

#include <cstdlib>
#include <iostream>
#include <utility>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::tune {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kPauseS = 0.005;
constexpr std::chrono::seconds kSayAlive(1);
// A rank that is silent for so long is lost; one that hears nothing from rank 0 for so long ends.
constexpr std::chrono::seconds kSilence(10), kSilenceOfFirst(120);

// Messages from rank 0 besides jobs and kCutShort.
constexpr char kEnd[] = "end", kStartAgain[] = "start again";
// From all.
constexpr char kAlive[] = "alive";

// A job with its limit, as "60 {...}".
std::string ToText(const Job& job, double limit_s) {
  return StrCat(std::to_string(limit_s), " ", ToJson(job));
}
std::pair<Job, double> JobOf(const std::string& text) {
  const std::size_t blank = text.find(' ');
  const auto limit_s = ParseNumber<double>(text.substr(0, blank));
  if (blank == std::string::npos || !limit_s)
    throw InvalidArgument(StrCat("this is no job: ", text.substr(0, 200)));
  return {JobFromJson(std::string_view(text).substr(blank + 1)), *limit_s};
}

}  // namespace

RankCrew::RankCrew(Ranks* ranks, std::vector<std::string> arguments)
    : ranks_(ranks),
      own_(std::move(arguments), 1),
      others_(static_cast<std::size_t>(ranks->size()), Other{.heard = Clock::now()}) {}

RankCrew::~RankCrew() {
  for (int rank = 1; rank < size(); ++rank) (void)ranks_->Send(rank, kEnd);
}

void RankCrew::Give(int worker, const Job& job, double limit_s) {
  if (worker == 0) return own_.Give(0, job, limit_s);
  (void)ranks_->Send(worker, ToText(job, limit_s));  // whoever has died falls silent
}

void RankCrew::CutShort() {
  own_.CutShort();
  for (int rank = 1; rank < size(); ++rank) (void)ranks_->Send(rank, kCutShort);
}

void RankCrew::SayAlive() {
  if (Clock::now() - spoken_ < kSayAlive) return;
  spoken_ = Clock::now();
  for (int rank = 1; rank < size(); ++rank) {
    if (!others_[static_cast<std::size_t>(rank)].lost) (void)ranks_->Send(rank, kAlive);
  }
}

std::optional<Event> RankCrew::TakeMessage() {
  while (const auto message = ranks_->Receive()) {
    const auto& [rank, text] = *message;
    Other& other = others_[static_cast<std::size_t>(rank)];
    other.heard = Clock::now();
    if (other.lost) {  // whatever it did is somebody else's by now
      other.lost = false;
      (void)ranks_->Send(rank, kStartAgain);
    } else if (text != kAlive) {
      return Event{rank, AnswerFromJson(text)};
    }
  }
  return std::nullopt;
}

std::optional<Event> RankCrew::FindSilent() {
  for (int rank = 1; rank < size(); ++rank) {
    Other& other = others_[static_cast<std::size_t>(rank)];
    if (other.lost || Clock::now() - other.heard < kSilence) continue;
    other.lost = true;
    return Event{rank, Lost{StrCat("its process has been silent for ", kSilence.count(), " s")}};
  }
  return std::nullopt;
}

std::optional<Event> RankCrew::Wait(double seconds) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  do {
    SayAlive();
    if (std::optional<Event> event = own_.Wait(kPauseS)) return event;
    if (std::optional<Event> event = TakeMessage()) return event;
    if (std::optional<Event> event = FindSilent()) return event;
  } while (Clock::now() < end);
  return std::nullopt;
}

void ServeRank(Ranks* ranks, const std::vector<std::string>& arguments) {
  std::optional<ProcessCrew> own(std::in_place, arguments, 1);
  auto heard = Clock::now(), spoken = Clock::time_point();
  while (Clock::now() - heard < kSilenceOfFirst) {
    if (const std::optional<Event> event = own->Wait(kPauseS))
      (void)ranks->Send(0, ToJson(event->what));
    if (Clock::now() - spoken > kSayAlive) {
      spoken = Clock::now();
      (void)ranks->Send(0, kAlive);
    }
    while (const auto message = ranks->Receive()) {
      const std::string& text = message->second;
      heard = Clock::now();
      if (text == kEnd) return;
      if (text == kAlive) continue;
      if (text == kCutShort) {
        own->CutShort();
      } else if (text == kStartAgain) {
        own.emplace(arguments, 1);
      } else {
        const auto [job, limit_s] = JobOf(text);
        own->Give(0, job, limit_s);
      }
    }
  }
  std::cerr << "tenon: rank " << ranks->rank() << " has not heard of rank 0 for "
            << kSilenceOfFirst.count() << " s and ends\n";
  std::_Exit(1);  // there is nobody to end together with
}

}  // namespace tenon::tune
