#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>

#include <rte_rcu_qsbr.h>

#include "dataplane/snapshot.hpp"

namespace zonelb::dataplane {

/// The current snapshot, and the old ones that some worker may still read (read-copy-update by rte_rcu_qsbr).
/// One thread publishes; workers read between two calls of quiescent().
class Publication {
 public:
  explicit Publication(unsigned workers);
  ~Publication();
  Publication(const Publication&) = delete;
  Publication& operator=(const Publication&) = delete;

  /// Null until the first publish().
  [[nodiscard]] const Snapshot* current() const {
    // acquire: the snapshot's contents come with its pointer
    return current_.load(std::memory_order_acquire);
  }

  void publish(std::unique_ptr<const Snapshot> snapshot);
  /// Frees snapshots that no worker reads any more; returns how many still wait.
  std::size_t reclaim();

  void enter(unsigned worker);
  /// The worker holds no pointer from current().
  void quiescent(unsigned worker) { rte_rcu_qsbr_quiescent(qsbr_.get(), worker); }
  void leave(unsigned worker);

 private:
  struct Retired {
    std::uint64_t token;
    std::unique_ptr<const Snapshot> snapshot;
  };
  struct Free {
    void operator()(rte_rcu_qsbr* qsbr) const;
  };

  std::atomic<const Snapshot*> current_{nullptr};
  std::unique_ptr<rte_rcu_qsbr, Free> qsbr_;
  std::deque<Retired> retired_;
};

}  // namespace zonelb::dataplane
