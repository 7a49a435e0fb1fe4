#pragma once

#include <array>

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

/// The same for a line that will be written: another core that has written it lets go of it meanwhile.
inline void prefetch_to_write(const void* line) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#elif defined(__aarch64__)
  asm volatile("prfm pstl1keep, %0" : : "Q"(*static_cast<const char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

/// In a loop that waits for another core: leaves it the line, and our own core's other half its units.
inline void pause() {
#if defined(__x86_64__)
  asm volatile("pause");
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Sends for lines some at a time, as a prefetch holds its core up while the way to its page is looked up,
/// and of several in a row the ways are looked up side by side. No more than a processor can fetch at once
/// (AMD Zen 4: about 20): it may drop the others. The last ones are sent for at the end of its life.
class GroupedPrefetch {
 public:
  GroupedPrefetch() = default;
  GroupedPrefetch(const GroupedPrefetch&) = delete;
  GroupedPrefetch& operator=(const GroupedPrefetch&) = delete;
  ~GroupedPrefetch() { send(); }

  void add(const void* line) {
    lines_[count_++] = line;
    if (count_ == lines_.size()) send();
  }

 private:
  void send() {
    for (unsigned i = 0; i < count_; ++i) prefetch_line(lines_[i]);
    count_ = 0;
  }

  std::array<const void*, 8> lines_;
  unsigned count_ = 0;
};

}  // namespace zonelb::conntrack
