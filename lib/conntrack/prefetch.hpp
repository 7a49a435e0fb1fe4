#pragma once

namespace zonelb::conntrack {

/// Starts a cache line on its way. Not __builtin_prefetch alone: gcc takes a function that does nothing else
/// for one without effect and leaves its calls out.
inline void prefetch_line(const void* line) {
#if defined(__x86_64__)
  asm volatile("prefetcht0 %0" : : "m"(*static_cast<const char*>(line)));
#elif defined(__aarch64__)
  asm volatile("prfm pldl1keep, %0" : : "Q"(*static_cast<const char*>(line)));
#else
  __builtin_prefetch(line);
#endif
}

}  // namespace zonelb::conntrack
