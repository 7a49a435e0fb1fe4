-- What the scripts share: settings, client ranges, counters, a measured run.
local folder = debug.getinfo(1, "S").source:match("^@(.*/)") or "./"
local settings = dofile(os.getenv("ZONELB_PKTGEN_SETTINGS") or folder .. "settings.lua")

local common = { settings = settings, port = tostring(settings.port) }
local port = common.port
local first_source_port = 10000

local function to_number(address)
  local number = 0
  for part in address:gmatch("%d+") do number = number * 256 + tonumber(part) end
  return number
end

local function to_address(number)
  return string.format("%d.%d.%d.%d", number >> 24 & 255, number >> 16 & 255, number >> 8 & 255, number & 255)
end

-- First client of a network and their number, without its first and last address.
local function clients(network)
  local address, length = network:match("^([%d.]+)/(%d+)$")
  local size = 1 << (32 - tonumber(length))
  local first = to_number(address)
  if size <= 2 then return first, size end
  return first + 1, size - 2
end

local function greatest_common_divisor(a, b)
  while b ~= 0 do a, b = b, a % b end
  return a
end

-- Pktgen steps addresses and ports together: numbers of them without a common divisor give each pair once.
local function addresses_and_ports(hosts, flows)
  local addresses = math.min(hosts, flows)
  local ports = math.ceil(flows / addresses)
  while greatest_common_divisor(addresses, ports) ~= 1 do ports = ports + 1 end
  return addresses, ports
end

-- Runs Pktgen's own commands, for what its Lua interface lacks.
local function command(...)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  for _, line in ipairs({ ... }) do file:write(line, "\n") end
  file:close()
  pktgen.run("cmd", path, "")
  os.remove(path)
end

-- Of ranges: syn, ack … Only a command sets it; newer ones, which have a Lua function for single packets, have another.
local function tcp_flag(flag)
  if pktgen.set_tcp_flags then
    command(string.format("range %s tcp flags %s", port, flag))
  else
    command(string.format("range %s tcp flag clr all", port), string.format("range %s tcp flag set %s", port, flag))
  end
end

local function constant(what, value, none)
  local set = pktgen.range[what]
  for _, key in ipairs({ "start", "min", "max" }) do set(port, key, value) end
  set(port, "inc", none)
end

local function stepping(what, first, last, step)
  local set = pktgen.range[what]
  set(port, "start", first)
  set(port, "min", first)
  set(port, "max", last)
  set(port, "inc", step)
end

-- settings.flows flows of a zone: each client address in turn, then further ports of each. block: 0 for the zone's first
-- addresses, 1 for the next ones …, from the start again after the last; flag: of TCP, ack by default.
function common.zone_range(zone, block, flag)
  local first, hosts = clients(zone.clients)
  local addresses, ports = addresses_and_ports(hosts, settings.flows)
  first = first + (block or 0) % (hosts // addresses) * addresses
  pktgen.range.set_type(port, "ipv4")
  pktgen.range.ip_proto(port, settings.protocol)
  pktgen.range.dst_mac(port, "start", settings.mac)
  constant("dst_ip", settings.vip, "0.0.0.0")
  constant("dst_port", settings.service_port, 0)
  stepping("src_ip", to_address(first), to_address(first + addresses - 1), "0.0.0.1")
  stepping("src_port", first_source_port, first_source_port + ports - 1, ports > 1 and 1 or 0)
  constant("ttl", 64, 0)
  constant("pkt_size", settings.size, 0)
  if settings.protocol == "tcp" then tcp_flag(flag or "ack") end
  pktgen.set_range(port, "on")
  return string.format("%s-%s, ports %d-%d", to_address(first), to_address(first + addresses - 1),
                       first_source_port, first_source_port + ports - 1)
end

function common.stepping_sizes(first, last, step)
  stepping("pkt_size", first, last, step)
end

-- Frames sent and received by the port so far. Pktgen 23 is told which counters are meant, 26 gives all of them.
local function counters()
  local known, found = pcall(pktgen.portStats, port, "port")
  if not known then found = pktgen.portStats(port) end
  found = found[settings.port].curr or found[settings.port]
  return { sent = found.opackets, received = found.ipackets }
end

-- Calls send(), or sends what is set for settings.seconds. Frames sent and received, and their share.
function common.measured(send)
  local settle = 1500 -- milliseconds: Pktgen reads its port's counters once a second
  pktgen.delay(settle)
  local before = counters()
  if send then
    send()
  else
    pktgen.start(port)
    pktgen.delay(math.floor(settings.seconds * 1000))
    pktgen.stop(port)
  end
  pktgen.delay(settle)
  local after = counters()
  local sent, received = after.sent - before.sent, after.received - before.received
  return { sent = sent, received = received, share = sent > 0 and received / sent or 0 }
end

function common.report(title, found)
  print(string.format("%s: sent %d, came back %d (%.2f %%)", title, found.sent, found.received, found.share * 100))
end

-- Runs a script's body with Pktgen's screen off, and leaves Pktgen, whatever happens.
function common.run(body)
  pktgen.screen("off")
  pktgen.stop(port)
  pktgen.set(port, "rate", settings.rate)
  pktgen.set(port, "count", 0)
  local well, fault = pcall(body)
  if not well then print("failed: " .. tostring(fault)) end
  pktgen.stop(port)
  pktgen.quit()
end

return common
