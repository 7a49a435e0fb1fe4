#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace zonelb::policy {

/// The hash of a name that consistent hashing goes by: the same on every machine and in every release.
std::uint64_t name_hash(std::string_view name);

/// A backend's name with its hash, the text made once and shared by all states that mention it: states of
/// thousands of members are copied with each flip.
class MemberName {
 public:
  MemberName(std::string name);                                    // NOLINT: a name is what it stands for
  MemberName(const char* name) : MemberName(std::string(name)) {}  // NOLINT

  [[nodiscard]] const std::string& str() const { return *text_; }
  operator const std::string&() const { return str(); }  // NOLINT
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

  friend bool operator==(const MemberName& a, const MemberName& b) {
    return a.text_ == b.text_ || a.str() == b.str();
  }
  friend auto operator<=>(const MemberName& a, const MemberName& b) { return a.str() <=> b.str(); }

 private:
  std::shared_ptr<const std::string> text_;
  std::uint64_t hash_;
};

}  // namespace zonelb::policy
