// The only place that knows ORC. It links object files into this process and takes them out again.
//
// A session serves any number of threads. A LinkedObject keeps its session alive and gives the
// memory of its code back when it dies; its addresses are valid until then. The object may refer to
// libm, libmvec, memcpy and its kin, Tenon's parallel runtime, and whatever else the process
// exports.
//
//   std::shared_ptr<OrcSession> session = OrcSession::Shared();
//   std::unique_ptr<LinkedObject> code = session->Link(object_bytes);
//   auto* vadd = code->Address("vadd");
#ifndef TENON_JIT_OBJECT_ORC_SESSION_H_
#define TENON_JIT_OBJECT_ORC_SESSION_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace tenon::jit {

using SymbolAddresses = std::map<std::string, const void*>;

class LinkedObject {
 public:
  virtual ~LinkedObject() = default;
  // Throws NotFound when the object does not define `symbol`.
  virtual void* Address(const std::string& symbol) const = 0;
};

class OrcSession : public std::enable_shared_from_this<OrcSession> {
 public:
  // The session that kernels use unless they are given another one, made at first use. Throws when
  // this process cannot run made code.
  static std::shared_ptr<OrcSession> Shared();
  static std::shared_ptr<OrcSession> Create();
  virtual ~OrcSession() = default;

  // Links one relocatable object; `definitions` are symbols that it alone sees. Throws Error with
  // the linker's words when that fails.
  virtual std::unique_ptr<LinkedObject> Link(std::string_view object,
                                             const SymbolAddresses& definitions = {}) = 0;
  // Whether an object may refer to `symbol` without defining it.
  virtual bool Knows(const std::string& symbol) = 0;
};

}  // namespace tenon::jit

#endif  // TENON_JIT_OBJECT_ORC_SESSION_H_
