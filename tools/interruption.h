// Handles Ctrl-C during a loop that has something to report when it is cut short.
#ifndef TENON_TOOLS_INTERRUPTION_H_
#define TENON_TOOLS_INTERRUPTION_H_

#include <csignal>

namespace tenon::tools {

// Catches the first interrupt during its lifetime; the second one ends the process at once. A
// process may have only one at a time.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  bool came() const;
  // Ends the process as the interrupt would have done, if one came.
  void PassOn() const;

 private:
  struct sigaction before_ {};
};

}  // namespace tenon::tools

#endif  // TENON_TOOLS_INTERRUPTION_H_
