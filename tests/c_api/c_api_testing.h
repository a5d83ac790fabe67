// What tests of the C interface share.
#ifndef TENON_TESTS_C_API_C_API_TESTING_H_
#define TENON_TESTS_C_API_C_API_TESTING_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tenon/c_api/tenon_c.h"

namespace tenon::c_api_testing {

// Takes the error; "" for none.
inline std::string MessageOf(TenonError* error) {
  const std::string message = tenon_error_message(error);
  tenon_error_free(error);
  return message;
}
inline std::string Taken(TenonText* text) {
  std::string copy(tenon_text_data(text), tenon_text_size(text));
  tenon_text_free(text);
  return copy;
}

// float32 in memory of the test.
struct Floats {
  Floats(std::vector<std::int64_t> extents, std::vector<float> values)
      : shape(std::move(extents)), data(std::move(values)) {
    tensor.data = data.data();
    tensor.device = {kDLCPU, 0};
    tensor.ndim = static_cast<int>(shape.size());
    tensor.dtype = {kDLFloat, 32, 1};
    tensor.shape = shape.data();
  }
  std::vector<std::int64_t> shape;
  std::vector<float> data;
  DLTensor tensor{};
};

inline TenonModule* Parsed(const std::string& text) {
  TenonModule* module = nullptr;
  EXPECT_EQ(MessageOf(tenon_parse(text.c_str(), "test", &module)), "");
  return module;
}
inline TenonExecutable* Compiled(const std::string& text, const char* options = nullptr) {
  TenonModule* module = Parsed(text);
  TenonExecutable* executable = nullptr;
  EXPECT_EQ(MessageOf(tenon_compile(module, options, &executable)), "");
  tenon_module_free(module);
  return executable;
}

}  // namespace tenon::c_api_testing

#endif  // TENON_TESTS_C_API_C_API_TESTING_H_
