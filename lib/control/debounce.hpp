#pragma once

#include <chrono>
#include <functional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

namespace zonelb::control {

/// Does something once for many requests that come close together: `delay` after the first of them.
class Debounce {
 public:
  using Duration = std::chrono::steady_clock::duration;

  Debounce(boost::asio::io_context& io, Duration delay, std::function<void()> action);

  void request();
  /// What has been requested is done already.
  void cancel();
  /// Has something been requested and not yet been done?
  [[nodiscard]] bool pending() const { return pending_; }

 private:
  boost::asio::steady_timer timer_;
  Duration delay_;
  std::function<void()> action_;
  bool pending_ = false;
};

}  // namespace zonelb::control
