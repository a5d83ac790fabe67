# Run by ctest: gives it a test for each suite of a GoogleTest program, which runs in one process. A process for each test
# would pay for loading LLVM thirteen thousand times.
#   tenon_discover_suites(PROGRAM FILE LABEL SECONDS) - writes FILE, which adds the tests; each may take so long.
function(tenon_discover_suites program file label seconds)
  execute_process(COMMAND ${program} --gtest_list_tests OUTPUT_VARIABLE listed RESULT_VARIABLE result TIMEOUT 60)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${program} does not list its tests: ${result}\n${listed}")
  endif()
  get_filename_component(folder ${program} DIRECTORY)
  # A suite is a line "Suite." or "Instance/Suite.", maybe with a comment; its tests are the lines below, indented. Semicolons
  # in values of parameters would cut lines.
  string(REPLACE ";" "," listed "${listed}")
  string(REPLACE "\n" ";" lines "${listed}")
  set(script "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^([A-Za-z0-9_/]+)\\.( |$)")
      set(suite ${CMAKE_MATCH_1})
      string(APPEND script "add_test([=[${label}.${suite}]=] [=[${program}]=] [=[--gtest_filter=${suite}.*]=])\n"
                           "set_tests_properties([=[${label}.${suite}]=] PROPERTIES WORKING_DIRECTORY [=[${folder}]=]"
                           " TIMEOUT ${seconds} LABELS ${label})\n")
    endif()
  endforeach()
  file(WRITE ${file} "${script}")
endfunction()
