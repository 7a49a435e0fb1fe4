#include "control/debounce.hpp"

#include <utility>

namespace zonelb::control {

Debounce::Debounce(boost::asio::io_context& io, Duration delay, std::function<void()> action)
    : timer_(io), delay_(delay), action_(std::move(action)) {}

void Debounce::request() {
  if (std::exchange(pending_, true)) return;
  timer_.expires_after(delay_);
  timer_.async_wait([this](auto error) {
    // A handler that was on its way when cancel() came finds nothing pending.
    if (!error && std::exchange(pending_, false)) action_();
  });
}

void Debounce::cancel() {
  pending_ = false;
  timer_.cancel();
}

}  // namespace zonelb::control
