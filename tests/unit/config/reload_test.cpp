#include <fmt/format.h>

#include "catch.hpp"
#include "config/flags.hpp"
#include "configurations.hpp"

namespace zonelb::config::test {

TEST_CASE("a reload may change resources") {
  const auto running = read_base_and({});
  const auto reloaded =
      read_base_and({"--zone", "zone-c", "--backend", "service=web,name=web-c1,address=10.0.1.3,zone=zone-c",
                     "--relaxed-limits", "--region", "eu", "--probe-source", "10.0.0.9"});
  CHECK(error_of([&] { require_same_machine(running, reloaded); }).empty());
}

TEST_CASE("the order of ports and how they are written do not matter to a reload") {
  const auto running = read({"--port", "name=0,address=10.0.0.2/16", "--port", "name=1,address=10.1.0.2/16"});
  const auto reloaded =
      read({"--port", "name=1,address=10.1.0.2/16,mtu=1500", "--port", "address=10.0.0.2/16,name=0"});
  CHECK(error_of([&] { require_same_machine(running.config, reloaded.config); }).empty());
}

TEST_CASE("a reload names everything that only a start can change") {
  const auto running = read_base_and({});
  CHECK(
      error_of([&] {
        require_same_machine(running, read_base_and({"--workers=2", "--connections=2M"}));
      }) ==
      "a reload cannot change connections (running: '1000000', asked for: '2000000'), connections6 (running: "
      "'500000', asked for: '1000000'), workers (running: '0', asked for: '2'); restart zonelb to change it");

  const std::vector<Arguments> each{{"--eal=--no-huge"},
                                    {"--workers=2"},
                                    {"--connections6=5k"},
                                    {"--http-listen="},
                                    {"--control-socket=/tmp/z"},
                                    {"--rx-queues=2"},
                                    {"--rx-descriptors=64"},
                                    {"--tx-descriptors=64"},
                                    {"--mbufs=4096"},
                                    {"--port=name=1,address=10.1.0.2/16"}};
  for (const auto& change : each) {
    const auto flag = change[0].substr(2, change[0].find('=') - 2);
    const auto message = error_of([&] { require_same_machine(running, read_base_and(change)); });
    CAPTURE(change[0], message);
    CHECK(message.starts_with("a reload cannot change " + flag + " (running: '"));
  }
}

TEST_CASE("every part of a port is compared") {
  const std::string own = "name=0,address=10.0.0.2/16,address6=2001:db8::2/64";
  const auto running = read({"--port", own}).config;
  for (const auto* more : {",gateway=10.0.0.1", ",gateway6=2001:db8::1",
                           ",gateway=10.0.0.1,gateway-mac=02:00:00:00:00:01", ",vlan=3", ",mtu=9000"}) {
    const auto asked_for = own + more;
    const auto message = error_of([&] { require_same_machine(running, read({"--port", asked_for}).config); });
    const char* mtu = std::string(more).starts_with(",mtu") ? "" : ",mtu=1500";
    CHECK(message == fmt::format("a reload cannot change port (running: '{},mtu=1500', asked for: '{}{}'); "
                                 "restart zonelb to change it",
                                 own, asked_for, mtu));
  }
}

}  // namespace zonelb::config::test
