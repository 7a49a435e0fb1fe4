#include "config/help.hpp"

#include "catch.hpp"
#include "config/flags.hpp"
#include "configurations.hpp"

namespace zonelb::config::test {

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("every flag is in the overview, in its topic and on a page of its own") {
  CHECK(flags().size() > 25);
  for (const auto& flag : flags()) {
    CAPTURE(flag.name);
    CHECK(contains(help(), "  --" + flag.name));
    CHECK(contains(help(flag.topic), "  --" + flag.name));
    CHECK(contains(help("--" + flag.name), flag.description.substr(0, 20)));
  }
}

TEST_CASE("every key is explained, with its default") {
  CHECK(key_names("backend") == Words{"service", "name", "address", "zone", "failover", "weight", "drain",
                                      "mac", "inner-mac", "group"});
  CHECK(key_names("region").empty());
  for (const auto& flag : flags()) {
    const auto text = help(flag.name);
    for (const auto& key : flag.keys) {
      CAPTURE(flag.name, key.name);
      CHECK(contains(text, "\n      " + key.name + "=\n"));
      CHECK_FALSE(key.accepted.empty());
      CHECK_FALSE(key.description.empty());
    }
  }
  CHECK(contains(help("backend-service"),
                 "      connection-draining-timeout=\n"
                 "          a duration with its unit (500ms, 5s, 10m, 1h) from 0s to 3600s "
                 "(default: 300s)\n"));
  CHECK(contains(help("forwarding-rule"), "Required: TCP, UDP (L3_DEFAULT: not supported yet)"));
  CHECK(contains(help("backend"), "      group=\n          not supported yet\n"));
}

TEST_CASE("flags name a topic there is, and are there once") {
  Words names;
  for (const auto& topic : topics()) names.push_back(topic.name);
  for (const auto& flag : flags()) {
    CAPTURE(flag.name);
    CHECK(std::find(names.begin(), names.end(), flag.topic) != names.end());
    CHECK(find_flag(flag.name) == &flag);
  }
}

TEST_CASE("lines of help fit a terminal") {
  for (const auto& topic : topics()) {
    const auto text = help(topic.name);
    for (std::size_t at = 0; at < text.size();) {
      const auto end = text.find('\n', at);
      CHECK(end - at <= 110);
      at = end + 1;
    }
  }
}

TEST_CASE("an unknown topic names those there are") {
  CHECK(error_of([] { help("prts"); }) ==
        "argument --help: no topic 'prts'; did you mean 'ports'? topics: operation, eal, ports, clients, "
        "health, "
        "services, backends, rules, and every flag's name");
}

}  // namespace zonelb::config::test
