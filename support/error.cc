#include "tenon/support/error.h"

#include <new>

#include "tenon/support/strings.h"

namespace tenon {

std::string Span::ToString() const {
  std::string text = source.empty() ? "<text>" : source;
  if (line > 0) StrAppend(&text, ":", line, ":", column);
  return text;
}

Error& Error::At(Span span) & {
  span_ = std::move(span);
  Render();
  return *this;
}

Error& Error::AddNote(std::string note) & {
  notes_.push_back(std::move(note));
  Render();
  return *this;
}

void Error::Render() {
  rendered_ = span_.known() ? StrCat(span_.ToString(), ": ", message_) : message_;
  for (const std::string& note : notes_) StrAppend(&rendered_, "\n  note: ", note);
}

Error InvalidArgument(std::string message) {
  return Error(absl::StatusCode::kInvalidArgument, std::move(message));
}
Error NotFound(std::string message) {
  return Error(absl::StatusCode::kNotFound, std::move(message));
}
Error AlreadyExists(std::string message) {
  return Error(absl::StatusCode::kAlreadyExists, std::move(message));
}
Error Unimplemented(std::string message) {
  return Error(absl::StatusCode::kUnimplemented, std::move(message));
}
Error FailedPrecondition(std::string message) {
  return Error(absl::StatusCode::kFailedPrecondition, std::move(message));
}
Error OutOfRange(std::string message) {
  return Error(absl::StatusCode::kOutOfRange, std::move(message));
}
Error DataLoss(std::string message) {
  return Error(absl::StatusCode::kDataLoss, std::move(message));
}
Error FromStatus(const absl::Status& status) {
  return Error(status.code(), std::string(status.message()));
}

void Unreachable(std::string_view invariant, std::source_location where) {
  throw Error(absl::StatusCode::kInternal, StrCat("internal error, please report: ", invariant,
                                                  " (", where.file_name(), ":", where.line(), ")"));
}

void CheckInvariant(bool condition, std::string_view invariant, std::source_location where) {
  if (!condition) Unreachable(invariant, where);
}

absl::Status CurrentExceptionToStatus() {
  try {
    throw;
  } catch (const Error& error) {
    return error.ToStatus();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("out of memory");
  } catch (const std::exception& error) {
    return absl::InternalError(StrCat("internal error, please report: ", error.what()));
  } catch (...) {
    return absl::InternalError(
        "something was thrown that is not a std::exception, so nothing more is known about it");
  }
}

}  // namespace tenon
