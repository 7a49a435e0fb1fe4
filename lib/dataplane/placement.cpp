#include "dataplane/placement.hpp"

#include <cstring>

namespace zonelb::dataplane {
namespace {

std::span<const std::uint8_t> addresses_of(const packet::Parsed& parsed) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(parsed.key.addresses.data());
  return {bytes, parsed.kind == packet::Kind::flow4 ? std::size_t{8} : std::size_t{32}};
}

policy::ClientClass client_of(const policy::ZoneMap& zones, const packet::Parsed& parsed) {
  if (parsed.kind == packet::Kind::flow4)
    return zones.find4(net::be32::from_raw(static_cast<std::uint32_t>(parsed.key.addresses[0])));
  net::IpAddress::Bytes source;
  std::memcpy(source.data(), parsed.key.addresses.data(), source.size());
  return zones.find(net::IpAddress::v6(source));
}

std::uint64_t flow_hash(config::SessionAffinity affinity, const packet::Parsed& parsed) {
  const auto& key = parsed.key;
  return policy::flow_hash(affinity, addresses_of(parsed), key.protocol(),
                           static_cast<std::uint32_t>(key.ports_protocol));
}

TargetId pick(const Service& service, const policy::SelectionTable& table, const packet::Parsed& parsed) {
  return service.targets[table.pick(flow_hash(service.affinity, parsed))];
}

/// What placing takes of a batch's context, at hand: nobody knows that what is written does not change it.
class Placer {
 public:
  explicit Placer(const Context& context)
      : layout_(*context.snapshot->layout),
        plans_(context.snapshot->plans.data()),
        targets_(context.snapshot->targets),
        zone_count_(context.snapshot->zone_count()),
        choices_(context.block->choices.data()) {}

  void place(const packet::Parsed& parsed, const Rule& rule, Placement& placement) const {
    using packet::DropReason;
    const auto refuse = [&](DropReason reason) { placement.refusal = reason; };
    const auto* service_plan = plans_[rule.service].get();
    if (service_plan == nullptr) return refuse(DropReason::starting);
    const auto client = client_of(layout_.zones, parsed);
    if (client.other_region && !rule.allow_global_access) return refuse(DropReason::other_region);
    const auto& plan = service_plan->by_zone[client.zone];
    if (!plan.table) return refuse(DropReason::no_backend);
    const Service& service = layout_.services[rule.service];
    const TargetId id = pick(service, *plan.table, parsed);
    const Target& target = targets_[id];
    const bool tcp = parsed.key.protocol() == packet::ip_protocol::tcp;
    placement.refusal.reset();
    placement.entry = {id, target.epoch[tcp ? 1 : 0], client.zone, conntrack::first_state(parsed.tcp_flags)};
    placement.target = &target;
    placement.choice = &choice_counter(service, target.member, client.zone, plan.choice);
  }

  [[nodiscard]] Counter& choice_counter(const Service& service, std::size_t member, std::size_t client_zone,
                                        policy::Choice choice) const {
    return choices_[service.first_choice + (member * zone_count_ + client_zone) * policy::choice_count +
                    static_cast<std::size_t>(choice)];
  }

 private:
  const Layout& layout_;
  const std::shared_ptr<const policy::ServicePlan>* plans_;
  Targets::View targets_;
  std::size_t zone_count_;
  Counter* choices_;
};

}  // namespace

void place(const Context& context, Batch& batch, std::span<const std::uint16_t> positions) {
  const Placer placer(context);
  const Rule* const rules = context.snapshot->layout->rules.data();
  for (const std::uint16_t i : positions)
    placer.place(batch.parsed[i], rules[batch.rule[i]], batch.placement[i]);
}

void prefetch_placements(const Context& context, const Batch& batch, const Selection& flows) {
  // A service that starts has no plan yet, one without backends no targets.
  const auto prefetch_line = [](const void* line) {
    if (line != nullptr) conntrack::prefetch_line(line);
  };
  const Placer placer(context);
  const Snapshot& snapshot = *context.snapshot;
  const Layout& layout = *snapshot.layout;
  struct Step {
    const Service* service;
    const policy::ServicePlan* service_plan;
    const policy::ZonePlan* plan;
    std::size_t zone;
    TargetId target;
  };
  std::array<Step, Batch::max_size> steps;
  unsigned count = 0;
  for (const std::uint16_t i : flows.positions()) {
    const auto service = layout.rules[batch.rule[i]].service;
    Step& step = steps[count++];
    step.service = &layout.services[service];
    step.service_plan = snapshot.plans[service].get();
    prefetch_line(step.service);
    prefetch_line(step.service_plan);
  }
  const auto for_each = [&](auto&& go_on) {
    unsigned n = 0;
    for (const std::uint16_t i : flows.positions()) go_on(steps[n++], batch.parsed[i]);
  };
  for_each([&](Step& step, const packet::Parsed& parsed) {
    step.zone = client_of(layout.zones, parsed).zone;
    step.plan = step.service_plan != nullptr ? &step.service_plan->by_zone[step.zone] : nullptr;
    prefetch_line(step.plan);
    prefetch_line(step.service->targets.data());
  });
  for_each([&](Step& step, const packet::Parsed&) {
    if (step.plan != nullptr && !step.plan->table) step.plan = nullptr;
    if (step.plan != nullptr) prefetch_line(step.plan->table.get());
  });
  for_each([&](Step& step, const packet::Parsed& parsed) {
    if (step.plan == nullptr) return;
    step.plan->table->prefetch(flow_hash(step.service->affinity, parsed));
  });
  for_each([&](Step& step, const packet::Parsed& parsed) {
    if (step.plan == nullptr) return;
    step.target = pick(*step.service, *step.plan->table, parsed);
    prefetch_line(&snapshot.targets[step.target]);
    prefetch_line(&context.block->begun[step.target]);
  });
  for_each([&](Step& step, const packet::Parsed&) {
    if (step.plan == nullptr) return;
    prefetch_line(&placer.choice_counter(*step.service, snapshot.targets[step.target].member, step.zone,
                                         step.plan->choice));
  });
}

}  // namespace zonelb::dataplane
