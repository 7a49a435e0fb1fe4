#include <algorithm>

#include "config/keys.hpp"

namespace zonelb::config {

namespace {

/// "80" or "8000-8100".
std::optional<PortRange> parse_range(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = parse_number(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_number(text.substr(dash + 1));
  if (!first || !last || *first < 1 || *first > *last || *last > 65535) return std::nullopt;
  return PortRange{static_cast<std::uint16_t>(*first), static_cast<std::uint16_t>(*last)};
}

std::string show_range(const PortRange& range) {
  return range.first == range.last ? fmt::format("{}", range.first)
                                   : fmt::format("{}-{}", range.first, range.last);
}

Key<ForwardingRule> ports_key() {
  static constexpr std::string_view accepted =
      "all, or ports and ranges from 1 to 65535 such as [80,8000-8100]";
  Key<ForwardingRule> result;
  result.name = "ports";
  result.accepted = accepted;
  result.description =
      "Destination ports. A rule with ports wins over one with all ports of the same address.";
  result.read = [](ForwardingRule& rule, const Item& item) -> std::optional<Refusal> {
    if (item.values.size() == 1 && normalised(item.values.front()) == "ALL") return std::nullopt;
    for (const auto& text : item.values) {
      const auto range = parse_range(text);
      if (!range) return refusal("ports", text, accepted, {}, {});
      rule.ports.push_back(*range);
    }
    std::sort(rule.ports.begin(), rule.ports.end(),
              [](const PortRange& a, const PortRange& b) { return a.first < b.first; });
    for (std::size_t i = 1; i < rule.ports.size(); ++i)
      if (rule.ports[i].first <= rule.ports[i - 1].last)
        return Refusal{fmt::format("ports '{}': {} and {} overlap", item.text(),
                                   show_range(rule.ports[i - 1]), show_range(rule.ports[i]))};
    return std::nullopt;
  };
  result.show = [](const ForwardingRule& rule) -> std::string {
    Words words;
    for (const auto& range : rule.ports) words.push_back(show_range(range));
    return words.empty() ? "all" : fmt::format("[{}]", fmt::join(words, ","));
  };
  return result;
}

}  // namespace

const KeyTable<Backend>& backend_keys() {
  using B = Backend;
  static const KeyTable<B> table{
      .flag = "backend",
      .identity = "name",
      .keys = {
          required(list_key("service", &B::services, name(), "The backend services it belongs to.")),
          required(
              key<B>("name", &B::name, name(), "Its name; it decides which connections the backend gets.")),
          required(key<B>("address", &B::address, address(), "Its own address.")),
          required(key<B>("zone", &B::zone, name(), "Its zone, which a --zone or --client-network names.")),
          key<B>("failover", &B::failover, boolean(), "A failover backend instead of a primary."),
          key<B>("weight", &B::weight, number<std::uint32_t>(0, 1'000'000),
                 "Its share of new connections, in proportion; 0: none while others have a weight."),
          key<B>("drain", &B::drain, boolean(),
                 "No new connections; tracked ones go on until the drain ends."),
          defaulting_to("resolved by ARP or ND",
                        key<B>("mac", &B::mac, mac(), "Ethernet address frames for it are sent to.")),
          defaulting_to(default_vxlan_inner_mac.to_string(),
                        key<B>("inner-mac", &B::inner_mac, mac(),
                               "Destination of the inner Ethernet header, with forwarding=VXLAN.")),
          later_key<B>("group", "Proxy mode: the backend group it belongs to.")}};
  return table;
}

const KeyTable<ForwardingRule>& forwarding_rule_keys() {
  using R = ForwardingRule;
  static const KeyTable<R> table{
      .flag = "forwarding-rule",
      .identity = "name",
      .keys = {
          required(key<R>("name", &R::name, name(), "Its name in metrics and explain.")),
          required(key<R>("address", &R::address, address(), "The virtual address clients connect to.")),
          required(key<R>("protocol", &R::protocol,
                          choice<Protocol>({{"TCP", Protocol::tcp}, {"UDP", Protocol::udp}}, {"L3_DEFAULT"}),
                          "Protocol of the connections.")),
          required(ports_key()),
          required(key<R>("backend-service", &R::backend_service, name(), "Where its connections go.")),
          key<R>("allow-global-access", &R::allow_global_access, boolean(),
                 "Also serve clients of other regions."),
          key<R>("published", &R::published, boolean(), "The rule is offered through a published endpoint."),
          fixed_key<R>("next-hop", "false", {"true"}, "Balance whatever is routed here.")}};
  return table;
}

}  // namespace zonelb::config
