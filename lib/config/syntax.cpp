#include "config/syntax.hpp"

#include <algorithm>
#include <charconv>
#include <net/if.h>
#include <sys/un.h>

namespace zonelb::config {

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  return value;
}

std::string to_string(Duration value) {
  const auto milliseconds = value.count();
  return milliseconds % 1000 == 0 ? fmt::format("{}s", milliseconds / 1000)
                                  : fmt::format("{}ms", milliseconds);
}

std::string to_string(const DurationRange& range) {
  return fmt::format("{} to {}", to_string(range.low), to_string(range.high));
}

namespace {

struct Unit {
  std::string_view name;
  std::uint64_t size;
};

/// A number and one of `units`, below 2^53.
std::optional<std::uint64_t> parse_with_unit(std::string_view text, std::initializer_list<Unit> units) {
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto value = parse_number(text.substr(0, digits));
  const auto unit = std::find_if(units.begin(), units.end(),
                                 [&](const Unit& known) { return known.name == text.substr(digits); });
  if (!value || unit == units.end() || *value > (std::uint64_t{1} << 53) / unit->size) return std::nullopt;
  return *value * unit->size;
}

std::optional<Duration> parse_duration(std::string_view text) {
  const auto value =
      parse_with_unit(text, {{"ms", 1}, {"s", 1000}, {"m", 60 * 1000}, {"h", std::uint64_t{3600} * 1000}});
  if (!value) return std::nullopt;
  return Duration(static_cast<Duration::rep>(*value));
}

constexpr std::string_view duration_form = "a duration with its unit (500ms, 5s, 10m, 1h)";

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_graphic(char c) {
  return c > 0x20 && c < 0x7f;
}

/// Text that stands for itself when `valid` says so.
Syntax<std::string> text(std::string accepted, std::function<bool(std::string_view)> valid) {
  return {.accepted = std::move(accepted),
          .parse = [valid = std::move(valid)](std::string_view given) -> std::optional<std::string> {
            if (!valid(given)) return std::nullopt;
            return std::string(given);
          },
          .format = [](const std::string& value) { return value; }};
}

/// Text of 1 to `longest` characters of which each is a letter, a digit or one of `others`.
Syntax<std::string> word(std::string accepted, std::size_t longest, std::string_view others) {
  return text(std::move(accepted), [longest, others](std::string_view given) {
    return !given.empty() && given.size() <= longest && std::all_of(given.begin(), given.end(), [&](char c) {
      return is_letter_or_digit(c) || others.find(c) != std::string_view::npos;
    });
  });
}

/// A value type that parses and prints itself.
template <class V>
Syntax<V> self_describing(std::string accepted) {
  return {.accepted = std::move(accepted),
          .parse = [](std::string_view given) { return V::parse(given); },
          .format = [](const V& value) { return value.to_string(); }};
}

}  // namespace

Syntax<bool> boolean() {
  return choice<bool>({{"true", true}, {"false", false}});
}

Syntax<std::uint64_t> count(std::uint64_t low, std::uint64_t high) {
  return {
      .accepted = fmt::format("a number from {} to {}, also as 64k or 2M (k: 1000, M: 1000000)", low, high),
      .parse = [low, high](std::string_view given) -> std::optional<std::uint64_t> {
        const auto value = parse_with_unit(
            given, {{"", 1}, {"k", 1'000}, {"K", 1'000}, {"M", 1'000'000}, {"G", 1'000'000'000}});
        if (!value || *value < low || *value > high) return std::nullopt;
        return value;
      },
      .format = [](const std::uint64_t& value) { return fmt::format("{}", value); }};
}

Syntax<Duration> duration(const DurationRange& range) {
  return {.accepted = fmt::format("{} from {}", duration_form, to_string(range)),
          .parse = [range](std::string_view given) -> std::optional<Duration> {
            const auto value = parse_duration(given);
            if (!value || !range.contains(*value)) return std::nullopt;
            return value;
          },
          .format = [](const Duration& value) { return to_string(value); }};
}

Syntax<Duration> duration(const DurationRange& range, const DurationRange& relaxed) {
  return {.accepted = fmt::format("{} from {}; with --relaxed-limits {}", duration_form, to_string(range),
                                  to_string(relaxed)),
          .parse = parse_duration,
          .format = [](const Duration& value) { return to_string(value); }};
}

Syntax<Ratio> ratio() {
  return self_describing<Ratio>("a decimal from 0.0 to 1.0");
}

Syntax<net::IpAddress> address() {
  return self_describing<net::IpAddress>("an IPv4 or IPv6 address");
}

Syntax<net::Prefix> network() {
  return self_describing<net::Prefix>("networks such as 10.1.0.0/16 or 2001:db8::/32 without host bits");
}

Syntax<net::Mac> mac() {
  return {.accepted = "a unicast Ethernet address such as 02:00:00:00:00:01",
          .parse = [](std::string_view given) -> std::optional<net::Mac> {
            const auto value = net::Mac::parse(given);
            if (!value || value->is_group() || *value == net::Mac()) return std::nullopt;
            return value;
          },
          .format = [](const net::Mac& value) { return value.to_string(); }};
}

Syntax<std::string> name() {
  return word("1 to 63 letters, digits, '.', '_', '-'", 63, "._-");
}

Syntax<std::string> port_name() {
  return word("a DPDK port name or number of 1 to 63 letters, digits, '.', '_', '-', ':'", 63, "._-:");
}

Syntax<std::string> device_name() {
  return text(fmt::format("the name of a kernel network interface, 1 to {} characters", IFNAMSIZ - 1),
              [](std::string_view given) {
                return !given.empty() && given.size() < IFNAMSIZ &&
                       std::all_of(given.begin(), given.end(),
                                   [](char c) { return is_graphic(c) && c != '/' && c != ':'; });
              });
}

Syntax<std::string> request_path() {
  return text("a path that starts with '/', of printable ASCII without spaces", [](std::string_view given) {
    return given.starts_with('/') && given.size() <= longest_probe_text &&
           std::all_of(given.begin(), given.end(), is_graphic);
  });
}

Syntax<std::string> host_name() {
  return text(
      "a host name or address of 1 to 255 letters, digits, '.', '_', '-', ':', '[', ']'",
      [](std::string_view given) {
        return !given.empty() && given.size() <= 255 && std::all_of(given.begin(), given.end(), [](char c) {
          return is_letter_or_digit(c) || std::string_view("._-:[]").find(c) != std::string_view::npos;
        });
      });
}

Syntax<std::string> probe_text() {
  return text(
      fmt::format("1 to {} bytes of ASCII (in double quotes: \\r, \\n, \\t, \\\", \\\\)", longest_probe_text),
      [](std::string_view given) {
        return !given.empty() && given.size() <= longest_probe_text &&
               std::all_of(given.begin(), given.end(), [](char c) { return c > 0; });
      });
}

Syntax<std::string> http_listen() {
  return text("address:port such as 127.0.0.1:9105 or [::1]:9105, or nothing to switch it off",
              [](std::string_view given) {
                const auto endpoint = net::Endpoint::parse(given);
                return given.empty() || (endpoint && endpoint->port != 0);
              });
}

Syntax<std::string> socket_path() {
  constexpr std::size_t longest = sizeof(sockaddr_un::sun_path) - 1;
  return text(fmt::format("an absolute path of at most {} characters", longest), [](std::string_view given) {
    return given.size() > 1 && given.starts_with('/') && given.size() <= longest &&
           std::all_of(given.begin(), given.end(), [](char c) { return c >= 0x20 && c != 0x7f; });
  });
}

}  // namespace zonelb::config
