#include <atomic>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "dataplane/publication.hpp"

using namespace zonelb::dataplane;

namespace {

std::unique_ptr<Snapshot> numbered(std::uint64_t generation) {
  auto snapshot = std::make_unique<Snapshot>();
  snapshot->generation = generation;
  // What a reader can check: all of a snapshot is of one make.
  std::vector<Target> targets(64);
  for (auto& target : targets) target.idle_timeout = static_cast<std::uint32_t>(generation);
  snapshot->targets = Targets(targets);
  return snapshot;
}

}  // namespace

TEST_CASE("workers read whole snapshots, in order, while they are swapped and freed") {
  constexpr unsigned workers = 4;
  constexpr std::uint64_t swaps = 2000;
  Publication publication(workers);
  publication.publish(numbered(1));
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> torn{0}, backwards{0};
  std::vector<std::thread> running;
  for (unsigned worker = 0; worker < workers; ++worker) {
    running.emplace_back([&, worker] {
      publication.enter(worker);
      std::uint64_t last = 0;
      while (!done.load(std::memory_order_relaxed)) {
        const Snapshot& snapshot = *publication.current();
        if (snapshot.generation < last) ++backwards;
        last = snapshot.generation;
        for (TargetId id = 0; id < snapshot.targets.size(); ++id)
          if (snapshot.targets[id].idle_timeout != snapshot.generation) ++torn;
        publication.quiescent(worker);
        std::this_thread::yield();
      }
      publication.leave(worker);
    });
  }
  for (std::uint64_t generation = 2; generation < swaps; ++generation) {
    publication.publish(numbered(generation));
    std::this_thread::yield();
  }
  done.store(true, std::memory_order_relaxed);
  for (auto& thread : running) thread.join();
  CHECK(torn == 0);
  CHECK(backwards == 0);
  CHECK(publication.reclaim() == 0);
}
