#pragma once

#include <memory>
#include <span>
#include <vector>

#include "config/config.hpp"
#include "conntrack/table.hpp"
#include "dataplane/messages.hpp"
#include "dataplane/port.hpp"
#include "dataplane/publication.hpp"
#include "dataplane/worker.hpp"

namespace zonelb::dataplane {

/// All that forwards: ports, connection tables, workers on their lcores. EAL must be up.
class Engine {
 public:
  /// Opens ports and makes tables. Throws MachineError.
  explicit Engine(const config::Machine& machine);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Starts the workers. A snapshot must have been published.
  void start();
  /// Stops the workers; frames in hand are sent.
  void stop();

  [[nodiscard]] Publication& publication() { return *publication_; }
  [[nodiscard]] const std::vector<Port>& ports() const { return ports_; }
  [[nodiscard]] unsigned workers() const { return worker_count_; }
  [[nodiscard]] const WorkerCounters& counters(unsigned worker) const { return *counters_[worker]; }
  [[nodiscard]] const conntrack::Table4& table4() const { return *table4_; }
  [[nodiscard]] const conntrack::Table6& table6() const { return *table6_; }

  /// Sends a frame of the main core's own by a port (position in ports()). False: no buffer or ring full.
  bool send(std::uint16_t port, std::span<const std::uint8_t> frame);
  /// Next thing a worker has heard; false when there is none.
  bool receive(NeighbourReport& report) { return reports_->receive(report); }

 private:
  struct RingFree {
    void operator()(rte_ring* ring) const { rte_ring_free(ring); }
  };
  using Ring = std::unique_ptr<rte_ring, RingFree>;

  void open_ports(const config::Machine& machine, std::size_t lcores);
  void make_tables(const config::Machine& machine);
  void make_workers();
  [[nodiscard]] Worker::Wiring wiring(unsigned worker) const;

  Pool pool_;
  std::vector<Port> ports_;
  std::vector<unsigned> lcores_;
  unsigned worker_count_ = 0;
  std::unique_ptr<conntrack::Table4> table4_;
  std::unique_ptr<conntrack::Table6> table6_;
  Ring report_ring_;
  std::unique_ptr<NeighbourReports> reports_;
  /// By port: frames for worker 0 to send.
  std::vector<Ring> handoff_;
  std::unique_ptr<Publication> publication_;
  std::vector<std::unique_ptr<WorkerCounters>> counters_;
  std::vector<std::unique_ptr<Transmit>> transmits_;
  std::vector<std::unique_ptr<Worker>> workers_;
  bool running_ = false;
};

}  // namespace zonelb::dataplane
