#pragma once

#include <cstdint>

namespace zonelb::health {

/// unknown: no probe has ended yet; forwarding treats it as unhealthy unless told otherwise.
enum class State : std::uint8_t { unknown, healthy, unhealthy };

/// Turns a row of probe results into a state (semantics.md section 8): the first result decides at once,
/// later a state is left after so many consecutive results against it.
class Threshold {
 public:
  Threshold(unsigned healthy, unsigned unhealthy) : healthy_(healthy), unhealthy_(unhealthy) {}

  /// Takes the next result; true when it changed the state.
  bool record(bool passed) {
    const State seen = passed ? State::healthy : State::unhealthy;
    if (seen == state_) {
      against_ = 0;
      return false;
    }
    const unsigned needed = state_ == State::unknown ? 1 : passed ? healthy_ : unhealthy_;
    if (++against_ < needed) return false;
    state_ = seen;
    against_ = 0;
    return true;
  }

  [[nodiscard]] State state() const { return state_; }

 private:
  unsigned healthy_;
  unsigned unhealthy_;
  /// Consecutive results that contradict the state.
  unsigned against_ = 0;
  State state_ = State::unknown;
};

}  // namespace zonelb::health
