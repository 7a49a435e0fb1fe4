#pragma once

namespace zonelb::bench {

/// `zonelb-bench --table-only`: our connection table and DPDK's rte_hash, with the same keys in one run.
/// Returns the exit code; throws boost::program_options::error, dataplane::MachineError.
int measure_tables(int argc, char** argv);

}  // namespace zonelb::bench
