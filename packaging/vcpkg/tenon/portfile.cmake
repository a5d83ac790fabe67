# An overlay port: vcpkg install tenon --overlay-ports=packaging/vcpkg. It builds the source tree that it lies in.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

# A port can name the least version of another port and no greatest one: "overrides" count in the manifest of a project alone.
set(llvm_versions 19.1 22.1)
set(llvm "${CURRENT_INSTALLED_DIR}/share/llvm/LLVMConfigVersion.cmake")
if(EXISTS "${llvm}")
  file(STRINGS "${llvm}" line REGEX "^set\\(PACKAGE_VERSION " LIMIT_COUNT 1)
  string(REGEX MATCH "[0-9]+\\.[0-9]+" found "${line}")
  if(NOT found IN_LIST llvm_versions)
    list(JOIN llvm_versions " or " wanted)
    message(FATAL_ERROR "Tenon takes LLVM ${wanted}, and this is ${found}. Your project's vcpkg.json chooses another one: "
      "\"overrides\": [{\"name\": \"llvm\", \"version\": \"19.1.7\"}], or --overlay-ports has a port of it.")
  endif()
endif()

vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS
  FEATURES
    onnx TENON_ONNX
    onednn TENON_ONEDNN
    tools TENON_TOOLS
)
string(COMPARE EQUAL "${VCPKG_LIBRARY_LINKAGE}" dynamic TENON_SHARED)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    ${FEATURE_OPTIONS}
    -DTENON_SHARED=${TENON_SHARED}
    -DTENON_MPI=OFF
    -DTENON_TESTS=OFF
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME Tenon CONFIG_PATH lib/cmake/Tenon)
vcpkg_fixup_pkgconfig()
if("tools" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES tenon AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
