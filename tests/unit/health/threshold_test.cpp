#include "health/threshold.hpp"

#include "catch.hpp"

using namespace zonelb::health;

TEST_CASE("the first result decides whatever the thresholds") {
  Threshold passed(10, 10);
  CHECK(passed.state() == State::unknown);
  CHECK(passed.record(true));
  CHECK(passed.state() == State::healthy);

  Threshold failed(10, 10);
  CHECK(failed.record(false));
  CHECK(failed.state() == State::unhealthy);
}

TEST_CASE("a state is left after its threshold of consecutive results") {
  Threshold threshold(2, 3);
  threshold.record(true);
  CHECK_FALSE(threshold.record(false));
  CHECK_FALSE(threshold.record(false));
  CHECK(threshold.state() == State::healthy);
  CHECK(threshold.record(false));
  CHECK(threshold.state() == State::unhealthy);

  CHECK_FALSE(threshold.record(true));
  CHECK(threshold.record(true));
  CHECK(threshold.state() == State::healthy);
}

TEST_CASE("one result for the state starts the count against it anew") {
  Threshold threshold(2, 2);
  threshold.record(true);
  for (int i = 0; i < 5; ++i) {
    CHECK_FALSE(threshold.record(false));
    CHECK_FALSE(threshold.record(true));
  }
  CHECK(threshold.state() == State::healthy);
}

TEST_CASE("a threshold of one flips at once") {
  Threshold threshold(1, 1);
  threshold.record(true);
  CHECK(threshold.record(false));
  CHECK(threshold.record(true));
  CHECK(threshold.state() == State::healthy);
}
