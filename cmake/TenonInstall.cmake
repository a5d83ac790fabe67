# cmake --install: libraries, headers under include/tenon/, the program, and a package for find_package(Tenon).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(room_targets GLOBAL PROPERTY TENON_ROOM_TARGETS)
install(TARGETS ${room_targets} tenon_options tenon_plugin EXPORT TenonTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tenon_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS tenon_c EXPORT TenonTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET tenon_node)
  install(TARGETS tenon_node LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(EXPORT TenonTargets NAMESPACE tenon:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tenon)
foreach(room IN LISTS TENON_ROOMS)
  if(EXISTS ${PROJECT_SOURCE_DIR}/${room})
    install(DIRECTORY ${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tenon FILES_MATCHING PATTERN "*.h")
  endif()
endforeach()
install(FILES tenon.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tenon)
install(FILES ${PROJECT_BINARY_DIR}/include/tenon_headers_stamp.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/TenonConfig.cmake.in ${PROJECT_BINARY_DIR}/TenonConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tenon)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TenonConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TenonConfig.cmake ${PROJECT_BINARY_DIR}/TenonConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tenon)

# An outside project, built against an installed tree.
if(TENON_BUILD_TESTS)
  add_test(NAME install.outside_project_builds_and_runs
    COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DSOURCE=${PROJECT_SOURCE_DIR}/examples/outside
            -DWORK=${PROJECT_BINARY_DIR}/outside -DCXX_FLAGS=${TENON_SANITIZE}
            -P ${PROJECT_SOURCE_DIR}/cmake/TestInstall.cmake)
endif()
