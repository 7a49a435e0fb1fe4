#include "packet/drop_reason.hpp"

#include <set>

#include "catch.hpp"

using namespace zonelb::packet;

TEST_CASE("every drop reason has a name of its own that fits a metric label") {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < drop_reasons; ++i) {
    const auto text = name(static_cast<DropReason>(i));
    CHECK(!text.empty());
    CHECK(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_046") == std::string_view::npos);
    CHECK(names.insert(text).second);
  }
  CHECK(name(DropReason::bad_ip_checksum) == "bad_ip_checksum");
}
