#include "tenon/tools/interruption.h"

#include <cstdio>

namespace tenon::tools {
namespace {

// The only variable that a handler may touch.
volatile std::sig_atomic_t interrupted = 0;

}  // namespace

Interruption::Interruption() {
  interrupted = 0;
  struct sigaction note {};
  note.sa_handler = [](int) { interrupted = 1; };
  note.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &note, &before_);
}

Interruption::~Interruption() { sigaction(SIGINT, &before_, nullptr); }

bool Interruption::came() const { return interrupted != 0; }

void Interruption::PassOn() const {
  if (!came()) return;
  std::fflush(nullptr);
  std::raise(SIGINT);  // whose action is the default again
}

}  // namespace tenon::tools
