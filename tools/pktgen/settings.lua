-- What the scripts of this folder send, and where to. Copy it, fit it to the network, and name the copy in the
-- environment variable ZONELB_PKTGEN_SETTINGS.
return {
  port = 0,                    -- Pktgen's port, by number; what zonelb sends on should come back to it
  mac = "02:00:00:00:00:02",   -- of zonelb's port, or of the router in front of it
  vip = "10.0.0.80",
  service_port = 80,
  protocol = "tcp",            -- or udp
  zones = {                    -- the client networks of zonelb's flags
    { name = "zone-a", clients = "10.1.0.0/16" },
    { name = "zone-b", clients = "10.2.0.0/16" },
    { name = "zone-c", clients = "10.3.0.0/16" },
  },
  flows = 10000,               -- of each zone; Pktgen repeats at most as many as it has buffers, about 24,000
  size = 64,                   -- bytes of a frame, FCS included
  rate = 100,                  -- percent of the port's speed
  seconds = 10,                -- for each zone, step or script

  ramp = { from = 10, to = 100, step = 10,   -- percent
           lost = 0.001 },                   -- share of lost frames above which the ramp ends
  sizes = { from = 64, to = 1504, step = 96 }, -- of mixed-sizes.lua
  syn_flood = { seconds_per_block = 2 },      -- a block: new connections, as many as flows; Pktgen needs time to write it
}
