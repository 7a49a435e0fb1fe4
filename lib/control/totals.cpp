#include "control/totals.hpp"

namespace zonelb::control {
namespace {

using dataplane::CounterBlock;
using dataplane::Layout;

void add_flows(const Layout& layout, const CounterBlock::PerWorker& counters, Sums& sums) {
  const auto zones = layout.zones.zone_count();
  for (std::size_t r = 0; r < layout.rules.size(); ++r) {
    const auto& rule = layout.rules[r];
    const auto& service = layout.services[rule.service];
    for (std::size_t i = 0; i < service.members.size() * zones; ++i) {
      const auto& counter = counters.flows[rule.first_flow + i];
      if (counter.packets.value() == 0) continue;
      const auto& member = service.members[i / zones];
      auto& total = sums.flows[{layout.rule_names[r], service.name, member.backend, member.zone,
                                layout.zones.name(static_cast<policy::ZoneId>(i % zones))}];
      total.packets += counter.packets.value();
      total.bytes += counter.bytes.value();
    }
  }
}

void add_choices(const Layout& layout, const CounterBlock::PerWorker& counters, Sums& sums) {
  const auto zones = layout.zones.zone_count();
  const auto per_member = zones * policy::choice_count;
  for (const auto& service : layout.services) {
    for (std::size_t i = 0; i < service.members.size() * per_member; ++i) {
      const auto value = counters.choices[service.first_choice + i].value();
      if (value == 0) continue;
      const auto zone = static_cast<policy::ZoneId>(i % per_member / policy::choice_count);
      sums.choices[{service.name, service.members[i / per_member].backend, layout.zones.name(zone),
                    static_cast<policy::Choice>(i % policy::choice_count)}] += value;
    }
  }
}

void add_connections(const CounterBlock::PerWorker& counters, ConnectionCounts& connections) {
  for (dataplane::TargetId id = 0; id < counters.begun.size(); ++id) {
    const auto change = static_cast<std::int64_t>(counters.begun[id].value()) -
                        static_cast<std::int64_t>(counters.ended[id].value());
    if (change != 0) connections[id] += change;
  }
}

void add(const Layout& layout, const CounterBlock& block, Sums& sums) {
  for (unsigned worker = 0; worker < block.workers(); ++worker) {
    const auto& counters = block.worker(worker);
    add_flows(layout, counters, sums);
    add_choices(layout, counters, sums);
    add_connections(counters, sums.connections);
  }
}

}  // namespace

void Totals::begin(std::shared_ptr<const Layout> layout, std::shared_ptr<CounterBlock> block) {
  periods_.push_back(std::make_shared<Period>(Period{std::move(layout), std::move(block)}));
}

void Totals::fold() {
  while (periods_.size() > 1 && periods_.front()->block.use_count() == 1) {
    auto sums = std::make_shared<Sums>(*folded_);
    add(*periods_.front()->layout, *periods_.front()->block, *sums);
    folded_ = std::move(sums);
    periods_.erase(periods_.begin());
  }
}

Sums Totals::sums() const {
  Sums sums = *folded_;
  for (const auto& period : periods_) add(*period->layout, *period->block, sums);
  return sums;
}

ConnectionCounts Totals::connections() const {
  ConnectionCounts connections = folded_->connections;
  for (const auto& period : periods_)
    for (unsigned worker = 0; worker < period->block->workers(); ++worker)
      add_connections(period->block->worker(worker), connections);
  return connections;
}

}  // namespace zonelb::control
