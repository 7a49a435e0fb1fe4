#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <rte_mempool.h>

#include "config/config.hpp"
#include "dataplane/snapshot.hpp"

namespace zonelb::dataplane {

/// Queues and buffers a port gets; what is more than it has is cut down, with a line in the log.
struct PortTuning {
  std::uint16_t queues = 1;
  std::uint16_t rx_descriptors = 1024;
  std::uint16_t tx_descriptors = 1024;
};

/// A DPDK port, configured and started. Whatever the driver lacks is done in software and said once.
class Port {
 public:
  /// Throws MachineError: no such port, or the driver refuses.
  /// `eal` are EAL's arguments, to tell a device that was not asked for from one that failed.
  Port(const config::Port& config, const std::vector<std::string>& eal, const PortTuning& tuning,
       rte_mempool* pool);
  ~Port();
  Port(Port&& other) noexcept : id_(other.id_), queues_(other.queues_), view_(other.view_) {
    other.id_ = none;
  }
  Port& operator=(Port&&) = delete;

  [[nodiscard]] std::uint16_t id() const { return id_; }
  /// Receive and transmit queues in use.
  [[nodiscard]] std::uint16_t rx_queues() const { return queues_.rx; }
  [[nodiscard]] std::uint16_t tx_queues() const { return queues_.tx; }
  [[nodiscard]] const PortView& view() const { return view_; }

 private:
  static constexpr std::uint16_t none = 0xffff;
  struct Queues {
    std::uint16_t rx = 1;
    std::uint16_t tx = 1;
  };

  std::uint16_t id_ = none;
  Queues queues_;
  PortView view_;
};

/// Buffers for ports of up to `mtu` bytes. Throws MachineError.
struct PoolFree {
  void operator()(rte_mempool* pool) const { rte_mempool_free(pool); }
};
using Pool = std::unique_ptr<rte_mempool, PoolFree>;
Pool make_pool(std::uint32_t buffers, std::uint16_t mtu);

}  // namespace zonelb::dataplane
