# Finds what Tenon is built from. Whatever is missing or too old is named in one message, with the packages that have it.

# tenon_require(FOUND "what it is" DEBIAN package... FEDORA package... ARCH package...)
function(tenon_require found what)
  if(found)
    return()
  endif()
  cmake_parse_arguments(NEED "" "" "DEBIAN;FEDORA;ARCH" ${ARGN})
  set_property(GLOBAL APPEND PROPERTY TENON_MISSING ${what})
  foreach(system DEBIAN FEDORA ARCH)
    set_property(GLOBAL APPEND PROPERTY TENON_MISSING_${system} ${NEED_${system}})
  endforeach()
endfunction()

# The same for a package of which `least` or a later version is needed. One that does not say its version is taken. `note`
# follows in the message.
function(tenon_require_version found version least what note)
  set(what "${what} ${least} or later")
  if(found AND version AND version VERSION_LESS least)
    set(found FALSE)
    string(APPEND what ", not ${version}")
  endif()
  if(note)
    string(APPEND what " (${note})")
  endif()
  tenon_require("${found}" "${what}" ${ARGN})
endfunction()

# Whether `header` can be found.
function(tenon_require_header variable header what)
  find_path(${variable} ${header})
  mark_as_advanced(${variable})
  tenon_require("${${variable}}" "${what} (${header})" ${ARGN})
endfunction()

# The version in a header: the numbers of the macros named, joined by dots. Empty where one of them is not there.
function(tenon_version_in variable header)
  set(version "")
  if(EXISTS ${header})
    foreach(macro IN LISTS ARGN)
      file(STRINGS ${header} line REGEX "#define +${macro} " LIMIT_COUNT 1)
      if(NOT line)
        set(version "")
        break()
      endif()
      string(REGEX REPLACE ".*${macro} +\"?([0-9.]+).*" "\\1" number "${line}")
      list(APPEND version ${number})
    endforeach()
  endif()
  list(JOIN version "." version)
  set(${variable} "${version}" PARENT_SCOPE)
endfunction()

# Ends the configure step where something is missing.
function(tenon_report_missing)
  get_property(missing GLOBAL PROPERTY TENON_MISSING)
  if(NOT missing)
    return()
  endif()
  list(JOIN missing "\n  " what)
  foreach(system DEBIAN FEDORA ARCH)
    get_property(packages GLOBAL PROPERTY TENON_MISSING_${system})
    list(REMOVE_DUPLICATES packages)
    list(JOIN packages " " ${system})
  endforeach()
  message(FATAL_ERROR "Tenon is built from these, which are not here:\n  ${what}\n"
    "They come with\n"
    "  Debian, Ubuntu: apt-get install ${DEBIAN}\n"
    "  Fedora: dnf install ${FEDORA}\n"
    "  Arch: pacman -S ${ARCH}")
endfunction()

# The least versions are those of Debian 12, which the tests run with: older ones have not been tried. Of SQLite it is the one
# that first has what Tenon uses. packaging/ asks for the same.
set(TENON_LEAST_ABSEIL 20220623)
set(TENON_LEAST_JSON 3.11)
set(TENON_LEAST_PROTOBUF 3.21)
set(TENON_LEAST_ONNX 1.12)
set(TENON_LEAST_CLI11 2.1)
set(TENON_LEAST_SQLITE 3.37)
set(TENON_LEAST_GTEST 1.12)
set(TENON_LEAST_BENCHMARK 1.7)

find_package(absl CONFIG QUIET)
tenon_require_version("${absl_FOUND}" "${absl_VERSION}" ${TENON_LEAST_ABSEIL} "Abseil" ""
  DEBIAN libabsl-dev FEDORA abseil-cpp-devel ARCH abseil-cpp)
find_package(Threads QUIET)
tenon_require("${Threads_FOUND}" "POSIX threads (pthread.h and what it needs of the C library)"
  DEBIAN libc6-dev FEDORA glibc-devel ARCH glibc)
find_package(ZLIB QUIET)
tenon_require("${ZLIB_FOUND}" "zlib" DEBIAN zlib1g-dev FEDORA zlib-devel ARCH zlib)
find_path(TENON_JSON_INCLUDE nlohmann/json.hpp)
mark_as_advanced(TENON_JSON_INCLUDE)
# Where it is one file, that has the version itself, as all had before 3.11.
set(json_macros NLOHMANN_JSON_VERSION_MAJOR NLOHMANN_JSON_VERSION_MINOR NLOHMANN_JSON_VERSION_PATCH)
tenon_version_in(TENON_JSON_VERSION ${TENON_JSON_INCLUDE}/nlohmann/detail/abi_macros.hpp ${json_macros})
if(NOT TENON_JSON_VERSION)
  tenon_version_in(TENON_JSON_VERSION ${TENON_JSON_INCLUDE}/nlohmann/json.hpp ${json_macros})
endif()
tenon_require_version("${TENON_JSON_INCLUDE}" "${TENON_JSON_VERSION}" ${TENON_LEAST_JSON}
  "JSON for Modern C++" nlohmann/json.hpp DEBIAN nlohmann-json3-dev FEDORA json-devel ARCH nlohmann-json)
if(TENON_ONNX)
  find_package(Protobuf QUIET)
  tenon_require_version("${Protobuf_FOUND}" "${Protobuf_VERSION}" ${TENON_LEAST_PROTOBUF}
    "Protobuf" "not with -DTENON_ONNX=OFF" DEBIAN libprotobuf-dev protobuf-compiler FEDORA protobuf-devel protobuf-compiler
    ARCH protobuf)
  find_library(ONNX_PROTO_LIBRARY onnx_proto)
  find_path(ONNX_INCLUDE_DIR onnx/onnx_pb.h)
  mark_as_advanced(ONNX_INCLUDE_DIR)
  set(TENON_ONNX_VERSION "")
  if(EXISTS ${ONNX_INCLUDE_DIR}/onnx/common/version.h)
    file(STRINGS ${ONNX_INCLUDE_DIR}/onnx/common/version.h line REGEX "LAST_RELEASE_VERSION *= *\"" LIMIT_COUNT 1)
    if(line MATCHES "\"([0-9.]+)")
      set(TENON_ONNX_VERSION ${CMAKE_MATCH_1})
    endif()
  endif()
  set(onnx_found FALSE)
  if(ONNX_PROTO_LIBRARY AND ONNX_INCLUDE_DIR)
    set(onnx_found TRUE)
  endif()
  tenon_require_version("${onnx_found}" "${TENON_ONNX_VERSION}" ${TENON_LEAST_ONNX}
    "ONNX" "onnx/onnx_pb.h, libonnx_proto; not with -DTENON_ONNX=OFF" DEBIAN libonnx-dev FEDORA onnx-devel ARCH onnx)
endif()

if(NOT TENON_BUILD_FUZZERS)
  set(TENON_LLVM "19.1;22.1" CACHE STRING "Versions of LLVM that may be used; the first that is found is")
  foreach(version IN LISTS TENON_LLVM)
    if(NOT LLVM_FOUND)
      find_package(LLVM ${version} CONFIG QUIET)
    endif()
  endforeach()
  set(others "")
  if(LLVM_CONSIDERED_VERSIONS AND NOT LLVM_FOUND)
    list(REMOVE_DUPLICATES LLVM_CONSIDERED_VERSIONS)
    list(JOIN LLVM_CONSIDERED_VERSIONS ", " others)
    string(PREPEND others ", not ")
  endif()
  list(JOIN TENON_LLVM " or " versions)
  # One of them is enough.
  list(GET TENON_LLVM 0 wanted)
  string(REGEX REPLACE "\\..*" "" wanted ${wanted})
  tenon_require("${LLVM_FOUND}" "LLVM ${versions}${others}"
    DEBIAN llvm-${wanted}-dev FEDORA llvm${wanted}-devel ARCH llvm${wanted})
  find_package(OpenMP QUIET COMPONENTS CXX)
  # GCC brings its own.
  tenon_require("${OpenMP_CXX_FOUND}" "OpenMP for ${CMAKE_CXX_COMPILER}, of its version"
    DEBIAN libomp-dev FEDORA libomp-devel ARCH openmp)
  tenon_require_header(TENON_DLPACK_INCLUDE dlpack/dlpack.h "DLPack"
    DEBIAN libdlpack-dev FEDORA dlpack-devel ARCH dlpack)
endif()
if(TENON_TOOLS AND NOT TENON_BUILD_FUZZERS)
  find_path(TENON_CLI11_INCLUDE CLI/CLI.hpp)
  mark_as_advanced(TENON_CLI11_INCLUDE)
  tenon_version_in(TENON_CLI11_VERSION ${TENON_CLI11_INCLUDE}/CLI/Version.hpp
    CLI11_VERSION_MAJOR CLI11_VERSION_MINOR CLI11_VERSION_PATCH)
  tenon_require_version("${TENON_CLI11_INCLUDE}" "${TENON_CLI11_VERSION}" ${TENON_LEAST_CLI11}
    "CLI11" "CLI/CLI.hpp; not with -DTENON_TOOLS=OFF" DEBIAN libcli11-dev FEDORA cli11-devel ARCH cli11)
  find_package(SQLite3 QUIET)
  tenon_require_version("${SQLite3_FOUND}" "${SQLite3_VERSION}" ${TENON_LEAST_SQLITE} "SQLite" "not with -DTENON_TOOLS=OFF"
    DEBIAN libsqlite3-dev FEDORA sqlite-devel ARCH sqlite)
  # Linux distributions put it into a folder stb, vcpkg and Conan among all headers.
  find_path(TENON_STB_FOLDER stb_image.h PATH_SUFFIXES stb)
  mark_as_advanced(TENON_STB_FOLDER)
  tenon_require("${TENON_STB_FOLDER}" "stb (stb_image.h; not with -DTENON_TOOLS=OFF)"
    DEBIAN libstb-dev FEDORA stb-devel ARCH stb)
  add_library(tenon_stb INTERFACE)
  if(TENON_STB_FOLDER)
    target_include_directories(tenon_stb SYSTEM INTERFACE ${TENON_STB_FOLDER})
  endif()
endif()
if(TENON_ONEDNN AND NOT TENON_BUILD_FUZZERS)
  # Debian's CMake package of oneDNN asks for OpenCL, which a CPU build does not need.
  find_library(DNNL_LIBRARY dnnl)
  find_path(DNNL_INCLUDE_DIR dnnl.hpp)
  set(dnnl_found FALSE)
  if(DNNL_LIBRARY AND DNNL_INCLUDE_DIR)
    set(dnnl_found TRUE)
  endif()
  tenon_require("${dnnl_found}" "oneDNN 2.6 or 3 (dnnl.hpp, libdnnl; not with -DTENON_ONEDNN=OFF)"
    DEBIAN libdnnl-dev FEDORA onednn-devel ARCH onednn)
endif()

if(TENON_BUILD_TESTS AND NOT TENON_BUILD_FUZZERS)
  find_package(GTest QUIET)
  set(gmock_found FALSE)
  if(TARGET GTest::gmock)
    set(gmock_found TRUE)
  endif()
  tenon_require_version("${gmock_found}" "${GTest_VERSION}" ${TENON_LEAST_GTEST}
    "GoogleTest and GoogleMock" "not with -DTENON_BUILD_TESTS=OFF"
    DEBIAN libgtest-dev libgmock-dev FEDORA gtest-devel gmock-devel ARCH gtest)
  find_library(Z3_LIBRARY z3)
  find_path(Z3_INCLUDE_DIR z3++.h)
  set(z3_found FALSE)
  if(Z3_LIBRARY AND Z3_INCLUDE_DIR)
    set(z3_found TRUE)
  endif()
  tenon_require("${z3_found}" "Z3 (z3++.h, libz3; not with -DTENON_BUILD_TESTS=OFF)"
    DEBIAN libz3-dev FEDORA z3-devel ARCH z3)
endif()
if(TENON_BUILD_BENCHMARKS AND NOT TENON_BUILD_FUZZERS)
  find_package(benchmark QUIET)
  tenon_require_version("${benchmark_FOUND}" "${benchmark_VERSION}" ${TENON_LEAST_BENCHMARK}
    "Google Benchmark" "not with -DTENON_BUILD_BENCHMARKS=OFF"
    DEBIAN libbenchmark-dev FEDORA google-benchmark-devel ARCH benchmark)
endif()
if(TENON_INSTALL AND NOT TENON_BUILD_FUZZERS)
  # Manual pages and changelogs are installed compressed.
  find_program(TENON_GZIP gzip)
  mark_as_advanced(TENON_GZIP)
  tenon_require("${TENON_GZIP}" "gzip (not with -DTENON_INSTALL=OFF)" DEBIAN gzip FEDORA gzip ARCH gzip)
endif()

tenon_report_missing()
if(TENON_ONEDNN AND NOT TENON_BUILD_FUZZERS)
  include(TenonOneDnn)
endif()
