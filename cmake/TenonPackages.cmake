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

# Whether `header` can be found.
function(tenon_require_header variable header what)
  find_path(${variable} ${header})
  mark_as_advanced(${variable})
  tenon_require("${${variable}}" "${what} (${header})" ${ARGN})
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

find_package(absl CONFIG QUIET)
tenon_require("${absl_FOUND}" "Abseil" DEBIAN libabsl-dev FEDORA abseil-cpp-devel ARCH abseil-cpp)
find_package(Threads REQUIRED)
find_package(ZLIB QUIET)
tenon_require("${ZLIB_FOUND}" "zlib" DEBIAN zlib1g-dev FEDORA zlib-devel ARCH zlib)
tenon_require_header(TENON_JSON_INCLUDE nlohmann/json.hpp "JSON for Modern C++"
  DEBIAN nlohmann-json3-dev FEDORA json-devel ARCH nlohmann-json)
if(TENON_ONNX)
  find_package(Protobuf QUIET)
  tenon_require("${Protobuf_FOUND}" "Protobuf (not with -DTENON_ONNX=OFF)"
    DEBIAN libprotobuf-dev protobuf-compiler FEDORA protobuf-devel protobuf-compiler ARCH protobuf)
  find_library(ONNX_PROTO_LIBRARY onnx_proto)
  tenon_require("${ONNX_PROTO_LIBRARY}" "ONNX (libonnx_proto; not with -DTENON_ONNX=OFF)"
    DEBIAN libonnx-dev FEDORA onnx-devel ARCH onnx)
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
    set(others ", not ${LLVM_CONSIDERED_VERSIONS}")
  endif()
  list(JOIN TENON_LLVM " or " versions)
  tenon_require("${LLVM_FOUND}" "LLVM ${versions}${others}" DEBIAN llvm-19-dev FEDORA llvm19-devel ARCH llvm19)
  find_package(OpenMP QUIET COMPONENTS CXX)
  # GCC brings its own.
  tenon_require("${OpenMP_CXX_FOUND}" "OpenMP for ${CMAKE_CXX_COMPILER}, of its version"
    DEBIAN libomp-dev FEDORA libomp-devel ARCH openmp)
  tenon_require_header(TENON_DLPACK_INCLUDE dlpack/dlpack.h "DLPack"
    DEBIAN libdlpack-dev FEDORA dlpack-devel ARCH dlpack)
endif()
if(TENON_TOOLS AND NOT TENON_BUILD_FUZZERS)
  tenon_require_header(TENON_CLI11_INCLUDE CLI/CLI.hpp "CLI11, not with -DTENON_TOOLS=OFF"
    DEBIAN libcli11-dev FEDORA cli11-devel ARCH cli11)
  find_package(SQLite3 3.37 QUIET)
  tenon_require("${SQLite3_FOUND}" "SQLite 3.37 or later (not with -DTENON_TOOLS=OFF)"
    DEBIAN libsqlite3-dev FEDORA sqlite-devel ARCH sqlite)
  tenon_require_header(TENON_STB_INCLUDE stb/stb_image.h "stb, not with -DTENON_TOOLS=OFF"
    DEBIAN libstb-dev FEDORA stb-devel ARCH stb)
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
  tenon_require("${gmock_found}" "GoogleTest and GoogleMock (not with -DTENON_BUILD_TESTS=OFF)"
    DEBIAN libgtest-dev libgmock-dev FEDORA gtest-devel gmock-devel ARCH gtest)
  find_library(Z3_LIBRARY z3)
  find_path(Z3_INCLUDE_DIR z3++.h)
  tenon_require("${Z3_LIBRARY}" "Z3 (not with -DTENON_BUILD_TESTS=OFF)"
    DEBIAN libz3-dev FEDORA z3-devel ARCH z3)
endif()
if(TENON_BUILD_BENCHMARKS AND NOT TENON_BUILD_FUZZERS)
  find_package(benchmark QUIET)
  tenon_require("${benchmark_FOUND}" "Google Benchmark (not with -DTENON_BUILD_BENCHMARKS=OFF)"
    DEBIAN libbenchmark-dev FEDORA google-benchmark-devel ARCH benchmark)
endif()

tenon_report_missing()
if(TENON_ONEDNN AND NOT TENON_BUILD_FUZZERS)
  include(TenonOneDnn)
endif()
