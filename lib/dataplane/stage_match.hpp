#pragma once

#include "dataplane/batch.hpp"

namespace zonelb::dataplane {

namespace detail {

[[gnu::noinline, gnu::cold]] inline bool refuse(Context& context, rte_mbuf* frame,
                                                const LocalAddress* local) {
  const bool vip = local != nullptr && local->is_vip();
  context.drop(frame, vip ? packet::DropReason::no_rule : packet::DropReason::not_ours);
  return false;
}

template <class Table>
bool match(Context& context, Batch& batch, std::uint16_t position, const AddressTable& addresses,
           const LocalAddress* local, const Table& table) {
  const auto& key = batch.parsed[position].key;
  const auto rule = local == nullptr ? AddressTable::no_rule : addresses.rule(*local, key);
  if (rule == AddressTable::no_rule) [[unlikely]]
    return refuse(context, batch.frame[position], local);
  batch.rule[position] = rule;
  batch.hash[position] = table.hash(key);
  table.prefetch_home(batch.hash[position]);
  return true;
}

}  // namespace detail

/// Finds the forwarding rule of the flow over IPv4 at `position`. False: there is none, and the packet is
/// dropped.
inline bool match4(Context& context, Batch& batch, std::uint16_t position) {
  const AddressTable& addresses = context.snapshot->layout->local4;
  return detail::match(context, batch, position, addresses, addresses.find4(batch.parsed[position].key),
                       context.table4);
}

/// The same for IPv6.
inline bool match6(Context& context, Batch& batch, std::uint16_t position) {
  const AddressTable& addresses = context.snapshot->layout->local6;
  return detail::match(context, batch, position, addresses, addresses.find6(batch.parsed[position].key),
                       context.table6);
}

}  // namespace zonelb::dataplane
