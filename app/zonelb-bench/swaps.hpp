#pragma once

namespace zonelb::bench {

/// `zonelb-bench --swaps`: cycles per burst of one worker at full rate, with and without new snapshots that
/// backends' failures and returns make on the main lcore. Returns the exit code; throws
/// boost::program_options::error, dataplane::MachineError.
int measure_swaps(int argc, char** argv);

}  // namespace zonelb::bench
