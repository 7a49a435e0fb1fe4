#include "explain.hpp"

#include <fstream>
#include <functional>
#include <iostream>

#include <fmt/format.h>

#include "config/command_line.hpp"
#include "http/client.hpp"
#include "policy/explain_json.hpp"
#include "usage_error.hpp"

namespace zonelb::ctl {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using Answer = std::function<ordered_json(const policy::Case&)>;

net::Endpoint endpoint(const std::string& text, const char* flag) {
  const auto parsed = net::Endpoint::parse(text);
  if (!parsed)
    throw UsageError(fmt::format("{} takes 10.1.0.5:40000 or [2001:db8::5]:40000, not '{}'", flag, text));
  return *parsed;
}

std::set<std::string> names(const std::string& list) {
  std::set<std::string> result;
  for (std::size_t begin = 0; begin <= list.size();) {
    const auto end = std::min(list.find(',', begin), list.size());
    if (end > begin) result.insert(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

policy::Case question_of(const Arguments& arguments) {
  if (arguments.rule.empty() || arguments.client.empty())
    throw UsageError("explain needs --rule R and --client ADDRESS:PORT, or --cases FILE");
  policy::Case question;
  question.rule = arguments.rule;
  question.client = endpoint(arguments.client, "--client");
  if (arguments.destination) question.destination = endpoint(*arguments.destination, "--destination");
  question.protocol = arguments.protocol;
  if (arguments.unhealthy) question.unhealthy = names(*arguments.unhealthy);
  if (arguments.healthy) question.healthy = names(*arguments.healthy);
  return question;
}

Answer offline(const std::vector<std::string>& files) {
  auto config = std::make_shared<const config::Config>(config::read_flag_files(files));
  auto zones = std::make_shared<const policy::ZoneMap>(*config);
  return [config, zones](const policy::Case& question) {
    return policy::to_json(policy::explain_offline(*config, *zones, question));
  };
}

Answer live(const std::string& socket) {
  return [socket](const policy::Case& question) {
    const auto response =
        http::request_unix(socket, "POST", "/v1/explain", policy::case_to_json(question).dump());
    auto body = ordered_json::parse(response.body);
    if (response.status != 200) throw policy::CaseError(body.value("error", response.body));
    return body;
  };
}

int answer_cases(const std::string& file, const Answer& answer) {
  std::ifstream opened;
  if (file != "-") {
    opened.open(file);
    if (!opened) throw UsageError(fmt::format("--cases {}: cannot be opened; - reads standard input", file));
  }
  std::istream& lines = file == "-" ? std::cin : opened;
  int exit_code = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    try {
      fmt::print("{}\n", answer(policy::case_from_json(json::parse(line))).dump());
    } catch (const policy::CaseError& error) {
      fmt::print("{}\n", ordered_json{{"error", error.what()}}.dump());
      exit_code = 2;
    } catch (const json::exception& error) {
      fmt::print("{}\n", ordered_json{{"error", error.what()}}.dump());
      exit_code = 2;
    }
  }
  return exit_code;
}

std::string list(const json& values) {
  std::string text;
  for (const auto& value : values) text += (text.empty() ? "" : ", ") + value.get<std::string>();
  return text.empty() ? "-" : text;
}

void print_for_reading(const ordered_json& answer) {
  const auto& zone = answer["client"]["zone"];
  fmt::print("{}\n\n", answer["why"].get<std::string>());
  fmt::print("client             {} ({})\n", answer["client"]["address"].get<std::string>(),
             zone.is_null() ? "no zone of this region" : zone.get<std::string>());
  fmt::print("active pool        {}\n", answer["active_pool"].get<std::string>());
  fmt::print("configured         {}\n", list(answer["configured"]));
  fmt::print("original eligible  {}\n", list(answer["original_eligible"]));
  fmt::print("zonal match test   {}\n", list(answer["zonal_match_test"]));
  fmt::print("zonal matched      {}\n", list(answer["zonal_matched"]));
  fmt::print("modified eligible  {}\n", list(answer["modified_eligible"]));
  fmt::print("selected           {}\n",
             answer["selected"].is_null() ? "none: dropped" : answer["selected"].get<std::string>());
}

}  // namespace

int explain(const Arguments& arguments) {
  const Answer answer = arguments.flag_files.empty() ? live(arguments.socket) : offline(arguments.flag_files);
  if (arguments.cases) return answer_cases(*arguments.cases, answer);
  const auto answered = answer(question_of(arguments));
  if (arguments.json) {
    fmt::print("{}\n", answered.dump());
  } else {
    print_for_reading(answered);
  }
  return 0;
}

}  // namespace zonelb::ctl
