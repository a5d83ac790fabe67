# tenon::tenon, all libraries at once: libtenon.so with -DTENON_SHARED=ON, else the static libraries. A program links it, or
# single rooms, never both: each has a registry of operators of its own.
set(TENON_LIBRARY_TARGETS tenon::support tenon::attrs tenon::ir tenon::ops tenon::typing tenon::passes tenon::loop tenon::te
                          tenon::schedule tenon::jit tenon::strategies tenon::plan tenon::runtime tenon::compiler tenon::onnx
                          tenon::relax tenon::models)
if(TENON_TOOLS)
  list(APPEND TENON_LIBRARY_TARGETS tenon::quantize tenon::verify tenon::tune)
endif()

if(TENON_SHARED)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/tenon_library.cc CONTENT "")
  add_library(tenon_library SHARED ${PROJECT_BINARY_DIR}/tenon_library.cc)
  # The interface in C++ may change with each minor version.
  set_target_properties(tenon_library PROPERTIES OUTPUT_NAME tenon VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_link_libraries(tenon_library PUBLIC tenon_options absl::status absl::statusor absl::strings
    PRIVATE -Wl,--whole-archive ${TENON_LIBRARY_TARGETS} -Wl,--no-whole-archive)
  tenon_show_interface_alone(tenon_library)
else()
  add_library(tenon_library INTERFACE)
  target_link_libraries(tenon_library INTERFACE ${TENON_LIBRARY_TARGETS})
endif()
add_library(tenon::tenon ALIAS tenon_library)
set_target_properties(tenon_library PROPERTIES EXPORT_NAME tenon)
