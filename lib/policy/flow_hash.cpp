#include "policy/flow_hash.hpp"

#include <array>
#include <cstring>
#include <xxhash.h>

#include "net/endian.hpp"

namespace zonelb::policy {
namespace {

using config::SessionAffinity;

/// Collects fields into one buffer: the message that is hashed.
class Message {
 public:
  void add(const net::IpAddress& address) { append(address.bytes().data(), address.bits() / 8); }
  void add(std::uint16_t port) {
    const net::be16 ordered = port;
    append(&ordered, sizeof ordered);
  }
  void add(std::uint8_t byte) { append(&byte, 1); }
  [[nodiscard]] std::uint64_t hash() const { return XXH3_64bits(bytes_.data(), size_); }

 private:
  void append(const void* data, std::size_t size) {
    std::memcpy(bytes_.data() + size_, data, size);
    size_ += size;
  }

  std::array<std::uint8_t, 40> bytes_{};
  std::size_t size_ = 0;
};

}  // namespace

std::uint64_t flow_hash(SessionAffinity affinity, const Tuple& tuple) {
  Message message;
  message.add(tuple.source);
  if (affinity == SessionAffinity::client_ip_no_destination) return message.hash();
  message.add(tuple.destination);
  if (affinity == SessionAffinity::client_ip) return message.hash();
  message.add(tuple.protocol);
  if (affinity == SessionAffinity::client_ip_proto) return message.hash();
  message.add(tuple.source_port);
  message.add(tuple.destination_port);
  return message.hash();
}

}  // namespace zonelb::policy
