#include "control/api.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "config/error.hpp"
#include "control/report.hpp"
#include "policy/explain_json.hpp"

namespace zonelb::control {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

http::Response respond(const ordered_json& body, unsigned status = 200) {
  return {status, "application/json", body.dump() + "\n"};
}

http::Response refuse(unsigned status, const std::string& error) {
  return respond({{"error", error}}, status);
}

http::Response plain(unsigned status, const std::string& text) {
  return {status, "text/plain; charset=utf-8", text};
}

std::string parameter(const http::Request& request, const std::string& name) {
  const auto found = request.query.find(name);
  if (found == request.query.end() || found->second.empty())
    throw std::invalid_argument(fmt::format("{} needs ?{}=NAME", request.path, name));
  return found->second;
}

http::Response explain(const Appliance& appliance, const http::Request& request) {
  const auto& state = appliance.state();
  const auto question = policy::case_from_json(json::parse(request.body));
  const auto& rule = policy::rule_of(state.config(), question);
  for (const auto& plan : state.plans())
    if (plan && plan->state.name == rule.backend_service)
      return respond(
          policy::to_json(policy::explain(state.config(), state.layout()->zones, question, plan->state)));
  return refuse(503, "not forwarding yet: no backend has been probed");
}

http::Response drain(Appliance& appliance, const http::Request& request, bool drained) {
  const auto backend = parameter(request, "backend");
  appliance.set_drained(backend, drained);
  return respond({{"backend", backend}, {"draining", drained}});
}

http::Response reload(Appliance& appliance) {
  appliance.reload();
  return respond({{"reloaded", true}, {"generation", appliance.state().generation()}});
}

http::Response connections(const Appliance& appliance, const http::Request& request) {
  const auto backend = request.query.find("backend");
  return respond(report_connections(appliance, backend == request.query.end() ? "" : backend->second));
}

/// What only looks.
http::Response get(const Appliance& appliance, const http::Request& request) {
  if (request.path == "/metrics")
    return {200, "text/plain; version=0.0.4; charset=utf-8", appliance.metrics()};
  if (request.path == "/healthz") return plain(200, "ok\n");
  if (request.path == "/readyz")
    return appliance.forwarding() ? plain(200, "forwarding\n")
                                  : plain(503, "first round of probes outstanding\n");
  if (request.path == "/v1/status") return respond(report_status(appliance));
  if (request.path == "/v1/services") return respond(report_services(appliance));
  if (request.path == "/v1/drops") return respond(report_drops(appliance));
  if (request.path == "/v1/connections") return connections(appliance, request);
  return refuse(404,
                fmt::format("nothing at {}; there are /metrics, /healthz, /readyz, /v1/status, /v1/services, "
                            "/v1/drops, /v1/connections, and POST /v1/explain, /v1/drain, /v1/undrain, "
                            "/v1/reload",
                            request.path));
}

http::Response post(Appliance& appliance, const http::Request& request) {
  if (request.path == "/v1/explain") return explain(appliance, request);
  const bool changes =
      request.path == "/v1/reload" || request.path == "/v1/drain" || request.path == "/v1/undrain";
  if (!changes) return refuse(404, fmt::format("nothing to POST to at {}", request.path));
  if (!request.local) return refuse(403, fmt::format("{} is for the control socket alone", request.path));
  if (request.path == "/v1/reload") return reload(appliance);
  return drain(appliance, request, request.path == "/v1/drain");
}

}  // namespace

http::Response answer(Appliance& appliance, const http::Request& request) {
  try {
    if (request.method == "GET" || request.method == "HEAD") return get(appliance, request);
    if (request.method == "POST") return post(appliance, request);
    return refuse(405, fmt::format("{} is not supported; GET and POST are", request.method));
  } catch (const config::ConfigError& error) {
    return refuse(409, error.what());
  } catch (const policy::CaseError& error) {
    return refuse(400, error.what());
  } catch (const std::invalid_argument& error) {
    return refuse(400, error.what());
  } catch (const json::exception& error) {
    return refuse(400, error.what());
  }
}

}  // namespace zonelb::control
