#include "http/target.hpp"

#include <charconv>
#include <optional>

namespace zonelb::http {
namespace {

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    if (text.size() - i < 3) return std::nullopt;
    unsigned char byte = 0;
    const char* end = text.data() + i + 3;
    if (std::from_chars(text.data() + i + 1, end, byte, 16).ptr != end) return std::nullopt;
    result += static_cast<char>(byte);
    i += 2;
  }
  return result;
}

bool read_query(std::string_view query, Request& request) {
  while (!query.empty()) {
    const auto pair = query.substr(0, query.find('&'));
    query.remove_prefix(pair.size() == query.size() ? pair.size() : pair.size() + 1);
    const auto equals = pair.find('=');
    const auto key = percent_decoded(pair.substr(0, equals));
    const auto value = percent_decoded(equals == pair.npos ? std::string_view() : pair.substr(equals + 1));
    if (!key || !value) return false;
    if (!key->empty()) request.query[*key] = *value;
  }
  return true;
}

}  // namespace

bool read_target(std::string_view target, Request& request) {
  const auto mark = target.find('?');
  const auto path = percent_decoded(target.substr(0, mark));
  if (!path || !path->starts_with('/')) return false;
  request.path = *path;
  return mark == target.npos || read_query(target.substr(mark + 1), request);
}

}  // namespace zonelb::http
