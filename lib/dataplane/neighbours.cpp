#include "dataplane/neighbours.hpp"

#include <algorithm>

namespace zonelb::dataplane {

void Neighbours::need(const std::set<NeighbourKey>& keys, Clock::time_point now) {
  ++changes_;
  std::erase_if(neighbours_, [&](const auto& item) { return !keys.contains(item.first); });
  for (const auto& key : keys) {
    const auto [item, is_new] = neighbours_.try_emplace(key);
    if (is_new) ask(item->first, item->second, now);
  }
}

bool Neighbours::ask(const NeighbourKey& key, Neighbour& neighbour, Clock::time_point now) {
  const bool given_up = neighbour.mac && neighbour.attempts >= unicast_attempts;
  if (given_up) {
    neighbour.mac.reset();
    ++changes_;
    neighbour.attempts = 0;
  }
  ask_(key, neighbour.mac);
  ++neighbour.attempts;
  neighbour.due = now + (neighbour.attempts < fast_attempts ? Clock::duration(retransmit)
                                                            : Clock::duration(slow_retransmit));
  return given_up;
}

std::vector<NeighbourKey> Neighbours::tick(Clock::time_point now) {
  std::vector<NeighbourKey> given_up;
  for (auto& [key, neighbour] : neighbours_)
    if (neighbour.due <= now && ask(key, neighbour, now)) given_up.push_back(key);
  return given_up;
}

void Neighbours::confirm(Neighbour& neighbour, Clock::time_point now) {
  neighbour.attempts = 0;
  neighbour.due = now + reachable_time;
}

bool Neighbours::hear(const NeighbourReport& report, Clock::time_point now) {
  const auto found = neighbours_.find({report.port, report.address});
  if (found == neighbours_.end()) return false;
  Neighbour& neighbour = found->second;
  if (report.only_confirms) {
    if (neighbour.mac) confirm(neighbour, now);
    return false;
  }
  const bool changed = neighbour.mac != report.mac;
  // RFC 4861 7.2.5: without the override flag a known address is put in doubt, not replaced.
  if (changed && neighbour.mac && !report.overrides) {
    neighbour.due = now;
    return false;
  }
  neighbour.mac = report.mac;
  if (changed) ++changes_;
  if (changed || report.solicited) confirm(neighbour, now);
  return changed;
}

std::optional<net::Mac> Neighbours::find(const NeighbourKey& key) const {
  const auto found = neighbours_.find(key);
  return found == neighbours_.end() ? std::nullopt : found->second.mac;
}

std::size_t Neighbours::unresolved() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(neighbours_, [](const auto& item) { return !item.second.mac; }));
}

}  // namespace zonelb::dataplane
