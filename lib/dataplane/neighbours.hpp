#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "dataplane/messages.hpp"

namespace zonelb::dataplane {

/// A next hop: an address on the network of one of our ports.
struct NeighbourKey {
  std::uint16_t port = 0;
  net::IpAddress address;
  friend auto operator<=>(const NeighbourKey&, const NeighbourKey&) = default;
};

/// Who has which MAC address, for the next hops we need and no others (RFC 826, RFC 4861 section 7.3): asked
/// at once and again until answered, confirmed every half minute, forgotten when nobody answers. Runs on the
/// main core.
class Neighbours {
 public:
  using Clock = std::chrono::steady_clock;
  /// Sends a question: to everybody, or to the station that last had the address.
  using Ask = std::function<void(const NeighbourKey&, const std::optional<net::Mac>& last_known)>;

  static constexpr auto retransmit = std::chrono::seconds(1);
  static constexpr auto reachable_time = std::chrono::seconds(30);
  static constexpr unsigned unicast_attempts = 3;
  /// Questions in a row after which we ask at a slower pace.
  static constexpr unsigned fast_attempts = 10;
  static constexpr auto slow_retransmit = std::chrono::seconds(5);

  explicit Neighbours(Ask ask) : ask_(std::move(ask)) {}

  /// These are needed from now on; what is known of them stays.
  void need(const std::set<NeighbourKey>& keys, Clock::time_point now);
  /// Asks what is due. Returns whose MAC address has been given up.
  std::vector<NeighbourKey> tick(Clock::time_point now);
  /// True: a MAC address is new or another.
  bool hear(const NeighbourReport& report, Clock::time_point now);

  [[nodiscard]] std::optional<net::Mac> find(const NeighbourKey& key) const;
  [[nodiscard]] std::size_t unresolved() const;
  /// How often any answer of find() has changed: equal numbers, equal answers.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }
  /// Visits (key, mac or nullopt).
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& [key, neighbour] : neighbours_) visit(key, neighbour.mac);
  }

 private:
  struct Neighbour {
    std::optional<net::Mac> mac;
    unsigned attempts = 0;
    Clock::time_point due;
  };

  bool ask(const NeighbourKey& key, Neighbour& neighbour, Clock::time_point now);
  static void confirm(Neighbour& neighbour, Clock::time_point now);

  Ask ask_;
  std::uint64_t changes_ = 0;
  std::map<NeighbourKey, Neighbour> neighbours_;
};

}  // namespace zonelb::dataplane
