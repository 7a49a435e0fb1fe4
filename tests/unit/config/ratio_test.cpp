#include "config/ratio.hpp"

#include "catch.hpp"

namespace zonelb::config::test {

TEST_CASE("ratios compare exactly") {
  CHECK(Ratio::parse("0.7")->reached_by(7, 10));
  CHECK_FALSE(Ratio::parse("0.7")->reached_by(6, 10));
  CHECK(Ratio::parse("0.333333333")->reached_by(1, 3));
  CHECK_FALSE(Ratio::parse("0.333333334")->reached_by(1, 3));
  CHECK(Ratio::parse("1")->reached_by(65535, 65535));
  CHECK_FALSE(Ratio::parse("1.0")->reached_by(65534, 65535));
  CHECK(Ratio().reached_by(0, 1));
}

TEST_CASE("ratios are decimals from 0 to 1") {
  CHECK(Ratio::parse(".25")->to_string() == "0.25");
  CHECK(Ratio::parse("0")->to_string() == "0.0");
  CHECK(Ratio::parse("1.000")->to_string() == "1.0");
  for (const auto* wrong : {"", ".", "1.1", "2", "-0.5", "0.5.5", "1e-1", "50%", "0,5", "0.1234567891"}) {
    CAPTURE(wrong);
    CHECK_FALSE(Ratio::parse(wrong).has_value());
  }
}

}  // namespace zonelb::config::test
