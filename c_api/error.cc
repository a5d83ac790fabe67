#include <new>

#include "tenon/c_api/handles.h"

namespace {

// Given where there is no memory for an error.
TenonError& OutOfMemory() {
  static auto& error = *new TenonError{TENON_RESOURCE_EXHAUSTED, "out of memory"};
  return error;
}

}  // namespace

namespace tenon::c_api {

TenonError* MakeError(const absl::Status& status) noexcept {
  try {
    return new TenonError{static_cast<int>(status.code()), std::string(status.message())};
  } catch (...) {
    return &OutOfMemory();
  }
}

}  // namespace tenon::c_api

int tenon_c_api_version(void) { return TENON_C_API_VERSION; }

int tenon_error_code(const TenonError* error) { return error == nullptr ? 0 : error->code; }
const char* tenon_error_message(const TenonError* error) {
  return error == nullptr ? "" : error->message.c_str();
}
void tenon_error_free(TenonError* error) {
  if (error != &OutOfMemory()) delete error;
}

const char* tenon_text_data(const TenonText* text) {
  return text == nullptr ? "" : text->text.c_str();
}
size_t tenon_text_size(const TenonText* text) { return text == nullptr ? 0 : text->text.size(); }
void tenon_text_free(TenonText* text) { delete text; }
