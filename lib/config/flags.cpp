#include "config/flags.hpp"

#include <algorithm>

#include "config/keys.hpp"
#include "config/words.hpp"

namespace zonelb::config {

namespace {

/// A flag with one value, which later uses replace.
Flag single(std::string topic, std::string form, Key<Config> key) {
  return {.name = key.name,
          .form = std::move(form),
          .topic = std::move(topic),
          .description = key.description,
          .accepted = key.accepted,
          .fallback = key.fallback,
          .apply = [key](Draft& draft, const FlagUse& use) {
            const Place place{use.origin, {}};
            if (const auto refused = key.read(draft.config, Item{key.name, {use.value.value_or("true")}}))
              throw place.error(refused->text);
            draft.places[key.name] = {place};
          }};
}

Flag start_only(std::string topic, std::string form, Key<Config> key) {
  auto flag = single(std::move(topic), std::move(form), key);
  flag.start_only = key.show;
  return flag;
}

Flag port_tuning(std::string form, Key<Config> key) {
  auto flag = start_only("ports", std::move(form), std::move(key));
  flag.port_tuning = true;
  return flag;
}

/// A flag that adds one T to a list of the Config with each use. Names are not given twice.
template <class T>
Flag resource(std::string topic, std::string form, const KeyTable<T>& table, std::vector<T>& (*list)(Config&),
              std::string description) {
  return {.name = table.flag,
          .form = std::move(form),
          .topic = std::move(topic),
          .description = std::move(description),
          .repeatable = true,
          .keys = {table.keys.begin(), table.keys.end()},
          .apply = [&table, list](Draft& draft, const FlagUse& use) {
            Place place{use.origin, {}};
            list(draft.config).push_back(table.read(use.value.value_or(""), place));
            if (table.identity == "name") draft.add_named(place);
            draft.places[table.flag].push_back(std::move(place));
          }};
}

/// A flag that comes later.
Flag later(std::string name, std::string topic, std::string form, std::string description) {
  return {.name = name,
          .form = std::move(form),
          .topic = std::move(topic),
          .description = std::move(description),
          .accepted = std::string(not_supported_yet),
          .apply = [name](Draft&, const FlagUse& use) {
            throw Place{use.origin, {}}.error(fmt::format("{} is {}", name, not_supported_yet));
          }};
}

Flag zone_flag() {
  return {.name = "zone",
          .form = "NAME",
          .topic = "clients",
          .description = "Declares a zone of this region that no client network names.",
          .accepted = name().accepted,
          .repeatable = true,
          .apply = [](Draft& draft, const FlagUse& use) {
            const Place place{use.origin, {}};
            const auto given = use.value.value_or("");
            const auto zone = name().parse(given);
            if (!zone) throw place.error(refusal("zone", given, name().accepted, {}, {}).text);
            draft.add_named({use.origin, "zone " + *zone});
            draft.config.zones.push_back(*zone);
          }};
}

Flag eal_flag() {
  return {.name = "eal",
          .form = "\"ARGS\"",
          .topic = "eal",
          .description =
              "Arguments for DPDK's EAL (-l, --vdev, -a, --no-huge, --in-memory …), separated by spaces.",
          .accepted = "words separated by spaces; those with a space in single or double quotes",
          .repeatable = true,
          .port_tuning = true,
          .apply =
              [](Draft& draft, const FlagUse& use) {
                const auto words = split_words(use.value.value_or(""));
                if (!words) throw Place{use.origin, {}}.error("eal: no closing quote");
                auto& eal = draft.config.machine.eal;
                eal.insert(eal.end(), words->begin(), words->end());
              },
          .start_only =
              [](const Config& config) { return fmt::format("{}", fmt::join(config.machine.eal, " ")); }};
}

Flag port_flag() {
  auto flag = resource<Port>(
      "ports", "name=NAME,address=ADDRESS/LENGTH[,…]", port_keys(),
      [](Config & config) -> auto& { return config.machine.ports; },
      "A DPDK port and the appliance's addresses on it. One port works on a stick, two split client and "
      "backend sides.");
  flag.start_only = [](const Config& config) {
    Words ports;
    for (const auto& port : config.machine.ports) ports.push_back(port_keys().show(port));
    std::sort(ports.begin(), ports.end());
    return fmt::format("{}", fmt::join(ports, " "));
  };
  return flag;
}

Key<Config> host_interface_key() {
  auto key = fixed_key<Config>("host-interface", "none", {"a tap's name"},
                               "Tap through which the host keeps using the port.");
  key.read = [](Config&, const Item& item) -> std::optional<Refusal> {
    if (normalised(item.values.front()) == "NONE") return std::nullopt;
    return refusal("host-interface", item.values.front(), "none", {}, {item.values.front()});
  };
  return key;
}

std::vector<Flag> operation_flags() {
  return {
      {.name = "flagfile",
       .form = "FILE",
       .topic = "operation",
       .description =
           "Reads flags from FILE: lines 'name = value', '#' comments, a trailing '\\' continues a line. "
           "In a flag file relative to that file. Resource flags add up; a single flag on the command "
           "line wins over one in a file. SIGHUP reads the files again.",
       .accepted = "a readable file",
       .repeatable = true},
      {.name = "check",
       .form = "",
       .topic = "operation",
       .description = "Validates the configuration and exits: 0 good, 2 not.",
       .command_line_only = true},
      {.name = "help",
       .form = "[=TOPIC]",
       .topic = "operation",
       .description = "Shows all flags, or those of a topic, or one flag with its keys.",
       .command_line_only = true},
      {.name = "version",
       .form = "",
       .topic = "operation",
       .description = "Shows the version, DPDK's version and build options.",
       .command_line_only = true},
      single("operation", "",
             key<Config>("relaxed-limits", &Config::relaxed_limits, boolean(),
                         "Allows shorter health check intervals and other idle timeouts.")),
      start_only("operation", "N",
                 key<Config>(
                     "connections", [](auto& c) -> auto& { return c.machine.connections; },
                     count(16, 1'000'000'000), "Entries of the connection table for IPv4.")),
      start_only("operation", "N",
                 defaulting_to("half of --connections",
                               key<Config>(
                                   "connections6", [](auto& c) -> auto& { return c.machine.connections6; },
                                   count(16, 1'000'000'000), "The same for IPv6."))),
      start_only("operation", "ADDRESS:PORT",
                 key<Config>(
                     "http-listen", [](auto& c) -> auto& { return c.machine.http_listen; }, http_listen(),
                     "Where /metrics, /healthz, /readyz and /v1/status are served.")),
      start_only("operation", "PATH",
                 key<Config>(
                     "control-socket", [](auto& c) -> auto& { return c.machine.control_socket; },
                     socket_path(), "Socket of zonelbctl.")),
  };
}

std::vector<Flag> port_flags() {
  constexpr std::uint16_t most_descriptors = 32768;
  return {
      port_flag(),
      {.name = "pmd-config",
       .form = "FILE",
       .topic = "ports",
       .description =
           "Reads EAL arguments and port tuning for one kind of port from FILE. Flag files and the command "
           "line win over it.",
       .accepted = "a readable file that holds only the flags marked 'port tuning'",
       .repeatable = true},
      port_tuning("N", defaulting_to("as many as there are workers and the port offers",
                                     key<Config>(
                                         "rx-queues", [](auto& c) -> auto& { return c.machine.rx_queues; },
                                         number<std::uint16_t>(1, 1024), "Receive queues of each port."))),
      port_tuning("N",
                  key<Config>(
                      "rx-descriptors", [](auto& c) -> auto& { return c.machine.rx_descriptors; },
                      number<std::uint16_t>(32, most_descriptors), "Descriptors of each receive queue.")),
      port_tuning("N",
                  key<Config>(
                      "tx-descriptors", [](auto& c) -> auto& { return c.machine.tx_descriptors; },
                      number<std::uint16_t>(32, most_descriptors), "Descriptors of each transmit queue.")),
      port_tuning("N", defaulting_to("from descriptors, queues and workers",
                                     key<Config>(
                                         "mbufs", [](auto& c) -> auto& { return c.machine.mbufs; },
                                         number<std::uint32_t>(256, 100'000'000), "Packet buffers."))),
      single("ports", "NAME", host_interface_key()),
  };
}

std::vector<Flag> client_and_health_flags() {
  return {
      resource<ClientNetwork>(
          "clients", "cidr=[CIDR,…],zone=NAME", client_network_keys(),
          [](Config & config) -> auto& { return config.client_networks; },
          "Which clients are in which zone, in another region, or come through a gateway."),
      single("clients", "NAME",
             key<Config>("region", &Config::region, name(), "The region of this appliance.")),
      zone_flag(),
      resource<HealthCheck>(
          "health", "name=NAME,protocol=TCP|HTTP[,…]", health_check_keys(),
          [](Config & config) -> auto& { return config.health_checks; }, "How backends are probed."),
      single("health", "unhealthy|healthy",
             key<Config>("initial-health", &Config::initial_health,
                         choice<InitialHealth>(
                             {{"unhealthy", InitialHealth::unhealthy}, {"healthy", InitialHealth::healthy}}),
                         "What a backend without a probe result counts as at the start.")),
      single("health", "ADDRESS",
             defaulting_to("the kernel's choice", key<Config>("probe-source", &Config::probe_source,
                                                              address(), "Source address of probes."))),
      single("health", "NAME",
             defaulting_to("the kernel's choice",
                           key<Config>("probe-device", &Config::probe_device, device_name(),
                                       "Kernel interface probes leave through."))),
  };
}

std::vector<Flag> service_flags() {
  return {
      start_only("eal", "N",
                 defaulting_to("all lcores but the main one",
                               key<Config>(
                                   "workers", [](auto& c) -> auto& { return c.machine.workers; },
                                   number<unsigned>(1, 1024), "Worker lcores."))),
      resource<BackendService>(
          "services", "name=NAME[,…]", backend_service_keys(),
          [](Config & config) -> auto& { return config.backend_services; },
          "A set of backends, how one is chosen, and how packets reach it."),
      later("backend-group", "services", "service=NAME,name=NAME,…",
            "Proxy mode: backends of one zone with a capacity."),
      later("proxy-subnet", "services", "CIDR", "Proxy mode: source addresses towards backends."),
      resource<Backend>(
          "backends", "service=[NAME,…],name=NAME,address=ADDRESS,zone=NAME[,…]", backend_keys(),
          [](Config & config) -> auto& { return config.backends; }, "An endpoint that serves connections."),
      resource<ForwardingRule>(
          "rules", "name=NAME,address=ADDRESS,protocol=TCP|UDP,ports=[N,N-N]|all,backend-service=NAME[,…]",
          forwarding_rule_keys(), [](Config & config) -> auto& { return config.forwarding_rules; },
          "A virtual address, protocol and ports, and the service their connections go to."),
  };
}

}  // namespace

const std::vector<Topic>& topics() {
  static const std::vector<Topic> all{{"operation", "Operation"},  {"eal", "DPDK's EAL and workers"},
                                      {"ports", "Ports"},          {"clients", "Clients, zones and regions"},
                                      {"health", "Health checks"}, {"services", "Backend services"},
                                      {"backends", "Backends"},    {"rules", "Forwarding rules"}};
  return all;
}

const std::vector<Flag>& flags() {
  static const std::vector<Flag> all = [] {
    std::vector<Flag> list{eal_flag()};
    for (const auto& group : {operation_flags(), port_flags(), client_and_health_flags(), service_flags()})
      list.insert(list.end(), group.begin(), group.end());
    return list;
  }();
  return all;
}

const Flag* find_flag(std::string_view name) {
  const auto found =
      std::find_if(flags().begin(), flags().end(), [&](const Flag& flag) { return flag.name == name; });
  return found == flags().end() ? nullptr : &*found;
}

Words flag_names() {
  Words names;
  for (const auto& flag : flags()) names.push_back(flag.name);
  return names;
}

Words key_names(std::string_view name) {
  Words names;
  if (const Flag* const flag = find_flag(name))
    for (const auto& key : flag->keys) names.push_back(key.name);
  return names;
}

std::string unknown_flag(std::string_view name) {
  return fmt::format("unknown flag '{}'; {}zonelb --help lists all flags", name,
                     did_you_mean(name, flag_names()));
}

}  // namespace zonelb::config
