#pragma once

#include <cstdint>
#include <vector>

#include "options.hpp"

namespace zonelb::bench {

/// Numbered TCP connections of clients in all zones to all services, and the frames that belong to them.
class Flows {
 public:
  explicit Flows(const Options& options);

  /// Writes the frame of flow `number` (any) with TCP `flags`: a client's packet in full, so that nothing of
  /// an earlier packet is left. Returns its length.
  std::uint32_t write(std::uint8_t* frame, std::uint64_t number, std::uint8_t flags) const;

 private:
  std::uint32_t write4(std::uint8_t* frame, std::uint64_t number, std::uint8_t flags) const;
  std::uint32_t write6(std::uint8_t* frame, std::uint64_t number, std::uint8_t flags) const;

  bool ipv6_;
  unsigned zones_;
  std::vector<net::IpAddress> destinations_;
  std::vector<std::uint8_t> template_;
};

}  // namespace zonelb::bench
