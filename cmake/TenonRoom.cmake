# tenon_room(NAME SOURCES a.cc b.cc DEPS tenon::support ...) - one static library for one room (top-level folder). With
# PRECOMPILE <header> ... it has precompiled headers of its own: these, and what all have. QUICK: see below.
# tenon_test(NAME SOURCES a_test.cc DEPS tenon::support ...) - one GoogleTest program, its suites listed to CTest.

include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# Some compilers take the flag and know a part of the language. These are what Tenon uses of it and of its library.
function(tenon_check_language)
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
  check_cxx_source_compiles("
    #include <bit>
    #include <compare>
    #include <concepts>
    #include <numbers>
    #include <source_location>
    #include <span>
    struct Pair {
      int first = 0;
      int second = 0;
      auto operator<=>(const Pair&) const = default;
    };
    template <typename T>
      requires std::integral<T>
    constexpr int Width(T value) { return std::bit_width(value); }
    int Sum(std::span<const int> numbers, std::source_location place = std::source_location::current()) {
      constexpr Pair kPair = {.second = Width(5U)};
      return numbers[0] + (kPair > Pair{} ? kPair.second : 0) + static_cast<int>(place.line());
    }
  " TENON_COMPILES_CXX20)
endfunction()
if(cxx_std_20 IN_LIST CMAKE_CXX_COMPILE_FEATURES)
  tenon_check_language()
endif()
if(NOT TENON_COMPILES_CXX20)
  message(FATAL_ERROR "Tenon is written in C++20, which ${CMAKE_CXX_COMPILER} (${CMAKE_CXX_COMPILER_ID} "
    "${CMAKE_CXX_COMPILER_VERSION}) does not compile. GCC 12 and Clang 16 do, and later ones. Another compiler is chosen with "
    "-DCMAKE_CXX_COMPILER=PROGRAM in a new build folder.")
endif()

find_program(TENON_CCACHE ccache)
if(PROJECT_IS_TOP_LEVEL AND TENON_CCACHE)
  # Paths relative to the checkout, so that a second one finds what the first has compiled where no header is precompiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
                                  CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros ${TENON_CCACHE})
endif()

add_library(tenon_options INTERFACE)
target_include_directories(tenon_options INTERFACE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
                                                   $<INSTALL_INTERFACE:include>)
target_compile_features(tenon_options INTERFACE cxx_std_20)

# For plug-ins: headers, and nothing to link. What they use of Tenon comes from the program that loads them.
add_library(tenon_plugin INTERFACE)
add_library(tenon::plugin ALIAS tenon_plugin)
set_target_properties(tenon_plugin PROPERTIES EXPORT_NAME plugin)
target_link_libraries(tenon_plugin INTERFACE tenon_options)
target_link_options(tenon_plugin INTERFACE -Wl,--unresolved-symbols=ignore-all)

# Leaves out warnings, of those that the compiler knows.
function(tenon_silence)
  foreach(warning IN LISTS ARGN)
    string(MAKE_C_IDENTIFIER TENON_KNOWS_${warning} known)
    check_cxx_compiler_flag(-W${warning} ${known})
    if(${known})
      target_compile_options(tenon_private_options INTERFACE -Wno-${warning})
    endif()
  endforeach()
endfunction()

# Private to Tenon's own targets: an installed user keeps their own warning and sanitizer flags.
add_library(tenon_private_options INTERFACE)
target_compile_options(tenon_private_options INTERFACE -Wall -Wextra -Wno-missing-field-initializers
                                                       -fno-plt)
if(TENON_PRECOMPILE)
  # GCC 12 warns of its own strings where their header is precompiled.
  tenon_silence(array-bounds restrict stringop-overflow stringop-overread)
endif()
# Clang 19 warns of what std::stable_sort of GCC 12's library uses.
set(CMAKE_REQUIRED_FLAGS "-std=c++20 -Werror")
check_cxx_source_compiles("
  #include <algorithm>
  int main() {
    int numbers[] = {2, 1};
    std::stable_sort(numbers, numbers + 2);
    return numbers[1] - 2;
  }" TENON_COMPILER_SORTS_WITHOUT_WARNING)
unset(CMAKE_REQUIRED_FLAGS)
if(NOT TENON_COMPILER_SORTS_WITHOUT_WARNING)
  tenon_silence(deprecated-declarations)
endif()
if(TENON_WERROR)
  target_compile_options(tenon_private_options INTERFACE -Werror)
endif()
if(TENON_SANITIZE)
  target_compile_options(tenon_private_options INTERFACE -fsanitize=${TENON_SANITIZE}
                                                         -fno-omit-frame-pointer -g1)
  # GCC 12 warns of its own instrumented code.
  tenon_silence(maybe-uninitialized)
  target_link_options(tenon_private_options INTERFACE -fsanitize=${TENON_SANITIZE})
endif()

# What is counted is the code of the rooms: their tests are not counted, and link the runtime that counts.
if(TENON_COVERAGE)
  set(TENON_COUNTED -fprofile-instr-generate -fcoverage-mapping)
  add_link_options(-fprofile-instr-generate)
endif()

# Headers of others that most files include: parsed once for all rooms, and once for all tests. Headers of Tenon are not
# among them, so that a change of one compiles what includes it and no more.
set(TENON_COMMON_HEADERS <absl/status/statusor.h> <absl/strings/str_cat.h> <algorithm> <array> <atomic> <chrono> <cmath>
                         <cstdint> <cstring> <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <ostream> <set>
                         <span> <sstream> <string> <string_view> <thread> <tuple> <unordered_map> <unordered_set> <utility>
                         <variant> <vector>)
# A compiler that takes the flag without a use for it warns.
set(CMAKE_REQUIRED_FLAGS -Werror)
check_cxx_compiler_flag(--param=ggc-min-heapsize=524288 TENON_COMPILER_COLLECTS_GARBAGE)
unset(CMAKE_REQUIRED_FLAGS)
if(TENON_COMPILER_COLLECTS_GARBAGE)
  # No collection of garbage below half a gigabyte, which few files reach: a tenth of the time to compile one.
  add_compile_options("SHELL:--param ggc-min-heapsize=524288")
endif()
check_cxx_compiler_flag(-fpch-preprocess TENON_COMPILER_KEEPS_PCH_NAMES)
if(TENON_PRECOMPILE AND TENON_COMPILER_KEEPS_PCH_NAMES)
  # ccache cannot tell otherwise what a precompiled header holds.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
endif()

# Gives a target the precompiled headers of the library `from`, which is made at the first call.
function(tenon_precompile target from)
  if(NOT TENON_PRECOMPILE)
    return()
  endif()
  if(NOT TARGET ${from})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${from}.cc CONTENT "")
    add_library(${from} OBJECT ${PROJECT_BINARY_DIR}/${from}.cc)
    cmake_parse_arguments(FROM "" "" "HEADERS;LIBRARIES;OPTIONS" ${ARGN})
    target_link_libraries(${from} PRIVATE tenon_options tenon_private_options ${FROM_LIBRARIES})
    target_compile_options(${from} PRIVATE ${FROM_OPTIONS})
    target_precompile_headers(${from} PRIVATE ${TENON_COMMON_HEADERS} ${FROM_HEADERS})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${from})
endfunction()

# For what is compiled far longer than it runs, tests among it. Headers are precompiled apart for it: a compiler takes only
# those of its own level of optimisation.
set(TENON_QUICK_OPTIONS $<$<CONFIG:Release>:-Og>)
if(TENON_COVERAGE)
  set(TENON_QUICK_OPTIONS -O0)
endif()
function(tenon_compile_quickly target)
  target_compile_options(${target} PRIVATE ${TENON_QUICK_OPTIONS})
  tenon_precompile(${target} tenon_quick_headers OPTIONS ${TENON_QUICK_OPTIONS})
endfunction()

# What a shared library shows: tenon.map.
function(tenon_show_interface_alone target)
  target_link_options(${target} PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/tenon.map)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/tenon.map)
endfunction()

function(tenon_room name)
  cmake_parse_arguments(ROOM "QUICK" "" "SOURCES;DEPS;PRIVATE_DEPS;PRECOMPILE" ${ARGN})
  add_library(tenon_${name} STATIC ${ROOM_SOURCES})
  add_library(tenon::${name} ALIAS tenon_${name})
  set_target_properties(tenon_${name} PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(tenon_${name} PUBLIC tenon_options ${ROOM_DEPS}
                                      PRIVATE $<BUILD_INTERFACE:tenon_private_options> ${ROOM_PRIVATE_DEPS})
  target_compile_options(tenon_${name} PRIVATE ${TENON_COUNTED})
  if(ROOM_QUICK)
    tenon_compile_quickly(tenon_${name})
  elseif(NOT ROOM_PRECOMPILE)
    tenon_precompile(tenon_${name} tenon_room_headers)
  elseif(TENON_PRECOMPILE)
    target_precompile_headers(tenon_${name} PRIVATE ${TENON_COMMON_HEADERS} ${ROOM_PRECOMPILE})
  endif()
  set_property(GLOBAL APPEND PROPERTY TENON_ROOM_TARGETS tenon_${name})
endfunction()

# The folder below tests/ that this CMakeLists.txt is in: the label of its tests, as in ctest -L strategies.
function(tenon_test_label variable)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR}/tests ${CMAKE_CURRENT_SOURCE_DIR})
  string(REGEX REPLACE "/.*" "" label ${folder})
  set(${variable} ${label} PARENT_SCOPE)
endfunction()

# Labels the tests that add_test has made in this folder.
function(tenon_label_tests)
  get_property(tests DIRECTORY PROPERTY TESTS)
  tenon_test_label(label)
  if(tests)
    set_property(TEST ${tests} APPEND PROPERTY LABELS ${label})
  endif()
endfunction()

function(tenon_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE tenon_private_options ${TEST_DEPS} GTest::gmock GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${TENON_QUICK_OPTIONS})
  tenon_precompile(${name} tenon_test_headers HEADERS <gmock/gmock.h> <gtest/gtest.h> LIBRARIES GTest::gmock
                   OPTIONS -fPIE ${TENON_QUICK_OPTIONS})
  tenon_test_label(label)
  set(suites ${CMAKE_CURRENT_BINARY_DIR}/${name}_suites.cmake)
  set(seconds 1500)
  if(TENON_SANITIZE)
    set(seconds 10800)
  endif()
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}_include.cmake CONTENT
"if(NOT EXISTS \"$<TARGET_FILE:${name}>\")
  add_test(${name}_NOT_BUILT ${name}_NOT_BUILT)
  return()
endif()
if(NOT EXISTS \"${suites}\" OR NOT \"${suites}\" IS_NEWER_THAN \"$<TARGET_FILE:${name}>\")
  include(\"${PROJECT_SOURCE_DIR}/cmake/DiscoverSuites.cmake\")
  tenon_discover_suites(\"$<TARGET_FILE:${name}>\" \"${suites}\" ${label} ${seconds})
endif()
include(\"${suites}\")
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}_include.cmake)
endfunction()
