-- Connections that are opened and never confirmed: SYNs from random ports of one address after the other, zone by zone.
-- See zonelb_connection_table_entries, _evictions_total and zonelb_untracked_connections_total meanwhile: established
-- connections must stay.
local common = dofile((debug.getinfo(1, "S").source:match("^@(.*/)") or "./") .. "common.lua")
local settings, port = common.settings, common.port

local source_port_offset = 34 -- in an Ethernet frame with IPv4; Pktgen does not mend the IPv4 checksum, so ports alone
local random_16_bits = string.rep("X", 16)

local function next_source(number)
  local zone = settings.zones[number % #settings.zones + 1]
  local first, hosts = common.clients(zone.clients)
  return common.to_address(first + number // #settings.zones % hosts) .. "/32"
end

local function move_on(seconds)
  local pause = 1000 // settings.syn_flood.addresses_per_second
  for number = 1, math.floor(seconds * 1000) // pause do
    pktgen.set_ipaddr(port, "src", next_source(number))
    pktgen.delay(pause)
  end
end

common.run(function()
  pktgen.set_range(port, "off")
  pktgen.set_type(port, "ipv4")
  pktgen.set_proto(port, "tcp")
  pktgen.set_mac(port, "dst", settings.mac)
  pktgen.set_ipaddr(port, "dst", settings.vip)
  pktgen.set_ipaddr(port, "src", next_source(0))
  pktgen.set(port, "dport", settings.service_port)
  pktgen.set(port, "size", settings.size)
  common.tcp_flag("set", "syn")
  pktgen.rnd(port, 0, source_port_offset, random_16_bits)
  common.report("SYN flood", common.measured(settings.seconds, move_on))
end)
