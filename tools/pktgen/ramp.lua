-- Flows of the first zone at rising rates, until frames get lost: the last rate without loss is what zonelb carries.
local common = dofile((debug.getinfo(1, "S").source:match("^@(.*/)") or "./") .. "common.lua")
local settings = common.settings

common.run(function()
  common.zone_range(settings.zones[1])
  local carried
  for percent = settings.ramp.from, settings.ramp.to, settings.ramp.step do
    pktgen.set(common.port, "rate", percent)
    local found = common.measured()
    common.report(string.format("%g %%, %.3f Mpps", percent, found.sent / settings.seconds / 1e6), found)
    if found.share < 1 - settings.ramp.lost then break end
    carried = percent
  end
  print(carried and string.format("carried %g %% without loss", carried) or "lost frames at the lowest rate already")
end)
