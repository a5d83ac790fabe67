// Intrusive reference counting for immutable nodes.
//
// A node derives from RefCounted and is held by Ref<T>, a value handle. Counting is atomic, so
// handles to the same node may be copied and dropped on any thread. Destruction is iterative:
// dropping the last handle to a chain of any length uses constant stack.
//
//   struct Leaf : RefCounted { int value; };
//   Ref<const Leaf> leaf = MakeRef<Leaf>();
#ifndef TENON_SUPPORT_REF_H_
#define TENON_SUPPORT_REF_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

namespace tenon {

class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) noexcept {}
  RefCounted& operator=(const RefCounted&) noexcept { return *this; }
  virtual ~RefCounted() = default;

  void AddRef() const { count_.fetch_add(1, std::memory_order_relaxed); }
  // Drops one reference; the last one destroys the node.
  void Release() const {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) Destroy(this);
  }
  // True when exactly one handle refers to this node.
  bool unique() const { return count_.load(std::memory_order_acquire) == 1; }

 private:
  static void Destroy(const RefCounted* node);
  mutable std::atomic<std::size_t> count_{0};
};

// A counted handle to a T; may be null. Comparison is by identity.
template <typename T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  explicit Ref(T* node) : node_(node) {
    if (node_ != nullptr) node_->AddRef();
  }
  Ref(const Ref& other) : Ref(other.node_) {}
  Ref(Ref&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  template <typename U, typename = std::enable_if_t<std::is_convertible_v<U*, T*>>>
  Ref(const Ref<U>& other) : Ref(other.get()) {}
  ~Ref() {
    if (node_ != nullptr) node_->Release();
  }
  Ref& operator=(Ref other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }

  T* get() const { return node_; }
  T* operator->() const { return node_; }
  T& operator*() const { return *node_; }
  explicit operator bool() const { return node_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) { return a.node_ == b.node_; }

 private:
  T* node_ = nullptr;
};

template <typename T, typename... Args>
Ref<T> MakeRef(Args&&... args) {
  return Ref<T>(new T(std::forward<Args>(args)...));
}

}  // namespace tenon

template <typename T>
struct std::hash<tenon::Ref<T>> {
  std::size_t operator()(const tenon::Ref<T>& ref) const noexcept {
    return std::hash<const void*>()(ref.get());
  }
};

#endif  // TENON_SUPPORT_REF_H_
