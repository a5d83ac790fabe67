# Writes OUTPUT: the hash of SOURCES as C++, so that objects which another code generator made are
# never taken from a cache. Run by the build whenever a source changes.
set(all "")
foreach(source IN LISTS SOURCES)
  file(SHA256 ${source} hash)
  string(APPEND all ${hash})
endforeach()
string(SHA256 fingerprint "${all}")
file(WRITE ${OUTPUT} "#include \"tenon/jit/object_key.h\"

namespace tenon::jit {

const char* CodegenFingerprint() { return \"${fingerprint}\"; }

}  // namespace tenon::jit
")
