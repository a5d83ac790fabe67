# cmake --install: libraries, headers under include/tenon/, the program with its manual page and completions, and packages for
# find_package(Tenon) and pkg-config. Components, which cpack makes packages of: libraries, development, program,
# documentation, mpi.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(room_targets GLOBAL PROPERTY TENON_ROOM_TARGETS)
install(TARGETS ${room_targets} tenon_options tenon_plugin EXPORT TenonTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(TARGETS tenon_c tenon_library EXPORT TenonTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libraries NAMELINK_COMPONENT development)
if(TARGET tenon_node)
  install(TARGETS tenon_node LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tenon COMPONENT libraries)
endif()
install(EXPORT TenonTargets NAMESPACE tenon:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tenon COMPONENT development)
foreach(room IN LISTS TENON_ROOMS)
  if(EXISTS ${PROJECT_SOURCE_DIR}/${room})
    install(DIRECTORY ${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tenon COMPONENT development FILES_MATCHING PATTERN "*.h")
  endif()
endforeach()
install(FILES tenon.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tenon COMPONENT development)
install(FILES ${PROJECT_BINARY_DIR}/include/tenon_headers_stamp.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT development)

# find_package(Tenon COMPONENTS ...) takes these.
set(TENON_COMPONENTS compiler c)
foreach(part onnx onednn tools shared)
  string(TOUPPER TENON_${part} option)
  if(${option})
    list(APPEND TENON_COMPONENTS ${part})
  endif()
endforeach()
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/TenonConfig.cmake.in ${PROJECT_BINARY_DIR}/TenonConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tenon)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TenonConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TenonConfig.cmake ${PROJECT_BINARY_DIR}/TenonConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tenon COMPONENT development)

# pkg-config takes shared libraries alone: the order of static ones is CMake's knowledge. ${pcfiledir} is the folder of the
# file, so that it is right wherever cmake --install --prefix puts it. A folder that is absolute stays where it is.
set(TENON_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  string(REGEX REPLACE "/$" "" up "${up}")
  set(TENON_PC_PREFIX "\${pcfiledir}/${up}")
endif()
foreach(name LIBDIR INCLUDEDIR)
  set(TENON_PC_${name} ${CMAKE_INSTALL_${name}})
  if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_${name}})
    set(TENON_PC_${name} "\${prefix}/${CMAKE_INSTALL_${name}}")
  endif()
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/cmake/tenon_c.pc.in ${PROJECT_BINARY_DIR}/tenon_c.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tenon_c.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
if(TENON_SHARED)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/tenon.pc.in ${PROJECT_BINARY_DIR}/tenon.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/tenon.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endif()

# Beside libraries, where the program looks for it (tune/ranks.cc).
if(TARGET tenon_mpi)
  install(TARGETS tenon_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tenon COMPONENT mpi)
endif()
if(TENON_TOOLS)
  install(TARGETS tenon_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
endif()
# A sanitizer would end the build for what libraries leave unfreed.
if(TENON_TOOLS AND NOT CMAKE_CROSSCOMPILING AND NOT TENON_SANITIZE)
  # The program writes these of its own options.
  set(texts ${PROJECT_BINARY_DIR}/texts)
  file(MAKE_DIRECTORY ${texts})
  add_custom_command(OUTPUT ${texts}/tenon ${texts}/_tenon ${texts}/tenon.1.gz
    COMMAND tenon_program completion bash >${texts}/tenon
    COMMAND tenon_program completion zsh >${texts}/_tenon
    COMMAND tenon_program manual | ${TENON_GZIP} -9n >${texts}/tenon.1.gz
    DEPENDS tenon_program)
  add_custom_target(tenon_texts ALL DEPENDS ${texts}/tenon ${texts}/_tenon ${texts}/tenon.1.gz)
  install(FILES ${texts}/tenon DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
  install(FILES ${texts}/_tenon DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT program)
  install(FILES ${texts}/tenon.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
endif()

include(TenonSbom)
install(FILES ${TENON_SBOM} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libtenon-dev COMPONENT development)
include(TenonDebian)

# An outside project, built against an installed tree.
if(TENON_BUILD_TESTS)
  find_program(TENON_PKG_CONFIG pkg-config)
  mark_as_advanced(TENON_PKG_CONFIG)
  add_test(NAME install.outside_project_builds_and_runs
    COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DSOURCE=${PROJECT_SOURCE_DIR}/examples/outside
            -DWORK=${PROJECT_BINARY_DIR}/outside -DCXX_FLAGS=${TENON_SANITIZE} -DCC=${CMAKE_C_COMPILER}
            -DPKG_CONFIG=$<$<BOOL:${TENON_PKG_CONFIG}>:${TENON_PKG_CONFIG}> -DREADELF=${CMAKE_READELF}
            -P ${PROJECT_SOURCE_DIR}/cmake/TestInstall.cmake)
  add_subdirectory(tests/install)
endif()
