#include "tenon/tune/lines.h"

#include <cerrno>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tenon::tune {

Lines::~Lines() {
  if (socket_ >= 0) close(socket_);
}
Lines::Lines(Lines&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), buffer_(std::move(other.buffer_)) {}
Lines& Lines::operator=(Lines&& other) noexcept {
  std::swap(socket_, other.socket_);
  std::swap(buffer_, other.buffer_);
  return *this;
}

bool Lines::Send(std::string_view text) {
  const std::string line = std::string(text) + '\n';
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t n = send(socket_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    sent += static_cast<std::size_t>(n);
  }
  return true;
}

bool Lines::Read() {
  char bytes[1 << 16];
  ssize_t n = 0;
  do {
    n = recv(socket_, bytes, sizeof bytes, 0);
  } while (n < 0 && errno == EINTR);
  if (n <= 0) return false;
  buffer_.append(bytes, static_cast<std::size_t>(n));
  return true;
}

bool Lines::HasMore() const {
  pollfd waiting{.fd = socket_, .events = POLLIN, .revents = 0};
  return poll(&waiting, 1, 0) > 0;
}

std::optional<std::string> Lines::Take() {
  const std::size_t end = buffer_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return line;
}

}  // namespace tenon::tune
