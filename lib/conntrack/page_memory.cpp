#include "conntrack/page_memory.hpp"

#include <new>
#include <sys/mman.h>

namespace zonelb::conntrack {
namespace {

constexpr std::size_t huge_page = 2U << 20;

void* map(std::size_t size, int flags) {
  void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return data == MAP_FAILED ? nullptr : data;
}

}  // namespace

PageMemory::PageMemory(std::size_t size) : size_((size + huge_page - 1) / huge_page * huge_page) {
  data_ = map(size_, MAP_HUGETLB | MAP_POPULATE);
  huge_ = data_ != nullptr;
  if (huge_) return;
  data_ = map(size_, 0);
  if (data_ == nullptr) throw std::bad_alloc();
  // Asked for before the first touch, so that the kernel may still give large pages of its own accord.
  madvise(data_, size_, MADV_HUGEPAGE);
  madvise(data_, size_, MADV_POPULATE_WRITE);
}

PageMemory::~PageMemory() {
  if (data_ != nullptr) munmap(data_, size_);
}

}  // namespace zonelb::conntrack
