#pragma once

#include "config/key_table.hpp"

/// The keys of every resource flag: what parsing accepts and what help explains.
namespace zonelb::config {

const KeyTable<Port>& port_keys();
const KeyTable<ClientNetwork>& client_network_keys();
const KeyTable<HealthCheck>& health_check_keys();
const KeyTable<BackendService>& backend_service_keys();
const KeyTable<Backend>& backend_keys();
const KeyTable<ForwardingRule>& forwarding_rule_keys();

}  // namespace zonelb::config
