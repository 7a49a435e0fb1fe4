#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "net/address.hpp"
#include "packet/encapsulation.hpp"
#include "packet/l2.hpp"

namespace zonelb::dataplane {

using TargetId = std::uint32_t;

/// A backend as a member of one service, and how packets get there: one cache line.
struct alignas(64) Target {
  static constexpr std::uint16_t no_port = 0xffff;
  static constexpr std::uint16_t no_service = 0xffff;

  /// By inner family (net::Family); null under L2_DSR.
  const packet::Encapsulation* encapsulation[2] = {nullptr, nullptr};
  /// The next hop, and our own port.
  packet::MacPair macs;
  /// Position in layout->ports, or no_port when nothing leads to the backend.
  std::uint16_t port = no_port;
  std::uint16_t mtu = 1500;
  /// The tag frames get on that port; meaningful unless keep_vlan.
  std::uint16_t vlan = packet::no_vlan;
  /// Leave a frame in the VLAN it came in.
  bool keep_vlan = true;
  /// Is the next hop known?
  bool resolved = false;
  /// IP packets of up to so many bytes need nothing but other MAC addresses, unless their frames' tags have
  /// been taken off; set by Targets.
  std::uint16_t direct_mtu = 0;
  /// By inner family: IP packets of up to so many bytes, in untagged frames, need an outer IPv4 header of IP
  /// in IP; set by Targets.
  std::uint16_t ipip4_mtu[2] = {0, 0};
  /// Connections placed in an earlier epoch have been ended (semantics.md section 5). By is_tcp. Valid for
  /// every number, in use or not.
  std::uint16_t epoch[2] = {0, 0};
  /// Position in layout->services, and in that service's members. no_service: all its connections have ended.
  std::uint16_t service = no_service;
  std::uint16_t member = 0;
  std::uint32_t idle_timeout = 600;

  [[nodiscard]] bool in_use() const { return service != no_service; }
  [[nodiscard]] std::uint16_t find_direct_mtu() const {
    const bool direct = resolved && encapsulation[0] == nullptr && encapsulation[1] == nullptr &&
                        (keep_vlan || vlan == packet::no_vlan);
    return direct ? mtu : std::uint16_t{0};
  }
  [[nodiscard]] std::uint16_t find_ipip4_mtu(const packet::Encapsulation* outer) const {
    const bool ipip4 = resolved && outer != nullptr && outer->form == packet::Encapsulation::Form::ipip4 &&
                       vlan == packet::no_vlan && mtu > outer->length;
    return ipip4 ? static_cast<std::uint16_t>(mtu - outer->length) : std::uint16_t{0};
  }
};
static_assert(sizeof(Target) == 64);

/// Targets by number, in chunks that snapshots share while they do not change: a flip of health then costs
/// workers' caches the list of chunks and of one chunk what they use.
class Targets {
 public:
  /// With 10,000 targets the list is ten cache lines.
  static constexpr std::size_t per_chunk = 128;
  using Chunk = std::array<Target, per_chunk>;

  /// What the packet path holds of them for a batch.
  class View {
   public:
    explicit View(const Targets& targets) : chunks_(targets.chunks_.data()), size_(targets.size_) {}
    [[nodiscard]] const Target& operator[](TargetId id) const {
      return (*chunks_[id / per_chunk])[id % per_chunk];
    }
    [[nodiscard]] std::size_t size() const { return size_; }

   private:
    const Chunk* const* chunks_;
    std::size_t size_;
  };

  Targets() = default;
  explicit Targets(std::span<const Target> all)
      : owners_((all.size() + per_chunk - 1) / per_chunk), chunks_(owners_.size()), size_(all.size()) {
    for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk) renew(chunk, all);
  }

  /// Makes the chunk anew that holds targets from chunk * per_chunk on; the others stay shared.
  void renew(std::size_t chunk, std::span<const Target> all) {
    auto made = std::make_shared<Chunk>();
    const auto part = all.subspan(chunk * per_chunk);
    std::copy_n(part.begin(), std::min(part.size(), per_chunk), made->begin());
    for (Target& target : *made) {
      target.direct_mtu = target.find_direct_mtu();
      for (std::size_t family = 0; family < 2; ++family)
        target.ipip4_mtu[family] = target.find_ipip4_mtu(target.encapsulation[family]);
    }
    chunks_[chunk] = made.get();
    owners_[chunk] = std::move(made);
  }

  [[nodiscard]] const Target& operator[](TargetId id) const { return View(*this)[id]; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool shares(std::size_t chunk, const Targets& other) const {
    return chunks_[chunk] == other.chunks_[chunk];
  }

 private:
  std::vector<std::shared_ptr<const Chunk>> owners_;
  /// What they own, close together.
  std::vector<const Chunk*> chunks_;
  std::size_t size_ = 0;
};

}  // namespace zonelb::dataplane
