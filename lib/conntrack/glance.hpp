#pragma once

#include <array>
#include <atomic>

#include "conntrack/line.hpp"

namespace zonelb::conntrack {

/// Tags as they were read one after the other. If none has changed since, all of them were so at one moment:
/// when the last one was read. (A tag comes back to what it was only after as many claims as it counts.)
class Glance {
 public:
  Tag at(const std::atomic<std::uint64_t>& tag) {
    // seq_cst: see Table
    const auto word = tag.load(std::memory_order_seq_cst);
    tags_[count_++] = {&tag, word};
    return Tag(word);
  }
  /// What the caller has read before it is read before this.
  [[nodiscard]] bool unchanged() const {
    for (unsigned i = 0; i < count_; ++i)
      // relaxed: the loads before it acquire
      if (tags_[i].tag->load(std::memory_order_relaxed) != tags_[i].word) return false;
    return true;
  }

 private:
  struct Seen {
    const std::atomic<std::uint64_t>* tag;
    std::uint64_t word;
  };
  // Without initialisers: most glances are short.
  std::array<Seen, 2 * std::size_t{slots_per_bucket}> tags_;
  unsigned count_ = 0;
};

}  // namespace zonelb::conntrack
