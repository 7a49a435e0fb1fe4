#include "dataplane/stage_track.hpp"

#include <algorithm>

#include "dataplane/placement.hpp"
#include "dataplane/stage_forward.hpp"

namespace zonelb::dataplane {
namespace {

using conntrack::Entry;
using conntrack::PackedEntry;
using conntrack::State;
using packet::DropReason;

/// Races with other workers over one connection that we take part in before we forward without an entry.
constexpr unsigned max_rounds = 4;

/// So many targets are in a core's first cache all the time.
constexpr std::size_t few_targets = 128;

/// One flow of the batch.
struct Flow {
  const packet::Parsed& parsed;
  const Rule& rule;
  std::uint64_t hash;

  [[nodiscard]] bool tcp() const { return parsed.key.protocol() == packet::ip_protocol::tcp; }
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

void count_ended(Context& context, const Entry& entry) {
  if (entry.target < context.block->ended.size()) context.block->ended[entry.target].add(1);
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

void count_begun(const Context& context, const Placement& placement) {
  context.block->begun[placement.entry.target].add(1);
  placement.choice->add(1);
}

void count_evicted(Context& context, const Entry& entry) {
  count_ended(context, entry);
  context.counters.evictions.add(1);
  context.counters.entries_removed.add(1);
}

/// Without an entry each packet is placed anew; what opens a connection is counted once.
void count_untracked(Context& context, const Flow& flow, const Placement& placement) {
  if (!flow.opens() && flow.tcp()) return;
  context.counters.untracked.add(1);
  placement.choice->add(1);
}

/// Puts the placement on record, unless another worker has been there first; its choice then counts.
template <class Table>
[[gnu::noinline]] Entry record(Context& context, const Flow& flow, const Placement& placement, Table& table,
                               typename Table::Slot slot) {
  for (unsigned round = 0; round < max_rounds; ++round) {
    if (slot && slot.entry().state != State::removed) {
      const Entry old = slot.entry();
      if (standing(*context.snapshot, old, flow.tcp()) == Standing::unknown) return placement.entry;
      if (Table::replace(slot, placement.entry)) {
        Table::touch(slot, context.now);
        count_ended(context, old);
        count_begun(context, placement);
        return placement.entry;
      }
    } else {
      const auto insertion = table.insert_anywhere(flow.parsed.key, flow.hash, placement.entry, context.now,
                                                   patience(context, table));
      if (insertion.evicted) count_evicted(context, *insertion.evicted);
      if (insertion.outcome == Table::Outcome::full) break;
      if (insertion.outcome == Table::Outcome::inserted) {
        context.counters.entries_made.add(1);
        count_begun(context, placement);
        return placement.entry;
      }
      slot = insertion.slot;
    }
    if (keeps<Table>(context, flow, slot)) return slot.entry();
  }
  count_untracked(context, flow, placement);
  return placement.entry;
}

/// What tracking a batch's flows of one family takes.
template <class Table>
class Tracker {
 public:
  Tracker(Context& context, Batch& batch, Table& table)
      : context_(context),
        batch_(batch),
        table_(table),
        forwarder_(context, batch),
        targets_(context.snapshot->targets),
        rules_(context.snapshot->layout->rules.data()),
        zone_count_(context.snapshot->zone_count()),
        now_(context.now),
        patience_(patience(context, table)) {}

  void track(const Selection& flows) {
    if (targets_.size() > few_targets) prefetch_targets(flows);
    for (const std::uint16_t i : flows.positions()) {
      const Flow flow{batch_.parsed[i], rules_[batch_.rule[i]], batch_.hash[i]};
      const auto slot = Table::find_in_line(flow.parsed.key, home_of(i));
      if (!slot) [[unlikely]] {
        track_missing(i);
      } else if (!go_on(i, flow, slot)) [[unlikely]] {
        track_change(i);
      }
    }
    if (!others_.positions().empty()) track_others();
    if (!fresh_.positions().empty()) begin_connections();
    forwarder_.finish();
  }

 private:
  using Slot = typename Table::Slot;
  using Home = typename Table::Home;

  [[nodiscard]] Home home_of(std::uint16_t i) const { return static_cast<Home>(batch_.home[i]); }

  /// In a loop of its own, so that the batch waits for many of them at once.
  [[gnu::noinline]] void prefetch_targets(const Selection& flows) const {
    for (const std::uint16_t i : flows.positions()) {
      const auto target = table_.probable_target(batch_.parsed[i].key, batch_.hash[i]);
      if (target < targets_.size()) conntrack::prefetch_line(&targets_[target]);
    }
  }

  /// Forwards a packet when nothing about its connection changes but its time: it is confirmed, goes on, and
  /// its backend is still its own. False: there is more to it.
  [[gnu::always_inline]] bool go_on(std::uint16_t i, const Flow& flow, const typename Table::LineSlot& slot) {
    const PackedEntry entry = slot.packed;
    if (entry.target() >= targets_.size()) return false;
    const Target& target = targets_[entry.target()];
    const bool same =
        entry.is_confirmed_in(target.epoch[flow.tcp() ? 1 : 0]) && target.service == flow.rule.service &&
        !conntrack::changes_confirmed(flow.parsed.tcp_flags) && entry.client_zone() < zone_count_;
    if (!same) return false;
    Table::touch(slot, now_);
    forwarder_.send(i, flow.parsed, flow.rule, target, entry.client_zone());
    return true;
  }

  [[gnu::noinline]] void send_to(std::uint16_t i, const Entry& entry) {
    // A newer snapshot than ours may know more zones.
    const auto zone = entry.client_zone < zone_count_ ? entry.client_zone : policy::no_zone;
    const Flow flow = flow_at(context_, batch_, i);
    forwarder_.send(i, flow.parsed, flow.rule, targets_[entry.target], zone);
  }

  /// A flow that is not at home.
  [[gnu::noinline]] void track_missing(std::uint16_t i) {
    rest_[i] = table_.prefetch_rest(home_of(i), batch_.hash[i]);
    if (rest_[i].line != nullptr) return others_.add(i);
    conntrack::prefetch_to_write(home_of(i));
    if (Table::is_full(home_of(i))) Table::prefetch_near(home_of(i));
    fresh_.add(i);
  }

  /// A flow whose connection changes.
  [[gnu::noinline]] void track_change(std::uint16_t i) {
    const Flow flow = flow_at(context_, batch_, i);
    if (const auto home = Table::find_in_line(flow.parsed.key, home_of(i)))
      return track_found(i, flow, home.slot());
    track_missing(i);
  }

  void track_found(std::uint16_t i, const Flow& flow, Slot slot) {
    if (keeps<Table>(context_, flow, slot)) return send_to(i, slot.entry());
    place(context_, batch_, {&i, 1});
    const Placement& placement = batch_.placement[i];
    if (placement.refusal) return refuse(i, flow, *placement.refusal);
    send_to(i, record(context_, flow, placement, table_, slot));
  }

  /// Flows that may be elsewhere in the table than at home; the new ones among them join the fresh ones.
  [[gnu::noinline]] void track_others() {
    Selection missing;
    for (const std::uint16_t i : others_.positions()) {
      const Flow flow{batch_.parsed[i], rules_[batch_.rule[i]], batch_.hash[i]};
      const auto slot = Table::find_in_line(flow.parsed.key, rest_[i].line);
      if (slot && go_on(i, flow, slot)) [[likely]]
        continue;
      track_other(i, missing);
    }
    fresh_.merge(missing);
  }

  [[gnu::noinline]] void track_other(std::uint16_t i, Selection& missing) {
    const Flow flow = flow_at(context_, batch_, i);
    if (const auto slot = table_.find_rest(flow.parsed.key, flow.hash, rest_[i])) {
      track_found(i, flow, slot);
    } else {
      missing.add(i);
    }
  }

  [[gnu::noinline]] void begin_connections() {
    for (const std::uint16_t i : fresh_.positions())
      if (Table::is_full(home_of(i))) table_.prefetch_far(home_of(i), batch_.hash[i], patience_);
    if (targets_.size() > few_targets) prefetch_placements(context_, batch_, fresh_);
    // All of them before the first is inserted, as a processor looks no further ahead than to the next locked
    // operation.
    place(context_, batch_, fresh_.positions());
    for (const std::uint16_t i : fresh_.positions())
      begin_connection(i, flow_at(context_, batch_, i), batch_.placement[i]);
    if (!crowded_.positions().empty()) begin_crowded();
  }

  /// Sends a new connection where the plan says, or drops it, or leaves it to begin_crowded().
  void begin_connection(std::uint16_t i, const Flow& flow, const Placement& placement) {
    if (placement.refusal) [[unlikely]]
      return refuse(i, flow, *placement.refusal);
    const auto outcome =
        is_behind_crowded(flow) ? Table::Outcome::full : insert_where_free(i, flow, placement.entry);
    if (outcome != Table::Outcome::inserted) [[unlikely]]
      return begin_otherwise(i, flow, placement, outcome);
    count_made(placement);
    forwarder_.send(i, flow.parsed, flow.rule, *placement.target, placement.entry.client_zone);
  }

  typename Table::Outcome insert_where_free(std::uint16_t i, const Flow& flow, const Entry& entry) {
    using Outcome = typename Table::Outcome;
    const auto& key = flow.parsed.key;
    if (table_.insert_at_home(key, flow.hash, home_of(i), entry, now_)) return Outcome::inserted;
    if (!Table::is_full(home_of(i))) return Outcome::existed;
    // In a table that is known to be full nobody looks for free places far away.
    if (patience_.exhausted()) return Outcome::full;
    Slot slot;
    return table_.insert_elsewhere(key, flow.hash, home_of(i), entry, now_, slot);
  }

  void count_made(const Placement& placement) {
    context_.counters.entries_made.add(1);
    count_begun(context_, placement);
  }

  [[gnu::noinline]] void begin_otherwise(std::uint16_t i, const Flow& flow, const Placement& placement,
                                         typename Table::Outcome outcome) {
    if (outcome == Table::Outcome::existed) return begin_slowly(i);
    if (patience_.exhausted() && !is_behind_crowded(flow)) return begin_in_full_table(i, flow, placement);
    crowded_.add(i);
    crowded_hashes_ |= hash_bit(flow);
  }

  /// Is a packet of the same flow waiting among crowded_? Then this one must not overtake it.
  [[nodiscard]] bool is_behind_crowded(const Flow& flow) const {
    return (crowded_hashes_ & hash_bit(flow)) != 0 &&
           std::ranges::any_of(crowded_.positions(),
                               [&](std::uint16_t i) { return batch_.hash[i] == flow.hash; });
  }
  static std::uint64_t hash_bit(const Flow& flow) { return 1ULL << (flow.hash % 64); }

  void begin_in_full_table(std::uint16_t i, const Flow& flow, const Placement& placement) {
    Entry evicted{.state = State::removed};
    auto outcome = Table::Outcome::existed;
    if (!patience_.worth_it(now_))
      outcome =
          table_.insert_into_full(flow.parsed.key, flow.hash, home_of(i), placement.entry, now_, evicted);
    if (evicted.state != State::removed) count_evicted(context_, evicted);
    if (outcome == Table::Outcome::existed) [[unlikely]]
      return begin_slowly(i);
    if (outcome == Table::Outcome::inserted) {
      count_made(placement);
    } else {
      count_untracked(context_, flow, placement);
    }
    forwarder_.send(i, flow.parsed, flow.rule, *placement.target, placement.entry.client_zone);
  }

  /// Connections that others have to make room for; when the batch's other ones are in, so that memory
  /// arrives meanwhile.
  [[gnu::noinline]] void begin_crowded() {
    for (const std::uint16_t i : crowded_.positions()) table_.prefetch_moves(home_of(i));
    for (const std::uint16_t i : crowded_.positions()) begin_slowly(i);
  }

  [[gnu::noinline]] void begin_slowly(std::uint16_t i) {
    send_to(i, record(context_, flow_at(context_, batch_, i), batch_.placement[i], table_, Slot{}));
  }

  /// The policy has nobody for a new connection; only now it matters whether another worker has just made or
  /// moved it.
  [[gnu::noinline, gnu::cold]] void refuse(std::uint16_t i, const Flow& flow, DropReason reason) {
    if (auto slot = table_.find(flow.parsed.key, flow.hash); slot && keeps<Table>(context_, flow, slot))
      return send_to(i, slot.entry());
    context_.drop(batch_.frame[i], reason);
  }

  Context& context_;
  Batch& batch_;
  Table& table_;
  Forwarder forwarder_;
  Targets::View targets_;
  const Rule* rules_;
  std::size_t zone_count_;
  std::uint32_t now_;
  conntrack::Patience& patience_;
  Selection others_;
  /// By position, for others_. (Without initialisers, as there are few.)
  std::array<typename Table::Rest, Batch::max_size> rest_;
  Selection fresh_;
  Selection crowded_;
  /// A bit for each hash that is among them.
  std::uint64_t crowded_hashes_ = 0;
};

}  // namespace

template <class Table>
void track(Context& context, Batch& batch, const Selection& flows, Table& table) {
  if (!flows.positions().empty()) Tracker<Table>(context, batch, table).track(flows);
}

template void track(Context&, Batch&, const Selection&, conntrack::Table4&);
template void track(Context&, Batch&, const Selection&, conntrack::Table6&);

}  // namespace zonelb::dataplane
