# Writes OUTPUT, which defines TENON_HEADERS_STAMP: a hash of the headers of ROOMS below SOURCE. It is left alone where
# nothing changed, so that nothing is compiled again.
set(all "")
foreach(room IN LISTS ROOMS)
  file(GLOB_RECURSE headers LIST_DIRECTORIES false ${SOURCE}/${room}/*.h)
  list(SORT headers)
  foreach(header IN LISTS headers)
    file(SHA256 ${header} hash)
    string(APPEND all ${hash})
  endforeach()
endforeach()
string(SHA256 stamp "${all}")
string(SUBSTRING ${stamp} 0 16 stamp)
set(text "// What code was compiled with: a hash of all headers of Tenon. Made by the build.
#ifndef TENON_HEADERS_STAMP_H_
#define TENON_HEADERS_STAMP_H_

#define TENON_HEADERS_STAMP 0x${stamp}ULL

#endif  // TENON_HEADERS_STAMP_H_
")
set(old "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
