#include "lcores.hpp"

#include <atomic>
#include <vector>

#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_pause.h>

namespace zonelb::bench {
namespace {

struct Turn {
  const std::function<void(unsigned)>* work;
  std::atomic<unsigned>* waiting;
  unsigned number;

  static int go(void* argument) {
    const auto& turn = *static_cast<const Turn*>(argument);
    // All start together. acq_rel: nothing else is handed over by it
    turn.waiting->fetch_sub(1, std::memory_order_acq_rel);
    while (turn.waiting->load(std::memory_order_acquire) != 0) rte_pause();
    (*turn.work)(turn.number);
    return 0;
  }
};

}  // namespace

void on_lcores(unsigned count, const std::function<void(unsigned)>& work) {
  std::atomic<unsigned> waiting{count};
  std::vector<Turn> turns;
  for (unsigned i = 0; i < count; ++i) turns.push_back({&work, &waiting, i});
  unsigned lcore = rte_get_main_lcore();
  for (unsigned i = 1; i < count; ++i) {
    lcore = rte_get_next_lcore(lcore, 1, 0);
    rte_eal_remote_launch(Turn::go, &turns[i], lcore);
  }
  Turn::go(turns.data());
  rte_eal_mp_wait_lcore();
}

}  // namespace zonelb::bench
