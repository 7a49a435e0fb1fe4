-- Connections that are opened and never confirmed: SYNs of ever new clients, in blocks of as many as settings.flows,
-- zone by zone. Established connections must survive it: see zonelb_connection_table_entries, _evictions_total and
-- zonelb_untracked_connections_total meanwhile.
local common = dofile((debug.getinfo(1, "S").source:match("^@(.*/)") or "./") .. "common.lua")
local settings, port = common.settings, common.port

common.run(function()
  local pause = math.floor(settings.syn_flood.seconds_per_block * 1000)
  local blocks = math.max(1, math.floor(settings.seconds * 1000) // pause)
  local found = common.measured(function()
    for number = 0, blocks - 1 do
      common.zone_range(settings.zones[number % #settings.zones + 1], number // #settings.zones, "syn")
      pktgen.start(port)
      pktgen.delay(pause)
      pktgen.stop(port)
    end
  end)
  common.report(string.format("SYN flood, %d blocks of up to %d connections", blocks, settings.flows), found)
end)
