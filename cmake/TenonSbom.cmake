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

# What the standard libraries' headers say of themselves.
set(probe ${PROJECT_BINARY_DIR}/library_versions.cc)
file(CONFIGURE OUTPUT ${probe} CONTENT "#include <cstddef>\n#include <cstdlib>\n")
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -E -dM ${probe} OUTPUT_VARIABLE macros ERROR_QUIET)
set(libstdcxx_version "")
if(macros MATCHES "#define _GLIBCXX_RELEASE ([0-9]+)")
  set(libstdcxx_version ${CMAKE_MATCH_1})
endif()
set(libc_version "")
if(macros MATCHES "#define __GLIBC__ ([0-9]+)")
  set(libc_version ${CMAKE_MATCH_1})
  if(macros MATCHES "#define __GLIBC_MINOR__ ([0-9]+)")
    string(APPEND libc_version .${CMAKE_MATCH_1})
  endif()
endif()

tenon_material(LLVM "${LLVM_PACKAGE_VERSION}" "Apache-2.0 WITH LLVM-exception" DYNAMIC_LINK)
tenon_material(Abseil "${absl_VERSION}" Apache-2.0 DYNAMIC_LINK)
tenon_material("JSON for Modern C++" "${TENON_JSON_VERSION}" MIT CONTAINS)
set(dlpack_header ${TENON_DLPACK_INCLUDE}/dlpack/dlpack.h)
tenon_version_in(dlpack_version ${dlpack_header} DLPACK_MAJOR_VERSION DLPACK_MINOR_VERSION)
if(NOT dlpack_version)
  # Before 0.8 it was one number: 60 is 0.6.
  tenon_version_in(dlpack_version ${dlpack_header} DLPACK_VERSION)
  string(REGEX REPLACE "^([0-9])([0-9])$" "0.\\1" dlpack_version "${dlpack_version}")
endif()
tenon_material(DLPack "${dlpack_version}" Apache-2.0 CONTAINS)
if("gomp" IN_LIST OpenMP_CXX_LIB_NAMES)
  tenon_material(libgomp "${CMAKE_CXX_COMPILER_VERSION}" "GPL-3.0-or-later WITH GCC-exception-3.1" DYNAMIC_LINK)
else()
  tenon_material("LLVM OpenMP" "${CMAKE_CXX_COMPILER_VERSION}" "Apache-2.0 WITH LLVM-exception" DYNAMIC_LINK)
endif()
tenon_material(zlib "${ZLIB_VERSION_STRING}" Zlib DYNAMIC_LINK)
tenon_material("libstdc++" "${libstdcxx_version}" "GPL-3.0-or-later WITH GCC-exception-3.1" DYNAMIC_LINK)
# It comes from the GCC that the library comes from.
tenon_material(libgcc "${libstdcxx_version}" "GPL-3.0-or-later WITH GCC-exception-3.1" DYNAMIC_LINK)
tenon_material("GNU C Library" "${libc_version}" LGPL-2.1-or-later DYNAMIC_LINK)
if(TENON_ONEDNN)
  tenon_material(oneDNN "${DNNL_VERSION}" Apache-2.0 DYNAMIC_LINK)
endif()
if(TENON_ONNX)
  tenon_material(ONNX "${TENON_ONNX_VERSION}" Apache-2.0 DYNAMIC_LINK)
  tenon_material(Protobuf "${Protobuf_VERSION}" BSD-3-Clause DYNAMIC_LINK)
endif()
if(TENON_TOOLS)
  tenon_material(CLI11 "${TENON_CLI11_VERSION}" BSD-3-Clause CONTAINS)
  tenon_material(SQLite "${SQLite3_VERSION}" blessing DYNAMIC_LINK)
  file(STRINGS ${TENON_STB_FOLDER}/stb_image.h line REGEX "stb_image - v" LIMIT_COUNT 1)
  string(REGEX MATCH "[0-9]+\\.[0-9]+" stb_version "${line}")
  tenon_material(stb_image "${stb_version}" "MIT OR Unlicense" CONTAINS)
endif()
if(TARGET tenon_mpi)
  # The module alone is linked with it.
  set(mpi_header ${MPI_CXX_HEADER_DIR}/mpi.h)
  tenon_version_in(mpi_version ${mpi_header} OMPI_MAJOR_VERSION OMPI_MINOR_VERSION OMPI_RELEASE_VERSION)
  if(mpi_version)
    tenon_material("Open MPI" "${mpi_version}" BSD-3-Clause DYNAMIC_LINK)
  else()
    tenon_material(MPI "" NOASSERTION DYNAMIC_LINK)
  endif()
endif()

get_property(TENON_SBOM_PACKAGES GLOBAL PROPERTY TENON_SBOM_PACKAGES)
get_property(TENON_SBOM_RELATIONS GLOBAL PROPERTY TENON_SBOM_RELATIONS)
# Of SOURCE_DATE_EPOCH, where it is set.
string(TIMESTAMP TENON_SBOM_TIME UTC)
set(TENON_SBOM ${PROJECT_BINARY_DIR}/tenon.spdx.json)
configure_file(${PROJECT_SOURCE_DIR}/cmake/tenon.spdx.json.in ${TENON_SBOM} @ONLY)
