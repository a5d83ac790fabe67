#include "tenon/loop/function.h"

#include <mutex>

namespace tenon::loop {

struct Body::State {
  std::function<Stmt()> make;
  std::once_flag made;
  Stmt stmt;
};

Body::Body(Stmt stmt) : Body([made = std::move(stmt)] { return made; }) {}

Body::Body(std::function<Stmt()> make) : state_(std::make_shared<State>()) {
  state_->make = std::move(make);
}

const Stmt& Body::stmt() const {
  std::call_once(state_->made, [&] {
    state_->stmt = state_->make();
    state_->make = nullptr;
  });
  return state_->stmt;
}

}  // namespace tenon::loop
