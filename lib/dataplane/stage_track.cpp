#include "dataplane/stage_track.hpp"

#include <optional>

namespace zonelb::dataplane {
namespace {

using conntrack::Entry;
using conntrack::State;
using packet::DropReason;

/// Races with other workers over one connection that we take part in before we forward without an entry.
constexpr unsigned max_rounds = 4;

/// One flow of the batch.
struct Flow {
  const packet::Parsed& parsed;
  const Rule& rule;
  std::uint64_t hash;

  [[nodiscard]] bool tcp() const { return parsed.key.ports_protocol >> 32 == packet::ip_protocol::tcp; }
  [[nodiscard]] bool opens() const { return tcp() && conntrack::opens_connection(parsed.tcp_flags); }
};

Flow flow_at(const Context& context, const Batch& batch, std::uint16_t i) {
  return {batch.parsed[i], context.snapshot->layout->rules[batch.rule[i]], batch.hash[i]};
}

conntrack::Patience& patience(Context& context, const conntrack::Table4&) {
  return context.patience4;
}
conntrack::Patience& patience(Context& context, const conntrack::Table6&) {
  return context.patience6;
}

std::span<const std::uint8_t> addresses_of(const packet::Parsed& parsed) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(parsed.key.addresses.data());
  return {bytes, parsed.kind == packet::Kind::flow4 ? std::size_t{8} : std::size_t{32}};
}

policy::ClientClass client_of(const policy::ZoneMap& zones, const packet::Parsed& parsed) {
  const auto addresses = addresses_of(parsed);
  if (parsed.kind == packet::Kind::flow4)
    return zones.find4(net::be32::from_raw(static_cast<std::uint32_t>(parsed.key.addresses[0])));
  net::IpAddress::Bytes source;
  std::memcpy(source.data(), addresses.data(), source.size());
  return zones.find(net::IpAddress::v6(source));
}

std::uint64_t flow_hash(config::SessionAffinity affinity, const packet::Parsed& parsed) {
  const auto& key = parsed.key;
  return policy::flow_hash(affinity, addresses_of(parsed),
                           static_cast<std::uint8_t>(key.ports_protocol >> 32),
                           static_cast<std::uint32_t>(key.ports_protocol));
}

/// Where the plan sends a new connection.
struct Placement {
  Entry entry;
  policy::Choice choice = policy::Choice::off;
};

/// A new connection's backend, or why it gets none.
std::optional<DropReason> place(const Context& context, const Flow& flow, Placement& placement) {
  const Snapshot& snapshot = *context.snapshot;
  if (!snapshot.plans[flow.rule.service]) return DropReason::starting;
  const Service& service = snapshot.layout->services[flow.rule.service];
  const auto client = client_of(snapshot.layout->zones, flow.parsed);
  if (client.other_region && !flow.rule.allow_global_access) return DropReason::other_region;
  const auto& plan = snapshot.plans[flow.rule.service]->by_zone[client.zone];
  if (!plan.table) return DropReason::no_backend;
  const TargetId target = service.targets[plan.table->pick(flow_hash(service.affinity, flow.parsed))];
  placement.entry = {target, snapshot.targets[target].epoch[flow.tcp() ? 1 : 0], client.zone,
                     conntrack::first_state(flow.parsed.tcp_flags)};
  placement.choice = plan.choice;
  return std::nullopt;
}

void count_ended(Context& context, const Entry& entry) {
  if (entry.target < context.block->ended.size()) context.block->ended[entry.target].add(1);
}

void count_placed(Context& context, const Flow& flow, const Placement& placement) {
  const Snapshot& snapshot = *context.snapshot;
  const Service& service = snapshot.layout->services[flow.rule.service];
  const std::size_t member = snapshot.targets[placement.entry.target].member;
  const std::size_t index =
      (member * snapshot.zone_count() + placement.entry.client_zone) * policy::choice_count +
      static_cast<std::size_t>(placement.choice);
  context.block->choices[service.first_choice + index].add(1);
}

/// Is it still for the entry's backend to serve this flow? A SYN after the handshake, and an entry whose
/// connection was ended, ask for a new placement.
bool still_serves(const Context& context, const Flow& flow, const Entry& entry) {
  return entry.state != State::removed && standing(*context.snapshot, entry, flow.tcp()) == Standing::live &&
         context.snapshot->targets[entry.target].service == flow.rule.service &&
         !(flow.opens() && entry.state != State::syn);
}

/// Does this packet belong to the connection in `slot`? Then its state and time are brought up to date.
template <class Table>
bool keeps(const Context& context, const Flow& flow, typename Table::Slot& slot) {
  for (unsigned round = 0; round < max_rounds; ++round) {
    Entry entry = slot.entry();
    if (!still_serves(context, flow, entry)) return false;
    const State next = conntrack::next_state(entry.state, flow.parsed.tcp_flags);
    // An entry on the move keeps its backend; its state can wait for the next packet.
    if (next != entry.state && !slot.packed.frozen()) {
      entry.state = next;
      if (!Table::replace(slot, entry)) continue;
    }
    Table::touch(slot, context.now);
    return true;
  }
  return false;
}

/// Puts the placement on record, unless another worker has been there first; its choice then counts.
template <class Table>
Entry record(Context& context, const Flow& flow, const Placement& placement, Table& table,
             typename Table::Slot slot) {
  for (unsigned round = 0; round < max_rounds; ++round) {
    if (slot && slot.entry().state != State::removed) {
      const Entry old = slot.entry();
      if (standing(*context.snapshot, old, flow.tcp()) == Standing::unknown) return placement.entry;
      if (Table::replace(slot, placement.entry)) {
        Table::touch(slot, context.now);
        count_ended(context, old);
        context.block->begun[placement.entry.target].add(1);
        count_placed(context, flow, placement);
        return placement.entry;
      }
    } else {
      const auto insertion =
          table.insert(flow.parsed.key, flow.hash, placement.entry, context.now, patience(context, table));
      if (insertion.evicted) {
        count_ended(context, *insertion.evicted);
        context.counters.evictions.add(1);
        context.counters.entries_removed.add(1);
      }
      if (insertion.outcome == Table::Outcome::full) break;
      if (insertion.outcome == Table::Outcome::inserted) {
        context.counters.entries_made.add(1);
        context.block->begun[placement.entry.target].add(1);
        count_placed(context, flow, placement);
        return placement.entry;
      }
      slot = insertion.slot;
    }
    if (keeps<Table>(context, flow, slot)) return slot.entry();
  }
  // Without an entry each packet comes here; what opens a connection is counted once.
  if (flow.opens() || !flow.tcp()) {
    context.counters.untracked.add(1);
    count_placed(context, flow, placement);
  }
  return placement.entry;
}

/// Nothing about the connection changes but its time: it is confirmed, goes on, and its backend is still its
/// own.
template <class Table>
bool goes_on(const Targets::View& targets, const Flow& flow, const typename Table::Slot& slot) {
  const Entry entry = slot.entry();
  if (entry.state != State::confirmed || entry.target >= targets.size()) return false;
  const Target& target = targets[entry.target];
  return target.epoch[flow.tcp() ? 1 : 0] == entry.epoch && target.in_use &&
         target.service == flow.rule.service && !conntrack::changes_confirmed(flow.parsed.tcp_flags);
}

/// Notes where the flow at `i` goes.
void send_to(std::size_t zone_count, Batch& batch, Selection& flows, std::uint16_t i, const Entry& entry) {
  batch.target[i] = entry.target;
  // A newer snapshot than ours may know more zones.
  batch.zone[i] = entry.client_zone < zone_count ? entry.client_zone : policy::no_zone;
  flows.add(i);
}

/// Sends a new connection where the plan says, or drops it.
template <class Table>
void begin_connection(Context& context, Batch& batch, Selection& flows, std::uint16_t i, Table& table,
                      typename Table::Slot slot) {
  const Flow flow = flow_at(context, batch, i);
  Placement placement;
  if (const auto refusal = place(context, flow, placement)) return context.drop(batch.frame[i], *refusal);
  send_to(context.snapshot->zone_count(), batch, flows, i, record(context, flow, placement, table, slot));
}

/// Flows that are elsewhere in the table than at home, or in need of another placement; the new ones among
/// them join `fresh`.
template <class Table>
void track_others(Context& context, Batch& batch, const Selection& others, Selection& fresh, Selection& flows,
                  Table& table) {
  Selection found, missing;
  for (const std::uint16_t i : others.positions()) {
    const Flow flow = flow_at(context, batch, i);
    auto slot = table.find(flow.parsed.key, flow.hash);
    if (!slot) {
      missing.add(i);
    } else if (keeps<Table>(context, flow, slot)) {
      send_to(context.snapshot->zone_count(), batch, found, i, slot.entry());
    } else {
      begin_connection(context, batch, found, i, table, slot);
    }
  }
  flows.merge(found);
  fresh.merge(missing);
}

template <class Table>
void begin_connections(Context& context, Batch& batch, const Selection& fresh, Selection& flows,
                       Table& table) {
  for (const std::uint16_t i : fresh.positions()) table.prefetch_insertion(batch.hash[i]);
  Selection begun;
  for (const std::uint16_t i : fresh.positions())
    begin_connection(context, batch, begun, i, table, typename Table::Slot{});
  flows.merge(begun);
}

}  // namespace

template <class Table>
void track(Context& context, Batch& batch, Selection& flows, Table& table) {
  const Selection all = flows;
  Selection others, fresh;
  flows.clear();
  const Targets::View targets(context.snapshot->targets);
  const std::size_t zone_count = context.snapshot->zone_count();
  const Rule* rules = context.snapshot->layout->rules.data();
  for (const std::uint16_t i : all.positions()) {
    const Flow flow{batch.parsed[i], rules[batch.rule[i]], batch.hash[i]};
    auto slot = table.find_home(flow.parsed.key, flow.hash);
    if (slot && goes_on<Table>(targets, flow, slot)) [[likely]] {
      Table::touch(slot, context.now);
      send_to(zone_count, batch, flows, i, slot.entry());
    } else if (slot && keeps<Table>(context, flow, slot)) {
      send_to(zone_count, batch, flows, i, slot.entry());
    } else {
      table.prefetch_rest(flow.hash);
      const bool is_new = !slot && table.ends_at_home(flow.hash);
      (is_new ? fresh : others).add(i);
    }
  }
  if (!others.positions().empty()) track_others(context, batch, others, fresh, flows, table);
  if (!fresh.positions().empty()) begin_connections(context, batch, fresh, flows, table);
}

template void track(Context&, Batch&, Selection&, conntrack::Table4&);
template void track(Context&, Batch&, Selection&, conntrack::Table6&);

}  // namespace zonelb::dataplane
