#pragma once

#include <type_traits>

#include "dataplane/batch.hpp"

namespace zonelb::dataplane {

/// Flows of one family → forwarding rule and hash; the table's memory is sent for. For one batch.
template <class Table>
class Matcher {
 public:
  Matcher(Context& context, Batch& batch, const Table& table)
      : context_(context), batch_(batch), table_(table), addresses_(addresses(*context.snapshot->layout)) {}

  /// Finds the rule of the flow at `position` with this key. False: there is none, and the packet is dropped.
  bool match(std::uint16_t position, const conntrack::FlowKey& key) {
    const LocalAddress* local = find(key);
    const auto hash = table_.hash(key);
    const auto rule = local == nullptr ? AddressTable::no_rule : addresses_.rule(*local, key);
    if (rule == AddressTable::no_rule) [[unlikely]]
      return refuse(context_, batch_.frame[position], local);
    const auto home = table_.home(hash);
    prefetches_.add(home);
    batch_.rule[position] = rule;
    batch_.hash[position] = hash;
    batch_.home[position] = home;
    return true;
  }

 private:
  static constexpr bool ipv4 = std::is_same_v<Table, conntrack::Table4>;

  static const AddressTable& addresses(const Layout& layout) { return ipv4 ? layout.local4 : layout.local6; }

  [[nodiscard]] const LocalAddress* find(const conntrack::FlowKey& key) const {
    return ipv4 ? addresses_.find4(key) : addresses_.find6(key);
  }

  [[gnu::noinline, gnu::cold]] static bool refuse(Context& context, rte_mbuf* frame,
                                                  const LocalAddress* local) {
    const bool vip = local != nullptr && local->is_vip();
    context.drop(frame, vip ? packet::DropReason::no_rule : packet::DropReason::not_ours);
    return false;
  }

  Context& context_;
  Batch& batch_;
  const Table& table_;
  const AddressTable& addresses_;
  conntrack::GroupedPrefetch prefetches_;
};

}  // namespace zonelb::dataplane
