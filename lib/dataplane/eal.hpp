#pragma once

#include <string>
#include <vector>

namespace zonelb::dataplane {

/// DPDK's environment for as long as the object lives. Throws MachineError.
class Eal {
 public:
  explicit Eal(const std::vector<std::string>& arguments);
  ~Eal();
  Eal(const Eal&) = delete;
  Eal& operator=(const Eal&) = delete;
};

/// Lcores besides the main one, in their order.
std::vector<unsigned> worker_lcores();

}  // namespace zonelb::dataplane
