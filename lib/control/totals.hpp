#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "dataplane/snapshot.hpp"

namespace zonelb::control {

/// Labels of zonelb_packets_total and zonelb_bytes_total.
struct FlowLabels {
  std::string rule;
  std::string service;
  std::string backend;
  std::string backend_zone;
  std::string client_zone;
  friend auto operator<=>(const FlowLabels&, const FlowLabels&) = default;
};

/// Labels of zonelb_new_connections_total.
struct ChoiceLabels {
  std::string service;
  std::string backend;
  std::string client_zone;
  policy::Choice choice = policy::Choice::off;
  friend auto operator<=>(const ChoiceLabels&, const ChoiceLabels&) = default;
};

struct FlowTotal {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
};

/// Tracked connections by TargetId.
using ConnectionCounts = std::map<dataplane::TargetId, std::int64_t>;

struct Sums {
  std::map<FlowLabels, FlowTotal> flows;
  std::map<ChoiceLabels, std::uint64_t> choices;
  ConnectionCounts connections;
};

/// Adds up what workers counted, over all layouts since the start: a reload does not set a counter back. A
/// copy costs little, and may be read by any thread while the original goes on.
class Totals {
 public:
  /// Workers count in this block from the next snapshot on.
  void begin(std::shared_ptr<const dataplane::Layout> layout, std::shared_ptr<dataplane::CounterBlock> block);
  /// Folds blocks that no snapshot refers to any more.
  void fold();
  [[nodiscard]] Sums sums() const;
  /// The connections of sums() alone.
  [[nodiscard]] ConnectionCounts connections() const;

 private:
  struct Period {
    std::shared_ptr<const dataplane::Layout> layout;
    std::shared_ptr<dataplane::CounterBlock> block;
  };

  std::shared_ptr<const Sums> folded_ = std::make_shared<Sums>();
  /// Shared with copies of this object, so that they do not count among a block's users.
  std::vector<std::shared_ptr<const Period>> periods_;
};

}  // namespace zonelb::control
