#include "live.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "http/client.hpp"
#include "usage_error.hpp"

namespace zonelb::ctl {
namespace {

using nlohmann::ordered_json;

struct Command {
  const char* name;
  const char* method;
  const char* path;
  bool takes_backend;
  void (*print)(const ordered_json&);
};

std::string text(const ordered_json& value) {
  if (value.is_null()) return "unresolved";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

void print_status(const ordered_json& status) {
  fmt::print("{}, snapshot {}, {} workers\n\n",
             status["forwarding"].get<bool>() ? "forwarding" : "not forwarding yet",
             text(status["generation"]), text(status["workers"]));
  fmt::print("{:<24} {:<18} {:>6} {:>6} {:>6}\n", "PORT", "MAC", "RXQ", "TXQ", "MTU");
  for (const auto& port : status["ports"])
    fmt::print("{:<24} {:<18} {:>6} {:>6} {:>6}\n", text(port["name"]), text(port["mac"]),
               text(port["rx_queues"]), text(port["tx_queues"]), text(port["mtu"]));
  fmt::print("\n{:<40} {:<24} {}\n", "NEIGHBOUR", "PORT", "MAC");
  for (const auto& neighbour : status["neighbours"])
    fmt::print("{:<40} {:<24} {}\n", text(neighbour["address"]), text(neighbour["port"]),
               text(neighbour["mac"]));
  fmt::print("\n{:<24} {:<12} {}\n", "SERVICE", "POOL", "HEALTHY");
  for (const auto& service : status["services"])
    fmt::print("{:<24} {:<12} {} of {}\n", text(service["name"]), text(service["active_pool"]),
               text(service["healthy"]), text(service["backends"]));
}

void print_services(const ordered_json& report) {
  for (const auto& service : report["services"]) {
    fmt::print("{}: active pool {}\n", text(service["name"]), text(service["active_pool"]));
    fmt::print("  {:<20} {:<16} {:<12} {:<9} {:>6} {:>11}  {}\n", "BACKEND", "ADDRESS", "ZONE", "POOL",
               "WEIGHT", "CONNECTIONS", "STATE");
    for (const auto& backend : service["backends"]) {
      const auto reason = backend.value("reason", "");
      fmt::print("  {:<20} {:<16} {:<12} {:<9} {:>6} {:>11}  {}{}{}\n", text(backend["name"]),
                 text(backend["address"]), text(backend["zone"]),
                 backend["failover"].get<bool>() ? "failover" : "primary", text(backend["weight"]),
                 text(backend["connections"]), text(backend["state"]), reason.empty() ? "" : ": ", reason);
    }
  }
}

void print_connections(const ordered_json& report) {
  for (const auto& c : report["connections"])
    fmt::print("{} {} -> {} at {} ({}), {}, idle {} s\n", text(c["protocol"]), text(c["source"]),
               text(c["destination"]), text(c["backend"]), text(c["service"]), text(c["state"]),
               text(c["idle_seconds"]));
  fmt::print("{} connections, {} shown\n", text(report["count"]), text(report["listed"]));
}

void print_drops(const ordered_json& report) {
  if (report["drops"].empty()) fmt::print("nothing was dropped\n");
  for (const auto& [reason, count] : report["drops"].items()) fmt::print("{:<24} {}\n", reason, text(count));
}

void print_drain(const ordered_json& report) {
  fmt::print("{} {}\n", text(report["backend"]), report["draining"].get<bool>() ? "drains" : "is back");
}

void print_reload(const ordered_json& report) {
  fmt::print("reloaded, snapshot {}\n", text(report["generation"]));
}

constexpr std::array<Command, 7> commands{{
    {"status", "GET", "/v1/status", false, print_status},
    {"services", "GET", "/v1/services", false, print_services},
    {"connections", "GET", "/v1/connections", false, print_connections},
    {"drops", "GET", "/v1/drops", false, print_drops},
    {"drain", "POST", "/v1/drain", true, print_drain},
    {"undrain", "POST", "/v1/undrain", true, print_drain},
    {"reload", "POST", "/v1/reload", false, print_reload},
}};

const Command* find(const std::string& name) {
  const auto found =
      std::ranges::find_if(commands, [&](const Command& command) { return name == command.name; });
  return found == commands.end() ? nullptr : &*found;
}

std::string target_of(const Command& command, const Arguments& arguments) {
  const std::size_t wanted = command.takes_backend ? 1 : 0;
  if (arguments.operands.size() != wanted)
    throw UsageError(
        fmt::format("{} takes {}", command.name, wanted == 1 ? "the name of one backend" : "no name"));
  const std::string backend = command.takes_backend ? arguments.operands.front() : arguments.backend;
  return backend.empty() ? command.path : fmt::format("{}?backend={}", command.path, backend);
}

}  // namespace

bool is_live_command(const std::string& command) {
  return find(command) != nullptr;
}

int ask_appliance(const Arguments& arguments) {
  const Command& command = *find(arguments.command);
  const auto response = http::request_unix(arguments.socket, command.method, target_of(command, arguments));
  const auto body = ordered_json::parse(response.body);
  if (response.status != 200) {
    fmt::print(stderr, "zonelbctl: {}\n", body.value("error", response.body));
    return 1;
  }
  if (arguments.json) {
    fmt::print("{}\n", body.dump());
  } else {
    command.print(body);
  }
  return 0;
}

}  // namespace zonelb::ctl
