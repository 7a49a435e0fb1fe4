#pragma once

#include <cstddef>
#include <utility>

namespace zonelb::conntrack {

/// Zeroed memory straight from the kernel, in 2 MB pages when the machine has any reserved, faulted in at
/// once so that no worker ever waits for a page. Throws std::bad_alloc.
class PageMemory {
 public:
  explicit PageMemory(std::size_t size);
  ~PageMemory();
  PageMemory(PageMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(other.size_), huge_(other.huge_) {}
  PageMemory& operator=(PageMemory&&) = delete;

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Does it lie in reserved 2 MB pages?
  [[nodiscard]] bool huge() const { return huge_; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
  bool huge_ = false;
};

}  // namespace zonelb::conntrack
