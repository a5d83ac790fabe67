// Errors. One exception type for user mistakes, another for broken invariants of Tenon itself.
//
// A user error says what is wrong, where, and what is allowed; it carries a status code, an
// optional source span and notes. Inside the library errors are thrown; entry points that take
// outside input wrap their body in `CatchErrors` and return absl::StatusOr.
//
//   throw InvalidArgument("split: factor is 0; it must be at least 1").AddNote("stage C, axis i");
//   absl::StatusOr<Module> Parse(...) { return CatchErrors([&] { return DoParse(...); }); }
#ifndef TENON_SUPPORT_ERROR_H_
#define TENON_SUPPORT_ERROR_H_

#include <exception>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tenon {

// A place in a source text; lines and columns count from 1, 0 means unknown.
struct Span {
  std::string source;  // file or module name
  int line = 0;
  int column = 0;
  int end_column = 0;

  bool known() const { return line > 0 || !source.empty(); }
  std::string ToString() const;  // "file:3:7"
  friend bool operator==(const Span&, const Span&) = default;
};

class Error : public std::exception {
 public:
  Error(absl::StatusCode code, std::string message) : code_(code), message_(std::move(message)) {
    Render();
  }

  Error& At(Span span) &;
  Error&& At(Span span) && { return std::move(At(std::move(span))); }
  Error& AddNote(std::string note) &;
  Error&& AddNote(std::string note) && { return std::move(AddNote(std::move(note))); }

  absl::StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }
  const Span& span() const { return span_; }
  const std::vector<std::string>& notes() const { return notes_; }
  // "file:3:7: message\n  note: ..."
  const char* what() const noexcept override { return rendered_.c_str(); }
  absl::Status ToStatus() const { return absl::Status(code_, rendered_); }

 private:
  void Render();

  absl::StatusCode code_;
  std::string message_;
  Span span_;
  std::vector<std::string> notes_;
  std::string rendered_;
};

Error InvalidArgument(std::string message);
Error NotFound(std::string message);
Error AlreadyExists(std::string message);
Error Unimplemented(std::string message);
Error FailedPrecondition(std::string message);
Error OutOfRange(std::string message);
Error DataLoss(std::string message);
Error FromStatus(const absl::Status& status);

// Throws an Error of code kInternal ("internal error, please report: ...") when `condition` is
// false. `invariant` says in words what should have held.
void CheckInvariant(bool condition, std::string_view invariant,
                    std::source_location where = std::source_location::current());
[[noreturn]] void Unreachable(std::string_view invariant,
                              std::source_location where = std::source_location::current());

// The status of the exception being handled; call inside a catch block.
absl::Status CurrentExceptionToStatus();

// Runs `body` and returns its value, or the status of the error it threw. Out of memory becomes
// kResourceExhausted.
template <typename Body>
auto CatchErrors(Body&& body) {
  using Result = std::invoke_result_t<Body>;
  if constexpr (std::is_void_v<Result>) {
    try {
      std::forward<Body>(body)();
      return absl::OkStatus();
    } catch (...) {
      return CurrentExceptionToStatus();
    }
  } else {
    try {
      return absl::StatusOr<Result>(std::forward<Body>(body)());
    } catch (...) {
      return absl::StatusOr<Result>(CurrentExceptionToStatus());
    }
  }
}

// The value of `result`, or throws its status as an Error.
template <typename T>
T ValueOrThrow(absl::StatusOr<T> result) {
  if (!result.ok()) throw FromStatus(result.status());
  return *std::move(result);
}

}  // namespace tenon

#endif  // TENON_SUPPORT_ERROR_H_
