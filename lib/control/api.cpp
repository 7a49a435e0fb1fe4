#include "control/api.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "config/error.hpp"
#include "control/metrics.hpp"
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

/// What `make` returns, or the refusal that its exception stands for.
template <class Make>
auto or_refusal(const Make& make) -> decltype(make()) {
  try {
    return make();
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

/// A page about the appliance as it is now, made beside the loop: with thousands of backends it takes longer
/// than a decision may wait.
template <class Page>
http::Rendering rendering(const Appliance& appliance, Page page) {
  return [picture = appliance.picture(), page = std::move(page)] {
    return or_refusal([&] { return page(*picture); });
  };
}

http::Response metrics(const Picture& picture) {
  return {200, "text/plain; version=0.0.4; charset=utf-8", render_metrics(picture)};
}

http::Response explain(const Picture& picture, const std::string& body) {
  const auto question = policy::case_from_json(json::parse(body));
  const auto& rule = policy::rule_of(*picture.config, question);
  for (const auto& plan : picture.plans)
    if (plan && plan->state.name == rule.backend_service)
      return respond(
          policy::to_json(policy::explain(*picture.config, picture.layout->zones, question, plan->state)));
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

http::Rendering connections(const Appliance& appliance, const http::Request& request) {
  const auto found = request.query.find("backend");
  const auto backend = found == request.query.end() ? std::string() : found->second;
  return rendering(
      appliance, [backend](const Picture& picture) { return respond(report_connections(picture, backend)); });
}

/// What only looks.
http::Answer get(const Appliance& appliance, const http::Request& request) {
  if (request.path == "/metrics") return rendering(appliance, metrics);
  if (request.path == "/healthz") return plain(200, "ok\n");
  if (request.path == "/readyz")
    return appliance.forwarding() ? plain(200, "forwarding\n")
                                  : plain(503, "first round of probes outstanding\n");
  if (request.path == "/v1/status")
    return rendering(appliance, [](const Picture& picture) { return respond(report_status(picture)); });
  if (request.path == "/v1/services")
    return rendering(appliance, [](const Picture& picture) { return respond(report_services(picture)); });
  if (request.path == "/v1/drops") return respond(report_drops(appliance.engine()));
  if (request.path == "/v1/connections") return connections(appliance, request);
  return refuse(404,
                fmt::format("nothing at {}; there are /metrics, /healthz, /readyz, /v1/status, /v1/services, "
                            "/v1/drops, /v1/connections, and POST /v1/explain, /v1/drain, /v1/undrain, "
                            "/v1/reload",
                            request.path));
}

http::Answer post(Appliance& appliance, const http::Request& request) {
  if (request.path == "/v1/explain")
    return rendering(appliance,
                     [body = request.body](const Picture& picture) { return explain(picture, body); });
  const bool changes =
      request.path == "/v1/reload" || request.path == "/v1/drain" || request.path == "/v1/undrain";
  if (!changes) return refuse(404, fmt::format("nothing to POST to at {}", request.path));
  if (!request.local) return refuse(403, fmt::format("{} is for the control socket alone", request.path));
  if (request.path == "/v1/reload") return reload(appliance);
  return drain(appliance, request, request.path == "/v1/drain");
}

}  // namespace

http::Answer answer(Appliance& appliance, const http::Request& request) {
  return or_refusal([&]() -> http::Answer {
    if (request.method == "GET" || request.method == "HEAD") return get(appliance, request);
    if (request.method == "POST") return post(appliance, request);
    return refuse(405, fmt::format("{} is not supported; GET and POST are", request.method));
  });
}

}  // namespace zonelb::control
