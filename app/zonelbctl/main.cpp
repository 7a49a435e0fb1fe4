#include <cstdio>
#include <exception>
#include <sstream>

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include "arguments.hpp"
#include "config/config.hpp"
#include "config/error.hpp"
#include "explain.hpp"
#include "http/client.hpp"
#include "live.hpp"
#include "policy/explain.hpp"
#include "usage_error.hpp"

namespace {

using namespace zonelb::ctl;
namespace options = boost::program_options;

constexpr const char* usage =
    "zonelbctl explain --flagfile FILE… --rule R --client ADDRESS:PORT   who gets this packet, and why\n"
    "zonelbctl explain --flagfile FILE… --cases FILE|-                   JSON lines in, JSON lines out\n"
    "zonelbctl explain …           without --flagfile: by the running appliance's live state\n"
    "zonelbctl status              ports, neighbours, services\n"
    "zonelbctl services            backends with their states and connections\n"
    "zonelbctl connections [--backend B]\n"
    "zonelbctl drops               dropped packets by reason\n"
    "zonelbctl drain B | undrain B no new connections to backend B | take it back\n"
    "zonelbctl reload              read the flag files again (as SIGHUP does)\n";

enum ExitCode { clean = 0, failed = 1, wrong_use = 2 };

template <class T>
options::typed_value<T>* into(std::optional<T>& field) {
  return options::value<T>()->notifier([&field](const T& value) { field = value; });
}

options::options_description describe(Arguments& arguments) {
  options::options_description all("Options", 100);
  auto add = all.add_options();
  add("help", "this text");
  add("version", "zonelbctl's version");
  add("json", options::bool_switch(&arguments.json), "answer in JSON");
  add("control-socket",
      options::value(&arguments.socket)
          ->default_value(zonelb::config::Machine{}.control_socket)
          ->value_name("PATH"),
      "the appliance's control socket");
  add("flagfile", options::value(&arguments.flag_files)->value_name("FILE"),
      "explain: configuration (repeatable)");
  add("rule", options::value(&arguments.rule)->value_name("R"), "explain: forwarding rule");
  add("client", options::value(&arguments.client)->value_name("ADDRESS:PORT"),
      "explain: source of the packet");
  add("destination", into(arguments.destination)->value_name("ADDRESS:PORT"),
      "explain: destination (default: the rule's address and first port)");
  add("protocol", into(arguments.protocol)->value_name("TCP|UDP"), "explain: protocol (default: the rule's)");
  add("unhealthy", into(arguments.unhealthy)->value_name("B1,B2"),
      "explain: take these backends as unhealthy");
  add("healthy", into(arguments.healthy)->value_name("B1,B2"),
      "explain: take these as healthy, all others not");
  add("cases", into(arguments.cases)->value_name("FILE|-"), "explain: cases as JSON lines");
  add("backend", options::value(&arguments.backend)->value_name("B"), "connections: of this backend alone");
  return all;
}

int act(int argc, char** argv) {
  Arguments arguments;
  const auto visible = describe(arguments);
  std::vector<std::string> words;
  auto all = visible;
  all.add_options()("word", options::value(&words), "");
  options::positional_options_description positions;
  positions.add("word", -1);
  options::variables_map values;
  namespace style = options::command_line_style;
  options::store(options::command_line_parser(argc, argv)
                     .options(all)
                     .positional(positions)
                     .style(style::unix_style & ~style::allow_guessing)
                     .run(),
                 values);
  options::notify(values);
  if (values.contains("version")) {
    fmt::print("zonelbctl {}\n", ZONELB_VERSION);
    return clean;
  }
  if (values.contains("help")) {
    std::ostringstream text;
    text << visible;
    fmt::print("{}\n{}", usage, text.str());
    return clean;
  }
  if (words.empty()) throw UsageError(fmt::format("no command given\n{}", usage));
  arguments.command = words.front();
  arguments.operands.assign(words.begin() + 1, words.end());
  if (arguments.command == "explain") return explain(arguments);
  if (is_live_command(arguments.command)) return ask_appliance(arguments);
  throw UsageError(fmt::format("no command '{}'\n{}", arguments.command, usage));
}

int complain(const std::exception& error, ExitCode code) {
  fmt::print(stderr, "zonelbctl: {}\n", error.what());
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return act(argc, argv);
  } catch (const UsageError& error) {
    return complain(error, wrong_use);
  } catch (const options::error& error) {
    return complain(error, wrong_use);
  } catch (const zonelb::config::ConfigError& error) {
    return complain(error, wrong_use);
  } catch (const zonelb::policy::CaseError& error) {
    return complain(error, wrong_use);
  } catch (const std::exception& error) {
    return complain(error, failed);
  }
}
