# An overlay port: vcpkg install tenon --overlay-ports=packaging/vcpkg. It builds the source tree that it lies in.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

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
    -DTENON_BUILD_TESTS=OFF
    -DTENON_BUILD_BENCHMARKS=OFF
    -DTENON_BUILD_EXAMPLES=OFF
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME Tenon CONFIG_PATH lib/cmake/Tenon)
vcpkg_fixup_pkgconfig()
if("tools" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES tenon AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
