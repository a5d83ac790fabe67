# Included by TestInstall.cmake: holds what READELF says that the installed files need against the bill of materials.
# Libraries that are Tenon's own are left out.
file(GLOB_RECURSE bill ${WORK}/prefix/tenon.spdx.json)
file(READ ${bill} bill)
string(JSON count LENGTH "${bill}" packages)
math(EXPR last "${count} - 1")
set(listed)
foreach(i RANGE ${last})
  string(JSON name GET "${bill}" packages ${i} name)
  list(APPEND listed ${name})
endforeach()

# Beginnings of the names of libraries, and what the bill calls them.
set(known
  "libLLVM" LLVM
  "libabsl_" Abseil
  "libdnnl" oneDNN
  "libonnx" ONNX
  "libprotobuf" Protobuf
  "libsqlite3" SQLite
  "libz" zlib
  "libgomp" libgomp
  "libomp" "LLVM OpenMP"
  "libmpi" "Open MPI"
  "libstdc" "libstdc++"
  "libgcc_s" libgcc
  "libc\\.|libm\\.|libpthread|libdl|librt|ld-linux" "GNU C Library")

file(GLOB_RECURSE files ${WORK}/prefix/*.so ${WORK}/prefix/*.node ${WORK}/prefix/bin/tenon)
if(NOT files)
  message(FATAL_ERROR "no linked file is installed below ${WORK}/prefix")
endif()
foreach(file IN LISTS files)
  execute_process(COMMAND ${READELF} -d ${file} OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
  # "(NEEDED)  Shared library: [libz.so.1]". A list in CMake is not cut between brackets.
  string(REGEX REPLACE "[][]" "" dynamic "${dynamic}")
  string(REGEX MATCHALL "\\(NEEDED\\)[^\n]*" needed "${dynamic}")
  if(NOT needed)
    message(FATAL_ERROR "${READELF} does not say what ${file} is linked with:\n${dynamic}")
  endif()
  foreach(entry IN LISTS needed)
    string(REGEX REPLACE ".* " "" library "${entry}")
    if(library MATCHES "^libtenon|^lib(asan|ubsan|tsan|clang_rt)")
      continue()
    endif()
    set(material "")
    set(rest ${known})
    while(rest)
      list(POP_FRONT rest beginning name)
      if(library MATCHES "^(${beginning})")
        set(material ${name})
      endif()
    endwhile()
    if(NOT material IN_LIST listed)
      message(FATAL_ERROR "${file} is linked with ${library}, which is not in the bill of materials")
    endif()
  endforeach()
endforeach()
