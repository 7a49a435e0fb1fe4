#pragma once

#include <nlohmann/json.hpp>

#include "policy/explain.hpp"

namespace zonelb::policy {

/// Reads a case as interface.md gives it. Throws CaseError naming the field and what it accepts.
Case case_from_json(const nlohmann::json& json);

/// The inverse, for asking a running appliance.
nlohmann::ordered_json case_to_json(const Case& question);

/// An answer with the fields of interface.md in their order.
nlohmann::ordered_json to_json(const Explanation& answer);

}  // namespace zonelb::policy
