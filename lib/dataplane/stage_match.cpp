#include "dataplane/stage_match.hpp"

namespace zonelb::dataplane {
namespace {

using packet::DropReason;

std::uint16_t destination_port(const conntrack::FlowKey& key) {
  return net::be16::from_raw(static_cast<std::uint16_t>(key.ports_protocol >> 16)).value();
}

template <class Table, class Words>
void match_family(Context& context, Batch& batch, Selection& flows, const AddressTable& addresses,
                  const Table& table, Words words) {
  const Selection all = flows;
  flows.clear();
  for (const std::uint16_t i : all.positions()) {
    const auto& key = batch.parsed[i].key;
    const LocalAddress* local = addresses.find(words(key));
    if (local == nullptr || !local->is_vip()) [[unlikely]] {
      context.drop(batch.frame[i], DropReason::not_ours);
      continue;
    }
    const auto rule =
        addresses.rule(*local, static_cast<std::uint8_t>(key.ports_protocol >> 32), destination_port(key));
    if (rule == AddressTable::no_rule) [[unlikely]] {
      context.drop(batch.frame[i], DropReason::no_rule);
      continue;
    }
    batch.rule[i] = rule;
    batch.hash[i] = table.hash(key);
    table.prefetch_home(batch.hash[i]);
    flows.add(i);
  }
}

}  // namespace

void match(Context& context, Batch& batch) {
  const Layout& layout = *context.snapshot->layout;
  match_family(context, batch, batch.flows4, layout.local4, context.table4, AddressTable::destination4);
  match_family(context, batch, batch.flows6, layout.local6, context.table6, AddressTable::destination6);
}

}  // namespace zonelb::dataplane
