#include "policy/flow_hash.hpp"

#include <cmath>
#include <map>

#include "catch.hpp"
#include "policy/selection_table.hpp"

using namespace zonelb;
using namespace zonelb::policy;
using config::SessionAffinity;

namespace {

const Tuple base{*net::IpAddress::parse("10.1.0.5"), *net::IpAddress::parse("10.0.0.80"), 40000, 80, 6};

bool depends(SessionAffinity affinity, const Tuple& changed) {
  return flow_hash(affinity, base) != flow_hash(affinity, changed);
}

}  // namespace

TEST_CASE("each affinity option hashes its fields and no others") {
  auto source = base, destination = base, source_port = base, destination_port = base, protocol = base;
  source.source = *net::IpAddress::parse("10.1.0.6");
  destination.destination = *net::IpAddress::parse("10.0.0.81");
  source_port.source_port = 40001;
  destination_port.destination_port = 81;
  protocol.protocol = 17;

  struct Row {
    SessionAffinity affinity;
    bool source, destination, protocol, ports;
  };
  for (const Row& row : {Row{SessionAffinity::none, true, true, true, true},
                         Row{SessionAffinity::client_ip_port_proto, true, true, true, true},
                         Row{SessionAffinity::client_ip_proto, true, true, true, false},
                         Row{SessionAffinity::client_ip, true, true, false, false},
                         Row{SessionAffinity::client_ip_no_destination, true, false, false, false}}) {
    CHECK(depends(row.affinity, source) == row.source);
    CHECK(depends(row.affinity, destination) == row.destination);
    CHECK(depends(row.affinity, protocol) == row.protocol);
    CHECK(depends(row.affinity, source_port) == row.ports);
    CHECK(depends(row.affinity, destination_port) == row.ports);
  }
}

TEST_CASE("the hash is what xxhsum -H3 gives for the 13 bytes, after every restart and release") {
  CHECK(flow_hash(SessionAffinity::none, base) == flow_hash(SessionAffinity::client_ip_port_proto, base));
  CHECK(flow_hash(SessionAffinity::none, base) == 0xb5508b135f820caaULL);
}

TEST_CASE("sequential ports and addresses spread like random ones") {
  const std::vector<std::string> names{"a", "b", "c", "d", "e"};
  std::vector<Contender> contenders;
  for (std::uint16_t i = 0; i < names.size(); ++i) contenders.emplace_back(i, name_hash(names[i]), 1);
  const SelectionTable table(contenders, names.size(), nullptr);
  std::map<std::uint16_t, int> counts;
  for (std::uint32_t address = 0; address < 20; ++address)
    for (std::uint16_t port = 0; port < 1000; ++port) {
      auto tuple = base;
      tuple.source = net::IpAddress::v4(0x0a010000U + address);
      tuple.source_port = static_cast<std::uint16_t>(40000 + port);
      ++counts[table.pick(flow_hash(SessionAffinity::none, tuple))];
    }
  for (const auto& [member, count] : counts) CHECK(std::abs(count / 20000.0 - 0.2) < 0.01);
}
