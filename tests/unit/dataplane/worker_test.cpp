#include "dataplane/worker.hpp"

#include "catch.hpp"
#include "ring_lab.hpp"

using namespace zonelb;
using namespace zonelb::dataplane;
using namespace zonelb::dataplane::testing;
using packet::DropReason;

namespace {

constexpr unsigned frames = 40;

void receive_syns(RingPort& ring) {
  for (std::uint16_t i = 0; i < frames; ++i) ring.receive_syn(static_cast<std::uint16_t>(20'000 + i));
}

}  // namespace

TEST_CASE("frames go out, and their buffers with them") {
  need_eal();
  RingPort ring(64);
  {
    const RunningWorker worker(ring, snapshot_for(ring, ""));
    receive_syns(ring);
    CHECK(comes_true([&] { return worker.transmitted() == frames; }));
  }
  CHECK(ring.sent() == frames);
  CHECK(ring.lost() == 0);
}

TEST_CASE("what a port does not take is dropped as tx_full") {
  need_eal();
  RingPort ring(16);
  {
    const RunningWorker worker(ring, snapshot_for(ring, ""));
    receive_syns(ring);
    CHECK(comes_true([&] { return worker.dropped(DropReason::tx_full) == frames - 16; }));
    CHECK(worker.transmitted() == 16);
  }
  CHECK(ring.sent() == 16);
  CHECK(ring.lost() == 0);
}

TEST_CASE("what the worker that sends for us does not take is dropped as ring_full") {
  need_eal();
  RingPort ring(64);
  const auto handoff = make_ring(8);
  {
    const RunningWorker worker(ring, snapshot_for(ring, ""), handoff.get());
    receive_syns(ring);
    CHECK(comes_true([&] { return worker.dropped(DropReason::ring_full) == frames - 8; }));
  }
  CHECK(rte_ring_count(handoff.get()) == 8);
  CHECK(ring.sent() == 0);
  CHECK(ring.lost() == 8);
  void* frame = nullptr;
  while (rte_ring_dequeue(handoff.get(), &frame) == 0) rte_pktmbuf_free(static_cast<rte_mbuf*>(frame));
}

TEST_CASE("a buffer without room for the outer headers is dropped as no_buffer") {
  need_eal();
  RingPort ring(64);
  {
    const RunningWorker worker(ring, snapshot_for(ring, ",forwarding=IPIP"));
    ring.receive_syn(20'000, 19);
    CHECK(comes_true([&] { return worker.dropped(DropReason::no_buffer) == 1; }));
    ring.receive_syn(20'001, 20);
    CHECK(comes_true([&] { return worker.transmitted() == 1; }));
  }
  CHECK(ring.sent() == 1);
  CHECK(ring.lost() == 0);
}

TEST_CASE("without a port that leads to the backend a packet is dropped as no_route") {
  need_eal();
  RingPort ring(64);
  {
    const RunningWorker worker(ring, snapshot_for(ring, "", [](Snapshot& snapshot) {
                                 Target nowhere = snapshot.targets[0];
                                 nowhere.port = Target::no_port;
                                 nowhere.resolved = false;
                                 snapshot.targets = Targets({&nowhere, 1});
                               }));
    ring.receive_syn(20'000);
    CHECK(comes_true([&] { return worker.dropped(DropReason::no_route) == 1; }));
  }
  CHECK(ring.sent() == 0);
  CHECK(ring.lost() == 0);
}

TEST_CASE("a tag that the NIC has taken off is on the frame that leaves, for known connections too") {
  need_eal();
  RingPort ring(64);
  const RunningWorker worker(ring, snapshot_for(ring, ""));
  for (unsigned packet = 0; packet < 3; ++packet) {
    ring.receive_syn(20'000, RTE_PKTMBUF_HEADROOM, 7);
    CHECK(comes_true([&] { return ring.sent() == 1; }));
    const auto frame = ring.take();
    REQUIRE(frame.size() == 58);
    CHECK(std::vector<std::uint8_t>(frame.begin() + 12, frame.begin() + 18) ==
          packet::testing::bytes({"8100", "0007", "0800"}));
  }
}
