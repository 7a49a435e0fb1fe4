#pragma once

#include <functional>

namespace zonelb::bench {

/// Does `work(0)` to `work(count - 1)` at once, the first on this lcore, the others on theirs, and returns
/// when all are done. `work` must not throw. The EAL must be up with that many lcores.
void on_lcores(unsigned count, const std::function<void(unsigned)>& work);

}  // namespace zonelb::bench
