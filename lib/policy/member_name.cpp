#include "policy/member_name.hpp"

#include <xxhash.h>

namespace zonelb::policy {

std::uint64_t name_hash(std::string_view name) {
  return XXH3_64bits(name.data(), name.size());
}

MemberName::MemberName(std::string name)
    : text_(std::make_shared<const std::string>(std::move(name))), hash_(name_hash(*text_)) {}

}  // namespace zonelb::policy
