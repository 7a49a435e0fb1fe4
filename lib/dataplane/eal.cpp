#include "dataplane/eal.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "dataplane/machine_error.hpp"

namespace zonelb::dataplane {
namespace {

bool any_free_hugepage() {
  std::error_code ignored;
  for (const auto& size : std::filesystem::directory_iterator("/sys/kernel/mm/hugepages", ignored)) {
    long free = 0;
    std::ifstream(size.path() / "free_hugepages") >> free;
    if (free > 0) return true;
  }
  return false;
}

std::string mending(const std::vector<std::string>& arguments) {
  const auto has = [&](std::string_view wanted) {
    return std::ranges::any_of(arguments, [&](const auto& word) { return word.starts_with(wanted); });
  };
  if (!has("--no-huge") && !any_free_hugepage())
    return "no free hugepages; reserve some: echo 512 > "
           "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages\n"
           "  or go without, for virtual ports: --eal '--no-huge -m 512'";
  if (has("--no-huge") && has("-m"))
    return "if memory was short, ask for less: --eal '-m 512' (free -m shows what is there);\n"
           "  if a --vdev failed, see that its interface or file exists: ip link show";
  return "see the EAL lines above; dpdk-devbind.py --status shows what each NIC is bound to";
}

}  // namespace

Eal::Eal(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"zonelb"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  // rte_eal_init reorders the array and keeps pointers into it.
  static std::vector<std::string> kept;
  kept = words;
  std::vector<char*> argv;
  for (auto& word : kept) argv.push_back(word.data());
  if (rte_eal_init(static_cast<int>(argv.size()), argv.data()) < 0)
    throw MachineError(fmt::format("EAL did not start ({}) with: {}\n  {}", rte_strerror(rte_errno),
                                   fmt::join(arguments, " "), mending(arguments)));
}

Eal::~Eal() {
  rte_eal_cleanup();
}

std::vector<unsigned> worker_lcores() {
  std::vector<unsigned> lcores;
  unsigned lcore = 0;
  RTE_LCORE_FOREACH_WORKER(lcore) {
    lcores.push_back(lcore);
  }
  return lcores;
}

}  // namespace zonelb::dataplane
