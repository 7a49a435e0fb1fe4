#include "policy/explain_json.hpp"

#include <array>

#include <fmt/format.h>

namespace zonelb::policy {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

std::string text(const json& value, const std::string& field) {
  if (!value.is_string()) throw CaseError(fmt::format("case field '{}' takes a string", field));
  return value.get<std::string>();
}

net::Endpoint endpoint(const json& value, const std::string& field) {
  const auto written = text(value, field);
  const auto parsed = net::Endpoint::parse(written);
  if (!parsed)
    throw CaseError(
        fmt::format("case field '{}' takes 10.1.0.5:40000 or [2001:db8::5]:40000, not '{}'", field, written));
  return *parsed;
}

std::set<std::string> names(const json& value, const std::string& field) {
  if (!value.is_array()) throw CaseError(fmt::format("case field '{}' takes a list of backend names", field));
  std::set<std::string> result;
  for (const auto& name : value) result.insert(text(name, field));
  return result;
}

std::map<std::string, std::uint32_t> weights(const json& value) {
  std::map<std::string, std::uint32_t> result;
  if (!value.is_object())
    throw CaseError("case field 'weights' takes an object of backend names and weights");
  for (const auto& [name, weight] : value.items()) {
    if (!weight.is_number_unsigned() || weight.get<std::uint64_t>() > 1'000'000)
      throw CaseError(fmt::format("weight of '{}' is no whole number of 0 to 1000000", name));
    result[name] = weight.get<std::uint32_t>();
  }
  return result;
}

}  // namespace

Case case_from_json(const json& json) {
  if (!json.is_object()) throw CaseError("a case is a JSON object");
  Case result;
  for (const auto& [field, value] : json.items()) {
    if (field == "rule") {
      result.rule = text(value, field);
    } else if (field == "client") {
      result.client = endpoint(value, field);
    } else if (field == "protocol") {
      result.protocol = text(value, field);
    } else if (field == "destination") {
      result.destination = endpoint(value, field);
    } else if (field == "unhealthy") {
      result.unhealthy = names(value, field);
    } else if (field == "healthy") {
      result.healthy = names(value, field);
    } else if (field == "weights") {
      result.weights = weights(value);
    } else {
      throw CaseError(
          fmt::format("a case has no field '{}'; its fields are rule, client, protocol, destination, "
                      "unhealthy, healthy, weights",
                      field));
    }
  }
  for (const char* required : {"rule", "client"})
    if (!json.contains(required)) throw CaseError(fmt::format("a case needs the field '{}'", required));
  return result;
}

ordered_json case_to_json(const Case& question) {
  ordered_json json{{"rule", question.rule}, {"client", question.client.to_string()}};
  if (question.protocol) json["protocol"] = *question.protocol;
  if (question.destination) json["destination"] = question.destination->to_string();
  if (!question.unhealthy.empty()) json["unhealthy"] = question.unhealthy;
  if (question.healthy) json["healthy"] = *question.healthy;
  if (!question.weights.empty()) json["weights"] = question.weights;
  return json;
}

ordered_json to_json(const Explanation& answer) {
  const auto or_null = [](const auto& value) { return value ? ordered_json(*value) : ordered_json(nullptr); };
  return {{"rule", answer.rule},
          {"service", answer.service},
          {"client",
           {{"address", answer.client.address.to_string()},
            {"port", answer.client.port},
            {"zone", answer.compatible ? ordered_json(answer.client_zone) : ordered_json(nullptr)},
            {"compatible", answer.compatible}}},
          {"active_pool", name(answer.active_pool)},
          {"configured", answer.configured},
          {"original_eligible", answer.original_eligible},
          {"zonal_match_test", answer.zonal_match_test},
          {"zonal_matched", answer.zonal_matched},
          {"zonal_match", answer.zonal_match},
          {"modified_eligible", answer.modified_eligible},
          {"spilled", answer.spilled},
          {"ratio", or_null(answer.ratio)},
          {"selected", or_null(answer.selected)},
          {"why", answer.why}};
}

}  // namespace zonelb::policy
