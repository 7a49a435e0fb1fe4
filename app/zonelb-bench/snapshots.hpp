#pragma once

namespace zonelb::bench {

/// `zonelb-bench --snapshots`: what the main core needs for a configuration, one backend's flip and a reload.
/// Needs neither the EAL nor a worker. Returns the exit code; throws boost::program_options::error.
int measure_snapshots(int argc, char** argv);

}  // namespace zonelb::bench
