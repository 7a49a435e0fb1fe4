"""Packet tests: pcap in, pcap out, through the real zonelb."""
