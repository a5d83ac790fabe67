// Ctrl-C while a loop runs that has something to say when it is cut short.
#ifndef TENON_TOOLS_INTERRUPTION_H_
#define TENON_TOOLS_INTERRUPTION_H_

#include <csignal>

namespace tenon::tools {

// Catches the first interrupt as long as it lives; the second ends the process at once. One at a
// time in a process.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  bool came() const;
  // Ends the process as the interrupt would have, if one came.
  void PassOn() const;

 private:
  struct sigaction before_ {};
};

}  // namespace tenon::tools

#endif  // TENON_TOOLS_INTERRUPTION_H_
