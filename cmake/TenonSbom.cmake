# A bill of materials in the form of SPDX 2.3: what Tenon is linked with or contains, the version found at the configure step,
# and its licence. TENON_SBOM is the file.

# tenon_material(NAME VERSION LICENCE RELATION): one entry. RELATION: DYNAMIC_LINK, STATIC_LINK or CONTAINS (headers alone).
function(tenon_material name version licence relation)
  if(NOT version)
    set(version NOASSERTION)
  endif()
  string(MAKE_C_IDENTIFIER ${name} id)
  string(REPLACE "_" "-" id ${id})
  set_property(GLOBAL APPEND_STRING PROPERTY TENON_SBOM_PACKAGES ",
    {
      \"SPDXID\": \"SPDXRef-${id}\",
      \"name\": \"${name}\",
      \"versionInfo\": \"${version}\",
      \"downloadLocation\": \"NOASSERTION\",
      \"licenseConcluded\": \"${licence}\",
      \"licenseDeclared\": \"${licence}\",
      \"copyrightText\": \"NOASSERTION\"
    }")
  set_property(GLOBAL APPEND_STRING PROPERTY TENON_SBOM_RELATIONS ",
    {
      \"spdxElementId\": \"SPDXRef-Tenon\",
      \"relationshipType\": \"${relation}\",
      \"relatedSpdxElement\": \"SPDXRef-${id}\"
    }")
endfunction()

# The version in a header: the numbers of the macros named, joined by dots.
function(tenon_version_in variable header)
  set(version "")
  if(EXISTS ${header})
    foreach(macro IN LISTS ARGN)
      file(STRINGS ${header} line REGEX "#define +${macro} " LIMIT_COUNT 1)
      string(REGEX REPLACE ".*${macro} +\"?([0-9.]+).*" "\\1" number "${line}")
      list(APPEND version ${number})
    endforeach()
  endif()
  list(JOIN version "." version)
  set(${variable} "${version}" PARENT_SCOPE)
endfunction()

tenon_material(LLVM "${LLVM_PACKAGE_VERSION}" "Apache-2.0 WITH LLVM-exception" DYNAMIC_LINK)
tenon_material(Abseil "${absl_VERSION}" Apache-2.0 DYNAMIC_LINK)
tenon_version_in(json_version ${TENON_JSON_INCLUDE}/nlohmann/detail/abi_macros.hpp
  NLOHMANN_JSON_VERSION_MAJOR NLOHMANN_JSON_VERSION_MINOR NLOHMANN_JSON_VERSION_PATCH)
tenon_material("JSON for Modern C++" "${json_version}" MIT CONTAINS)
tenon_version_in(dlpack_version ${TENON_DLPACK_INCLUDE}/dlpack/dlpack.h DLPACK_VERSION)
tenon_material(DLPack "${dlpack_version}" Apache-2.0 CONTAINS)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  tenon_material(libgomp "${CMAKE_CXX_COMPILER_VERSION}" "GPL-3.0-or-later WITH GCC-exception-3.1" DYNAMIC_LINK)
else()
  tenon_material("LLVM OpenMP" "${CMAKE_CXX_COMPILER_VERSION}" "Apache-2.0 WITH LLVM-exception" DYNAMIC_LINK)
endif()
tenon_material(zlib "${ZLIB_VERSION_STRING}" Zlib DYNAMIC_LINK)
tenon_material("libstdc++" "" "GPL-3.0-or-later WITH GCC-exception-3.1" DYNAMIC_LINK)
tenon_material("GNU C Library" "" LGPL-2.1-or-later DYNAMIC_LINK)
if(TENON_ONEDNN)
  tenon_material(oneDNN "${DNNL_VERSION}" Apache-2.0 DYNAMIC_LINK)
endif()
if(TENON_ONNX)
  tenon_material(ONNX "" Apache-2.0 DYNAMIC_LINK)
  tenon_material(Protobuf "${Protobuf_VERSION}" BSD-3-Clause DYNAMIC_LINK)
endif()
if(TENON_TOOLS)
  tenon_version_in(cli11_version ${TENON_CLI11_INCLUDE}/CLI/Version.hpp
    CLI11_VERSION_MAJOR CLI11_VERSION_MINOR CLI11_VERSION_PATCH)
  tenon_material(CLI11 "${cli11_version}" BSD-3-Clause CONTAINS)
  tenon_material(SQLite "${SQLite3_VERSION}" blessing DYNAMIC_LINK)
  tenon_material(stb "" "MIT OR Unlicense" CONTAINS)
endif()

get_property(TENON_SBOM_PACKAGES GLOBAL PROPERTY TENON_SBOM_PACKAGES)
get_property(TENON_SBOM_RELATIONS GLOBAL PROPERTY TENON_SBOM_RELATIONS)
# Of SOURCE_DATE_EPOCH, where it is set.
string(TIMESTAMP TENON_SBOM_TIME UTC)
set(TENON_SBOM ${PROJECT_BINARY_DIR}/tenon.spdx.json)
configure_file(${PROJECT_SOURCE_DIR}/cmake/tenon.spdx.json.in ${TENON_SBOM} @ONLY)
