#include "net/address.hpp"

#include "catch.hpp"
#include "net/prefix.hpp"

using namespace zonelb::net;

TEST_CASE("addresses are read and written in their usual forms") {
  for (const char* text : {"10.0.0.1", "255.255.255.255", "::", "2001:db8::1", "fe80::1"})
    CHECK(IpAddress::parse(text)->to_string() == text);
  for (const char* text : {"", "10.0.0", "10.0.0.256", "10.0.0.1 ", "2001:db8::g", "10.0.0.1/8"})
    CHECK_FALSE(IpAddress::parse(text).has_value());
}

TEST_CASE("endpoints need brackets for IPv6 and a port that fits") {
  CHECK(Endpoint::parse("10.0.0.1:80")->port == 80);
  CHECK(Endpoint::parse("[2001:db8::1]:65535")->to_string() == "[2001:db8::1]:65535");
  for (const char* text :
       {"10.0.0.1", "10.0.0.1:", "10.0.0.1:65536", "2001:db8::1:80", "[10.0.0.1]:80", "10.0.0.1:+80"})
    CHECK_FALSE(Endpoint::parse(text).has_value());
}

TEST_CASE("prefixes refuse host bits and know what they contain") {
  const auto v4 = *Prefix::parse("10.1.0.0/16");
  CHECK(v4.contains(*IpAddress::parse("10.1.255.255")));
  CHECK_FALSE(v4.contains(*IpAddress::parse("10.2.0.0")));
  CHECK_FALSE(v4.contains(*IpAddress::parse("::")));
  CHECK(v4.last() == *IpAddress::parse("10.1.255.255"));
  CHECK(Prefix::parse("2001:db8:1::/47").has_value() == false);
  CHECK(Prefix::parse("2001:db8::/47")->contains(*IpAddress::parse("2001:db8:1:ffff::1")));
  CHECK(Prefix::parse("10.1.0.1/16").has_value() == false);
  CHECK(Prefix::parse("10.1.0.0/33").has_value() == false);
  CHECK(Prefix::parse("0.0.0.0/0")->contains(*IpAddress::parse("1.2.3.4")));
  const auto port = *Prefix::parse_interface("10.0.0.2/16");
  CHECK(port.first.to_string() == "10.0.0.2");
  CHECK(port.second.to_string() == "10.0.0.0/16");
}

TEST_CASE("MAC addresses are read with colons or dashes") {
  CHECK(Mac::parse("02:00:00:00:aB:01")->to_string() == "02:00:00:00:ab:01");
  CHECK(Mac::parse("02-00-00-00-00-01").has_value());
  CHECK_FALSE(Mac::parse("02:00:00:00:00").has_value());
  CHECK_FALSE(Mac::parse("02:00:00:00:00:0g").has_value());
  CHECK(Mac::parse("01:00:5e:00:00:01")->is_group());
}
