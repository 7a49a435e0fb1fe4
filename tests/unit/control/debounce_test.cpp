#include "control/debounce.hpp"

#include "catch.hpp"

using namespace zonelb::control;

namespace {

struct Fixture {
  boost::asio::io_context io{1};
  int done = 0;
  Debounce debounce{io, std::chrono::milliseconds(1), [this] { ++done; }};

  /// Until nothing is left to do.
  void run() {
    io.restart();
    io.run();
  }
};

}  // namespace

TEST_CASE("a hundred requests at once are answered once, later ones again") {
  Fixture f;
  CHECK_FALSE(f.debounce.pending());
  for (int i = 0; i < 100; ++i) f.debounce.request();
  CHECK(f.done == 0);
  CHECK(f.debounce.pending());
  f.run();
  CHECK(f.done == 1);
  CHECK_FALSE(f.debounce.pending());
  f.debounce.request();
  f.run();
  CHECK(f.done == 2);
}

TEST_CASE("what is done already is not done again, and the next request is heard") {
  Fixture f;
  f.debounce.request();
  f.debounce.cancel();
  f.run();
  CHECK(f.done == 0);
  f.debounce.request();
  f.run();
  CHECK(f.done == 1);
}
