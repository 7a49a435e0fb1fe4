#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "control/picture.hpp"

namespace zonelb::control {

/// The appliance at a glance: ports, workers, table, services with their pools.
nlohmann::ordered_json report_status(const Picture& picture);
/// Each service with its rules and the condition of its backends.
nlohmann::ordered_json report_services(const Picture& picture);
/// Drops by reason, those that happened.
nlohmann::ordered_json report_drops(const dataplane::Engine& engine);
/// Up to a hundred tracked connections and how many there are; of one backend, or of all when `backend` is
/// empty.
nlohmann::ordered_json report_connections(const Picture& picture, const std::string& backend);

}  // namespace zonelb::control
