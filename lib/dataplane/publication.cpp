#include "dataplane/publication.hpp"

#include <cstdlib>
#include <new>

namespace zonelb::dataplane {

void Publication::Free::operator()(rte_rcu_qsbr* qsbr) const {
  std::free(qsbr);
}

Publication::Publication(unsigned workers) {
  const auto size = rte_rcu_qsbr_get_memsize(workers);
  auto* memory = std::aligned_alloc(RTE_CACHE_LINE_SIZE, (size + RTE_CACHE_LINE_MASK) & ~RTE_CACHE_LINE_MASK);
  if (memory == nullptr) throw std::bad_alloc();
  qsbr_.reset(static_cast<rte_rcu_qsbr*>(memory));
  rte_rcu_qsbr_init(qsbr_.get(), workers);
}

Publication::~Publication() {
  delete current_.load(std::memory_order_relaxed);
}

void Publication::publish(std::unique_ptr<const Snapshot> snapshot) {
  // release: a worker that reads the pointer sees a finished snapshot
  std::unique_ptr<const Snapshot> old(current_.exchange(snapshot.release(), std::memory_order_acq_rel));
  if (old) retired_.push_back({rte_rcu_qsbr_start(qsbr_.get()), std::move(old)});
  reclaim();
}

std::size_t Publication::reclaim() {
  while (!retired_.empty() && rte_rcu_qsbr_check(qsbr_.get(), retired_.front().token, false) == 1)
    retired_.pop_front();
  return retired_.size();
}

void Publication::enter(unsigned worker) {
  rte_rcu_qsbr_thread_register(qsbr_.get(), worker);
  rte_rcu_qsbr_thread_online(qsbr_.get(), worker);
}

void Publication::leave(unsigned worker) {
  rte_rcu_qsbr_thread_offline(qsbr_.get(), worker);
  rte_rcu_qsbr_thread_unregister(qsbr_.get(), worker);
}

}  // namespace zonelb::dataplane
