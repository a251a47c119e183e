"""Values independent of machines: cases, networks, traffic, probes, metrics and their units."""
