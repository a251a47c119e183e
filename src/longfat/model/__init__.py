"""Values that know no machine: cases, networks, traffic, probes, metrics and their units."""
