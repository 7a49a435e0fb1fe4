"""Hosts made of network namespaces, real servers and clients in them, and zonelb between them.

Used by tests/e2e, tests/packets and tools/demo. Needs root, iproute2, ethtool and nginx."""
