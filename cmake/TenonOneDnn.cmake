# The version of oneDNN, DNNL_VERSION_MAJOR, and whether it shares its threads with Tenon.

# oneDNN 1.x had its headers in other places, first as mkldnn.
set(version_header ${DNNL_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h)
set(DNNL_VERSION "before 2.0")
if(EXISTS ${version_header})
  tenon_version_in(DNNL_VERSION ${version_header} DNNL_VERSION_MAJOR DNNL_VERSION_MINOR DNNL_VERSION_PATCH)
  string(REGEX REPLACE "\\..*" "" DNNL_VERSION_MAJOR "${DNNL_VERSION}")
endif()
if(NOT DNNL_VERSION VERSION_GREATER_EQUAL 2.6 OR DNNL_VERSION VERSION_GREATER_EQUAL 4)
  message(FATAL_ERROR "Tenon knows oneDNN 2.6 and 3; that of ${DNNL_INCLUDE_DIR} is ${DNNL_VERSION}. Another one is "
    "chosen with -DDNNL_INCLUDE_DIR=FOLDER -DDNNL_LIBRARY=FILE.")
endif()

# A session's threads run both generated code and oneDNN's, so both must use one pool.
if(NOT CMAKE_CROSSCOMPILING)
  set(probe ${CMAKE_BINARY_DIR}/one_pool_${DNNL_VERSION})
  # All that the answer depends on.
  set(counted_for "${DNNL_LIBRARY};${DNNL_INCLUDE_DIR};${CMAKE_CXX_COMPILER};${OpenMP_CXX_FLAGS};${OpenMP_CXX_LIBRARIES}")
  if(NOT "${TENON_POOLS_OF}" STREQUAL "${counted_for}")
    unset(TENON_POOLS CACHE)
    unset(TENON_POOLS_BUILT CACHE)
  endif()
  try_run(TENON_POOLS TENON_POOLS_BUILT ${probe} ${CMAKE_CURRENT_LIST_DIR}/one_pool.cc
    CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${DNNL_INCLUDE_DIR}
    LINK_LIBRARIES OpenMP::OpenMP_CXX ${DNNL_LIBRARY}
    COMPILE_OUTPUT_VARIABLE build_output RUN_OUTPUT_VARIABLE run_output)
  string(STRIP "${run_output}" run_output)
  set(TENON_POOLS_OF "${counted_for}" CACHE INTERNAL "What the pools were counted for")
  set(remedy "Take a compiler whose OpenMP is oneDNN's (CMAKE_CXX_COMPILER), or a oneDNN that was built with "
             "-DDNNL_CPU_RUNTIME=OMP by a compiler like this one (DNNL_INCLUDE_DIR, DNNL_LIBRARY).")
  list(JOIN remedy "" remedy)
  if(NOT TENON_POOLS_BUILT)
    message(FATAL_ERROR "A program with OpenMP and oneDNN ${DNNL_VERSION} (${DNNL_LIBRARY}) does not link:\n${build_output}")
  elseif(TENON_POOLS EQUAL 2)
    message(FATAL_ERROR "oneDNN ${DNNL_VERSION} (${DNNL_LIBRARY}) runs in other threads than the OpenMP of "
      "${CMAKE_CXX_COMPILER}: two OpenMP runtimes, or a oneDNN that was built for another pool.\n${run_output}\n${remedy}")
  elseif(TENON_POOLS EQUAL 3)
    message(FATAL_ERROR "oneDNN ${DNNL_VERSION} (${DNNL_LIBRARY}) was not built for OpenMP, whose threads Tenon gives "
      "it.\n${run_output}\n${remedy}")
  elseif(NOT TENON_POOLS EQUAL 0)
    message(FATAL_ERROR "A program with OpenMP and oneDNN ${DNNL_VERSION} (${DNNL_LIBRARY}) ends with "
      "${TENON_POOLS}.\n${run_output}")
  endif()
endif()
message(STATUS "Found oneDNN ${DNNL_VERSION}: ${DNNL_LIBRARY}")
