-- Flows over the client range of each zone, one zone after the other.
local common = dofile((debug.getinfo(1, "S").source:match("^@(.*/)") or "./") .. "common.lua")

common.run(function()
  for _, zone in ipairs(common.settings.zones) do
    local range = common.zone_range(zone)
    common.report(zone.name .. " (" .. range .. ")", common.measured())
  end
end)
