#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "conntrack/entry.hpp"
#include "dataplane/address_table.hpp"
#include "dataplane/counters.hpp"
#include "dataplane/targets.hpp"
#include "packet/encapsulation.hpp"
#include "packet/plain_parser.hpp"
#include "policy/flow_hash.hpp"
#include "policy/plan.hpp"
#include "policy/zone_map.hpp"

namespace zonelb::dataplane {

/// A forwarding rule; its name is in layout->rule_names.
struct Rule {
  std::uint16_t service = 0;
  bool allow_global_access = false;
  /// First of members × zones flow counters in the counter block.
  std::uint32_t first_flow = 0;
};

/// What metrics call a member of a service.
struct MemberLabel {
  std::string backend;
  std::string zone;
};

/// A service as workers see it.
struct Service {
  std::string name;
  config::SessionAffinity affinity = config::SessionAffinity::none;
  /// By position: the members of the plan, then those that have left and still drain.
  std::vector<TargetId> targets;
  std::vector<MemberLabel> members;
  /// First of members × zones × choices counters in the counter block.
  std::uint32_t first_choice = 0;
};

/// One of our ports, as the packet path needs it.
struct PortView {
  net::Mac mac;
  std::uint16_t mtu = 1500;
  std::uint16_t vlan = packet::no_vlan;
  /// Sources of what we send ourselves.
  std::optional<net::IpAddress> v4;
  std::optional<net::IpAddress> v6;
};

/// What only a reload changes.
struct Layout {
  AddressTable local4;
  AddressTable local6;
  std::vector<Rule> rules;
  std::vector<std::string> rule_names;
  std::vector<Service> services;
  std::vector<PortView> ports;
  /// One for each port, made ahead: for each batch that would cost as much as the parsing of three packets.
  std::vector<packet::PlainParser> parsers;
  policy::ZoneMap zones;
  std::vector<packet::Encapsulation> encapsulations;
  CounterBlock::Size counter_size;
};

/// Everything a worker needs to decide; immutable, replaced as a whole.
struct Snapshot {
  std::uint64_t generation = 0;
  std::shared_ptr<const Layout> layout;
  std::shared_ptr<CounterBlock> counters;
  /// By service, as in layout->services; null: the service waits for its first round of probes.
  std::vector<std::shared_ptr<const policy::ServicePlan>> plans;
  Targets targets;

  [[nodiscard]] std::size_t zone_count() const { return layout->zones.zone_count(); }
};

}  // namespace zonelb::dataplane
