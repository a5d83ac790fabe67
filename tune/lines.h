// Lines of text over a socket between two processes.
//
//   Lines lines(socket);
//   lines.Send("text");
//   while (lines.Read()) while (auto line = lines.Take()) ...
#ifndef TENON_TUNE_LINES_H_
#define TENON_TUNE_LINES_H_

#include <optional>
#include <string>
#include <string_view>

namespace tenon::tune {

// Owns the socket. Texts have no line breaks.
class Lines {
 public:
  explicit Lines(int socket) : socket_(socket) {}
  ~Lines();
  Lines(Lines&& other) noexcept;
  Lines& operator=(Lines&& other) noexcept;

  int socket() const { return socket_; }
  // Answers false where the other end is closed.
  bool Send(std::string_view text);
  // Reads what is there, waiting for something; false where the other end is closed.
  bool Read();
  bool HasMore() const;  // whether Read would not wait
  // The next whole line of those that were read.
  std::optional<std::string> Take();

 private:
  int socket_;
  std::string buffer_;
};

}  // namespace tenon::tune

#endif  // TENON_TUNE_LINES_H_
