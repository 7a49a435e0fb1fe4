-- Flows of the first zone in frames of several sizes, from the smallest to the largest in equal steps and again.
local common = dofile((debug.getinfo(1, "S").source:match("^@(.*/)") or "./") .. "common.lua")
local sizes = common.settings.sizes

common.run(function()
  common.zone_range(common.settings.zones[1])
  common.stepping_sizes(sizes.from, sizes.to, sizes.step)
  local title = string.format("frames of %d to %d bytes, by %d", sizes.from, sizes.to, sizes.step)
  common.report(title, common.measured())
end)
