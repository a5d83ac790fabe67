#include "tenon/loop/function.h"

#include <mutex>

namespace tenon::loop {

struct Body::State {
  std::function<Made()> make;
  std::once_flag is_made;
  Made made{Stmt()};
};

Body::Body(Stmt stmt) : Body(std::move(stmt), nullptr) {}

Body::Body(Stmt stmt, std::shared_ptr<const Source> source)
    : Body([made = Made(std::move(stmt), std::move(source))] { return made; }) {}

Body::Body(std::function<Made()> make) : state_(std::make_shared<State>()) {
  state_->make = std::move(make);
}

const Body::Made& Body::made() const {
  std::call_once(state_->is_made, [&] {
    state_->made = state_->make();
    state_->make = nullptr;
  });
  return state_->made;
}

}  // namespace tenon::loop
