#include "dataplane/port.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "config/log.hpp"
#include "dataplane/machine_error.hpp"
#include "packet/headers.hpp"

namespace zonelb::dataplane {
namespace {

using config::log;

constexpr std::uint64_t wanted_rss = RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_NONFRAG_IPV4_UDP |
                                     RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_NONFRAG_IPV6_UDP;

std::string known_ports() {
  std::string names;
  for (std::uint16_t id = 0; id < RTE_MAX_ETHPORTS; ++id) {
    if (rte_eth_dev_is_valid_port(id) == 0) continue;
    char name[RTE_ETH_NAME_MAX_LEN] = "";
    rte_eth_dev_get_name_by_port(id, name);
    names += fmt::format("{}{} (id {})", names.empty() ? "" : ", ", name, id);
  }
  return names.empty() ? "none" : names;
}

/// What to do about a port that is not there.
std::string mending(const std::string& name, const std::vector<std::string>& eal) {
  const auto asked = std::ranges::find_if(
      eal, [&](const std::string& word) { return word.find(name) != std::string::npos; });
  if (asked == eal.end())
    return fmt::format(
        "a virtual one is made by --eal '--vdev={},iface=eth1', a NIC is bound by dpdk-devbind.py "
        "--bind=vfio-pci ADDRESS",
        name.starts_with("net_") ? name : "net_af_packet0");
  return fmt::format(
      "EAL was asked for it and could not make it: {}\n  the lines above say why; does its interface "
      "or file exist, and is it up? ip link show",
      *asked);
}

std::uint16_t find(const std::string& name, const std::vector<std::string>& eal) {
  std::uint16_t id = 0;
  if (rte_eth_dev_get_port_by_name(name.c_str(), &id) == 0) return id;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
  if (error == std::errc{} && end == name.data() + name.size() && rte_eth_dev_is_valid_port(id) != 0)
    return id;
  throw MachineError(
      fmt::format("DPDK has no port '{}'; it has: {}\n  {}", name, known_ports(), mending(name, eal)));
}

void require(int result, const std::string& port, const char* step) {
  if (result < 0)
    throw MachineError(fmt::format("port {}: {} failed: {}\n  see pmd-config/ for what its driver asks for",
                                   port, step, rte_strerror(-result)));
}

/// Virtual drivers that do not say what MTU they can take (af_packet) still refuse more than the frame they
/// name; what they really carry is set by their own arguments.
std::uint32_t mtu_for_driver(const config::Port& config, const rte_eth_dev_info& info) {
  const std::uint32_t overhead = RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
  if (info.max_mtu != UINT16_MAX || info.max_rx_pktlen >= config.mtu + overhead) return config.mtu;
  log("port {}: its driver names {}-byte frames; see that it really carries mtu {} (af_packet: framesz=)",
      config.name, info.max_rx_pktlen, config.mtu);
  return info.max_rx_pktlen - overhead;
}

/// What we ask of the port, cut down to what it offers.
rte_eth_conf wanted(const config::Port& config, const rte_eth_dev_info& info, std::uint16_t rx_queues) {
  rte_eth_conf conf{};
  conf.rxmode.mtu = mtu_for_driver(config, info);
  if (info.max_mtu != 0 && config.mtu > info.max_mtu)
    throw MachineError(fmt::format("port {}: mtu {} is above the driver's {}\n  lower mtu= of --port",
                                   config.name, config.mtu, info.max_mtu));
  if ((info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_IPV4_CKSUM) != 0) {
    conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_IPV4_CKSUM;
  } else {
    log("port {}: no IPv4 checksum offload; verified in software", config.name);
  }
  if (rx_queues == 1) return conf;
  if ((info.flow_type_rss_offloads & wanted_rss) != 0) {
    conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
    conf.rx_adv_conf.rss_conf.rss_hf = info.flow_type_rss_offloads & wanted_rss;
  } else {
    log("port {}: no RSS over ports; its driver spreads packets over {} queues as it likes", config.name,
        rx_queues);
  }
  return conf;
}

std::uint16_t at_most(std::uint16_t wanted_queues, std::uint16_t offered, const config::Port& config,
                      const char* what) {
  const auto queues = std::clamp<std::uint16_t>(wanted_queues, 1, std::max<std::uint16_t>(offered, 1));
  if (queues < wanted_queues)
    log("port {}: {} {} queues of {} wanted", config.name, queues, what, wanted_queues);
  return queues;
}

void set_up_queues(std::uint16_t id, const config::Port& config, const PortTuning& tuning,
                   std::uint16_t rx_queues, std::uint16_t tx_queues, rte_mempool* pool) {
  std::uint16_t rx_descriptors = tuning.rx_descriptors;
  std::uint16_t tx_descriptors = tuning.tx_descriptors;
  require(rte_eth_dev_adjust_nb_rx_tx_desc(id, &rx_descriptors, &tx_descriptors), config.name, "descriptors");
  const int socket = rte_eth_dev_socket_id(id);
  const auto node = socket < 0 ? static_cast<unsigned>(SOCKET_ID_ANY) : static_cast<unsigned>(socket);
  for (std::uint16_t queue = 0; queue < rx_queues; ++queue)
    require(rte_eth_rx_queue_setup(id, queue, rx_descriptors, node, nullptr, pool), config.name,
            "receive queue");
  for (std::uint16_t queue = 0; queue < tx_queues; ++queue)
    require(rte_eth_tx_queue_setup(id, queue, tx_descriptors, node, nullptr), config.name, "transmit queue");
}

/// Neighbour solicitations come to groups.
void hear_groups(std::uint16_t id, const config::Port& config) {
  if (rte_eth_allmulticast_enable(id) == 0) return;
  if (rte_eth_promiscuous_enable(id) == 0) {
    log("port {}: no all-multicast mode; promiscuous instead", config.name);
  } else {
    log("port {}: neither all-multicast nor promiscuous mode; IPv6 neighbours may not find us", config.name);
  }
}

net::Mac mac_of(std::uint16_t id, const config::Port& config) {
  rte_ether_addr address{};
  require(rte_eth_macaddr_get(id, &address), config.name, "reading its MAC address");
  net::Mac::Bytes bytes;
  std::copy_n(address.addr_bytes, bytes.size(), bytes.begin());
  return net::Mac(bytes);
}

}  // namespace

Port::Port(const config::Port& config, const std::vector<std::string>& eal, const PortTuning& tuning,
           rte_mempool* pool) {
  const std::uint16_t id = find(config.name, eal);
  rte_eth_dev_info info{};
  require(rte_eth_dev_info_get(id, &info), config.name, "asking for its abilities");
  queues_.rx = at_most(tuning.queues, info.max_rx_queues, config, "receive");
  queues_.tx = at_most(tuning.queues, info.max_tx_queues, config, "transmit");
  auto conf = wanted(config, info, queues_.rx);
  require(rte_eth_dev_configure(id, queues_.rx, queues_.tx, &conf), config.name, "configuring");
  id_ = id;
  set_up_queues(id, config, tuning, queues_.rx, queues_.tx, pool);
  require(rte_eth_dev_start(id), config.name, "starting");
  hear_groups(id, config);
  view_.mac = mac_of(id, config);
  view_.mtu = config.mtu;
  view_.vlan = config.vlan.value_or(packet::no_vlan);
  if (config.v4) view_.v4 = config.v4->address;
  if (config.v6) view_.v6 = config.v6->address;
}

Port::~Port() {
  if (id_ == none) return;
  rte_eth_dev_stop(id_);
  rte_eth_dev_close(id_);
}

Pool make_pool(std::uint32_t buffers, std::uint16_t mtu) {
  constexpr std::uint32_t cache = 256;
  const auto frame = static_cast<std::uint32_t>(mtu + sizeof(packet::Ethernet) + 2 * sizeof(packet::Vlan));
  const auto room = std::max<std::uint32_t>(RTE_MBUF_DEFAULT_BUF_SIZE, RTE_PKTMBUF_HEADROOM + frame);
  Pool pool(rte_pktmbuf_pool_create("packets", buffers, cache, 0,
                                    static_cast<std::uint16_t>(RTE_ALIGN(room, 64U)), SOCKET_ID_ANY));
  if (!pool) {
    const auto megabytes = std::uint64_t{buffers} * (room + sizeof(rte_mbuf)) / 1'000'000 + 64;
    throw MachineError(
        fmt::format("no memory for {} packet buffers of {} bytes: {}\n  give EAL more: --eal '-m {}', "
                    "or take fewer: --mbufs {}",
                    buffers, room, rte_strerror(rte_errno), megabytes + 64, buffers / 4));
  }
  return pool;
}

}  // namespace zonelb::dataplane
