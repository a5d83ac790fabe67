# tenon_room(NAME SOURCES a.cc b.cc DEPS tenon::support ...) - one static library for one room (top-level folder).
# tenon_test(NAME SOURCES a_test.cc DEPS tenon::support ...) - one GoogleTest program, its tests listed to CTest.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(TENON_CCACHE ccache)
if(TENON_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TENON_CCACHE})
endif()

add_library(tenon_options INTERFACE)
target_include_directories(tenon_options INTERFACE $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/include>
                                                   $<INSTALL_INTERFACE:include>)
target_compile_features(tenon_options INTERFACE cxx_std_20)

# Private to Tenon's own targets: an installed user keeps their own warning and sanitizer flags.
add_library(tenon_private_options INTERFACE)
target_compile_options(tenon_private_options INTERFACE -Wall -Wextra -Wno-missing-field-initializers
                                                       -fno-plt)
if(TENON_WERROR)
  target_compile_options(tenon_private_options INTERFACE -Werror)
endif()
if(TENON_SANITIZE)
  target_compile_options(tenon_private_options INTERFACE -fsanitize=${TENON_SANITIZE}
                                                         -fno-omit-frame-pointer -g1)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # GCC 12 warns of its own instrumented code.
    target_compile_options(tenon_private_options INTERFACE -Wno-maybe-uninitialized)
  endif()
  target_link_options(tenon_private_options INTERFACE -fsanitize=${TENON_SANITIZE})
endif()

function(tenon_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(tenon_${name} STATIC ${ROOM_SOURCES})
  add_library(tenon::${name} ALIAS tenon_${name})
  set_target_properties(tenon_${name} PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(tenon_${name} PUBLIC tenon_options ${ROOM_DEPS}
                                      PRIVATE $<BUILD_INTERFACE:tenon_private_options> ${ROOM_PRIVATE_DEPS})
  set_property(GLOBAL APPEND PROPERTY TENON_ROOM_TARGETS tenon_${name})
endfunction()

function(tenon_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE tenon_private_options ${TEST_DEPS} GTest::gmock GTest::gtest_main)
  # Tests are compiled far longer than they run.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  target_compile_definitions(${name} PRIVATE TENON_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                             TENON_BINARY_DIR="${CMAKE_BINARY_DIR}")
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300)
endfunction()
